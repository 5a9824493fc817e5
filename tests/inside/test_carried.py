"""A store that is carried into a container without network, and what is carried back."""

from __future__ import annotations

import shutil

import pytest
from bootbench import BootBench, bench_python

from outlast.inside import layout, sandbox
from outlast.inside.boot import CARRIED
from outlast.inside.carried import Carried
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.errors import RequestError
from outlast.inside.records import to_bytes
from outlast.inside.stores import open_store

TWO_TURNS = """
import os, sys
with open("data/rate.txt") as file: rate = file.read()
with open("pretrained/model.txt") as file: model = file.read()
os.makedirs("ckpt", exist_ok=True)
if not os.path.exists("ckpt/state"):
    with open("ckpt/part", "w") as out: out.write("first")
    os.replace("ckpt/part", "ckpt/state")
    sys.exit(85)
with open("ckpt/state") as file: state = file.read()
os.makedirs("out", exist_ok=True)
with open("out/result", "w") as out: out.write(" ".join([state, rate, model]))
"""
COPY = "inputs/0123456789abcdef/data"


def make_bench(folder):
    inputs = [
        {"name": "data", "source": f"file:///home/me/mirror/{COPY}", "path": "data", "writable": False},
        {"name": "model", "source": "file:///home/me/model", "path": "pretrained", "writable": False},
    ]
    bench = BootBench(folder, TWO_TURNS, runner_python=bench_python(), inputs=inputs)
    copied = folder / "store" / COPY
    copied.mkdir(parents=True)
    (copied / "rate.txt").write_text("0.5")
    (folder / "pretrain_url_0").mkdir()
    (folder / "pretrain_url_0" / "model.txt").write_text("lenet")
    return bench


def carry(bench, stint, cage=()):
    """One stint; returns the folder that comes back."""
    output = bench.folder / f"output{stint}"
    output.mkdir()
    variables = bench.variables(stint, arguments={"pretrain_url": "model"})
    variables = {name: value.replace(bench.address, CARRIED) for name, value in variables.items()}
    done = bench.boot(
        variables, f"--run_url={bench.folder / 'store'}", f"--pretrain_url={bench.folder / 'pretrain_url_0'}",
        f"--output_path={output}", cage=[*cage[:-1], "--bind", str(output), str(output), "--"] if cage else (),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return output / "outlast"


@pytest.mark.skipif(not sandbox.usable(sandbox.find_bwrap())[0], reason="bubblewrap does not work on this machine")
def test_stints_continue_each_other_though_nothing_but_folders_goes_in_and_out(tmp_path):
    bench = make_bench(tmp_path)
    cage = bench.cage()
    for folder in (tmp_path / "store", tmp_path / "pretrain_url_0"):
        cage = [*cage[:-1], "--ro-bind", str(folder), str(folder), "--"]
    back = carry(bench, 1, cage)
    came = {entry.key for entry in open_store(back.as_uri()).list("")}
    assert layout.end_key(bench.run, 1) in came and layout.checkpoint_key(bench.run, "0001-000001") in came
    sent = {layout.spec_key(bench.run), layout.control_key(bench.run), layout.order_key(bench.run, 1)}
    assert not came & (sent | {entry.key for entry in bench.store.list("blobs/")})
    shutil.copytree(back, tmp_path / "store", dirs_exist_ok=True)
    assert bench.end(1).reason == "hand-over"

    shutil.copytree(carry(bench, 2, cage), tmp_path / "store", dirs_exist_ok=True)
    assert bench.end(2).reason == "finished", bench.log(2)
    assert bench.file("out/result") == b"first 0.5 lenet"
    assert Checkpoints(bench.store, bench.run).ids() == ["0001-000001"]


def test_what_was_rewritten_is_carried_back_and_other_runs_are_not_taken(tmp_path):
    source, output = tmp_path / "in", tmp_path / "out"
    store = open_store(source.as_uri())
    store.put(layout.spec_key("r"), to_bytes({"inputs": []}))
    store.put(layout.control_key("r"), b"{}")
    store.put(layout.spec_key("other"), b"{}")
    carried = Carried.take({"run": "r"}, {"run_url": str(source), "output_path": str(output)})
    away = open_store(carried.url)
    assert away.head(layout.spec_key("other")) is None
    away.put(layout.beat_key("r", 1), b"{}")
    away.put(layout.control_key("r"), b'{"want": "stop"}')
    carried.leave()
    assert [entry.key for entry in away.list("")] == [layout.control_key("r"), layout.beat_key("r", 1)]


def test_snapshot_without_the_run_is_refused_by_name(tmp_path):
    (tmp_path / "in").mkdir()
    with pytest.raises(RequestError, match="holds no run r"):
        Carried.take({"run": "r"}, {"run_url": str(tmp_path / "in"), "output_path": str(tmp_path / "out")})
