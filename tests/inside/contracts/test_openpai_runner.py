"""The role runner with real processes: output, folders, policies, retries, and leaving politely."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from openpai_bench import JobBench, ask_to_leave, role, wait_for

PYTHON_37 = Path.home() / ".pyenv/versions/3.7.16/bin/python3.7"


def test_a_lone_instance_prints_plainly_and_works_in_the_code_folder(tmp_path):
    bench = JobBench(tmp_path, role("task", "cd job && cat a.txt; echo oops >&2; pwd"), code={"a.txt": "hello\n"},
                     code_name="job")  # fmt: skip
    code, output = bench.play()
    assert code == 0
    assert sorted(output.splitlines()) == [str(bench.root / "job"), "hello", "oops"]
    assert bench.log("task-0") == f"hello\n{bench.root}/job\n"
    assert bench.log("task-0", "stderr") == "oops\n"


def test_several_instances_have_folders_of_their_own_and_their_lines_a_prefix(tmp_path):
    command = "echo $PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX > mine; echo one; printf two"
    bench = JobBench(tmp_path, role("worker", command, instances=2), role("ps", "cat x/note; ls", instances=1),
                     code={"note": "of the code\n"}, code_name="x")  # fmt: skip
    code, output = bench.play()
    assert code == 0
    assert sorted(output.splitlines()) == sorted([
        "[worker/0] one", "[worker/0] two", "[worker/1] one", "[worker/1] two", "[ps/0] of the code", "[ps/0] x",
    ])  # fmt: skip
    assert (bench.root / "worker-1" / "mine").read_text() == "1\n"


SERVER = """
import os, socket
port = int(os.environ["PAI_PORT_LIST_ps_0_rpc"].split(",")[1])
assert os.environ["PAI_CONTAINER_HOST_rpc_PORT_LIST"].split(",")[1] == str(port)
with socket.create_server(("", port)) as server:
    for _ in range(2):
        client, _ = server.accept()
        client.sendall(b"gradient for " + client.recv(100))
        client.close()
"""
CLIENT = """
import os, socket, time
host, port = os.environ["PAI_HOST_IP_ps_0"], int(os.environ["PAI_PORT_LIST_ps_0_rpc"].split(",")[1])
for _ in range(200):
    try:
        with socket.create_connection((host, port)) as server:
            server.sendall(os.environ["PAI_TASK_INDEX"].encode())
            print(server.recv(100).decode())
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
else:
    raise SystemExit("nobody answered")
"""


def test_two_roles_talk_to_each_other_through_the_variables(tmp_path):
    bench = JobBench(
        tmp_path,
        role("ps", f"{sys.executable} c/ps.py", ports={"http": 1, "ssh": 1, "rpc": 2}),
        role("worker", f"{sys.executable} c/worker.py", instances=2),
        code={"ps.py": SERVER, "worker.py": CLIENT}, code_name="c",
    )  # fmt: skip
    code, output = bench.play()
    assert code == 0, output
    assert "[worker/0] gradient for 0" in output
    assert "[worker/1] gradient for 1" in output


def test_v1_goes_on_after_a_failing_command_and_the_last_one_decides(tmp_path):
    bench = JobBench(tmp_path, role("task", 'false\necho "it\'s $UNSET fine"'))
    assert bench.play() == (0, "it's  fine\n")


@pytest.mark.parametrize("command", ["false\necho on", "echo $UNSET", "false | cat\necho on"])
def test_v2_ends_at_the_first_failure_an_unset_variable_or_a_broken_pipe(tmp_path, command):
    code, output = JobBench(tmp_path, role("task", command), v2=True).play()
    assert code == 255
    assert "\non\n" not in output


def test_a_failure_leaves_the_runtime_error_block_of_its_generation(tmp_path):
    code, output = JobBench(tmp_path, role("task", "echo dying; exit 3")).play()
    assert code == 255  # every ordinary failure is reported so
    block = output[output.index("[PAI_RUNTIME_ERROR_START]") :]
    assert block.splitlines() == [
        "[PAI_RUNTIME_ERROR_START]", "exitcode: 255", "trigger: userCommand", 'reason: "the user\'s command failed"',
        "originalUserExitCode: 3", "errorLogs:", "  user: |", "    dying", "[PAI_RUNTIME_ERROR_END]",
    ]  # fmt: skip


def test_the_first_failure_ends_the_others(tmp_path):
    bench = JobBench(tmp_path, role("bad", "exit 1"), role("good", "sleep 600", instances=2))
    code, output = bench.play()
    assert code == 255
    assert "bad/0 ended with exit code 1" in output


def test_enough_successes_end_the_job_at_once(tmp_path):
    bench = JobBench(tmp_path, role("chief", "echo done", min_succeeded=1), role("ps", "sleep 600"))
    code, output = bench.play()
    assert code == 0
    assert output.startswith("[chief/0] done\n")


def test_a_role_that_may_fail_does_not_end_the_job(tmp_path):
    bench = JobBench(tmp_path, role("flaky", "exit 1", instances=2, min_failed=None), role("main", "echo fine"))
    code, output = bench.play()
    assert code == 0
    assert "[main/0] fine" in output


def test_a_job_is_tried_again_in_a_fresh_folder_but_checkpoints_stay(tmp_path):
    command = "ls; test -e ckpt/last && exit 0; mkdir -p ckpt left; touch ckpt/last left/behind; exit 1"
    bench = JobBench(tmp_path, role("task", command), retries=1, keep=["ckpt"])
    code, output = bench.play()
    assert code == 0, output
    assert "trying the job again, for the first time" in output
    assert not (bench.root / "left").exists()
    assert (bench.root / "ckpt/last").exists()


def test_a_job_is_not_tried_again_after_an_error_that_cannot_go_away(tmp_path):
    bench = JobBench(tmp_path, role("task", "echo again; kill -SEGV $$"), retries=3)
    code, output = bench.play()
    assert code == 139
    assert output.count("again\n") == 2  # once printed, once in the error block


def test_without_gang_allocation_a_task_is_tried_again_alone(tmp_path):
    command = f"echo x >> {tmp_path}/tries; test $(wc -l < {tmp_path}/tries) = 3"
    bench = JobBench(
        tmp_path, role("a", command, task_retries=2), role("b", f"echo once >> {tmp_path}/other"), v2=True, gang=False,
    )  # fmt: skip
    code, output = bench.play()
    assert code == 0, output
    assert (tmp_path / "tries").read_text() == "x\n" * 3
    assert (tmp_path / "other").read_text() == "once\n"


SAVING = """
import pathlib, signal, sys, time
def leave(*_):
    pathlib.Path("saved").write_text("yes")
    sys.exit(85)
