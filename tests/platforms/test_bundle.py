"""The inside half as it travels."""

from __future__ import annotations

import subprocess
import sys
import zipfile

from outlast.platforms import bundle


def test_the_zip_is_the_same_every_time_and_holds_only_the_inside_half(tmp_path):
    first = bundle.inside_bundle(tmp_path / "a")
    second = bundle.inside_bundle(tmp_path / "b")
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
    names = zipfile.ZipFile(first).namelist()
    assert {"__main__.py", "outlast/__init__.py", "outlast/inside/__main__.py", "outlast/inside/place.py"} <= set(names)
    assert not [name for name in names if name.endswith(".pyc") or "platforms" in name or "/model/" in name]
    assert [path.name for path in (tmp_path / "a" / "inside").iterdir()] == [first.name]


def test_a_second_call_makes_nothing(tmp_path):
    first = bundle.inside_bundle(tmp_path)
    stamp = first.stat().st_mtime_ns
    assert bundle.inside_bundle(tmp_path) == first
    assert first.stat().st_mtime_ns == stamp
    folder = bundle.inside_folder(tmp_path)
    assert bundle.inside_folder(tmp_path) == folder
    assert sorted(path.name for path in (tmp_path / "inside").iterdir()) == sorted([first.name, folder.name])


def test_naming_the_folder_creates_nothing(tmp_path):
    named = bundle.inside_folder(tmp_path, create=False)
    assert list(tmp_path.iterdir()) == []
    assert bundle.inside_folder(tmp_path) == named


def test_both_forms_run_without_anything_installed(tmp_path):
    for form in (bundle.inside_bundle(tmp_path), bundle.inside_folder(tmp_path)):
        done = subprocess.run([sys.executable, "-I", "-S", str(form)], capture_output=True, text=True, cwd="/")
        assert done.returncode == 2
        assert done.stderr.startswith("usage: ")
        script = "import outlast; print(outlast.__file__)"
        done = subprocess.run(
            [sys.executable, "-S", "-c", script], capture_output=True, text=True, env={"PYTHONPATH": str(form)}
        )
        assert done.stdout.startswith(str(form))


def test_the_folder_is_compiled_ahead(tmp_path):
    folder = bundle.inside_folder(tmp_path)
    compiled = list(folder.glob("outlast/inside/__pycache__/*.pyc"))
    assert len(compiled) == len(list(folder.glob("outlast/inside/*.py")))
