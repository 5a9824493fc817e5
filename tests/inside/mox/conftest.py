"""Scripts that import moxing, run as a stint runs them: in their own process, with our folders on PYTHONPATH."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[3] / "src"
MOX = SOURCE / "outlast" / "inside" / "mox"
HEAD = """
import os, sys
import moxing as mox
file = mox.file
root, here = sys.argv[1], sys.argv[2]

def refused(kind, call, *args, **words):
    try:
        call(*args, **words)
    except kind as error:
        return error
    raise AssertionError("%s expected from %s%r" % (kind, call, args))
"""


class Stage:
    """Where a script plays: `root` is the url of an empty folder, `here` an empty folder of this machine."""

    def __init__(self, root: str, here: Path, env: dict[str, str]) -> None:
        self.root, self.here, self.env = root, here, env

    def play(self, script: str, *, python: str = sys.executable, head: str = HEAD, **env: str) -> str:
        """Run a script and return what it printed; `said` keeps its standard error."""
        path = self.here.parent / "script.py"
        path.write_text(head + textwrap.dedent(script), encoding="utf-8")
        known = ("PATH", "HOME", "LANG", "TMPDIR", "COVERAGE_PROCESS_START")
        full = {name: os.environ[name] for name in known if name in os.environ}
        full |= {"PYTHONPATH": f"{MOX}{os.pathsep}{SOURCE}", "PYTHONDONTWRITEBYTECODE": "1", **self.env, **env}
        done = subprocess.run(
            [python, "-W", "error", str(path), self.root, str(self.here)],
            env=full, cwd=self.here, capture_output=True, text=True, timeout=150,
        )  # fmt: skip
        self.said = done.stderr
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def here(tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


@pytest.fixture
def mapped(tmp_path, here):
    """A folder plays the bucket obs://lab; there are no keys at all."""
    (tmp_path / "bucket").mkdir()
    maps = json.dumps({"obs://lab": str(tmp_path / "bucket")})
    stage = Stage("obs://lab/work", here, {"OUTLAST_MAPS": maps})
    stage.bucket = tmp_path / "bucket"
    return stage


@pytest.fixture(params=["local", "mapped", "v4"])
def anywhere(request, tmp_path, here):
    """The same script for a path of this machine, a mapped bucket, and a real server."""
    if request.param == "local":
        return Stage(str(tmp_path / "work"), here, {})
    if request.param == "mapped":
        return request.getfixturevalue("mapped")
    return real_bucket(request.getfixturevalue("seaweed"), here, request.param)


@pytest.fixture(params=["mapped", "v2"])
def store(request, here):
    """A bucket, played and real; the real one with the older signature."""
    if request.param == "mapped":
        return request.getfixturevalue("mapped")
    return real_bucket(request.getfixturevalue("seaweed"), here, request.param)


@pytest.fixture
def real(seaweed, here):
    """A bucket of a real server."""
    return real_bucket(seaweed, here, "v4")


def real_bucket(seaweed, here, signature):
    access = seaweed.access._replace(kind="obs", signature=signature)
    return Stage(f"obs://{seaweed.bucket()}/work", here, {"OUTLAST_OBS_ACCESS": access.to_json()})
