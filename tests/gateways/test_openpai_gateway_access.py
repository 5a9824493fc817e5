"""Who may do what at the OpenPAI door: every route is tried as nobody, as somebody else, and as a viewer."""

import pytest
from fastapi import FastAPI
from pai_lab import PASSWORD
from starlette.routing import Mount, Route

from outlast.server.gateways.openpai import routes

PUBLIC = {"/token", "/authn/basic/login", "/authn/info", "/info", "", "/"}
JOB = {"jobName": "private", "image": "x", "taskRoles": [{"name": "secretrole", "command": "echo private words"}]}


def _routes():
    """Every (method, path) below the doors."""
    app = FastAPI()
    routes.add(app)
    for mount in app.router.routes:
        if isinstance(mount, Mount):
            for each in mount.app.routes:
                assert isinstance(each, Route)
                for method in each.methods - {"HEAD"}:
                    yield method, mount.path + each.path, each.path.removeprefix("/api/v1").removeprefix("/api/v2")


def _filled(path, user="ann", job="private", token="none"):
    named = f"{user}~{job}" if "v2" in path else job
    values = {
        "{user}": user, "{job}": named, "{vc}": "default", "{group}": "lab", "{name}": "none", "{token}": token,
        "{attempt}": "0", "{try}": "0", "{role}": "secretrole", "{index}": "0", "{ticket}": "9999999999-00",
        "{file}": "stdout",
    }  # fmt: skip
    for name, value in values.items():
        path = path.replace(name, value)
    return path


@pytest.fixture(scope="session")
def private(pai):
    """A job of ann's that has ended."""
    sent = pai.pai("ann", "POST", "v1/user/ann/jobs", json=JOB)
    assert sent.status_code == 201, sent.text
    return pai.wait("ann", "ann~private")["jobStatus"]["appId"]


def test_every_route_refuses_nobody_and_a_wrong_token(pai, private):
    count = 0
    for method, path, short in _routes():
        if (short in PUBLIC and (short != "/token" or method == "POST")) or "/logs/{ticket}" in path:
            continue
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            answer = pai.call(None, method, _filled(path), json={}, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "UnauthorizedUserError"), (method, path)
            assert private not in answer.text
        count += 1
    assert count > 60
    for wrong in ("Bearer local_ann", "Basic eDp5", "Basic ?", "Digest x", pai.tokens["ann"]):
        assert pai.pai(None, "GET", "v2/jobs", headers={"Authorization": wrong}).status_code == 401


def test_every_route_hides_a_job_from_others(pai, private):
    count = 0
    for method, path, _ in _routes():
        if "{job}" not in path:
            continue
        # Under ann's name ben may not act; without a name in the address it is his own, which does not exist.
        expected = (403, 404) if "{user}" in path or "{ticket}" in path else (404,)
        answer = pai.call("ben", method, _filled(path), json=JOB | {"value": "STOP"} if "{user}" in path else {})
        if method == "PUT" and path.endswith("/jobs/{job}") and "{user}" not in path:
            assert answer.status_code == 400
            continue
        assert answer.status_code in expected, (method, path, answer.text)
        assert private not in answer.text and "secretrole" not in answer.text
        count += 1
    assert count > 25
    for query in ({}, {"username": "ann"}, {"keyword": "private"}):
        for version in ("v1", "v2"):
            assert "private" not in pai.pai("ben", "GET", f"{version}/jobs", params=query).text
    assert pai.pai("ben", "GET", "v1/user/ann/jobs").json() == []
    assert pai.call("ben", "GET", "/job-detail.html?username=ann&jobName=private").headers["location"] == "/"
    assert pai.wait("ann", "ann~private")["jobStatus"]["state"] == "SUCCEEDED"


def test_no_route_tells_or_changes_anything_of_another(pai, private):
    """All of them, also those without a job: accounts, tokens, groups, clusters, lists."""
    before = {path: pai.pai("ann", "GET", path).json() for path in ("v2/tokens", "v1/user/ann")}
    theirs = [private, "secretrole", *before["v2/tokens"]["tokens"]]
    body = {"username": "ann", "password": "stolen words", "admin": True, "value": "STOP", "data": {"username": "ann"}}
    count = 0
    for method, path, short in _routes():
        if short in PUBLIC or short.endswith("/logout"):
            continue
        for token in (before["v2/tokens"]["tokens"][0], pai.tokens["ann"]):
            answer = pai.call("ben", method, _filled(path, token=token), json=body)
            assert answer.status_code < 500, (method, path, answer.text)
            assert not any(word in answer.text for word in theirs), (method, path, answer.text)
        count += 1
    assert count > 90
    assert {path: pai.pai("ann", "GET", path).json() for path in before} == before
    signed_in = pai.pai(None, "POST", "v1/token", json={"username": "ann", "password": PASSWORD})
    assert signed_in.status_code == 200


