"""Repositories and their files changed at Xihe's own addresses: words, tags, forks, relations, files."""

import base64
import io
import threading
import uuid
import zipfile

import pytest
from training_lab import Trainer

from outlast.hub.pointers import Pointer, write_pointer


@pytest.fixture
def ann(hub_lab):
    return Trainer(hub_lab)


def kept(ann, repository, path):
    """A file of the newest commit."""
    bare = ann.lab.hub.bare(ann.lab.hub._read(*repository.path.split("/")))
    (item,) = bare.items(bare.commit(), path)
    return bare.read(item.oid)


def shown(ann, repository, user=""):
    return ann.call("GET", f"/v1/{repository.kind}/{repository.path}", user=user).json()["data"]


def code(answer):
    return answer.status_code, answer.json()["code"]


def put_relation(ann, repository, other, user="", method="PUT"):
    word = "name" if method == "PUT" else "id"
    body = {"owner": other.owner, word: getattr(other, word)}
    address = f"/v1/{repository.kind}/relation/{repository.owner}/{repository.id}/{other.kind}"
    return ann.call(method, address, user=user, json=body)


def test_words_and_name_are_changed(ann):
    model = ann.repository("model", {"a.txt": "1"}, tags=("old",), licence="mit")
    at = f"/v1/model/ann/{model.id}"
    name = f"renamed-{uuid.uuid4().hex[:8]}"
    answer = ann.call("PUT", at, json={"name": name, "desc": "new words", "type": "public", "cover_id": "2"})
    assert answer.status_code == 202, answer.text
    data = answer.json()["data"]
    assert (data["id"], data["name"], data["desc"], data["repo_type"]) == (model.id, name, "new words", "public")
    assert (data["protocol"], data["tags"]) == ("mit", ["old"])
    assert ann.call("PUT", at, json={}).json()["data"] == data, "nothing asked for, nothing changed"
    assert ann.call("GET", f"/v1/model/{model.path}").json()["data"]["name"] == name, "the old name leads to it"


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ([], 400, "bad_request_body"), ({"name": 5}, 400, "bad_request_body"),
        ({"type": "online"}, 400, "bad_request_param"), ({"name": "../x"}, 400, "bad_request_param"),
        ({"name": "fine-name", "desc": "x" * 201}, 400, "bad_request_param"),
    ],
)  # fmt: skip
def test_a_change_that_cannot_be_changes_nothing(ann, body, status, reason):
    model = ann.repository("model", {})
    before = shown(ann, model)
    assert code(ann.call("PUT", f"/v1/model/ann/{model.id}", json=body)) == (status, reason)
    assert shown(ann, model) == before
    other = ann.repository("model", {})
    taken = ann.call("PUT", f"/v1/model/ann/{model.id}", json={"name": other.name, "desc": "lost"})
    assert code(taken) == (400, "duplicate_creating") and shown(ann, model) == before


