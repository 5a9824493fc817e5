"""The sandbox, for real: what a script can see, write and reach in it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from outlast.inside import sandbox
from outlast.inside.place import Place

BWRAP = sandbox.find_bwrap()
WORKS, WHY = sandbox.usable(BWRAP)
needs_bwrap = pytest.mark.skipif(not WORKS, reason=WHY or "works")

PYTHON_FOLDERS = sorted({sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent.parent)})


@pytest.fixture
def here(tmp_path):
    """A home with a secret in it, and a stint that works below that home."""
    home = tmp_path / "home"
    work = home / "work" / "run" / "0001"
    (work / "tree" / "code").mkdir(parents=True)
    (home / "work" / "run" / "shared" / "home").mkdir(parents=True)
    (home / "secrets.json").write_text("do not read")
    return home


def place_in(home, **more):
    work = home / "work" / "run"
    return Place(
        store="file:///s", run="run", stint=1, token="t", work=str(work / "0001"), shared=str(work / "shared"),
        cache=str(home / "cache"), sandbox=True, hide=[str(home)], **more,
    )  # fmt: skip


def command(home, argv, network=True, place=None, **more):
    place = place or place_in(home)
    code = f"{place.work}/tree/code"
    arguments = {"writable": [f"{place.work}/tree", place.home], "readonly": PYTHON_FOLDERS, "binds": [], **more}
    return sandbox.bwrap_command(place, argv, code_dir=code, network=network, **arguments)


def run_in(home, script, prefix=(), **more):
    argv = [*prefix, *command(home, [sys.executable, "-c", textwrap.dedent(script)], **more)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=150)


@needs_bwrap
def test_only_the_stints_own_folders_can_be_written(here, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    done = run_in(
        here,
        f"""
        import os, tempfile
        for path in ("/usr/x", "/etc/x", "/run/x", "/root/x", {str(outside / "x")!r}, {str(here / "x")!r}, "/sys/x"):
            try:
                open(path, "w").close()
            except OSError:
                continue
            # The paths below /tmp exist in the stint's own /tmp by the same name.
            if not path.startswith("/tmp/"):
                print("wrote", path)
        for path in ("x", "../x", "/tmp/x", "/dev/shm/x", os.path.expanduser("~/x")):
            open(path, "w").close()
        tempfile.TemporaryFile().close()
        print(os.getcwd())
        """,
        place=place_in(here),
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [str(here / "work/run/0001/tree/code")]
    assert not (outside / "x").exists()
    assert not (here / "x").exists()
    assert (here / "work/run/0001/tree/code/x").exists()
    assert (here / "work/run/0001/tree/x").exists()
    assert (here / "work/run/0001/tmp/x").exists()
    assert not Path("/dev/shm/x").exists()


@pytest.fixture(autouse=True)
def home_of_the_run(monkeypatch, here):
    monkeypatch.setenv("HOME", str(here / "work/run/shared/home"))


@needs_bwrap
def test_a_hidden_folder_shows_only_what_the_stint_owns(here):
    (here / "store").mkdir()
    script = f"import os; print(os.listdir({str(here)!r}), os.listdir({str(here / 'work/run/0001')!r}))"
    # Hidden folders below /tmp are hidden by the stint's own /tmp, others by an empty folder over them: try both.
    assert run_in(here, script).stdout.strip() == "['work'] ['tree']"
    elsewhere = Path("/var/lib/outlast-test-hidden")
    shutil.rmtree(elsewhere, ignore_errors=True)
    if os.geteuid() == 0:
        try:
            shutil.copytree(here, elsewhere)
            script = script.replace(str(here), str(elsewhere))
            assert run_in(elsewhere, script).stdout.strip() == "['work'] ['tree']"
        finally:
            shutil.rmtree(elsewhere)


@needs_bwrap
def test_root_cannot_undo_the_sandbox(here):
    done = run_in(
        here,
        """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        MS_REMOUNT_BIND = 32 | 4096
        print(libc.mount(b"none", b"/", b"none", MS_REMOUNT_BIND, None), libc.umount2(b"/tmp", 2))
        for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper"):
            try:
                open(path, "r+").close()
                print("open", path)
            except OSError:
                pass
        """,
    )
    assert done.stdout.splitlines() == ["-1 -1"]


@needs_bwrap
def test_network_is_off_when_asked(here):
    with socket.create_server(("127.0.0.1", 0)) as server:
        script = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5); print('in')"
        assert run_in(here, script, network=True).stdout == "in\n"
        done = run_in(here, script, network=False)
    assert done.stdout == ""
    assert done.returncode == 1


@needs_bwrap
def test_inputs_are_mounted_read_only_where_the_script_looks(here, tmp_path):
    data = tmp_path / "data é"
    data.mkdir()
    (data / "x").write_text("content")
    code = here / "work/run/0001/tree/code"
    (code / "in").mkdir()
    (code.parent / "one").touch()
    binds = [(str(data), str(code / "in")), (str(data / "x"), str(code.parent / "one")), (str(data), str(data))]
    script = f"""
        print(open("in/x").read(), open("../one").read(), open({str(data / "x")!r}).read())
        for path in ("in/y", "../one", {str(data / "x")!r}):
            try:
                open(path, "a")
                print("wrote", path)
            except OSError:
                pass
        """
    assert run_in(here, script, binds=binds).stdout == "content content content\n"
    copy = tmp_path / "copy"
    copy.mkdir()
    script = f"open({str(data / 'new')!r}, 'w')"
    assert run_in(here, script, writable_binds=[(str(copy), str(data))]).returncode == 0
    assert (copy / "new").exists()
    assert not (data / "new").exists()


@needs_bwrap
def test_an_interpreter_below_a_hidden_folder_works_through_its_links(here):
    """~/envs is a link to a folder elsewhere, and the environment in it links to an interpreter."""
    real = here / "disk" / "envs"
    real.mkdir(parents=True)
    (here / "envs").symlink_to(real)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(real / "mine")], check=True)
    python = str(here / "envs" / "mine" / "bin" / "python")
    argv = command(
        here,
        [python, "-c", "import sys; print(sys.prefix)"],
        readonly=[str(Path(python).parent.parent), *PYTHON_FOLDERS],
    )
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.strip() == str(here / "envs" / "mine")


@needs_bwrap
def test_data_loaders_can_share_memory(here):
    done = run_in(
        here,
        """
        import multiprocessing as m
        from multiprocessing import shared_memory
        block = shared_memory.SharedMemory(create=True, size=1 << 20)
        with m.Pool(2) as pool:
            print(sum(pool.map(abs, range(-3, 3))))
        block.close(); block.unlink()
        """,
    )
    assert done.stdout == "9\n"
    assert done.stderr == ""


@needs_bwrap
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_it_works_for_an_ordinary_user(tmp_path):
    base = Path("/var/tmp/outlast-test-nobody")
    shutil.rmtree(base, ignore_errors=True)
    try:
        work = base / "work" / "run" / "0001"
        (work / "tree" / "code").mkdir(parents=True)
        (base / "work" / "run" / "shared" / "home").mkdir(parents=True)
        (base / "secret").touch()
        for path in [base, *base.rglob("*")]:
            os.chown(path, 65534, 65534)
        script = f"open('x', 'w'); import os; print(os.getuid(), os.listdir({str(base)!r}))"
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        # Only root may name capabilities, so the command is made as that user would make it.
        place = place_in(base)
        argv = command(base, ["/usr/bin/env", "python3", "-c", script], place=place, readonly=[])
        argv = [word for word in argv if not word.startswith(("--cap", "CAP_")) and word != "ALL"]
        os.chown(work / "tmp", 65534, 65534)
        python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
        if python is None:
            pytest.skip("needs a python that everybody may run")
        argv[argv.index("/usr/bin/env") : argv.index("/usr/bin/env") + 2] = [python]
        done = subprocess.run([*prefix, *argv], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
        assert done.stderr == ""
        assert done.stdout == "65534 ['work']\n"
    finally:
        shutil.rmtree(base)


@needs_bwrap
def test_the_scripts_own_pid_is_found_and_sigterm_reaches_it_alone(here):
    script = """
        import os, signal, subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        def leave(*_):
            print("child lives" if child.poll() is None else "child died", flush=True)
            child.kill(); child.wait()
            sys.exit(85)
        signal.signal(signal.SIGTERM, leave)
        print("ready", flush=True)
        while True:
            time.sleep(600)
        """
    argv = command(here, [sys.executable, "-c", textwrap.dedent(script)])
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    pid = sandbox.script_pid(process.pid)
    assert pid not in (None, process.pid)
    assert Path(f"/proc/{pid}/cmdline").read_bytes().startswith(sys.executable.encode())
    os.kill(pid, signal.SIGTERM)
    assert process.stdout.readline() == "child lives\n"
    assert process.wait(150) == 85
    process.stdout.close()
    assert sandbox.script_pid(process.pid) is None


@needs_bwrap
def test_everything_inside_ends_with_bubblewrap(here):
    script = """
        import os, subprocess, sys, time
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        print("ready", flush=True)
        time.sleep(600)
        """
    process = subprocess.Popen(command(here, [sys.executable, "-c", textwrap.dedent(script)]), stdout=subprocess.PIPE)
    process.stdout.readline()
    from outlast.inside.processes import descendants, is_same_process, start_ticks

    family = {pid: start_ticks(pid) for pid in descendants(process.pid)}
    assert len(family) >= 3
    process.kill()
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 150
    while any(is_same_process(pid, ticks) for pid, ticks in family.items()):
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_unusable_bubblewrap_is_noticed_and_explained(tmp_path):
    assert sandbox.usable(None) == (False, "bubblewrap is not installed")
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    works, why = sandbox.usable(str(fake))
    assert not works
    assert "No permissions to create new namespace" in why
    assert sandbox.usable(str(tmp_path / "absent"))[0] is False


def test_the_whole_root_is_never_hidden(here):
    place = place_in(here)
    place.hide = ["/", "", "/does/not/exist"]
    argv = command(here, ["true"], place=place)
    assert "--tmpfs" not in argv or argv[argv.index("--tmpfs") + 1] == "/run"


def test_a_mount_point_that_the_system_lacks_can_be_shown(tmp_path):
    """`/cache` of ModelArts exists on no ordinary machine."""
    target = "/outlast-no-such-folder"
    assert not Path(target).exists()
    (tmp_path / "cache").mkdir()
    place = Place("file:///x", "r", 1, "t", str(tmp_path), str(tmp_path), str(tmp_path))
    script = f"echo kept > {target}/file; touch /stray {target}/../stray 2>/dev/null; ls /; touch /usr/stray"
    command = sandbox.bwrap_command(
        place, ["sh", "-c", script], code_dir=str(tmp_path), writable=[str(tmp_path)], readonly=[], binds=[],
        writable_binds=[(str(tmp_path / "cache"), target)], network=True,
    )  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    names = done.stdout.split()
    assert target[1:] in names and "usr" in names and "stray" not in names
    assert "Read-only" in done.stderr
    assert (tmp_path / "cache" / "file").read_text() == "kept\n"
    assert not Path(target).exists()
