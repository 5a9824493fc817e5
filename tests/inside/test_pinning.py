"""A pinned environment below the project's requirements, made for real from a folder of tiny packages."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from outlast.inside import pinning
from outlast.inside.errors import RequestError

PIN = {"name": "tiny", "requirements": ["tinyone==1.0", "tinytwo"], "image": ""}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A code folder, a cache, and wheels as the only index: no network is needed."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name, version in (("tinyone", "1.0"), ("tinyone", "2.0"), ("tinytwo", "1.0")):
        info = f"{name}-{version}.dist-info"
        with zipfile.ZipFile(wheels / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}.py", f"version = {version!r}\n")
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    (tmp_path / "code").mkdir()
    return Place(tmp_path)


class Place:
    def __init__(self, folder):
        self.cache, self.code = folder / "cache", folder / "code"
        self.lines, self.tools = [], []

    def run(self, argv, env, writable, readonly):
        self.tools.append(argv)
        done = subprocess.run(
            argv, env={**os.environ, **env}, cwd=self.code, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return done.returncode, done.stdout

    def prepare(self, pinned, text=None):
        path = None
        if text is not None:
            path = str(self.code / "pip-requirements.txt")
            Path(path).write_text(text)
        return pinning.prepare(pinned, path, sys.executable, str(self.cache), self.run, self.lines.append)


def versions(ready):
    code = "import tinyone, tinytwo; print(tinyone.version, tinytwo.version)"
    done = subprocess.run([ready.python, "-c", code], capture_output=True, text=True, env={**os.environ, **ready.env})
    return done.stdout.strip() or done.stderr


def test_without_a_pin_nothing_changes(place):
    for pinned in (None, {"name": "x", "requirements": [], "image": "img"}):
        ready = place.prepare(pinned)
        assert (ready.python, ready.built, place.tools) == (sys.executable, False, [])


def test_the_pinned_packages_are_there_and_the_second_time_takes_no_tool(place):
    first = place.prepare(PIN)
    assert first.built and versions(first) == "1.0 1.0"
    tools = len(place.tools)
    again = place.prepare(PIN)
    assert (again.python, again.built, len(place.tools)) == (first.python, False, tools)


def test_the_projects_own_requirements_win_and_leave_the_pinned_build_alone(place):
    below = place.prepare(PIN)
    above = place.prepare(PIN, "tinyone==2.0\n")
    assert above.python != below.python and versions(above) == "2.0 1.0" and versions(below) == "1.0 1.0"
    assert set(below.folders) <= set(above.folders)
    satisfied = place.prepare(PIN, "tinytwo\n")
    assert versions(satisfied) == "1.0 1.0"


def test_a_pin_that_cannot_be_installed_is_named(place):
    with pytest.raises(RequestError, match=r"tiny\.txt line 1 \(tinyone==9\)"):
        place.prepare({"name": "tiny", "requirements": ["tinyone==9"], "image": ""})