def test_tags_are_added_and_removed_by_many_at_once(ann):
    model = ann.repository("model", {}, tags=("kept", "gone"))
    at = f"/v1/model/ann/{model.id}/tags"
    assert ann.call("PUT", at, json={"remove": ["gone", "never-there"]}).status_code == 202
    tags = [f"t{number}" for number in range(6)]
    threads = [
        threading.Thread(target=lambda tag=tag: Trainer(ann.lab).call("PUT", at, json={"add": [tag]})) for tag in tags
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(shown(ann, model)["tags"]) == ["kept", *tags]
    for body in ([], {"add": "x"}, {"add": [5]}, {"remove": {"a": 1}}, "x"):
        assert code(ann.call("PUT", at, json=body)) == (400, "bad_request_body"), body
    assert code(ann.call("PUT", at, json={"add": ["a"], "remove": ["a"]})) == (400, "bad_request_param")
    assert code(ann.call("PUT", at, json={"add": ["x" * 41]})) == (400, "bad_request_param")
    assert sorted(shown(ann, model)["tags"]) == ["kept", *tags]


def test_a_project_of_somebody_else_is_forked(ann):
    project = ann.project({"train.py": "print(1)"}, visibility="public", tags=("vision",), licence="mit")
    name = f"fork-{uuid.uuid4().hex[:8]}"
    made = ann.call("POST", f"/v1/project/ann/{project.id}", user="cas", json={"name": name, "desc": "mine"})
    assert made.status_code == 201, made.text
    data = made.json()["data"]
    assert (data["owner"], data["name"], data["desc"], data["repo_type"]) == ("cas", name, "mine", "public")
    assert (data["protocol"], data["tags"]) == ("mit", ["vision"]) and data["id"] != project.id
    found = ann.call("GET", f"/v1/repo/project/cas/{name}/file/train.py").json()["data"]["content"]
    assert base64.b64decode(found) == b"print(1)"
    again = ann.call("POST", f"/v1/project/ann/{project.id}", user="cas", json={"name": name})
    assert code(again) == (400, "duplicate_creating")
    assert code(ann.call("POST", f"/v1/project/ann/{project.id}", json={"name": "own"})) == (400, "not_allowed")
    assert code(ann.call("POST", f"/v1/project/ann/{project.id}", user="vic", json={"name": "v"}))[1] == "not_allowed"
    for wrong in ({}, {"name": "../x"}):
        refused = ann.call("POST", f"/v1/project/ann/{project.id}", user="cas", json=wrong)
        assert code(refused) == (400, "bad_request_param")
    model = ann.repository("model", {}, visibility="public")
    assert code(ann.call("POST", f"/v1/model/ann/{model.id}", user="cas", json={"name": "x-y"}))[1] == "not_allowed"


def test_what_a_project_names_is_shown_on_both_sides(ann):
    project = ann.project(visibility="public")
    model = ann.repository("model", {}, visibility="public")
    data = ann.repository("dataset", {}, owner="cas", visibility="public")
    for other in (model, data):
        answer = put_relation(ann, project, other)
        assert answer.status_code == 202, answer.text
        told = answer.json()["data"]
        assert (told["id"], told["owner"]["name"], told["type"]) == (other.id, other.owner, other.kind)
        assert code(put_relation(ann, project, other)) == (400, "duplicate_creating")
    assert put_relation(ann, model, data).status_code == 202
    seen = shown(ann, project)
    assert [each["id"] for each in seen["related_models"]] == [model.id]
    assert [each["id"] for each in seen["related_datasets"]] == [data.id]
    assert [each["id"] for each in shown(ann, model)["related_projects"]] == [project.id]
    assert {each["id"] for each in shown(ann, data)["related_models"]} == {model.id}
    renamed = ann.call("PUT", f"/v1/model/ann/{model.id}", json={"name": f"moved-{uuid.uuid4().hex[:8]}"})
    assert shown(ann, project)["related_models"][0]["name"] == renamed.json()["data"]["name"]
    assert put_relation(ann, project, model, method="DELETE").status_code == 204
    assert shown(ann, project)["related_models"] == [] and shown(ann, model)["related_projects"] == []
    assert code(put_relation(ann, project, model, method="DELETE")) == (404, "resource_not_exists")


def test_relations_have_their_kinds_and_their_number_and_hide_what_is_private(ann):
    project, model = ann.project(visibility="public"), ann.repository("model", {})
    secret = ann.repository("dataset", {}, owner="cas")
    assert code(put_relation(ann, project, secret)) == (404, "resource_not_exists")
    assert code(put_relation(ann, model, model)) == (400, "bad_request_param")
    assert code(put_relation(ann, project, ann.project())) == (400, "bad_request_param")
    assert put_relation(ann, project, model).status_code == 202
    assert shown(ann, project, "cas")["related_models"] == [], "a private one is not seen through a public one"
    many = [ann.repository("model", {}) for _ in range(5)]
    for each in many[:4]:
        assert put_relation(ann, project, each).status_code == 202
    assert code(put_relation(ann, project, many[4])) == (400, "exceed_max_num")
    ann.lab.hub.remove(model)
    assert put_relation(ann, project, many[4]).status_code == 202, "one that is gone takes no place"
    assert len(shown(ann, project)["related_models"]) == 5


def test_files_are_made_changed_and_removed(ann):
    model = ann.repository("model", {})
    at = f"/v1/repo/model/{model.name}"
    made = ann.call("POST", f"{at}/file/deep/a.txt", json={"content": "one"})
    assert (made.status_code, made.json()["data"]) == (201, "success"), made.text
    assert kept(ann, model, "deep/a.txt") == b"one"
    data = bytes(range(256))
    encoded = {"content": base64.b64encode(data).decode(), "base64_encoded": True}
    assert ann.call("POST", f"{at}/file/deep%2Fb%20c.bin", json=encoded).status_code == 201
    assert kept(ann, model, "deep/b c.bin") == data
    assert code(ann.call("POST", f"{at}/file/deep/a.txt", json={"content": "x"})) == (400, "duplicate_creating")
    assert ann.call("PUT", f"{at}/file/deep/a.txt", json={"content": "two"}).status_code == 202
    assert kept(ann, model, "deep/a.txt") == b"two"
    assert code(ann.call("PUT", f"{at}/file/new.txt", json={"content": "x"})) == (404, "resource_not_exists")
    assert code(ann.call("DELETE", f"{at}/file/deep")) == (400, "unavailable_repo_file")
    assert code(ann.call("DELETE", f"{at}/dir/deep/a.txt")) == (400, "unavailable_repo_file")
    assert ann.call("DELETE", f"{at}/file/deep/a.txt").status_code == 204
    assert ann.call("DELETE", f"{at}/dir/deep").status_code == 204
    assert ann.call("GET", f"/v1/repo/model/{model.path}/files").json()["data"] == []
    assert code(ann.call("DELETE", f"{at}/dir/deep")) == (404, "resource_not_exists")


@pytest.mark.parametrize(
    ("path", "body", "reason"),
    [
        ("a.txt", [], "bad_request_body"), ("a.txt", {"content": 5}, "bad_request_body"),
        ("a.txt", {"content": "*", "base64_encoded": True}, "bad_request_body"),
        ("a.txt", {"content": "x", "base64_encoded": "yes"}, "bad_request_body"),
        ("a.txt", {"content": "x" * 204_801}, "bad_request_param"), ("run.EXE", {"content": "x"}, "bad_request_param"),
        ("..%2fout", {"content": "x"}, "bad_request_param"), (".git/config", {"content": "x"}, "bad_request_param"),
        (".gitmodules", {"content": "x"}, "bad_request_param"), ("a%00b", {"content": "x"}, "bad_request_param"),
        ("there.txt/below", {"content": "x"}, "bad_request_param"), ("deep", {"content": "x"}, "bad_request_param"),
        ("p.bin", {"content": write_pointer(Pointer("b" * 64, 9)).decode()}, "update_lfs_file"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_is_refused(ann, path, body, reason):
    model = ann.repository("model", {"there.txt": "1", "deep/x": "1"})
    before = ann.lab.hub.bare(model).commit()
    answer = ann.call("POST", f"/v1/repo/model/{model.name}/file/{path}", json=body)
    assert code(answer) == (400, reason), answer.text
    assert ann.lab.hub.bare(model).commit() == before


def test_what_lfs_keeps_and_large_folders_are_for_git(ann):
    many = {f"many/{number}": str(number) for number in range(100)}
    few = {f"few/{number}": str(number) for number in range(99)}
    model = ann.repository("model", {"w.bin": write_pointer(Pointer("a" * 64, 5)), **many, **few})
    at = f"/v1/repo/model/{model.name}"
    assert code(ann.call("PUT", f"{at}/file/w.bin", json={"content": "x"})) == (400, "update_lfs_file")
    assert code(ann.call("DELETE", f"{at}/dir/many")) == (400, "repofile_too_many_files_to_delete")
    assert ann.call("DELETE", f"{at}/dir/few").status_code == 204


def test_a_repository_is_downloaded_whole_and_by_raw_files(ann):
    model = ann.repository("model", {"README.md": "# hi", "deep/a b.txt": "0123456789"})
    base = f"/v1/repo/model/{model.path}"
    packed = ann.call("GET", base)
    assert f'"{model.name}.zip"' in packed.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert {name.partition("/")[2] for name in archive.namelist()} >= {"README.md", "deep/a b.txt"}
    assert ann.call("GET", f"{base}/readme").json()["data"] == {"has_file": True}
    assert ann.call("GET", f"{base}/app").json()["data"] == {"has_file": False}
    raw = f"/v1/stream/repo/model/{model.path}/file/deep/a%20b.txt"
    assert ann.call("GET", raw).content == b"0123456789"
    part = ann.call("GET", raw, headers={"Range": "bytes=2-4"})
    assert (part.status_code, part.content) == (206, b"234")
    assert code(ann.call("GET", f"/v1/stream/repo/model/{model.path}/file/deep")) == (400, "bad_request_param")
    empty = ann.repository("model", {})
    assert ann.call("GET", f"/v1/repo/model/{empty.path}/readme").json()["data"] == {"has_file": False}
    assert ann.call("GET", f"/v1/repo/model/{empty.path}").json()["code"] == "resource_not_exists"
