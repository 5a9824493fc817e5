"""The file that a platform hands to the runner."""

from __future__ import annotations

import json
import stat

import pytest

from outlast.inside.errors import Damaged, PlaceError, RequestError
from outlast.inside.place import Place, without_secrets


def a_place(**more):
    return Place(store="file:///s", run="r", stint=2, token="t", work="/w", shared="/w/shared", cache="/c", **more)


def test_a_place_survives_the_file(tmp_path):
    path = tmp_path / "place.json"
    place = a_place(hide=["/home/é"], cpu_list=[1, 3], memory_bytes=5, gpus=["0"], secret_names=["KEY"])
    place.write(str(path))
    assert Place.read(str(path)) == place
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["place.json"]


def test_unknown_fields_are_ignored_and_newer_formats_refused(tmp_path):
    path = tmp_path / "place.json"
    a_place().write(str(path))
    body = json.loads(path.read_text())
    path.write_text(json.dumps({**body, "later": 1}))
    assert Place.read(str(path)) == a_place()
    path.write_text(json.dumps({**body, "format": 99}))
    with pytest.raises(RequestError, match="format 99"):
        Place.read(str(path))


def test_a_missing_or_broken_file_is_named(tmp_path):
    with pytest.raises(PlaceError, match=r"nowhere\.json"):
        Place.read(str(tmp_path / "nowhere.json"))
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(Damaged, match=r"place\.json"):
        Place.read(str(tmp_path / "broken.json"))


def test_secrets_come_from_the_environment_and_leave_it():
    environ = {"OUTLAST_SECRET_KEY": "hidden", "OUTLAST_SECRET_OTHER": "x", "PATH": "/bin"}
    place = a_place(secret_names=["KEY", "ABSENT"])
    assert place.secret_values(environ) == {"KEY": "hidden"}
    assert without_secrets(environ) == {"PATH": "/bin"}
    assert b"hidden" not in place.to_bytes()
