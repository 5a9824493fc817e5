"""Environments made for real with uv and with pip, and the blame when they cannot be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from outlast.inside import environment, sandbox
from outlast.inside.errors import PlaceError, RequestError
from outlast.inside.interpreter import examine_python
from outlast.inside.place import Place
from outlast.inside.requirements import Line, explain_failure

MISSING = "outlast-no-such-package-xyz==1.0"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Three tiny packages in a folder that serves as the only index: no network is needed."""
    import zipfile

    folder = tmp_path_factory.mktemp("wheels")
    for name, version, needs in (("tinyone", "1.0", ""), ("tinyone", "2.0", ""), ("tinytwo", "1.0", "tinyone")):
        info = f"{name}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + (
            f"Requires-Dist: {needs}\n" if needs else ""
        )
        with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}.py", f"version = {version!r}\n")
            wheel.writestr(f"{info}/METADATA", metadata)
            wheel.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return folder


@pytest.fixture
def only_wheels(monkeypatch, wheels):
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))


@pytest.fixture
def bench(tmp_path, monkeypatch):
    return Bench(tmp_path, monkeypatch)


class Bench:
    """One cache, one code folder, and a count of the tools that were run."""

    def __init__(self, folder, monkeypatch):
        self.cache = folder / "cache"
        self.code = folder / "code"
        self.code.mkdir()
        self.lines = []
        self.tools = []
        self._monkeypatch = monkeypatch

    def without_uv(self):
        self._monkeypatch.setattr(environment, "find_uv", lambda: None)

    def run(self, argv, env, writable, readonly):
        self.tools.append(argv)
        done = subprocess.run(
            argv, env={**os.environ, **env}, cwd=self.code, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return done.returncode, done.stdout

    def prepare(self, text=None, python=sys.executable, run=None):
        path = None
        if text is not None:
            path = str(self.code / "requirements.txt")
            Path(path).write_text(text)
        return environment.prepare(path, python, str(self.cache), run or self.run, self.lines.append)


def says(python, statement, **env):
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([python, "-c", statement], capture_output=True, text=True, env={**environ, **env})
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def base_venv(tmp_path_factory):
    """An environment of the user's own, with one package and one editable install in it."""
    folder = tmp_path_factory.mktemp("base")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    packages = next((folder / "venv" / "lib").glob("python3*")) / "site-packages"
    (packages / "tinyone.py").write_text("version = '1.0'\n")
    (packages / "tinyone-1.0.dist-info").mkdir()
    (packages / "tinyone-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: tinyone\nVersion: 1.0\n")
    (packages / "tinyone-1.0.dist-info" / "RECORD").write_text("tinyone.py,,\n")
    (packages / "tinyone-1.0.dist-info" / "INSTALLER").write_text("uv\n")
    (folder / "editable").mkdir()
    (folder / "editable" / "mine.py").write_text("x = 1\n")
    (packages / "mine.pth").write_text(f"{folder / 'editable'}\n")
    return str(folder / "venv" / "bin" / "python")


def test_without_requirements_the_interpreter_stays_as_it_is(bench):
    ready = bench.prepare()
    assert ready.python == sys.executable
    assert not ready.built
    assert bench.tools == []
    assert any(sys.prefix == folder or sys.prefix.startswith(folder + "/") for folder in ready.folders)


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_requirements_are_added_to_what_is_there(bench, only_wheels, base_venv, tool):
    if tool == "pip":
        bench.without_uv()
    ready = bench.prepare("tinytwo  # the second\n", base_venv)
    assert ready.built
    assert says(ready.python, "import tinytwo, tinyone, mine; print(tinytwo.version, tinyone.version)") == "1.0 1.0"
    # What the base has and what satisfies is not installed again: an image's own build of a framework stays.
    packages = next((Path(ready.python).parent.parent / "lib").glob("python3*")) / "site-packages"
    assert not (packages / "tinyone.py").exists()
    assert any("tinytwo" in line for line in bench.lines)
    assert not (Path(base_venv).parent.parent / "lib" / packages.parent.name / "site-packages" / "tinytwo.py").exists()


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_a_newer_version_covers_the_one_below(bench, only_wheels, base_venv, tool):
    if tool == "pip":
        bench.without_uv()
    ready = bench.prepare("tinyone>=2", base_venv)
    assert says(ready.python, "import tinyone; print(tinyone.version)") == "2.0"
    assert says(base_venv, "import tinyone; print(tinyone.version)") == "1.0"


def test_the_second_time_takes_no_time(bench, only_wheels, base_venv):
    first = bench.prepare("tinytwo\n", base_venv)
    tools = len(bench.tools)
    second = bench.prepare("\n# a comment\ntinytwo   # another\n", base_venv)
    assert second.python == first.python
    assert not second.built
    assert len(bench.tools) == tools


def test_a_satisfied_interpreter_is_used_itself_until_it_changes(bench, only_wheels, base_venv, tmp_path):
    ready = bench.prepare("tinyone<2", base_venv)
    assert ready.python == base_venv
    assert not bench.prepare("tinyone<2", base_venv).built
    packages = next((Path(base_venv).parent.parent / "lib").glob("python3*")) / "site-packages"
    os.utime(packages, (1, 1))
    assert bench.prepare("tinyone<2", base_venv).built


def test_other_requirements_get_another_environment(bench, only_wheels, base_venv):
    first = bench.prepare("tinytwo", base_venv)
    (bench.code / "more.txt").write_text("tinyone==2.0\n")
    second = bench.prepare("tinytwo\n-r more.txt\n", base_venv)
    (bench.code / "more.txt").write_text("tinyone==1.0\n")
    third = bench.prepare("tinytwo\n-r more.txt\n", base_venv)
    assert len({first.python, second.python, third.python}) == 3
    assert says(second.python, "import tinyone; print(tinyone.version)") == "2.0"


def test_a_killed_build_is_made_anew(bench, only_wheels, base_venv):
    def killed(argv, env, writable, readonly):
        code = bench.run(argv, env, writable, readonly)
        if "venv" in argv:
            raise KeyboardInterrupt
        return code

    with pytest.raises(KeyboardInterrupt):
        bench.prepare("tinytwo", base_venv, run=killed)
    half = [path for path in (bench.cache / "envs").iterdir() if path.is_dir()]
    assert len(half) == 1
    assert not (half[0] / "ready.json").exists()
    (half[0] / "rubbish").touch()
    ready = bench.prepare("tinytwo", base_venv)
    assert ready.built
    assert not (half[0] / "rubbish").exists()
    assert says(ready.python, "import tinytwo; print(tinytwo.version)") == "1.0"


def test_two_stints_build_one_environment(bench, only_wheels, base_venv):
    import threading

    barrier = threading.Barrier(2)
    results = []

    def build():
        barrier.wait()
        results.append(environment.prepare(str(path), base_venv, str(bench.cache), bench.run, bench.lines.append))

    path = bench.code / "requirements.txt"
    path.write_text("tinytwo\n")
    threads = [threading.Thread(target=build) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0].python == results[1].python
    assert sum("venv" in argv for argv in bench.tools) == 1


@pytest.mark.parametrize(
    ("tool", "wrong"),
    [("uv", MISSING), ("uv", "numpy===bad===x"), ("uv", "tinyone==99"), ("pip", MISSING)],
)
def test_a_requirement_that_cannot_be_had_is_the_requests_fault(bench, only_wheels, base_venv, tool, wrong):
    if tool == "pip":
        bench.without_uv()
    with pytest.raises(RequestError) as caught:
        bench.prepare(f"tinyone\n{wrong}\n", base_venv)
    assert wrong in str(caught.value)
    assert "requirements.txt" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "output"),
    [
        (RequestError, "ERROR: Invalid requirement: 'tinytwo=>1': Expected end\n    tinytwo=>1\n"),
        (RequestError, "ERROR: Cannot install tinytwo and tinyone because these have conflicting dependencies.\n"),
        (RequestError, "ERROR: tinytwo requires a different Python: 3.7.16 not in '>=3.9'\n"),
        (
            PlaceError,
            "WARNING: connection broken by 'ReadTimeoutError'\nERROR: No matching distribution found for tinytwo\n",
        ),
        (PlaceError, "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"),
        (PlaceError, "  hint: Packages were unavailable because the network was disabled.\nerror: No solution found\n"),
        (PlaceError, ""),
    ],
)
def test_the_words_of_the_tools_are_understood(kind, output):
    lines = [Line("r.txt", 7, "tinytwo=>1")]
    error = explain_failure(output, lines, "r.txt")
    assert type(error) is kind
    assert ("r.txt line 7" in str(error)) is (kind is RequestError)
    assert "\n" not in str(error)


