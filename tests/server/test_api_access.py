"""Who may do what: every route is tried as nobody, as somebody else, and as a viewer."""

import hashlib
import io
import tarfile

import pytest

from outlast.inside import layout
from outlast.inside.records import now_text
from outlast.model.sweep import SweepRecord

#: Routes of the accounts are tried elsewhere.
TAGS = {
    "runs", "logs", "metrics", "results", "folder", "judging", "sweeps", "uploads", "stores", "places", "house",
    "imports",
}  # fmt: skip
DIGEST = hashlib.sha256(b"").hexdigest()


def _routes(api):
    document = api.call("root", "GET", "/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, facts in methods.items():
            if set(facts.get("tags", ())) & TAGS:
                yield method.upper(), path.removeprefix("/api/v1"), facts


@pytest.fixture(scope="session")
def victim(api):
    """A run of ann that has everything a route can ask for, and an upload of hers."""
    run = api.add_run("ann", name="private", sweep="grid-of-ann")
    record = SweepRecord(
        name="grid-of-ann", swept=[("lr", ["1"])], members=[{"run": run, "name": "private", "params": {"lr": "1"}}],
        store=api.settings.store, user="ann", created_at=now_text(),
    )  # fmt: skip
    api.store.put(layout.sweep_key(record.name), record.to_bytes())
    api.order(run, 1)
    api.say(run, 1, 1, b"private words\n")
    api.end(run, 1)
    api.keep(run, {"out/model.bin": b"private weights"})
    api.keep(run, {"ckpt/a.bin": b"private weights"}, "0001-000001")
    body = {"sha256": DIGEST, "size_bytes": 0, "kind": "file", "name": "empty"}
    assert api.call("ann", "POST", "/uploads", json=body).status_code == 200
    return run


def _filled(path, run):
    names = {"run": run, "checkpoint": "0001-000001", "sha256": DIGEST, "number": "1", "name": "grid-of-ann"}
    for name, value in names.items():
        path = path.replace("{" + name + "}", value)
    within = "out/model.bin" if "outputs" in path else "spec.json" if "folder" in path else "ckpt/a.bin"
    return path.replace("{path}", within)


def _body(path):
    bodies = {
        "/runs": {"target": "train.py", "code": DIGEST}, "/runs/plan": {"target": "train.py", "code": DIGEST},
        "/runs/explain": {"target": "train.py", "code": DIGEST}, "/uploads": None,
        "/uploads/{sha256}/place": {"address": "obs://bucket/x"}, "/stores/folders": {"address": "/etc/x"},
        "/sweeps": {"target": "train.py", "code": DIGEST, "params": ["lr=1,2"]},
        "/sweeps/plan": {"target": "train.py", "code": DIGEST, "params": ["lr=1,2"]},
        "/stores/rename": {"source": "/etc/passwd", "target": "/tmp/x"}, "/stores/links": {"address": "/etc/passwd"},
    }  # fmt: skip
    return bodies.get(path)


def test_every_route_refuses_nobody(api, victim):
    count = 0
    for method, path, _ in _routes(api):
        response = api.call(None, method, _filled(path, victim), json=_body(path), params={"address": "/etc"})
        assert response.status_code == 401, (method, path, response.text)
        assert response.json()["ok"] is False
        count += 1
    assert count > 30


def test_every_route_of_a_run_or_an_upload_hides_it_from_others(api, victim):
    count = 0
    for method, path, _ in _routes(api):
        if "{run}" in path or "{sha256}" in path or "{name}" in path:
            response = api.call("ben", method, _filled(path, victim), json=_body(path))
            assert response.status_code == 404, (method, path, response.text)
            assert "private" not in response.text.replace(victim, "")
            count += 1
    assert count > 15
    for query in ({}, {"name": "private"}, {"sort": "name"}):
        assert victim not in api.call("ben", "GET", "/runs", params=query).text
        assert victim not in api.call("ben", "GET", "/overview", params=query).text
    assert "grid-of-ann" not in api.call("ben", "GET", "/sweeps").text
    for path in ("/compare", "/chart", "/chart.svg"):
        assert api.call("ben", "GET", path, params={"run": victim}).status_code == 404


def test_a_viewer_of_the_group_reads_and_changes_nothing(api, victim):
    for method, path, _ in _routes(api):
        if method != "GET" or path.startswith(("/uploads", "/stores")):
            response = api.call("vic", method, _filled(path, victim), json=_body(path), params={"address": "obs://b"})
            assert response.status_code == 403, (method, path, response.text)
    assert api.call("vic", "GET", f"/runs/{victim}/logs").text == "private words\n"
    assert api.call("vic", "GET", f"/runs/{victim}").status_code == 200
    assert victim in api.call("vic", "GET", "/runs").text


def test_what_may_be_seen_but_not_changed_says_so(api):
    run = api.add_run("vic")
    assert api.call("ann", "GET", f"/runs/{run}").status_code == 200
    response = api.call("ann", "POST", f"/runs/{run}/stop")
    assert (response.status_code, response.json()["code"]) == (403, "not_allowed")


@pytest.mark.parametrize("address", ["/etc", "file:///etc", "~", "../..", "/etc/passwd"])
def test_files_of_the_servers_machine_are_for_admins(api, address):
    for path in ("/stores/items", "/stores/file", "/stores/preview"):
        response = api.call("ann", "GET", path, params={"address": address})
        assert response.status_code == 403, response.text
    response = api.call("ann", "PUT", "/stores/file", params={"address": f"{address}/x"}, content=b"x")
    assert response.status_code == 403


def _send(api, user, files):
    """A folder as an upload."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, data in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    data = packed.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    assert api.call(user, "POST", "/uploads", json={"sha256": digest, "size_bytes": len(data)}).status_code == 200
    assert api.call(user, "PUT", f"/uploads/{digest}/parts/1", content=data).status_code == 204
    done = api.call(user, "POST", f"/uploads/{digest}/complete")
    assert done.status_code == 200, done.text
    return digest


@pytest.mark.parametrize(
    ("words", "toml"),
    [
        ({"data": ["mnist=/etc"]}, ""), ({"data": ["file:///etc"]}, ""), ({"data": ["../../../.."]}, ""),
        ({"env": ["HOME"]}, ""), ({"secrets": ["HF_TOKEN"]}, ""), ({"sandbox": "off"}, ""),
        ({"store": "/tmp/elsewhere"}, ""), ({"output": ["x=/tmp/out"], "contract": "modelarts"}, ""),
        ({"code": None}, ""),
        ({}, '[data]\nmnist = "/etc"\n'), ({}, '[outputs]\nx = "/tmp/out"\n'), ({}, '[run]\nsecrets = ["HF_TOKEN"]\n'),
        ({}, '[run]\nsandbox = "off"\n'), ({}, '[run]\nstore = "/tmp/elsewhere"\n'),
    ],
)  # fmt: skip
def test_a_member_cannot_reach_beyond_what_they_sent(api, words, toml):
    files = {"train.py": b"print(1)\n", **({"outlast.toml": toml.encode()} if toml else {})}
    body = {"target": "train.py", "code": _send(api, "ann", files), **words}
    for path in ("/runs/plan", "/runs/explain", "/runs"):
        response = api.call("ann", "POST", path, json=body)
        assert response.status_code == 403, response.text


def test_a_target_cannot_climb_out_of_the_code(api):
    code = _send(api, "ann", {"train.py": b"print(1)\n"})
    for target in ("../../x.py", "/etc/passwd"):
        response = api.call("ann", "POST", "/runs/plan", json={"target": target, "code": code})
        assert response.status_code == 400 and "outside the code" in response.json()["message"]


def test_a_name_that_somebody_else_uses_is_free_and_a_path_that_cannot_exist_is_named(api):
    api.add_run("ben", name="taken", view={"state": "running"}, is_open=True)
    code = _send(api, "ann", {"train.py": b"print(1)\n"})
    body = {"target": "train.py", "code": code, "name": "taken"}
    assert api.call("ann", "POST", "/runs/plan", json=body).status_code == 200
    too_long = api.call("ann", "POST", "/runs/plan", json={**body, "target": "a" * 3000})
    assert (too_long.status_code, too_long.json()["code"]) == (400, "bad_spec")


def test_a_run_that_is_evaluated_must_be_ones_own_to_see(api, victim):
    code = _send(api, "ben", {"train.py": b"print(1)\n"})
    response = api.call("ben", "POST", "/runs/plan", json={"target": "train.py", "code": code, "of": victim})
    assert response.status_code == 404
