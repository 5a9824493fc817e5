"""Every way to import moxing, from a folder and from the zip that travels, on the oldest Python there is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from outlast.platforms.bundle import inside_bundle, inside_folder

FORMS = """
import sys
import moxing as mox
from moxing.framework import file
import moxing.tensorflow as flavour
from moxing.framework.file import file_io
import moxing.file
import moxing.framework.file as whole
assert mox.file is file is flavour.file is moxing.file is whole
assert file_io.copy_parallel is mox.file.copy_parallel
file_io._LARGE_FILE_METHOD = 2
file.write("obs://lab/work/f", "x")
assert file_io.read("s3://lab/work/f") == "x" and callable(flavour.cache)
assert sorted(file.__all__) == file.__all__ and all(hasattr(file, name) for name in file.__all__)
print(mox.__file__)
"""


def test_every_form_of_import_leads_to_the_same_functions(mapped):
    mapped.play(FORMS, head="")
    assert mapped.said.splitlines() == [
        "INFO:root:Using MoXing-v2.5.0-outlast",
        "INFO:root:Using OBS-Python-SDK-outlast",
    ]
    mapped.play(FORMS, head="", MOX_SILENT_MODE="1")
    assert mapped.said == ""


@pytest.mark.parametrize("make", [inside_bundle, inside_folder])
def test_it_works_from_the_bundle_that_travels(mapped, tmp_path, make):
    bundle = make(tmp_path / "cache")
    out = mapped.play(FORMS, head="", PYTHONPATH=f"{bundle}/outlast/inside/mox{os.pathsep}{bundle}")
    assert out.startswith(str(bundle))


def test_it_works_on_the_oldest_python(mapped, tmp_path):
    found = sorted((Path.home() / ".pyenv" / "versions").glob("3.7.*/bin/python3.7"))
    if not found:
        pytest.skip("no Python 3.7 here")
    old = str(found[0])
    bundle = inside_bundle(tmp_path / "cache")
    paths = f"{bundle}/outlast/inside/mox{os.pathsep}{bundle}"
    mapped.play(FORMS, head="", python=old, PYTHONPATH=paths)
    mapped.play(
        """
        for name in ("a", "b/c"):
            os.makedirs(os.path.dirname(here + "/src/" + name), exist_ok=True)
            file.write(here + "/src/" + name, name)
        file.copy_parallel(here + "/src", root)
        file.copy_parallel(root, here + "/back/")
        assert sorted(os.listdir(here + "/back")) == ["a", "b", "f", "work"]
        file.shift("os", "mox")
        assert sorted(os.listdir(root)) == ["a", "b", "f"] and open(root + "/b/c").read() == "b/c"
        """,
        python=old,
        PYTHONPATH=paths,
    )


def test_it_stands_before_the_package_of_that_name_from_the_index(mapped, tmp_path):
    (tmp_path / "site/moxing").mkdir(parents=True)
    (tmp_path / "site/moxing/__init__.py").write_text("raise SystemExit('the wrong moxing')")
    source = Path(__file__).resolve().parents[3] / "src"
    mapped.play(FORMS, head="", PYTHONPATH=os.pathsep.join(
        map(str, (source / "outlast/inside/mox", source, tmp_path / "site"))))  # fmt: skip
