"""The library: the same verbs, imported only when they are used."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys

import pytest

from outlast.client import Client, Runs, Stores
from outlast.errors import NotFoundError, UsageError
from outlast.inside.stores import open_store
from outlast.keeper.home import Home
from outlast.keeper.wake import take_lock
from outlast.model.states import RunState
from outlast.testing.runs import fake_settings, write_run


@pytest.fixture
def client(tmp_path):
    """A client of a home whose lock is held, so that nothing starts a keeper."""
    settings = fake_settings(tmp_path / "home")
    lock = take_lock(Home(settings.home))
    yield Client(settings=settings)
    os.close(lock)


@pytest.fixture
def store(client):
    return open_store(client.settings.store)


def test_opening_a_client_touches_nothing(tmp_path):
    Client(home=tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_importing_the_client_is_cheap():
    code = "import sys, outlast.client; print([m for m in ('pydantic', 'sqlalchemy', 'tomllib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_runs_are_listed_shown_and_stopped(client, store):
    spec = write_run(store, client.settings, name="mnist")
    assert [view.id for view in client.runs.list()] == [spec.id]
    view = client.runs.get("mnist")
    assert (view.id, view.state, view.spec["name"]) == (spec.id, RunState.QUEUED, "mnist")
    assert client.runs.stop("mnist").state is RunState.STOPPED, "nothing has been started yet"
    assert client.runs.wait("mnist", timeout=10).state is RunState.STOPPED
    assert [view.state for view in client.runs.watch("mnist")] == [RunState.STOPPED]
    assert list(client.runs.logs("mnist", follow=True)) == []
    assert client.runs.points("mnist") == {}
    assert client.runs.resume("mnist").state is RunState.QUEUED
    client.runs.stop("mnist")
    assert client.runs.remove("mnist") == spec.id
    with pytest.raises(NotFoundError):
        client.runs.get("mnist")


def test_words_and_a_request_are_not_mixed(client):
    from outlast.model.request import RunRequest

    with pytest.raises(UsageError, match="not both"):
        client.runs.submit(RunRequest("train.py"), limit="1h")
    with pytest.raises(UsageError, match="limits"):
        client.runs.plan("train.py", limits="1h")


def test_settings_can_be_read_and_written(client):
    client.set_config("grace_s", "3s")
    again = Client(home=client.settings.home)
    assert again.settings.grace_s == 3.0
    shown = {setting.name: (value, origin) for setting, value, origin in again.config()}
    assert shown["grace_s"] == ("3", "config.toml")


def test_secrets_are_kept_by_name(client):
    client.secrets.set("TOKEN", "v")
    assert client.secrets.list() == ["TOKEN"]
    client.secrets.remove("TOKEN")
    assert client.secrets.list() == []


def test_stores_are_logged_in_to_and_prepared(nobody, seaweed):
    client = Client(settings=nobody)
    bucket = seaweed.bucket()
    done = client.login("s3", endpoint=seaweed.endpoint, key=seaweed.key, secret=seaweed.secret, bucket=bucket)
    assert done.abilities.can_write and [each.profile for each in client.whoami(check=True) if each.ok] == ["s3"]
    assert client.stores.init(f"s3://{bucket}/p").folders[0].address == f"s3://{bucket}/p/code/"
    assert client.stores.publish(bucket, dry_run=True).changes and not client.stores.unpublish(bucket).changes
    assert client.stores.sign("s3://shared/hello.txt").url.startswith(seaweed.endpoint)
    assert client.logout("s3") == "s3"


def test_a_word_that_is_no_field_of_an_access_is_named(client):
    with pytest.raises(UsageError, match="no field of an access: keys"):
        client.login("s3", keys="x")


def test_reindex_and_clean_report(client, store):
    write_run(store, client.settings)
    assert client.reindex().runs == 1
    assert client.clean(dry_run=True).is_empty


def test_doctor_looks_at_this_home(client):
    assert any(str(client.settings.home) in f"{finding.value} {finding.advice}" for finding in client.doctor())


def test_every_public_method_has_a_docstring():
    for kind in (Client, Runs, Stores):
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            assert name.startswith("_") or inspect.getdoc(method), f"{kind.__name__}.{name}"
