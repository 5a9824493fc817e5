"""Names of a server's hub in a run that is asked for from afar: the same run as one asked for at the server."""

import dataclasses
import hashlib
import io
import json
import tarfile
import time
import uuid

import pytest
from hub_lab import PATIENCE_S, Work

from outlast.errors import SpecError
from outlast.model.request import RunRequest
from outlast.operations.explain import explain
from outlast.operations.runs import show_run
from outlast.operations.submit import plan_run, submit_run
from outlast.settings import Settings


@pytest.fixture(scope="session")
def pushed(hub_lab, tmp_path_factory):
    """A private data set of ann: a folder with two files, one in LFS, under v1; a later commit on main."""
    work = Work(hub_lab, tmp_path_factory.mktemp("served-dataset"))
    path = hub_lab.make("ann", "dataset")
    work.begin("ann", path)
    work.git("lfs", "install", "--local", cwd="repo")
    work.git("lfs", "track", "*.bin", cwd="repo")
    work.commit({"train/a.txt": "one", "train/b.bin": b"large " * 100, "only/one.txt": "1"})
    work.git("tag", "v1", cwd="repo")
    work.commit({"train/a.txt": "two"})
    work.git("push", "--quiet", "origin", "main", "v1", cwd="repo")
    return path


@pytest.fixture
def asking(hub_lab, tmp_path):
    """The settings of somebody far away, and a request made from their folder."""
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text("import pathlib, sys\nprint(sorted(map(str, pathlib.Path().iterdir())))\n")

    def settings(user):
        environ = {"OUTLAST_HOME": str(tmp_path / "laptop"), "OUTLAST_SERVER": hub_lab.url,
                   "OUTLAST_TOKEN": hub_lab.tokens[user]}  # fmt: skip
        return Settings.load(environ)

    def request(*data, **words):
        return RunRequest(str(code / "train.py"), cwd=code, data=data, **words)

    return settings, request


@pytest.mark.parametrize("contract", [None, "modelarts", "xihe"])
@pytest.mark.parametrize(
    "name",
    ["dataset:{}", "dataset:{}@v1", "dataset:{}/train@v1", "dataset:{}/train/a.txt", "dataset:{}/only",
     "dataset:{}/train/b.bin@v1"],
)  # fmt: skip
def test_the_plan_is_that_of_the_server(hub_lab, pushed, asking, contract, name):
    settings, request = asking
    asked = request(f"data_url={name.format(pushed)}", contract=contract)
    afar = plan_run(asked, settings("ann")).spec
    there = plan_run(asked, dataclasses.replace(hub_lab.settings, user="ann")).spec
    assert afar.inputs == there.inputs and afar.inputs[0].asset.startswith(f"dataset:{pushed}")
    assert "@" in afar.inputs[0].asset and (afar.user, afar.contract) == (there.user, there.contract)


def test_names_that_nobody_chose_are_the_same_too(hub_lab, pushed, asking):
    settings, request = asking
    asked = request(f"dataset:{pushed}/train/a.txt@v1", f"dataset:{pushed}")
    afar, there = (
        plan_run(asked, each).spec for each in (settings("ann"), dataclasses.replace(hub_lab.settings, user="ann"))
    )
    assert afar.inputs == there.inputs
    assert [each.path for each in afar.inputs] == ["a.txt", pushed.partition("/")[2]]


def test_names_in_outlast_toml_work_and_what_a_folder_plays_is_sent(hub_lab, pushed, asking, tmp_path):
    settings, request = asking
    (tmp_path / "code" / "outlast.toml").write_text(f'[data]\nmnist = "dataset:{pushed}@v1"\n')
    assert plan_run(request(), settings("ann")).spec.inputs[0].asset.startswith(f"dataset:{pushed}@")
    from outlast.store.maps import save_map

    played = tmp_path / "played"
    played.mkdir()
    (played / "x.txt").write_text("mine")
    (tmp_path / "laptop").mkdir(exist_ok=True)
    save_map(tmp_path / "laptop", f"dataset:{pushed}", played)
    (tmp_path / "code" / "outlast.toml").unlink()
    given = plan_run(request(f"mnist=dataset:{pushed}"), settings("ann")).spec.inputs[0]
    assert given.source == played.as_uri() and not given.asset


def test_private_ones_of_others_do_not_exist(hub_lab, pushed, asking):
    settings, request = asking
    with pytest.raises(SpecError) as hidden:
        plan_run(request(f"d=dataset:{pushed}"), settings("cas"))
    with pytest.raises(SpecError) as missing:
        plan_run(request("d=dataset:ann/none"), settings("cas"))
    assert str(hidden.value).replace(pushed, "ann/none") == str(missing.value)
    # One who says to have found it asks the server itself, and gets the same answer.
    body = {"target": "train.py", "code": _upload(hub_lab, "cas"),
            "inputs": [{"name": "d", "source": f"dataset:{pushed}@v1", "path": "d"}]}  # fmt: skip
    refused = hub_lab.call("cas", "POST", "/api/v1/runs/plan", json=body)
    assert refused.status_code == 400 and "lies in a hub" in refused.json()["message"], refused.text


def _upload(hub_lab, user):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        info = tarfile.TarInfo("train.py")
        info.size = 9
        archive.addfile(info, io.BytesIO(b"print(1)\n"))
    data = packed.getvalue()
    body = {"sha256": hashlib.sha256(data).hexdigest(), "size_bytes": len(data)}
    hub_lab.call(user, "POST", "/api/v1/uploads", json=body)
    hub_lab.call(user, "PUT", f"/api/v1/uploads/{body['sha256']}/parts/1", content=data)
    hub_lab.call(user, "POST", f"/api/v1/uploads/{body['sha256']}/complete")
    return body["sha256"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("dataset:{}@v9", "no revision 'v9'"), ("dataset:{}/nope.txt", "there is no 'nope.txt'"),
     ("model:{}", "is a dataset"), ("dataset:ann/none", "none that you may see"), ("dataset:{}/../x", "leads out")],
)  # fmt: skip
def test_what_cannot_be_found_says_what_is_missing_and_nothing_is_sent(pushed, asking, name, words):
    settings, request = asking
    with pytest.raises(SpecError, match=words):
        plan_run(request("d=" + name.format(pushed)), settings("ann"))


def test_a_run_from_afar_trains_on_it(hub_lab, pushed, asking, tmp_path):
    settings, request = asking
    script = (
        "import pathlib\nprint('read', pathlib.Path('d/a.txt').read_text(), pathlib.Path('d/b.bin').stat().st_size)\n"
    )
    (tmp_path / "code" / "train.py").write_text(script)
    name = f"afar-{uuid.uuid4().hex[:6]}"
    asked = request(f"d=dataset:{pushed}/train@v1", name=name, limit="10m")
    explained = explain(asked, settings("ann"))
    assert explained is not None
    spec = submit_run(asked, settings("ann"))
    assert spec.inputs[0].asset.startswith(f"dataset:{pushed}/train@") and not spec.inputs[0].source.endswith("v1")
    recorded = json.loads(hub_lab.hub.store.get(f"runs/{spec.id}/spec.json"))
    assert recorded["inputs"][0]["asset"] == spec.inputs[0].asset
    deadline = time.monotonic() + PATIENCE_S
    while not (view := show_run(settings("ann"), spec.id)).state.is_final and time.monotonic() < deadline:
        time.sleep(0.2)
    assert view.state == "succeeded", view