def test_the_group_looks_and_does_not_touch(pai, private):
    for user in ("cat", "vic"):
        assert pai.pai(user, "GET", "v2/jobs/ann~private").status_code == 200
        assert [each["name"] for each in pai.pai(user, "GET", "v1/user/ann/jobs").json()].count("private") == 1
        for method, path in (
            ("PUT", "v2/jobs/ann~private/executionType"), ("DELETE", "v1/user/ann/jobs/private"),
            ("PUT", "v2/jobs/ann~private/tag"), ("DELETE", "v2/jobs/ann~private/tag"),
        ):  # fmt: skip
            answer = pai.pai(user, method, path, json={"value": "STOP"})
            assert (answer.status_code, answer.json()["code"]) == (403, "ForbiddenUserError"), (user, method, path)
    for path in ("v1/user/vic/jobs", "v1/jobs"):
        answer = pai.pai("vic", "POST", path, json=JOB)
        assert (answer.status_code, answer.json()["code"]) == (403, "ForbiddenUserError")


def test_only_admins_see_and_make_users(pai):
    for method, path in (
        ("GET", "v2/users"), ("POST", "v2/users"), ("DELETE", "v2/users/ben"), ("GET", "v2/users/ben"),
        ("GET", "v1/user/ben"), ("GET", "v2/groups"),
    ):  # fmt: skip
        answer = pai.pai("ann", method, path, json={"username": "eve", "password": "at least eight", "admin": True})
        assert (answer.status_code, answer.json()["code"]) == (403, "ForbiddenUserError"), (method, path)
    assert pai.pai("ben", "GET", "v2/groups/lab").json()["code"] == "NoGroupError"


def test_a_link_to_a_log_is_for_one_job_and_ends(pai, private):
    task = pai.pai("ann", "GET", "v1/user/ann/jobs/private").json()["taskRoles"]["secretrole"]["taskStatuses"][0]
    link = task["containerLog"]
    assert "private words" in pai.call(None, "GET", link + "user.pai.stdout").text
    assert pai.call(None, "GET", link + "user.pai.stderr").text == ""
    ticket = link.split("/")[5]
    until, _, seal = ticket.partition("-")
    for wrong in (f"{int(until) + 1}-{seal}", f"{until}-{seal[:-1]}0{seal[-1]}", until, "-", f"1-{seal}", "x" * 3000):
        answer = pai.call(None, "GET", link.replace(ticket, wrong) + "stdout")
        assert (answer.status_code, answer.json()["code"]) == (403, "ForbiddenUserError")
    assert pai.call(None, "GET", link.replace("ann~private", "ann~other") + "stdout").status_code == 403
    for more in ("../../1/stdout", "passwd", "%2e%2e%2fx"):
        assert pai.call(None, "GET", link + more).json()["code"] in ("NoTaskLogError", "NoApiError")


def test_bodies_that_are_too_large_or_no_text_and_addresses_that_are_none(pai):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for body in (b"a" * (2 << 20), iter([b"a" * (1 << 20)] * 3)):
        answer = pai.pai("ann", "POST", "v1/user/ann/jobs", content=body, headers=form)
        assert answer.status_code == 413 and {"code", "message"} <= set(answer.json())
    answer = pai.pai("ann", "POST", "v1/user/ann/jobs", content=b"\xff\xfe", headers=form)
    assert (answer.status_code, answer.json()["code"]) == (400, "InvalidParametersError")
    for method, path in (("GET", "v3/jobs"), ("PATCH", "v2/jobs"), ("GET", "v2/cluster/sku-types")):
        answer = pai.pai("ann", method, path)
        assert (answer.status_code, answer.json()["code"]) == (404, "NoApiError")


def test_too_many_wrong_passwords_have_to_wait(pai):
    body = {"username": "guessed-at", "password": "wrong one"}
    answer = pai.pai(None, "POST", "v1/token", json=body)
    assert answer.status_code == 400
    while answer.status_code == 400:  # a slow machine outlasts the first waits, which double with each wrong one
        answer = pai.pai(None, "POST", "v1/token", json=body)
    assert answer.status_code == 429 and int(answer.headers["retry-after"]) >= 1
