"""The wall clock may jump by hours, either way: deadlines, silence and leases are counted by other means."""

import json
import os
import signal
from pathlib import Path

import pytest
from lab import Lab, kill

JUMPING = Path(__file__).parents[1] / "jumping_clock"
HOUR_S = 3600

TRAINING = """
import os, time, outlast
state = {"epoch": 0}
def save(folder):
    with open(os.path.join(folder, "n.txt"), "w") as out: out.write(str(state["epoch"]))
def load(folder):
    state["epoch"] = int(open(os.path.join(folder, "n.txt")).read())
for epoch in outlast.epochs(40, save=save, load=load):
    end = time.monotonic() + 0.2
    while time.monotonic() < end: time.sleep(0.01)
    state["epoch"] = epoch + 1
    print("did", epoch, flush=True)
"""


@pytest.fixture
def clock(tmp_path):
    return tmp_path / "clock.txt"


@pytest.fixture
def lab(tmp_path, clock):
    clock.write_text("0")
    path = os.pathsep.join([str(JUMPING), *filter(None, [os.environ.get("PYTHONPATH")])])
    lab = Lab(tmp_path, PYTHONPATH=path, JUMPING_CLOCK=str(clock), OUTLAST_BACKOFF_S="0")
    yield lab
    lab.close()


def test_clock_that_jumps_moves_no_deadline_and_loses_no_stint(lab, clock):
    attached = lab.start("run", lab.write("p/train.py", TRAINING), "--limit", "6s", "--grace", "500ms")
    folder = lab.until(lambda: next((lab.home / "store/runs").glob("*/stints"), None))
    lab.until(lambda: (folder / "0001/beat.json").exists())
    clock.write_text(str(6 * HOUR_S))
    lab.until(lambda: (folder / "0002/beat.json").exists())
    clock.write_text(str(-30 * HOUR_S))
    assert attached.wait(150) == 0, attached.output.read_text()
    view = lab.show(folder.parent.name)
    *earlier, last = [stint["reason"] for stint in view["stints"]]
    assert last == "finished"
    assert earlier
    assert set(earlier) == {"hand-over"}
    for stint in view["stints"]:
        assert all(0 <= seconds < 600 for seconds in stint["ledger"].values()), stint["ledger"]
    output = lab.outlast("logs", view["id"]).stdout
    assert [line for line in output.splitlines() if line.startswith("did")] == [f"did {epoch}" for epoch in range(40)]


def test_silence_is_noticed_although_the_clock_was_set_back_and_the_keeper_killed(lab, clock):
    # Not in the environment: whoever looks at the run may be the one that starts the next keeper.
    lab.outlast("config", "set", "silence_limit_s", "3")
    run = lab.submit(lab.write("p/train.py", TRAINING))
    folder = lab.home / "store/runs" / run
    lab.until(lambda: any(folder.glob("checkpoints/*")))
    keepers = lab.until(lab.keepers)
    lab.until(lambda: (lab.home / "index.db").exists())
    # What the killed keeper holds now seems to be valid for another ten hours.
    clock.write_text(str(-10 * HOUR_S))
    for pid in keepers:
        kill(pid)
    for pid in lab.runners():
        os.kill(pid, signal.SIGSTOP)
    lab.wake()
    view = lab.wait(run)
    assert view.state == "succeeded"
    first = lab.show(run)["stints"][0]
    assert first["reason"] == "lost"
    assert "no sign of life" in first["message"]


def test_records_with_odd_times_can_be_read(lab):
    run = lab.submit(lab.write("p/train.py", "print('hello')\n"))
    lab.wait(run)
    folder = lab.home / "store/runs" / run
    for moment in ("2999-01-01T00:00:00.000Z", "yesterday"):
        _set_times(folder, moment)
        lab.outlast("reindex")
        shown = lab.outlast("show", run).stdout
        assert "succeeded" in shown
        assert [row["id"] for row in json.loads(lab.outlast("ps", "--json").stdout)] == [run]
    assert run in lab.outlast("ps").stdout


def _set_times(folder, moment):
    for name, key in (
        ("spec.json", "created_at"),
        ("stints/0001/end.json", "at"),
        ("stints/0001/order.json", "created_at"),
    ):
        record = folder / name
        record.chmod(0o644)
        record.write_text(json.dumps({**json.loads(record.read_text()), key: moment}))
