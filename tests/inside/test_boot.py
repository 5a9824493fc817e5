"""The boot file in containers that know nothing of us: no network, no home, nothing installed, nothing to write to."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from bootbench import BootBench, bench_python, built

from outlast.inside import boot, sandbox
from outlast.inside.blobs import Blobs
from outlast.inside.boot import BOOT
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.place import SECRET_PREFIX

needs_cage = pytest.mark.skipif(
    not sandbox.usable(sandbox.find_bwrap())[0], reason="bubblewrap does not work on this machine"
)

TRAINING = """
import os, sys
import outlast
os.makedirs("ckpt", exist_ok=True)
for epoch in outlast.epochs(3):
    with open("ckpt/weights", "w") as out: out.write("%d" % epoch)
    outlast.track(loss=1.0 / (epoch + 1))
    print("epoch", epoch, flush=True)
os.makedirs("out", exist_ok=True)
with open("out/home.txt", "w") as out: out.write(os.environ["HOME"])
open(os.path.join(os.environ["HOME"], "written"), "w").close()
print("python %d.%d" % sys.version_info[:2], sys.executable)
print("secret names", sorted(name for name in os.environ if "SECRET" in name or "BOOT" in name))
"""


@needs_cage
def test_stint_runs_without_network_home_packages_or_a_writable_system(tmp_path):
    bench = BootBench(tmp_path, TRAINING, runner_python=bench_python(), python="/home/me/venv/bin/python")
    store = tmp_path / "store"
    variables = bench.variables(python="3.99", secrets=[])
    done = bench.boot(
        variables, "--data_url=/some/where", "--num_gpus", "0", "stray",
        cage=bench.cage(store), environ={"HOME": "/nonexistent", "OUTLAST_WORK": "/nonexistent"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    log = bench.log()
    assert bench.end().reason == "finished", log
    assert bench.file("out/home.txt").startswith(b"/tmp/outlast-65534/runs/")
    assert "epoch 2" in log and "secret names []" in log
    assert "of this container" in log and "at home it is 3.99" in log


def test_stub_of_moxing_in_the_container_does_no_harm(tmp_path):
    packages = tmp_path / "packages" / "moxing"
    packages.mkdir(parents=True)
    (packages / "__init__.py").write_text("raise RuntimeError('only for scripts')\n")
    bench = BootBench(tmp_path, "print('hello')\n", runner_python=bench_python())
    environ = {"PYTHONPATH": str(packages.parent), "HOME": str(tmp_path)}
    done = bench.boot(bench.variables(), environ=environ, flags=())
    assert done.returncode == 0, done.stderr
    assert bench.end().reason == "finished"


COPYING = """
import moxing as mox
mox.file.copy_parallel("obs://bucket/data", "data")
print("copied with", mox.__file__)
"""


def test_a_script_copies_with_the_moxing_of_its_platform(tmp_path):
    """Ours is for containers that have none; nothing of the stint may stand before the platform's own."""
    package = tmp_path / "packages" / "moxing"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from . import file\n")
    (package / "file.py").write_text("import os\n\ndef copy_parallel(src, dst):\n    os.makedirs(dst)\n")
    bench = BootBench(tmp_path, COPYING, runner_python=bench_python())
    environ = {"PYTHONPATH": str(package.parent), "HOME": str(tmp_path)}
    done = bench.boot(bench.variables(), environ=environ, flags=())
    assert done.returncode == 0, done.stderr
    assert f"copied with {package / '__init__.py'}" in bench.log()
    assert bench.end().reason == "finished"


def test_variables_come_from_a_private_file_that_is_removed(tmp_path):
    bench = BootBench(tmp_path, "import os; print('is', os.environ.get('PASSWORD', '')[::-1])\n")
    path = tmp_path / "vars.json"
    path.write_text(json.dumps({**bench.variables(), SECRET_PREFIX + "PASSWORD": "terces"}))
    done = bench.boot({}, str(path))
    assert done.returncode == 0, done.stderr
    assert not path.exists()
    assert "is secret" in bench.log()
    channel = tmp_path / "channel"
    channel.mkdir()
    (channel / "vars.json").write_text(json.dumps(bench.variables(2)))
    assert bench.boot({}, f"--outlast_vars={channel}").returncode == 0
    assert list(channel.iterdir()) == []
    assert bench.end(2).reason == "finished"


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({}, "OUTLAST_BOOT is not set"),
        ({BOOT: "{"}, "OUTLAST_BOOT cannot be read"),
        ({BOOT: '{"store": "file:///x", "run": "r"}'}, "OUTLAST_BOOT lacks stint, token"),
        ({BOOT: '{"store": "carried:", "run": "r", "stint": 1, "token": "t"}'}, "a carried store needs --run_url"),
        ({BOOT: '{"store": "file:///nonexistent", "run": "r", "stint": 1, "token": "t"}'}, "cannot begin"),
    ],
)
def test_boot_that_cannot_work_says_why_in_one_line(tmp_path, monkeypatch, capsys, variables, words):
    monkeypatch.setattr(os, "environ", variables)
    assert boot.boot(str(tmp_path), ["--data_url=/x"], str(tmp_path)) == 1
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1, said