def test_a_package_that_the_index_does_not_know_is_the_requests_fault(bench, base_venv):
    """With whatever index this machine is set up for; skipped where it has none that answers."""
    try:
        bench.prepare(MISSING + "\n", base_venv)
    except PlaceError as error:
        pytest.skip(f"no package index can be reached: {error}")
    except RequestError as error:
        assert MISSING in str(error)
        assert "requirements.txt line 1" in str(error)
    else:
        pytest.fail("installed a package that does not exist")


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_an_index_that_cannot_be_reached_is_the_places_fault(bench, base_venv, monkeypatch, tool):
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    if tool == "pip":
        bench.without_uv()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(PlaceError, match=r"cannot install requirements\.txt here"):
        bench.prepare(MISSING + "\n", base_venv)


def test_a_full_disk_is_the_places_fault(bench, base_venv):
    def full(argv, env, writable, readonly):
        return 2, "error: Failed to install: x.whl\n  cause: failed to write: No space left on device (os error 28)\n"

    with pytest.raises(PlaceError, match="No space left"):
        bench.prepare("tinytwo", base_venv, run=full)


def test_missing_files_are_named(bench, base_venv):
    with pytest.raises(RequestError, match=r"requirements\.txt line 2 includes more\.txt"):
        bench.prepare("x\n-r more.txt\n", base_venv)
    (bench.code / "requirements.txt").unlink()
    with pytest.raises(RequestError, match=r"there is no requirements\.txt"):
        environment.prepare(str(bench.code / "requirements.txt"), base_venv, str(bench.cache), bench.run, print)
    (bench.code / "a.txt").write_text("-r requirements.txt\n")
    with pytest.raises(RequestError, match="includes itself"):
        bench.prepare("-r a.txt\n", base_venv)


