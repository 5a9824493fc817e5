"""Who may do what at the ModelArts door: every route as nobody, as somebody else and as a viewer; forged requests."""

from __future__ import annotations

import datetime
import json
import re

import pytest
from modelarts_lab import PASSWORD, first_body, job_body

from outlast.server.gateways.modelarts import routesv1, routesv2
from outlast.server.security import BODY_LIMIT_BYTES


def routes():
    """(method, path with a job in it) of every route of both generations."""
    for route in (*routesv1.router.routes, *routesv2.router.routes):
        for method in sorted(route.methods):
            yield method, route.path


def filled(door, path, job, number=(0, 0)):
    path = path.replace("{project}", door.project).replace("{task}", "worker-0").replace("{rest:path}", "nothing/here")
    first, second = number
    return path.replace("{job}", str(first) if path.startswith("/v1") else job).replace("{version}", str(second))


@pytest.fixture(scope="session")
def first_job(door):
    """(job id, version id) of a job of ann in the first generation."""
    response = door.call("ann", "POST", "/v1/training-jobs", first_body("private-first"))
    assert response.json()["is_success"], response.text
    body = response.json()
    door.wait(lambda: door.call("ann", "GET", version_path(body)).json()["status"] == 10)
    return body["job_id"], body["version_id"]


def version_path(body):
    return f"/v1/training-jobs/{body['job_id']}/versions/{body['version_id']}"


def test_every_route_refuses_nobody(door, done, first_job):
    count = 0
    for method, path in routes():
        response = door.http.request(method, filled(door, path, done, first_job))
        assert response.status_code == 401, (method, path, response.text)
        body = response.json()
        assert body["error_code"] == "APIG.0301" and body["request_id"] == response.headers["X-Request-Id"]
        assert body["error_msg"].startswith("Incorrect IAM authentication information: ")
        count += 1
    assert count > 35
    assert door.http.get("/v3/projects").status_code == 401


def test_every_route_of_a_job_hides_it_from_others(door, done, first_job):
    count = 0
    for method, path in routes():
        if "{job}" not in path:
            continue
        body = {"action_type": "terminate", "description": "mine", "job_desc": "mine", **first_body("x")}
        response = door.call("ben", method, filled(door, path, done, first_job), body if method != "GET" else None)
        assert (response.status_code, response.json()["error_code"]) == (400, "ModelArts.2775"), (method, path)
        assert "private" not in response.text
        count += 1
    assert count > 18
    jobs = [{"kind": "job", "metadata": {"id": done}}]
    assert door.call("ben", "POST", "/training-jobs/batch-delete", {"jobs": jobs}).status_code == 400
    listed = door.call("ben", "POST", "/training-job-searches", {"limit": 50}).json()
    assert listed["total"] == len(listed["items"]) and done not in [each["metadata"]["id"] for each in listed["items"]]
    assert first_job[0] not in [each["job_id"] for each in door.call("ben", "GET", "/v1/training-jobs").json()["jobs"]]
    assert door.call("ben", "GET", "/training-job-names", query=[("job_name", "private-words")]).json() == {
        "is_duplicate": False
    }
    assert door.call("ann", "GET", f"/training-jobs/{done}").status_code == 200


def test_a_viewer_reads_and_changes_nothing(door, done, first_job):
    for method, path in routes():
        if "{rest" in path:
            continue
        reads = method == "GET" or path.endswith("-searches")
        body = job_body("of-a-viewer") | first_body("of-a-viewer") | {"action_type": "terminate", "description": ""}
        if path.startswith("/v1"):
            body = first_body("of-a-viewer", pre_version_id=first_job[1])
        elif path.endswith("/training-jobs"):
            body = job_body("of-a-viewer")
        elif path.endswith("batch-delete"):
            body = {"jobs": [{"metadata": {"id": done}}]}
        query = [("job_name", "x")] if path.endswith("-names") else ()
        answered = door.call(
            "vic", method, filled(door, path, done, first_job), None if method == "GET" else body, query=query
        )
        assert answered.status_code == (200 if reads else 403), (method, path, answered.text)
        if not reads:
            assert answered.json()["error_code"] == "ModelArts.0108"


def test_admins_see_every_job(door, done):
    found = door.call("root", "POST", "/training-job-searches", {"limit": 50}).json()["items"]
    assert done in [each["metadata"]["id"] for each in found]


