"""From a request to a run: everything is checked first, and nothing is half there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from outlast.errors import SpecError, StoreError
from outlast.inside import layout
from outlast.inside.errors import StoreFull
from outlast.inside.records import Control
from outlast.keeper.inbox import markers
from outlast.model.request import RunRequest
from outlast.operations import submit
from outlast.operations.runs import list_runs
from outlast.operations.submit import plan_run, submit_run
from outlast.platforms.base import job_name


@pytest.fixture
def project(tmp_path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text("print('hello')\n")
    return folder


@pytest.fixture
def faked(bench, monkeypatch):
    """Every platform is the bench's fake one."""
    monkeypatch.setattr("outlast.platforms.registry.create", lambda name, settings: bench.platform)
    return bench


def request(project: Path, **words) -> RunRequest:
    return RunRequest("train.py", cwd=project, **words)


def everything(bench) -> list[str]:
    return [entry.key for entry in bench.store.list("")]


def test_submitted_run_is_complete_and_listed(faked, project):
    said = []
    spec = submit_run(request(project), faked.settings, said.append)
    assert faked.store.head(layout.blob_key(spec.code.sha256)) is not None
    assert Control.from_bytes(faked.store.get(layout.control_key(spec.id))).want == "go"
    assert [marker.run for marker in markers(faked.home)] == [spec.id]
    assert [view.id for view in list_runs(faked.settings)] == [spec.id]
    assert len(said) == 3 and spec.id in said[-1]
    assert not list(faked.home.cache.glob("pack-*"))


def test_keeper_that_is_there_starts_the_first_stint(faked, project):
    spec = submit_run(request(project), faked.settings)
    assert faked.platform.jobs == {}
    faked.turn()
    assert faked.platform.submits == {job_name(spec.id, 1): 1}


def test_without_a_keeper_the_first_stint_does_not_wait_for_one(faked, project, monkeypatch):
    started = []
    monkeypatch.setattr(submit, "keeper_is_there", lambda home: False)
    monkeypatch.setattr(submit, "ensure_keeper", lambda home: started.append(dict(faked.platform.submits)))
    spec = submit_run(request(project), faked.settings)
    assert started == [{job_name(spec.id, 1): 1}]
    faked.turn(3)
    assert faked.platform.submits == {job_name(spec.id, 1): 1}, "the keeper adopts what is there"


def test_platform_that_fails_at_the_first_stint_is_left_to_the_keeper(faked, project, monkeypatch):
    from outlast.errors import PlatformError

    def down(verb):
        if verb == "submit":
            raise PlatformError("no answer")

    monkeypatch.setattr(submit, "keeper_is_there", lambda home: False)
    faked.platform.on_call = down
    spec = submit_run(request(project), faked.settings)
    faked.platform.on_call = lambda verb: None
    faked.turn()
    assert faked.platform.submits == {job_name(spec.id, 1): 1}


def test_script_that_gitignore_leaves_out_is_named_before_anything_is_sent(faked, project):
    (project / ".gitignore").write_text("*.py\n")
    with pytest.raises(SpecError, match=r"script train.py is left out.*--include train.py"):
        submit_run(request(project), faked.settings)
    assert everything(faked) == []
    submit_run(request(project, include=("train.py",)), faked.settings)


def test_unchanged_folder_is_sent_once(faked, project):
    first = submit_run(request(project), faked.settings)
    blob = faked.store.head(layout.blob_key(first.code.sha256))
    os.utime(project / "train.py", (1, 1))
    second = submit_run(request(project), faked.settings)
    assert second.code == first.code and second.id != first.id
    assert len([key for key in everything(faked) if key.startswith("blobs/")]) == 1
    assert blob is not None


def test_plan_starts_and_keeps_nothing(faked, project):
    plan = plan_run(request(project, args=("--lr", "1")), faked.settings)
    assert plan.spec.args == ("--lr", "1") and plan.platform.command[0] == "fake"
    assert plan.spec.code.files == 1 and [file.path for file in plan.pack.files] == ["train.py"]
    assert everything(faked) == [] and markers(faked.home) == [] and faked.platform.jobs == {}
    assert not list(faked.home.cache.glob("pack-*"))