def test_something_that_is_not_python_is_named(bench):
    with pytest.raises(RequestError, match="/bin/true is not a working Python"):
        bench.prepare(python="/bin/true")
    with pytest.raises(RequestError, match="cannot start /no/python"):
        bench.prepare(python="/no/python")


def test_a_local_package_is_installed_for_each_code_folder(bench, only_wheels, base_venv, tmp_path):
    lines = environment.read_requirements
    for text, local in (("-e .", True), ("./lib", True), ("x @ file:///y", True), ("x==1", False), ("-r a", False)):
        path = tmp_path / "r.txt"
        path.write_text(text)
        (tmp_path / "a").touch()
        assert environment.is_local(lines(str(path))) is local


def test_an_interpreter_is_asked_once(bench, base_venv, monkeypatch):
    first = examine_python(base_venv, str(bench.cache))
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("asked again"))
        assert examine_python(base_venv, str(bench.cache)) == first
    assert first.is_virtual
    assert str(Path(base_venv).parent.parent) in first.folders
    kept = next((bench.cache / "pythons").iterdir())
    kept.write_text("{}")
    assert examine_python(base_venv, str(bench.cache)).version == first.version


@pytest.mark.skipif(not sandbox.usable(sandbox.find_bwrap())[0], reason="bubblewrap does not work here")
def test_it_works_in_the_sandbox_with_the_home_hidden(bench, only_wheels, base_venv, tmp_path, wheels):
    work = tmp_path / "work"
    for path in (work, tmp_path / "shared" / "home"):
        path.mkdir(parents=True)
    place = Place(
        store="", run="r", stint=1, token="", work=str(work), shared=str(tmp_path / "shared"), cache=str(bench.cache),
        hide=[str(Path.home()), str(tmp_path)],
    )  # fmt: skip

    def run(argv, env, writable, readonly):
        command = sandbox.bwrap_command(
            place, argv, code_dir=str(bench.code), writable=[place.home, *writable],
            readonly=[str(bench.code), str(wheels), *readonly], binds=[], network=False,
        )  # fmt: skip
        return bench.run(command, {**env, "HOME": place.home}, writable, readonly)

    ready = bench.prepare("tinytwo", base_venv, run=run)
    script = [ready.python, "-c", "import tinytwo, tinyone, mine; print(tinyone.version)"]
    argv = sandbox.bwrap_command(
        place,
        script,
        code_dir=str(bench.code),
        writable=[str(bench.code)],
        readonly=ready.folders,
        binds=[],
        network=False,
    )
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == "1.0\n"


