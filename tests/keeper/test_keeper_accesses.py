"""Whose keys open a run's store: its own, those of a newer log-in, and never a stranger's by accident."""

from __future__ import annotations

import pytest

from outlast.errors import CredentialError
from outlast.inside.place import ACCESSES, SECRET_PREFIX, access_for, accesses_from
from outlast.inside.stores.access import Access
from outlast.keeper.accesses import Accesses, Granted, addresses_of, decode, encode
from outlast.keeper.home import Home
from outlast.keeper.secrets import SecretsFile
from outlast.store.profiles import Profiles

AWS = {"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "env-secret", "AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
LAB = Access("s3", "http://127.0.0.1:2", key="LAB", secret="lab-secret")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    return Home(tmp_path / "home")


def keep(home, run, granted):
    SecretsFile(home).save_run(run, {"TOKEN": "t", ACCESSES: encode(granted)})


def test_each_bucket_is_granted_once_and_files_need_nothing(home):
    granted = Accesses(home, AWS).grant(["file:///x", "s3://bbb/one", "s3://bbb/two", "s3://ccc", "hdfs://h:9870/x"])
    assert list(granted) == ["s3://bbb", "s3://ccc", "hdfs://h:9870"]
    assert granted["s3://bbb"] == Granted(Access("s3", "http://127.0.0.1:1", key="ENV", secret="env-secret"))


def test_unknown_keys_are_an_error_that_says_how_to_log_in(home):
    with pytest.raises(CredentialError, match="outlast login obs"):
        Accesses(home, {}).grant(["obs://bucket/x"])


def test_runner_finds_its_keys_and_no_profile(home):
    text = encode({"s3://lab@bbb": Granted(LAB, "lab")})
    assert decode(text) == {"s3://lab@bbb": Granted(LAB, "lab")}
    accesses = accesses_from({SECRET_PREFIX + ACCESSES: text})
    assert access_for("s3://lab@bbb/some/prefix", accesses) == access_for("s3://lab@bbb", accesses) == LAB
    assert access_for("s3://lab@bbbigger", accesses) is None
    assert access_for("file:///s3", accesses) is None


def test_run_keeps_its_own_keys_whatever_the_environment_says_later(home):
    mine = Access("s3", "http://127.0.0.1:3", key="MINE", secret="my-secret")
    keep(home, "r", {"s3://bbb": Granted(mine)})
    values = Accesses(home, AWS).secrets_of("r", addresses_of({"store": "s3://bbb/x", "inputs": []}))
    assert values["TOKEN"] == "t"
    assert decode(values[ACCESSES]) == {"s3://bbb": Granted(mine)}


def test_keys_that_are_missing_are_added_from_what_is_known_now(home):
    inputs = [{"source": "s3://other/data"}, {"source": "file:///data"}]
    values = Accesses(home, AWS).secrets_of("taken-over", addresses_of({"store": "s3://bbb/x", "inputs": inputs}))
    assert {root: each.access.key for root, each in decode(values[ACCESSES]).items()} == {
        "s3://bbb": "ENV", "s3://other": "ENV",
    }  # fmt: skip


def test_new_log_in_under_the_same_profile_counts(home):
    keep(home, "r", {"s3://bbb": Granted(LAB._replace(conditional=True), "lab")})
    Profiles(home.path).save("lab", LAB._replace(secret="newer"), in_file=True)
    assert Accesses(home, {}).of_run("r")["s3://bbb"].access == LAB._replace(secret="newer", conditional=True)
    Profiles(home.path).forget("lab")
    assert Accesses(home, {}).of_run("r")["s3://bbb"].access.secret == "lab-secret"


def test_store_of_another_run_opens_with_the_keys_of_that_one(home):
    keep(home, "r", {"s3://bbb": Granted(LAB)})
    assert Accesses(home, {}).open("s3://bbb/x")._client.access == LAB
    with pytest.raises(CredentialError):
        Accesses(home, {}).open("s3://ccc/x")


def test_stores_are_opened_once_until_their_keys_may_have_changed(home):
    accesses = Accesses(home, AWS)
    first = accesses.open("s3://bbb/x")
    assert accesses.open("s3://bbb/x") is first
    accesses.forget_stores()
    assert accesses.open("s3://bbb/x") is not first