def test_chosen_name_of_an_open_run_is_refused(faked, project):
    first = submit_run(request(project, name="mnist"), faked.settings)
    with pytest.raises(SpecError, match=rf"'mnist' is taken by {first.id}, which is queued.*outlast stop"):
        submit_run(request(project, name="mnist"), faked.settings)
    stint = faked.start()
    faked.end(stint, "finished")
    assert submit_run(request(project, name="mnist"), faked.settings).name == "mnist"


def test_names_that_nobody_chose_may_repeat(faked, project):
    names = {submit_run(request(project), faked.settings).name for _ in range(2)}
    assert names == {"train"}


def test_missing_secret_leaves_no_run(faked, project, monkeypatch):
    monkeypatch.delenv("HF_TOKEN", raising=False)
    for act in (submit_run, plan_run):
        with pytest.raises(SpecError, match="HF_TOKEN"):
            act(request(project, secrets=("HF_TOKEN",)), faked.settings)
    assert everything(faked) == [] and markers(faked.home) == []


def test_secret_value_goes_to_the_home_and_the_launch_only(faked, project, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "s3cret-value")
    spec = submit_run(request(project, secrets=("HF_TOKEN",)), faked.settings)
    faked.turn()
    assert stat.S_IMODE(faked.home.secrets.stat().st_mode) == 0o600
    assert faked.platform.launches[job_name(spec.id, 1)].secrets == {"HF_TOKEN": "s3cret-value"}
    for key in everything(faked):
        assert b"s3cret-value" not in faked.store.get(key), key
    assert b"s3cret-value" not in faked.home.index.read_bytes()


def test_id_that_is_taken_is_not_used_again(faked, project, monkeypatch):
    first = submit_run(request(project), faked.settings)
    ids = iter([first.id, first.id, "1115-calm-cat-abc"])
    monkeypatch.setattr(submit, "new_run_id", lambda: next(ids))
    assert submit_run(request(project), faked.settings).id == "1115-calm-cat-abc"
    assert len(list_runs(faked.settings)) == 2


def test_request_that_the_platform_refuses_leaves_no_run(faked, project):
    def refuse(verb):
        if verb == "check":
            raise SpecError("--cpus 64 is more than this machine has (2 cpus)")

    faked.platform.on_call = refuse
    with pytest.raises(SpecError, match="--cpus 64"):
        submit_run(request(project), faked.settings)
    assert everything(faked) == [] and markers(faked.home) == []


@pytest.mark.parametrize("verb", ["put", "put_if_absent"])
def test_full_store_leaves_no_run(faked, project, monkeypatch, verb):
    from outlast.inside.stores.file import FileStore

    def full(self, key, data):
        raise StoreFull("no space left on device")

    monkeypatch.setattr(FileStore, verb, full)
    with pytest.raises(StoreError, match=r"no space left.*outlast gc") as caught:
        submit_run(request(project), faked.settings)
    assert caught.value.exit_code == 12
    monkeypatch.undo()
    assert list_runs(faked.settings) == []


def test_submitting_imports_neither_the_database_nor_the_relay(bench, project):
    """The third of a second that SQLAlchemy needs is longer than all the rest; the relay is the keeper's."""
    code = (
        "import os, sys\nfrom outlast.client import Client\n"
        "view = Client().runs.submit('train.py')\n"
        "print(view.id, bool({'sqlalchemy', 'outlast.relay'} & set(sys.modules)))"
    )
    environ = {**os.environ, "OUTLAST_HOME": str(bench.home.path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=project, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run, imported = done.stdout.split()
    assert imported == "False" and [view.id for view in list_runs(bench.settings)] == [run]


def test_home_without_space_for_the_marker_leaves_no_run(faked, project, monkeypatch):
    import errno

    from outlast.errors import HomeError

    def refuse(home, run, store):
        with home.explained():
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(submit, "drop_marker", refuse)
    with pytest.raises(HomeError, match=r"no space left.*OUTLAST_HOME"):
        submit_run(request(project), faked.settings)
    monkeypatch.undo()
    from outlast.operations.reindex import reindex

    assert reindex(faked.settings).runs == 0 and list_runs(faked.settings) == []