def test_a_signed_request_that_changes_something_works_once(door):
    uri, headers, body = door.signed("ann", "PUT", door.path("/training-jobs/none"), {"description": "x"})
    assert door.http.put(uri, headers=headers, content=body).json()["error_code"] == "ModelArts.2775"
    again = door.http.put(uri, headers=headers, content=body)
    assert again.status_code == 401 and "was used already; sign it anew" in again.json()["error_msg"]
    uri, headers, body = door.signed("ann", "POST", door.path("/training-job-searches"), {"limit": 1})
    answers = [door.http.post(uri, headers=headers, content=body).status_code for _ in range(3)]
    assert answers == [200, 200, 200]  # a search changes nothing, and may be repeated within a second


@pytest.mark.parametrize("off_s", [-16 * 60, 16 * 60])
def test_a_signature_of_another_time_is_refused(door, off_s):
    moment = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=off_s)
    stale = {"X-Sdk-Date": moment.strftime("%Y%m%dT%H%M%SZ")}
    response = door.call("ann", "GET", "/training-job-engines", headers=stale)
    assert response.status_code == 401 and "signature expired" in response.json()["error_msg"]


def test_a_body_that_was_exchanged_is_refused(door, done):
    uri, headers, _ = door.signed("ann", "POST", door.path("/training-jobs"), job_body("mine"))
    response = door.http.post(uri, headers=headers, content=json.dumps(job_body("theirs")))
    assert response.status_code == 401
    uri, headers, _ = door.signed("ann", "GET", door.path("/training-job-engines"))
    assert door.http.get(door.path(f"/training-jobs/{done}"), headers=headers).status_code == 401


def test_unknown_wrong_and_revoked_keys_are_refused(door):
    assert door.call("NOSUCHKEY", "GET", "/training-job-engines", secret="x").status_code == 401
    lookup = door.call("NOSUCHKEY", "GET", "/training-job-engines")
    assert lookup.status_code == 401 and "secret key lookup failed" in lookup.json()["error_msg"]
    assert door.call("ann", "GET", "/training-job-engines", secret="wrong").status_code == 401
    text, key = door.state.accounts.keys.create("access", door.state.accounts.users.get("ann").id)
    assert door.call(text, "GET", "/training-job-engines").status_code == 200
    door.state.accounts.keys.revoke("token", key.id)
    door.wait(lambda: door.call(text, "GET", "/training-job-engines").status_code == 401)  # within a second


def test_keys_are_made_in_the_terminal_and_over_the_api(door, monkeypatch, capsys):
    from outlast.cli.entry import main

    monkeypatch.setenv("OUTLAST_HOME", str(door.home))
    assert main(["token", "create", "--access-key", "--user", "ann", "--expires", "1h"]) == 0
    told = capsys.readouterr()
    made = dict(line.split("=") for line in told.out.splitlines())
    assert made["project_id"] == door.project and "it is not shown again" in told.err
    assert door.call(made["access_key"], "GET", "/training-quotas", secret=made["secret_key"]).status_code == 200
    assert main(["token", "list", "--user", "ann", "--json"]) == 0
    listed = capsys.readouterr().out
    assert "access" in {each["kind"] for each in json.loads(listed)} and made["secret_key"] not in listed
    assert main(["token", "create", "--access-key", "--user", "nobody"]) == 10

    personal = door.state.accounts.keys.create("token", door.state.accounts.users.get("ben").id)[0]
    headers = {"Authorization": f"Bearer {personal}"}
    made = door.http.post("/api/v1/tokens", json={"kind": "access", "name": "laptop"}, headers=headers).json()
    assert door.call(made["access_key"], "GET", "/training-quotas", secret=made["secret_key"]).status_code == 200
    assert door.http.delete(f"/api/v1/tokens/{made['id']}", headers=headers).json()["kind"] == "access"
    door.wait(lambda: door.call(made["access_key"], "GET", "/training-quotas").status_code == 401)


def test_no_secret_is_in_the_database(door):
    from pathlib import Path

    data = b"".join(path.read_bytes() for path in Path(door.home).glob("server.db*"))
    for access in door.access.values():
        assert access.encode() not in data
        assert door.pairs.secret_of(access).encode() not in data


def test_an_access_key_opens_only_this_door(door):
    text = door.make_key("ann")
    for header in (f"Bearer {text}", f"Bearer {door.pairs.secret_of(text)}"):
        assert door.http.get("/api/v1/runs", headers={"Authorization": header}).status_code == 401
    assert door.http.get(door.path("/training-job-engines"), headers={"X-Auth-Token": text}).status_code == 401


