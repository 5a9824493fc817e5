"""The everyday path with the real command line, in fresh folders: every verb does what it says."""

import json
import os
import shutil
import socket

import pytest

needs_bwrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

#: One epoch is a tenth of a second; each stint leaves a file of its own among the outputs, and ends after so many
#: epochs as the second argument says: a limit in seconds would say how busy the machine is.
COUNTING = """
import os, sys, time, outlast
epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 4
most = int(sys.argv[2]) if len(sys.argv) > 2 else epochs
os.makedirs("out", exist_ok=True)
state = {"epoch": 0}
def save(folder):
    with open(os.path.join(folder, "n.txt"), "w") as file: file.write(str(state["epoch"]))
def load(folder):
    state["epoch"] = int(open(os.path.join(folder, "n.txt")).read())
loop = outlast.epochs(epochs, save=save, load=load)
open("out/stint-%s.txt" % os.environ["OUTLAST_STINT"], "w").close()
for epoch in loop:
    time.sleep(0.1)
    state["epoch"] = epoch + 1
    outlast.track(loss=1 / (epoch + 1), epoch=epoch + 1)
    print("did", epoch, flush=True)
    if epoch + 1 < epochs and (epoch + 1) % most == 0:
        outlast.save(save)
        outlast.leave()
open("out/model.txt", "w").write(str(state["epoch"]))
"""


@pytest.fixture
def script(lab):
    return lab.write("project/train.py", COUNTING)


def rows(lab):
    return json.loads(lab.outlast("ps", "--json").stdout)


def test_a_run_of_several_stints_through_every_verb(lab, script):
    done = lab.outlast("run", script, "--name", "count", "--output", "out", "--", "12", "4")
    assert "\x1b" not in done.stdout
    run = done.stdout.split()[1]
    assert f"{run} succeeded" in done.stdout
    assert f"outlast fetch {run}" in done.stdout

    (row,) = rows(lab)
    assert (row["id"], row["name"], row["state"], row["platform"]) == (run, "count", "succeeded", "local")
    assert row["stints"] == 3
    assert row["created_at"].endswith("Z")

    view = lab.show("count")
    reasons = [stint["reason"] for stint in view["stints"]]
    assert reasons == ["hand-over"] * (row["stints"] - 1) + ["finished"]
    assert view["checkpoints"][-1]["id"] == view["last_checkpoint"]
    assert view["ledger"]["useful"] > 0
    assert f"{run}  count  succeeded" in lab.outlast("show", run[:-1]).stdout

    output = lab.outlast("logs", run).stdout
    assert [line for line in output.splitlines() if line.startswith("did")] == [f"did {n}" for n in range(12)]
    second = lab.outlast("logs", run, "--stint", "2").stdout
    assert "restored checkpoint" in second
    assert "did 0\n" not in second
    assert second in output
    assert lab.outlast("logs", run, "--tail", "1").stdout.count("\n") == 1

    lab.outlast("fetch", run, "--to", "mine")
    assert next((lab.folder / "mine").rglob("model.txt")).read_text() == "12"
    # What an earlier stint wrote is still there.
    assert list((lab.folder / "mine").rglob("stint-1.txt"))
    again = lab.outlast("resume", run, check=False)
    assert again.returncode == 2
    assert "has succeeded" in again.stderr

    lab.close()
    (lab.home / "index.db").unlink()
    assert "1 run in the list" in lab.outlast("reindex").stdout
    assert [found["id"] for found in rows(lab)] == [run]
    lab.outlast("gc", "--yes")
    assert lab.show(run)["last_checkpoint"] == view["last_checkpoint"]
    lab.outlast("rm", run)
    assert rows(lab) == []
    assert not (lab.home / "store/runs" / run).exists()
    assert not (lab.home / "work" / run).exists()
    assert lab.outlast("show", run, check=False).returncode == 10


