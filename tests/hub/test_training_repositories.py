"""Repositories and their files at Xihe's own addresses."""

import base64
import hashlib
import uuid

import pytest
from training_lab import Trainer

from outlast.hub.pointers import Pointer, write_pointer


@pytest.fixture
def ann(hub_lab):
    return Trainer(hub_lab)


def test_a_repository_is_made_shown_listed_and_removed(ann):
    name = f"net-{uuid.uuid4().hex[:8]}"
    body = {"owner": "ann", "name": name, "title": "A net", "desc": "small", "protocol": "apache-2.0",
            "repo_type": "private", "tags": ["vision"], "type": "Gradio", "training": "ModelArts"}  # fmt: skip
    assert ann.call("GET", f"/v1/project/ann/{name}/check").json()["data"] == {"can_apply": True}
    made = ann.call("POST", "/v1/project", json=body)
    assert made.status_code == 201, made.text
    data = made.json()["data"]
    assert (data["owner"], data["name"], data["desc"], data["repo_type"]) == ("ann", name, "small", "private")
    assert data["protocol"] == "apache-2.0" and data["tags"] == ["vision"]
    shown = ann.call("GET", f"/v1/project/ann/{name}").json()["data"]
    assert shown["id"] == data["id"] and shown["related_models"] == []
    again = ann.call("POST", "/v1/model", json=body)
    assert (again.status_code, again.json()["code"]) == (400, "duplicate_creating"), "a name is used once for all kinds"
    assert ann.call("GET", f"/v1/project/ann/{name}/check").json()["data"] == {"can_apply": False}
    for path in ("/v1/project/ann", "/v1/project"):
        found = ann.call("GET", path, params={"name": name}).json()["data"]
        assert found["total"] == 1 and [each["name"] for each in found["projects"]] == [name]
        assert ann.call("GET", path, user="cas", params={"name": name}).json()["data"]["total"] == 0
    assert ann.call("GET", f"/v1/model/ann/{name}").status_code == 404
    assert ann.call("DELETE", f"/v1/project/ann/{name}").status_code == 204
    assert ann.call("GET", f"/v1/project/ann/{name}").json()["code"] == "resource_not_exists"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ([], 400, "bad_request_body"), ({"name": 5}, 400, "bad_request_body"), ({"name": ""}, 400, "bad_request_param"),
        ({"name": "../x"}, 400, "bad_request_param"),
        ({"name": "fine", "repo_type": "online"}, 400, "bad_request_param"),
        ({"name": "fine", "tags": "x"}, 400, "bad_request_body"),
        ({"name": "fine", "owner": "cas"}, 403, "not_allowed"),
        ({"name": "fine", "desc": "x" * 201}, 400, "bad_request_param"),
    ],
)  # fmt: skip
def test_a_repository_that_cannot_be_is_refused(ann, body, status, code):
    answer = ann.call("POST", "/v1/model", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


def test_a_viewer_makes_no_repositories(ann):
    assert ann.call("POST", "/v1/model", user="vic", json={"name": "viewed"}).json()["code"] == "not_allowed"


def test_files_are_listed_read_and_previewed(ann):
    data = b"weights" * 1000
    pointer = Pointer(hashlib.sha256(data).hexdigest(), len(data))
    model = ann.repository("model", {"b.txt": "text", "deep/a b.bin": write_pointer(pointer), "配置.json": "{}"})
    receiving = ann.lab.hub.objects(model).receive(pointer)
    receiving.write(data)
    receiving.finish()
    base = f"/v1/repo/model/{model.path}"
    listed = ann.call("GET", f"{base}/files").json()["data"]
    assert [(each["path"], each["is_dir"]) for each in listed] == [
        ("deep", True),
        ("b.txt", False),
        ("配置.json", False),
    ]
    (inner,) = ann.call("GET", f"{base}/files", params={"path": "deep/"}).json()["data"]
    assert inner == {"path": "deep/a b.bin", "name": "a b.bin", "is_dir": False, "is_lfs_file": True}
    content = ann.call("GET", f"{base}/file/b.txt").json()["data"]["content"]
    assert base64.b64decode(content) == b"text"
    assert ann.call("GET", f"{base}/file/b.txt/preview").content == b"text"
    for path in ("deep/a%20b.bin", "deep%2Fa%20b.bin"):
        link = ann.call("GET", f"{base}/file/{path}").json()["data"]["download_url"]
        assert ann.lab._http.get(link).content == data
        assert ann.lab._http.get(link.replace(f"/{len(data)}", "/5")).status_code == 401
        assert ann.lab._http.get(link.partition("seal=")[0]).status_code == 401
    assert ann.call("GET", f"{base}/file/deep%2Fa%20b.bin/preview").json()["code"] == "preview_lfs_file"
    assert ann.call("GET", f"{base}/file/deep").json()["code"] == "unavailable_repo_file"
    for path in ("missing", "..%2f..%2fabout.json", "deep/../../about.json", ".git/config", "%00"):
        answer = ann.call("GET", f"{base}/file/{path}")
        assert answer.status_code in (400, 404) and answer.json()["code"] in (
            "bad_request_param",
            "resource_not_exists",
        )
    assert ann.call("GET", f"/v1/repo/dataset/{model.path}/files").status_code == 404
    empty = ann.repository("model", {})
    assert ann.call("GET", f"/v1/repo/model/{empty.path}/files").json()["data"] == []


@pytest.mark.parametrize("path", ["/v1/0123456789abcdef/training-jobs", "/v1/0123456789abcdef/jobs/resource-specs"])
def test_addresses_of_the_modelarts_door_stay_its_own(ann, path):
    answer = ann.call("GET", path, user=None)
    assert answer.status_code == 401 and answer.json()["error_code"] == "APIG.0301"
