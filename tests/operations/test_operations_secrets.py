"""Secrets by name."""

from __future__ import annotations

import pytest

from outlast.errors import NotFoundError, SpecError
from outlast.keeper.secrets import SecretsFile
from outlast.operations.secrets import collect_secrets, list_secrets, remove_secret, set_secret


def test_environment_wins_over_what_is_kept(bench):
    set_secret(bench.settings, "TOKEN", "kept")
    file = SecretsFile(bench.home)
    assert collect_secrets(["TOKEN"], {}, file) == {"TOKEN": "kept"}
    assert collect_secrets(["TOKEN"], {"TOKEN": "fresh"}, file) == {"TOKEN": "fresh"}
    assert collect_secrets([], {"TOKEN": "x"}, file) == {}


def test_missing_secret_is_named(bench):
    with pytest.raises(SpecError, match=r"no value for secret A, B.*export A="):
        collect_secrets(["A", "C", "B"], {"C": "x"}, SecretsFile(bench.home))


def test_names_are_listed_and_values_are_not(bench):
    set_secret(bench.settings, "B_TOKEN", "value-b")
    set_secret(bench.settings, "A_TOKEN", "value-a")
    assert list_secrets(bench.settings) == ["A_TOKEN", "B_TOKEN"]
    remove_secret(bench.settings, "A_TOKEN")
    assert list_secrets(bench.settings) == ["B_TOKEN"]
    with pytest.raises(NotFoundError):
        remove_secret(bench.settings, "A_TOKEN")


@pytest.mark.parametrize("name", ["", "A B", "1A", "A=B", "A\n"])
def test_bad_name_is_refused(bench, name):
    with pytest.raises(SpecError, match="is not a name"):
        set_secret(bench.settings, name, "v")