def test_a_run_is_stopped_in_the_middle_and_goes_on_where_it_was(lab, script):
    done = lab.outlast("run", "--detach", script, "--", "60")
    run = done.stdout.split()[0]
    assert done.stdout == f"{run}\n"
    assert f"outlast stop {run}" in done.stderr
    lab.until(lambda: lab.client.runs.get(run).last_checkpoint)
    lab.outlast("stop", run, "--wait", "60s")
    view = lab.show(run)
    assert (view["state"], view["stints"][-1]["reason"]) == ("stopped", "stopped")
    assert f"outlast resume {run}" in view["message"]
    assert lab.runners() == []
    resumed = lab.outlast("resume", run)
    assert "succeeded" in resumed.stdout
    output = lab.outlast("logs", run).stdout
    assert [line for line in output.splitlines() if line.startswith("did")] == [f"did {n}" for n in range(60)]


def test_until_ends_a_run_whose_condition_holds(lab, script):
    run = lab.outlast("run", script, "--until", "epoch>=3", "--", "1000").stdout.split()[1]
    view = lab.show(run)
    assert view["state"] == "succeeded"
    assert "epoch>=3" in view["stints"][-1]["message"]
    assert view["epoch"] < 100


def test_dry_run_tells_the_plan_and_starts_nothing(lab, script):
    plan = lab.outlast("run", script, "--dry-run", "--limit", "1h", "--output", "out").stdout
    assert "train.py" in plan
    assert json.loads(lab.outlast("run", script, "--dry-run", "--json").stdout)
    assert rows(lab) == []
    assert lab.pids() == []
    assert not (lab.home / "store/runs").exists()


def test_a_folder_with_the_file_that_init_wrote_is_run(lab, script):
    lab.outlast("init", cwd=script.parent)
    assert (script.parent / "outlast.toml").read_text().startswith("#")
    assert lab.outlast("init", check=False, cwd=script.parent).returncode == 2
    assert "succeeded" in lab.outlast("run", ".", cwd=script.parent).stdout


def test_settings_are_shown_with_their_origin_and_can_be_set(lab):
    lab.outlast("config", "set", "grace_s", "7s")
    shown = {row["name"]: row for row in json.loads(lab.outlast("config", "--json").stdout)}
    assert shown["grace_s"]["value"] in ("7", 7)
    assert shown["grace_s"]["origin"] == "config.toml"
    assert shown["home"]["origin"] == "environment OUTLAST_HOME"
    assert lab.outlast("config", "set", "grace", "7s", check=False).returncode == 2


def test_doctor_looks_at_what_is_needed(lab):
    findings = {finding["name"]: finding for finding in json.loads(lab.outlast("doctor", "--json", check=False).stdout)}
    assert findings["python"]["ok"]
    assert findings["home folder"]["ok"]
    assert set(findings["cpus"]) == {"name", "ok", "value", "advice"}


def test_runs_that_each_want_the_whole_machine_take_turns(lab, script):
    cpus = len(os.sched_getaffinity(0))
    first = lab.submit(script, "--cpus", cpus, "--", "5")
    second = lab.submit(script, "--cpus", cpus, "--", "5")
    for run in (first, second):
        assert lab.wait(run).state == "succeeded"
    ended, began = (
        lab.home / "store/runs" / name for name in (f"{first}/stints/0001/end.json", f"{second}/stints/0001/claim.json")
    )
    assert began.stat().st_mtime >= ended.stat().st_mtime


def test_secret_reaches_the_script_and_no_file_but_its_own(lab):
    value = "hunter2-hunter2-hunter2"
    script = lab.write("p/train.py", """
import os, time
print("token", os.environ["MY_TOKEN"], flush=True)
print("length", len(os.environ["MY_TOKEN"]), flush=True)
while not os.path.exists("go-on"): time.sleep(0.02)
""")  # fmt: skip
    run = lab.outlast("run", "--detach", script, "--secret", "MY_TOKEN", MY_TOKEN=value).stdout.split()[0]
    lab.until(lambda: "length 23" in lab.outlast("logs", run).stdout, pause_s=0.1)
    commands = [_read(f"/proc/{pid}/cmdline") for pid in os.listdir("/proc") if pid.isdigit()]
    assert not any(value.encode() in command for command in commands)
    code = lab.until(lambda: next((lab.home / "work").glob("*/0001/tree/code"), None))
    (code / "go-on").touch()
    assert lab.wait(run).state == "succeeded"
    assert "token ***" in lab.outlast("logs", run).stdout
    texts = [lab.outlast("show", run).stdout, lab.outlast("show", run, "--json").stdout, lab.outlast("ps").stdout]
    assert not any(value in text for text in texts)
    holders = [path for path in lab.home.rglob("*") if path.is_file() and value.encode() in path.read_bytes()]
    assert holders == [lab.home / "secrets.json"]
    assert holders[0].stat().st_mode & 0o077 == 0
    lab.outlast("rm", run)
    assert value.encode() not in (lab.home / "secrets.json").read_bytes()