def test_pips_settings_reach_uv(tmp_path):
    from outlast.inside.indexes import is_without_index, package_sources

    (tmp_path / ".pip").mkdir()
    (tmp_path / ".pip" / "pip.conf").write_text(
        "[global]\nindex-url = http://a/simple\nextra-index-url =\n  http://b/simple\n  http://c/simple\n"
        "[install]\ntrusted-host = a\n"
    )
    environ = {"HOME": str(tmp_path), "PIP_FIND_LINKS": "/w1 /w2"}
    found = package_sources(environ)
    assert found["UV_DEFAULT_INDEX"] == found["PIP_INDEX_URL"] == "http://a/simple"
    assert found["UV_INDEX"] == "http://b/simple http://c/simple"
    assert found["UV_FIND_LINKS"] == "/w1,/w2"
    assert found["UV_INSECURE_HOST"] == "a"
    assert package_sources({**environ, "PIP_INDEX_URL": "http://z"})["UV_DEFAULT_INDEX"] == "http://z"
    assert "UV_DEFAULT_INDEX" not in package_sources({**environ, "UV_INDEX_URL": "http://mine"})
    (tmp_path / ".config" / "uv").mkdir(parents=True)
    (tmp_path / ".config" / "uv" / "uv.toml").touch()
    assert package_sources(environ)["UV_CONFIG_FILE"].endswith("uv.toml")
    assert not is_without_index(package_sources(environ))
    (tmp_path / ".pip" / "pip.conf").write_text("[global]\nno-index = true\n")
    assert is_without_index(package_sources(environ))
    (tmp_path / ".pip" / "pip.conf").write_bytes(b"\xff\xfe broken")
    package_sources(environ)


def test_ready_marks_are_json(bench, only_wheels, base_venv):
    bench.prepare("tinytwo", base_venv)
    mark = next((bench.cache / "envs").glob("*/ready.json"))
    assert json.loads(mark.read_text())["python"].endswith("/bin/python")
    mark.write_text("torn")
    assert bench.prepare("tinytwo", base_venv).built
    assert shutil.which(bench.prepare("tinytwo", base_venv).python)


def test_interpreter_that_is_killed_is_the_places_fault(tmp_path):
    from outlast.inside.errors import PlaceError
    from outlast.inside.interpreter import examine_python

    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nkill -9 $$\n")
    python.chmod(0o755)
    with pytest.raises(PlaceError, match="signal 9"):
        examine_python(str(python), str(tmp_path / "cache"))