def test_a_project_of_another_server_is_refused(door):
    response = door.call("ann", "GET", f"/v2/{'0' * 32}/training-job-engines".replace(door.project, ""))
    assert response.status_code in (403, 404)
    uri, headers, _ = door.signed("ann", "GET", f"/v2/{'0' * 32}/training-job-engines")
    response = door.http.get(uri, headers=headers)
    assert (response.status_code, response.json()["error_code"]) == (403, "ModelArts.0210")


def token_body(name, password):
    user = {"name": name, "password": password, "domain": {"name": "lab"}}
    identity = {"methods": ["password"], "password": {"user": user}}
    return {"auth": {"identity": identity, "scope": {"project": {"name": "cn-north-4"}}}}


def test_a_password_gives_a_token_that_works_here(door):
    response = door.http.post("/v3/auth/tokens", json=token_body("ann", PASSWORD))
    assert response.status_code == 201, response.text
    token = response.json()["token"]
    assert token["project"] == {"id": door.project, "name": "cn-north-4", "domain": token["user"]["domain"]}
    assert token["user"]["name"] == "ann" and token["expires_at"] > token["issued_at"]
    headers = {"X-Auth-Token": response.headers["X-Subject-Token"]}
    assert door.http.get(door.path("/training-job-engines"), headers=headers).status_code == 200
    projects = door.http.get("/v3/projects", params={"name": "cn-north-4"}, headers=headers).json()["projects"]
    assert [(each["id"], each["name"]) for each in projects] == [(door.project, "cn-north-4")]
    personal = door.state.accounts.keys.create("token", door.state.accounts.users.get("ann").id)[0]
    headers = {"X-Auth-Token": personal}
    assert door.http.get(door.path("/training-job-engines"), headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (token_body("zed", PASSWORD), 401, "ModelArts.0203"), (token_body("zed", "wrong"), 401, "ModelArts.0203"),
        ({}, 400, "ModelArts.0107"), ({"auth": {"identity": {"methods": ["token"]}}}, 400, "ModelArts.0107"),
        (token_body(7, []), 400, "ModelArts.0107"), ([], 400, "ModelArts.2787"),
    ],
)  # fmt: skip
def test_what_gives_no_token(door, body, status, code):
    response = door.http.post("/v3/auth/tokens", json=body)
    assert (response.status_code, response.json()["error_code"]) == (status, code)
    assert PASSWORD not in response.text


def test_a_body_that_is_too_large_is_refused_before_it_is_read(door):
    huge = b" " * (BODY_LIMIT_BYTES + 1)
    uri, headers, _ = door.signed("ann", "POST", door.path("/training-jobs"), huge)
    assert door.http.post(uri, headers=headers, content=huge).status_code == 413

    def pieces():
        for _ in range(3):
            yield huge[: BODY_LIMIT_BYTES // 2]

    assert door.http.post(door.path("/training-jobs"), headers=headers, content=pieces()).status_code == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'"x"', b"null"])
def test_a_body_that_is_no_object_is_refused(door, body):
    for path in ("/training-jobs", "/v1/training-jobs"):
        response = door.call("ann", "POST", path, body)
        assert (response.status_code, response.json()["error_code"]) == (400, "ModelArts.2787")
        assert ("is_success" in response.json()) is path.startswith("/v1")
        assert ("error_message" in response.json()) is path.startswith("/v1")


def test_paths_that_do_not_exist_say_so(door):
    for path in ("/algorithms", "/v1/visualization-jobs"):
        response = door.call("ann", "GET", path)
        assert (response.status_code, response.json()["error_code"]) == (404, "ModelArts.2836")


def test_a_link_to_a_log_works_for_whoever_has_it_and_only_as_it_is(door, done):
    path = f"/training-jobs/{done}/tasks/worker-0/logs/url"
    link = door.call("ann", "GET", path, headers={"Content-Type": "text/plain"}).json()["obs_url"]
    text = door.http.get(link)
    assert "epoch 2 loss 0.333" in text.text and text.headers["content-type"].startswith("text/plain")
    kept = door.call("ann", "GET", path, query=[("Content-Type", "application/octet-stream")]).json()["obs_url"]
    assert "attachment" in door.http.get(kept).headers["content-disposition"]
    later = re.sub(r"expires=(\d+)", lambda match: f"expires={int(match[1]) + 1}", link)
    for changed in (later, link[:-1] + ("0" if link[-1] != "0" else "1"), link.replace("kind=text", "kind=file")):
        assert door.http.get(changed).status_code == 401
    other = f"{door.url}/modelarts/logs/{done}?expires=0&kind=text&seal={door.pairs.seal(f'{done} 0 text')}"
    assert door.http.get(other).status_code == 401  # right, but over
