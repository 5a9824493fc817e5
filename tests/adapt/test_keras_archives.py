"""Archives that Keras fetches and unpacks: the contract brings them."""

from __future__ import annotations

import shutil
import sys
import types
import urllib.request
from pathlib import Path

import pytest
from checked import adapt, said
from stage import play

from outlast.migrate.engine import Kind

SCRIPT = """
import os
from keras.utils import get_file
URL = "https://h/sets/birds.zip?raw=1"
packed = get_file("birds.zip", origin=URL, extract=True)
rows = os.path.join(os.path.dirname(packed), "birds/")
print(open(rows + "rows.txt").read())
"""


UNPACKS = """
from pathlib import Path
from zipfile import ZipFile
from keras.utils import get_file
packed = get_file("birds.zip", "https://h/sets/birds.zip", extract=False)
around = Path(packed).parents[0]
birds = around / "birds"
if not birds.exists():
    with ZipFile(packed, "r") as archive:
        archive.extractall(path=around)
print((birds / "rows.txt").read_text())
"""


#: By its address alone, and unpacked by the script beside what it has got.
UNNAMED = """
import os
import shutil
from pathlib import Path
from keras.utils import get_file
packed = get_file(origin="https://h/sets/birds.zip")
around = Path(packed).parent.absolute()
if os.path.exists(packed):
    shutil.unpack_archive(packed, around)
print(open(os.path.join(around, "birds", "rows.txt")).read())
"""


def _get_file(fname, origin, extract=False, cache_dir=None):
    """As Keras 2 does it: unpacked beside the archive, which is returned."""
    there = Path(cache_dir or "cache", fname or Path(origin).name)
    urllib.request.urlretrieve(origin, there)
    if extract:
        shutil.unpack_archive(there, there.parent)
    return str(there)


@pytest.mark.parametrize("script", [SCRIPT, UNPACKS, UNNAMED])
@pytest.mark.parametrize("is_packed", [True, False])
def test_an_archive_that_was_brought_is_unpacked_as_ever(script, is_packed, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", types.ModuleType("keras"))
    utils = types.ModuleType("keras.utils")
    utils.get_file = _get_file
    monkeypatch.setitem(sys.modules, "keras.utils", utils)
    (tmp_path / "made" / "birds").mkdir(parents=True)
    (tmp_path / "made" / "birds" / "rows.txt").write_text("robin")
    (tmp_path / "given").mkdir()
    if is_packed:
        shutil.make_archive(str(tmp_path / "given" / "birds"), "zip", tmp_path / "made")
    else:
        shutil.copytree(tmp_path / "made", tmp_path / "given", dirs_exist_ok=True)
    given = sorted(path.name for path in (tmp_path / "given").iterdir())
    text = adapt(script).text
    assert play(text, tmp_path, "--data_url", str(tmp_path / "given")).output.splitlines() == ["robin"]
    assert sorted(path.name for path in (tmp_path / "given").iterdir()) == given, (
        "nothing is put beside what was brought"
    )


def test_what_the_folder_must_hold_is_said():
    done = adapt(SCRIPT)
    assert "packed = get_delivered(get_file, contract.data_url)(" in done.text
    told = said(done, Kind.CHANGED)
    assert "birds.zip is not downloaded when --data_url is given" in told and "the archive birds.zip" in told
    assert not said(done, Kind.DIFFERS).count("stays as it is") and "nothing reads" not in said(done, Kind.DIFFERS)


@pytest.mark.parametrize("contract", ["modelarts", "xihe"])
@pytest.mark.parametrize("script", [SCRIPT, UNPACKS])
def test_of_an_archive_that_is_found_already_nothing_is_left(script, contract):
    again = adapt(adapt(script, contract).text, contract)
    left = said(again, Kind.HAND) + said(again, Kind.DIFFERS)
    assert "fetche" not in left and "stays as it is" not in left


def test_what_is_put_elsewhere_is_no_such_archive():
    text = adapt(SCRIPT.replace("extract=True", "extract=True, cache_dir='.'")).text
    assert "get_delivered" not in text