def _read(path):
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


@pytest.mark.parametrize("sandbox", ["off", pytest.param("on", marks=needs_bwrap)])
def test_inputs_are_found_at_the_paths_that_the_script_uses(lab, sandbox):
    for place in ("project/mnist", "data", "elsewhere"):
        lab.write(f"{place}/a.txt", place)
    script = lab.write("project/train.py", """
for place, text in (("mnist", "project/mnist"), ("../data", "data"), ("other", "elsewhere")):
    assert open(place + "/a.txt").read() == text, place
print("all read")
""")  # fmt: skip
    done = lab.outlast("run", "train.py", "--data", "./mnist", "--data", "../data", "--data", "other=../elsewhere",
                       "--sandbox", sandbox, cwd=script.parent)  # fmt: skip
    assert "all read" in done.stdout


@needs_bwrap
def test_script_in_the_sandbox_writes_only_below_its_own_folder(lab):
    outside = lab.write("outside/keep.txt", "mine")
    lab.write("data/a.txt", "mine")
    script = lab.write("project/train.py", f"""
import os, socket
tried = [{str(outside)!r}, {str(outside.parent / "new.txt")!r}, {str(lab.home / "planted.txt")!r},
         {str(lab.home / "store/planted.txt")!r}, "../data/a.txt", "../data/new.txt", "/etc/planted", "/usr/planted",
         os.path.expanduser("~{os.environ.get("USER", "root")}/planted")]
for path in tried:
    try:
        with open(path, "a") as file: file.write("planted")
        print("wrote", path)
    except OSError: pass
open("own.txt", "w").write("mine")
open("/tmp/own.txt", "w").write("mine")
open(os.path.expanduser("~/own.txt"), "w").write("mine")
""")  # fmt: skip
    run = lab.outlast("run", script, "--sandbox", "on", "--data", "./data").stdout.split()[1]
    assert outside.read_text() == "mine"
    assert (lab.folder / "data/a.txt").read_text() == "mine"
    assert [path.name for path in outside.parent.iterdir()] == ["keep.txt"]
    assert [path for path in lab.folder.rglob("planted*") if "work" not in path.parts] == []
    assert not any(os.path.exists(path) for path in ("/etc/planted", "/usr/planted", "/tmp/own.txt"))  # noqa: PTH110
    assert lab.show(run)["state"] == "succeeded"


@needs_bwrap
def test_script_without_network_reaches_none(lab):
    script = lab.write("project/train.py", """
import socket
names = [name for _, name in socket.if_nameindex()]
print("interfaces", names)
try:
    socket.create_connection(("127.0.0.1", PORT), 2)
    print("connected")
except OSError:
    print("no way")
""")  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = script.read_text().replace("PORT", str(server.getsockname()[1]))
        script.write_text(text)
        offline = lab.outlast("run", script, "--no-network").stdout
        assert "no way" in offline
        assert "interfaces ['lo']" in offline
        assert "connected" in lab.outlast("run", script).stdout


def test_library_and_command_line_agree(lab, script):
    run = lab.submit(script, "--name", "same")
    lab.wait(run)
    view = lab.client.runs.get("same")
    assert view.id == run
    assert json.loads(json.dumps({**view.to_json(detail=True), "forecast": None})) == lab.show(run)
