"""Every route of trainings with another user's token and with none, with hostile names and bodies."""

import pytest
from training_lab import Trainer

from outlast.hub.gitprocess import run_git
from outlast.hub.pointers import Pointer, write_pointer


@pytest.fixture
def ann(hub_lab):
    return Trainer(hub_lab)


@pytest.fixture
def recorded(ann):
    """A private project of ann's with a record: one that was never scheduled, so that nothing runs."""
    project = ann.project({"train.py": "", "big.bin": write_pointer(Pointer("a" * 64, 5)).decode()})
    return project, ann.create(project)


def _routes(project, training):
    base, evaluate = f"/v1/train/project/{project.id}", f"/v1/evaluate/project/{project.id}"
    yield "POST", f"{base}/training"
    yield "GET", f"{base}/training"
    yield "GET", f"{base}/config"
    for method in ("GET", "POST", "PUT", "DELETE"):
        yield method, f"{base}/training/{training}"
    for kind in ("log", "output", "aim"):
        yield "GET", f"{base}/training/{training}/result/{kind}"
    yield "POST", f"{evaluate}/training/{training}/evaluate"
    kind = f"{project.kind}/{project.path}"
    yield "GET", f"/v1/{kind}"
    yield "DELETE", f"/v1/{kind}"
    yield "PUT", f"/v1/{project.kind}/{project.owner}/{project.id}"
    yield "POST", f"/v1/{project.kind}/{project.owner}/{project.id}"
    yield "PUT", f"/v1/{project.kind}/{project.owner}/{project.id}/tags"
    for other in ("model", "dataset"):
        for method in ("PUT", "DELETE"):
            yield method, f"/v1/{project.kind}/relation/{project.owner}/{project.id}/{other}"
    for what in ("", "/files", "/readme", "/app"):
        yield "GET", f"/v1/repo/{kind}{what}"
    yield "GET", f"/v1/stream/repo/{kind}/file/train.py"
    for method in ("POST", "PUT", "DELETE"):
        yield method, f"/v1/repo/{project.kind}/{project.name}/file/train.py"
    yield "DELETE", f"/v1/repo/{project.kind}/{project.name}/dir/deep"
    yield "GET", f"/v1/repo/{kind}/file/train.py"
    yield "GET", f"/v1/repo/{kind}/file/train.py/preview"


def _body(ann, method):
    return {"json": ann.body()} if method != "GET" else {}


def test_a_private_project_does_not_exist_for_others(ann, recorded):
    for method, path in _routes(*recorded):
        for user in ("cas", "ben", "vic"):
            answer = ann.call(method, path, user=user, **_body(ann, method))
            assert (answer.status_code, answer.json()["code"]) == (404, "resource_not_exists"), (
                f"{user} {method} {path}"
            )
    assert [each["id"] for each in ann.call("GET", ann.at(recorded[0], "training")).json()["data"]] == [recorded[1]]


def test_nobody_is_let_in_without_a_valid_token(ann, recorded):
    for method, path in _routes(*recorded):
        answer = ann.call(method, path, user=None, **_body(ann, method))
        assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token"), f"{method} {path}"
        for wrong in ("", "outlast_wrong", "x" * 5000, ann.lab.tokens["late"]):
            answer = ann.call(method, path, user=None, headers={"PRIVATE-TOKEN": wrong}, **_body(ann, method))
            assert answer.status_code == 401, f"{method} {path}"


def test_a_token_comes_as_xihe_clients_send_it(ann, recorded):
    headers = {"PRIVATE-TOKEN": ann.lab.tokens["ann"]}
    answer = ann.call("GET", ann.at(recorded[0], "training"), user=None, headers=headers)
    assert answer.status_code == 200 and answer.json()["data"][0]["id"] == recorded[1]


def test_a_public_project_is_trained_by_its_owner_alone(ann):
    project = ann.project(
        {"train.py": "", "big.bin": write_pointer(Pointer("a" * 64, 5)).decode()}, visibility="public"
    )
    training = ann.create(project)
    for method, path in _routes(project, training):
        if path.startswith(("/v1/repo/", "/v1/project/", "/v1/stream/")) and method == "GET":
            assert ann.call(method, path, user="cas").status_code == 200
            continue
        if path.startswith("/v1/repo/"):
            assert ann.call(method, path, user="cas", **_body(ann, method)).status_code == 404, "one's own alone"
            continue
        if (method, path) == ("POST", f"/v1/project/ann/{project.id}"):
            assert ann.call(method, path, user="cas", json={"name": f"{project.name}-b"}).status_code == 201, (
                "a fork is theirs"
            )
            continue
        answer = ann.call(method, path, user="cas", **_body(ann, method))
        assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed"), f"{method} {path}"


def test_in_a_group_members_train_and_viewers_look(ann):
    project = ann.project(
        {"train.py": "", "big.bin": write_pointer(Pointer("a" * 64, 5)).decode()}, owner="vision", group=True
    )
    training = ann.create(project)
    looked = ann.call("GET", ann.at(project, "training", training), user="vic")
    assert looked.status_code == 200 and looked.json()["data"]["status"] == "schedule_failed"
    assert ann.call("DELETE", ann.at(project, "training", training), user="vic").status_code == 403
    assert ann.refused(project, user="vic", name="by_vic")[1] == "not_allowed"
    assert ann.call("DELETE", ann.at(project, "training", training), user="ben").status_code == 204


def test_bodies_that_are_no_request_are_refused_in_the_one_shape(ann):
    project = ann.project()
    at = ann.at(project, "training")
    for content in (b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b"[" * 100_000):
        answer = ann.call("POST", at, content=content, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_request_body"), content[:20]
    large = ann.call("POST", at, json=ann.body(desc="x" * (2 << 20)))
    assert large.status_code == 413
    assert ann.call("GET", at).json()["data"] == []


@pytest.mark.parametrize("id", ["..", "%2e%2e", "%00", "x" * 3000, "..%2f..%2fabout.json", "ws"])
def test_ids_that_were_never_given_are_not_found(ann, recorded, id):
    project, _ = recorded
    assert ann.call("GET", f"/v1/train/project/{id}/training").status_code in (400, 404)
    for method in ("GET", "POST", "PUT", "DELETE"):
        assert ann.call(method, f"{ann.at(project)}/training/{id}").status_code in (400, 404, 405)
    assert len(ann.call("GET", ann.at(project, "training")).json()["data"]) == 1


def test_a_link_of_a_project_in_its_code_leads_nowhere(ann):
    """A symbolic link to a file of the server is refused before anything is started."""
    project = ann.project({"train.py": "print(1)"})
    bare = ann.lab.hub.bare(project)
    stream = (
        b"feature done\ncommit refs/heads/main\ncommitter a <a@b> 0 +0000\ndata 1\nx\n"
        b"from %s\nM 120000 inline link.py\ndata 11\n/etc/passwd\ndone\n" % bare.commit().encode()
    )
    run_git(bare.folder, "fast-import", "--quiet", "--done", data=stream)
    seen = ann.get(project, ann.create(project, boot_file="link.py"))
    assert seen["status"] == "schedule_failed" and "leads out of the repository" in seen["error"]
