"""The boot file as it is made, and what it is told."""

from __future__ import annotations

import ast
import base64
import bz2
import json
import os
import stat
import subprocess
import sys
import traceback
from dataclasses import replace
from pathlib import Path

import pytest

from outlast.inside.boot import BOOT
from outlast.inside.place import ACCESSES, SECRET_PREFIX, read_accesses
from outlast.inside.records import Order
from outlast.model.spec import CodePack, Input, RunSpec
from outlast.platforms.base import Launch
from outlast.platforms.boot import boot_environment, boot_file
from outlast.platforms.boot.packing import blank
from outlast.platforms.bundle import inside_files

SPEC = RunSpec(
    id="0101-run", name="train", user="me", created_at="", script="train.py", python="python3.9",
    code=CodePack(sha256="0" * 64, size_bytes=0, files=1), store="s3://home/outlast",
    inputs=(Input(name="data", source="obs://data/mnist", path="data"),),
)  # fmt: skip
ORDER = Order("0101-run", 2, "tok", "far", store="obs://away/mirror")


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return boot_file(tmp_path_factory.mktemp("boot"))


def test_it_is_small_and_the_same_on_every_build(made, tmp_path):
    again = boot_file(tmp_path)
    assert again.name == made.name and again.read_bytes() == made.read_bytes()
    assert made.name.startswith("outlast-boot-") and made.suffix == ".py"
    assert made.stat().st_size < 200_000
    assert stat.S_IMODE(made.stat().st_mode) == 0o644
    stamp = again.stat().st_mtime_ns
    assert boot_file(tmp_path).stat().st_mtime_ns == stamp
    assert [path.name for path in again.parent.iterdir()] == [again.name]


def test_it_is_text_that_survives_any_transport(made):
    text = made.read_bytes()
    assert text.isascii() and b"\r" not in text and b"\0" not in text
    ast.parse(text)


def test_every_program_in_it_keeps_its_statements_and_their_line_numbers(made):
    text = next(line for line in made.read_text().splitlines() if line.startswith("FILES = "))
    packed = json.loads(bz2.decompress(base64.b85decode(ast.literal_eval(text[len("FILES = ") :]))))
    sources = {name: content.decode() for name, content in inside_files().items()}
    assert set(sources) - set(packed) == {"outlast/inside/boothead.py"}
    for name, small in packed.items():
        assert small.count("\n") == sources[name].count("\n"), name
        assert _skeleton(small) == _skeleton(sources[name]), name


def _skeleton(source):
    """Every statement and its line, without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.Module(body) | ast.ClassDef(body=body) | ast.FunctionDef(body=body):
                if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
                    del body[0]
    return [(type(node).__name__, node.lineno) for node in ast.walk(tree) if isinstance(node, ast.stmt)]


def test_blanking_leaves_traps_alone():
    source = (
        'x = "# no comment"  # a comment\n'
        'def f():\n    """Only\n    words."""\n'
        'class C:\n    "é"; y = 1\n'
        "def g():\n    '''one''' ; return 2  # ä\n"
    )
    names: dict[str, object] = {}
    exec(blank(source), names)
    assert names["x"] == "# no comment" and names["f"]() is None and names["g"]() == 2 and names["C"].y == 1
    try:
        exec(blank("def f():\n    '''a\n    b'''\n    # c\n    raise ValueError\nf()\n"), {})
    except ValueError as error:
        assert traceback.extract_tb(error.__traceback__)[-1].lineno == 5


def test_stint_is_told_openly_what_anybody_may_see_and_the_rest_in_secret():
    accesses = {root: {"kind": root[:3], "key": "k", "secret": "hush"} for root in ("s3://home", "obs://away")}
    accesses["obs://data"] = {"kind": "obs", "key": "k", "secret": "hush"}
    accesses["obs://"] = {"kind": "obs", "key": "usual"}
    launch = Launch(SPEC, ORDER, {ACCESSES: json.dumps(accesses), "TOKEN": "psst"})
    told = boot_environment(launch)
    body = json.loads(told.open[BOOT])
    assert body["store"] == "obs://away/mirror" and body["run"] == "0101-run" and body["stint"] == 2
    assert body["token"] == "tok" and body["python"] == "3.9"
    assert list(told.open) == [BOOT] and "hush" not in str(told.open) and "psst" not in str(told.open)
    assert told.secret[SECRET_PREFIX + "TOKEN"] == "psst"
    # The keys of the run's own store stay at home when the stint works on a mirror.
    assert set(read_accesses(told.secret[SECRET_PREFIX + ACCESSES])) == {"obs://away", "obs://data", "obs://"}
    at_home = boot_environment(replace(launch, order=replace(ORDER, store="")))
    assert "s3://home" in read_accesses(at_home.secret[SECRET_PREFIX + ACCESSES])


def test_interpreter_that_is_too_old_reaches_the_line_that_says_so(made):
    script = "import sys, runpy; sys.version_info = (3, 6, 8, 'final', 0); runpy.run_path(%r, run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", script % str(made)], capture_output=True, text=True, cwd="/", check=False
    )
    assert done.returncode == 1 and done.stderr == "outlast needs Python 3.7 or later; this is 3.6\n"


def test_interpreter_without_bz2_uses_the_program(made, tmp_path):
    (tmp_path / "bz2.py").write_text("raise ImportError('not built')\n")
    (tmp_path / "bin").mkdir()
    pressed = tmp_path / "bin" / "bzip2"
    pressed.write_text(
        f"#!{sys.executable} -I\nimport bz2, sys\nsys.stdout.buffer.write(bz2.decompress(sys.stdin.buffer.read()))\n"
    )
    pressed.chmod(0o755)
    env = {
        "PYTHONPATH": str(tmp_path),
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "OUTLAST_WORK": str(tmp_path),
    }
    done = subprocess.run([sys.executable, str(made)], env=env, capture_output=True, text=True, check=False)
    assert "OUTLAST_BOOT is not set" in done.stderr
    assert Path(next(tmp_path.glob("outlast-*/boot-*")), "outlast", "inside", "boot.py").exists()