signal.signal(signal.SIGTERM, leave)
pathlib.Path("ready").touch()
while True:
    time.sleep(0.05)
"""


@pytest.mark.parametrize("command", ["cd c && {0} train.py; sleep 0", "(cd c; {0} train.py; echo no)"])
def test_a_request_to_leave_reaches_the_program_behind_the_shells(tmp_path, command):
    bench = JobBench(tmp_path, role("task", command.format(sys.executable)), code={"train.py": SAVING}, code_name="c")
    process = bench.start()
    wait_for(bench.root / "c" / "ready", process)
    ask_to_leave(process)
    assert (bench.root / "c" / "saved").read_text() == "yes"


def test_come_back_of_one_instance_is_the_jobs(tmp_path):
    bench = JobBench(tmp_path, role("a", f"exec {sys.executable} c/train.py", instances=2), role("b", "sleep 600"),
                     code={"train.py": SAVING}, code_name="c", retries=5)  # fmt: skip
    process = bench.start()
    wait_for(bench.root / "a-0" / "ready", process)
    wait_for(bench.root / "a-1" / "ready", process)
    code, output = ask_to_leave(process)
    assert code == 85
    assert "again" not in output


def test_nothing_is_left_when_the_runner_is_killed(tmp_path):
    bench = JobBench(tmp_path, role("a", f"touch ready-{tmp_path.name}; exec sleep 654.5"))
    process = bench.start()
    wait_for(bench.root / f"ready-{tmp_path.name}", process)
    process.kill()
    process.communicate(timeout=150)  # its pipe is closed: nobody writes to it any more
    found = subprocess.run(["pgrep", "-f", "^sleep 654.5"], capture_output=True, text=True).stdout
    assert found == ""


def test_secrets_are_filled_in_but_stand_in_no_environment(tmp_path):
    command = "echo <% $secrets.db.password %> | rev; env; echo '<% $secrets.other %>'"
    bench = JobBench(tmp_path, role("task", command), v2=True, secrets={"db.password": "PAI_SECRET_0"})
    code, output = bench.play(PAI_SECRET_0="sesame")
    assert code == 0
    assert "emases" in output
    assert "<% $secrets.other %>" in output
    assert "PAI_SECRET_0" not in output


def test_the_log_files_hold_no_secret_however_it_is_printed(tmp_path):
    command = "printf ses; sleep 0.1; echo ame; echo <% $secrets.word %> >&2"
    bench = JobBench(tmp_path, role("task", command), v2=True, secrets={"word": "PAI_SECRET_0"})
    assert bench.play(PAI_SECRET_0="sesame")[0] == 0
    assert bench.log("task-0") + bench.log("task-0", "stderr") == "***\n***\n"


def test_ports_that_the_job_names_are_used_and_a_taken_one_is_named(tmp_path):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ports = {"http": 1, "ssh": 1, "board": 1}
        bench = JobBench(tmp_path, role("task", "echo never", ports=ports, port_starts={"board": port}))
        code, output = bench.play()
    assert code == 255
    assert (
        output == f"[outlast] the job cannot go on: port {port} (board) cannot be used here: Address already in use\n"
    )


@pytest.mark.skipif(not PYTHON_37.exists(), reason="there is no Python 3.7 here")
def test_it_runs_with_python_3_7(tmp_path):
    bench = JobBench(tmp_path, role("a", "echo hi", instances=2), v2=True, python=str(PYTHON_37))
    code, output = bench.play()
    assert (code, sorted(output.splitlines())) == (0, ["[a/0] hi", "[a/1] hi"])


def test_an_image_that_is_gone_ends_the_job(tmp_path):
    engine = shutil.which("podman") or shutil.which("docker") or "/bin/false"
    bench = JobBench(tmp_path, role("task", "echo never", image="no/such:image", engine=engine))
    code, output = bench.play()
    assert code == 254
    assert "the image no/such:image of role task is not on this machine any more" in output