def test_second_process_of_a_job_leaves_and_the_work_folder_goes(tmp_path):
    bench = BootBench(tmp_path, "print('hello')\n")
    variables = bench.variables()
    assert [bench.boot(variables).returncode for _ in range(2)] == [0, 0]
    assert bench.log().count("hello") == 1
    (own,) = tmp_path.glob("outlast-*")
    assert list((own / "runs" / bench.run).glob("0001-*")) == []
    assert len(list(own.glob("boot-*"))) == 1


def test_torn_unpacking_of_an_earlier_process_is_made_good(tmp_path):
    bench = BootBench(tmp_path, "print('hello')\n")
    bench.boot({})
    (unpacked,) = tmp_path.glob("outlast-*/boot-*")
    (unpacked / "outlast" / "inside" / "runner.py").unlink()
    assert bench.boot(bench.variables()).returncode == 0
    assert bench.end().reason == "finished"


def test_folder_that_others_can_enter_is_not_used(tmp_path):
    bench = BootBench(tmp_path, "print('hello')\n")
    planted = tmp_path / f"outlast-{os.geteuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    assert bench.boot(bench.variables()).returncode == 0
    assert list(planted.iterdir()) == []


def test_stint_in_a_bucket_needs_only_its_keys(tmp_path, seaweed):
    address = f"s3://{seaweed.bucket()}/lab/outlast"
    bench = BootBench(tmp_path, TRAINING, store=address, access=seaweed.access, runner_python=bench_python())
    done = bench.boot(bench.variables(), environ={"HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert bench.end().reason == "finished"
    assert seaweed.secret not in bench.log() + done.stdout + done.stderr


SAVING = """
import os, time
number = int(open("ckpt/state").read().split()[0]) if os.path.exists("ckpt/state") else 0
os.makedirs("ckpt", exist_ok=True)
while True:
    number += 1
    with open("ckpt/part", "w") as out: out.write(("%d " % number) * 20000)
    os.replace("ckpt/part", "ckpt/state")
    time.sleep(0.2)
"""


def test_killed_at_any_moment_it_leaves_no_torn_checkpoint(tmp_path):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    moments = random.Random(seed)
    bench = BootBench(tmp_path, SAVING)
    for stint in (1, 2, 3):
        env = {"PATH": os.environ["PATH"], "OUTLAST_WORK": str(tmp_path), **bench.variables(stint)}
        runner = subprocess.Popen([sys.executable, str(built())], env=env, start_new_session=True)
        try:
            deadline = time.monotonic() + 120
            while not [name for name in bench.checkpoints() if name.startswith(f"{stint:04d}")]:
                assert runner.poll() is None and time.monotonic() < deadline
                time.sleep(moments.uniform(0.0, 0.1))
        finally:
            os.killpg(runner.pid, signal.SIGKILL)
            runner.wait(60)
    checkpoints = Checkpoints(bench.store, bench.run)
    for name in checkpoints.ids():
        for path, entry in checkpoints.read(name).files.items():
            data = Blobs(bench.store).get_bytes(entry["sha256"])
            assert len(data) == entry["size"] and len(set(data.split())) == 1, (name, path)


def test_cards_and_processors_are_found_as_containers_name_them(monkeypatch):
    for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "DEVICE_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(boot, "read_cards", lambda: [{"kind": "gpu", "index": "1"}, {"kind": "npu", "index": "4"}])
    assert boot._cards("gpu", 0) == ["1"] and boot._cards("npu", 1) == ["4"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-5a,3")
    assert boot._cards("gpu", 0) == ["GPU-5a", "3"] and boot._cards("gpu", 1) == ["GPU-5a"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert boot._cards("gpu", 0) == []
    monkeypatch.setattr(boot, "read_cards", list)
    monkeypatch.setattr(boot.glob, "glob", lambda _: [])
    monkeypatch.setenv("ASCEND_VISIBLE_DEVICES", "0-2,7")
    assert boot._cards("npu", 0) == ["0", "1", "2", "7"]
    there = boot._cpus(0)
    assert boot._cpus(1) == there and boot._cpus(there + 5) == there


def test_options_of_the_platform_are_read_in_both_spellings():
    assert boot.read_options(["--a=1", "--b", "2", "-x", "--c", "--d=", "stray"]) == {
        "a": "1", "b": "2", "c": "", "d": "",
    }  # fmt: skip


def test_output_for_a_folder_of_the_users_machine_stays_with_the_run_and_that_is_said(tmp_path):
    there = tmp_path / "users" / "results"
    outputs = [{"name": "results", "path": "out", "target": there.as_uri()}]
    bench = BootBench(tmp_path, "import os; os.makedirs('out'); open('out/a', 'w').close()\n", outputs=outputs)
    assert bench.boot(bench.variables()).returncode == 0
    assert bench.end().reason == "finished"
    assert "output results stays with the run" in bench.log()
    assert not there.exists() and bench.file("out/a") == b""
