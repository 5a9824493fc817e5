"""`outlast explain` and the run agree: command line, folder and every variable, under each kind of contract."""

import json
import sys

import pytest

SCRIPT = """
import json, os, sys
print("SEEN " + json.dumps({"argv": sys.argv, "cwd": os.getcwd(), "env": dict(os.environ)}), flush=True)
"""
#: Set by shells on their way, or known only on the machine where the interpreter runs.
UNFORESEEN = {"PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE", "PYTHONUSERBASE"}
#: Made from the run's id, from the clock, or chosen when the stint starts.
DIFFERENT = {"OUTLAST_DEADLINE", "MA_VJ_NAME", "MA_CURRENT_INSTANCE_NAME"}
JOB = {
    "jobName": "mnist", "image": "no/such:image", "codeDir": "$PAI_DEFAULT_FS_URI/$PAI_USER_NAME/$PAI_JOB_NAME",
    "jobEnvs": {"COLOUR": "red"},
    "taskRoles": [{"name": "task", "command": "python mnist/train.py --lr 0.1"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("train.py", ["--data", "mnist", "--limit", "1m", "--env", "COLOUR=red", "--", "--lr", "0.1"]),
        (
            "train.py",
            ["--contract", "modelarts", "--data", "data_url=mnist", "--output", "train_url=out", "-p", "lr=1"],
        ),
        ("job.json", ["--user", "ann"]),
    ],
    ids=["plain", "modelarts", "openpai"],
)
def test_a_run_sees_what_was_explained(lab, target, words):
    lab.write("ws/train.py", SCRIPT)
    lab.write("ws/mnist/a", "data")
    lab.write("ws/job.json", json.dumps(JOB))
    command = [target, "--json", "--python", sys.executable, *words]
    told = json.loads(lab.outlast("explain", *command, cwd=lab.folder / "ws").stdout)
    done = lab.outlast("run", *command, cwd=lab.folder / "ws", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    run = json.loads(done.stdout)["id"]
    log = lab.outlast("logs", run).stdout
    seen = json.loads(next(line for line in log.splitlines() if line.startswith("SEEN ")).removeprefix("SEEN "))
    (part,) = told["parts"]
    told_env = {each["name"]: each["value"].replace("RUN", run) for each in part["variables"]}
    told_env["OUTLAST_RUN"] = run
    same = {name for name, value in told_env.items() if "(free port)" not in value} - DIFFERENT
    assert {name: seen["env"].get(name) for name in same} == {name: told_env[name] for name in same}
    assert set(told_env) - set(seen["env"]) == set()
    assert set(seen["env"]) - set(told_env) - set(told["inherited"]) - UNFORESEEN == set()
    assert part["folder"].replace("RUN", run) == seen["cwd"]
    if target == "train.py":
        assert part["command"].replace("RUN", run).split()[1:] == seen["argv"]
