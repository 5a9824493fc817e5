"""The live view through a real pseudo-terminal, and plain lines through a pipe, each in its own process."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
import simulated

HERE = Path(__file__).parent
DEADLINE_S = 60.0


class Terminal:
    """A command on a pseudo-terminal of 100 columns and 30 rows."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        env = {**os.environ, **environment}
        env.pop("COLUMNS", None)

        def own_the_terminal() -> None:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "drive.py"), *arguments], stdin=slave, stdout=slave, stderr=slave, env=env,
            preexec_fn=own_the_terminal,  # noqa: PLW1509 - Ctrl-C typed on the master must reach it as a signal
        )  # fmt: skip
        os.close(slave)
        self.raw = ""

    def read(self, timeout_s: float = 0.2) -> bool:
        ready, _, _ = select.select([self.master], [], [], timeout_s)
        if not ready:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.raw += data.decode("utf-8", "replace")
        return bool(data)

    def until(self, words: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while words not in self.text:
            assert time.monotonic() < deadline, f"never saw {words!r} in:\n{self.text}"
            if not self.read() and words not in self.text:
                raise AssertionError(f"ended without {words!r}:\n{self.text}")

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def finish(self) -> int:
        deadline = time.monotonic() + DEADLINE_S
        while self.read():
            assert time.monotonic() < deadline, self.text
        code = self.process.wait(DEADLINE_S)
        os.close(self.master)
        return code

    @property
    def text(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.raw).replace("\r", "")


def test_watched_run_shows_bars_hand_overs_and_the_closing_table():
    terminal = Terminal("30", "-", "run", "train.py", "--limit", "15s")
    assert terminal.finish() == 0, terminal.text
    text = terminal.text
    assert text.startswith(f"run {simulated.RUN} on local\n")
    assert re.search(r"stint 1 +━+.* of 15 s · .* left", text)
    assert re.search(r"epoch \d+/30 · 0\.8 epochs/s · .* to go", text)
    for line in (
        "● stint 1 handed over at epoch 11 (checkpoint 0001-000011, 14 s) → stint 2",
        "● stint 2 handed over at epoch 22 (checkpoint 0002-000011, 14 s) → stint 3",
        "● stint 3 finished at epoch 30",
    ):
        assert text.count(line) == 1
    closing = text[text.rindex(f"{simulated.RUN} succeeded") :]
    assert "3 stints, epoch 30/30" in closing
    for words in ("ledger", "90.0% useful", "total", "loss", "out/model.npz", f"outlast fetch {simulated.RUN}"):
        assert words in closing
    assert "\x1b[?25h" in terminal.raw  # the cursor is back


def test_first_ctrl_c_detaches_and_says_how_to_come_back():
    terminal = Terminal("5", "-", "run", "train.py")
    terminal.until("epoch 2/30")
    terminal.type(b"\x03")
    terminal.until(f"the run goes on; come back with: outlast logs -f {simulated.RUN}")
    assert terminal.finish() == 0
    assert f"stop it with: outlast stop {simulated.RUN}" in terminal.text
    assert "calls: submit\n" in terminal.text
    assert "Traceback" not in terminal.text


def test_second_ctrl_c_stops_the_run():
    terminal = Terminal("5", "-", "run", "train.py")
    terminal.until("epoch 2/30")
    terminal.type(b"\x03")
    terminal.until("the run goes on")
    terminal.type(b"\x03")
    assert terminal.finish() == 130
    assert "calls: submit,stop\n" in terminal.text
    assert f"{simulated.RUN} stopped" in terminal.text
    assert f"outlast resume {simulated.RUN}" in terminal.text


def test_two_quick_ctrl_c_stop_the_run():
    terminal = Terminal("5", "-", "run", "train.py")
    terminal.until("epoch 2/30")
    terminal.type(b"\x03\x03")
    code = terminal.finish()
    # The kernel merges two signals that arrive before the first is handled; then it was one Ctrl-C.
    assert (code, "calls: submit,stop\n" in terminal.text) in ((130, True), (0, False))


def test_failure_shows_the_last_lines_of_the_script():
    terminal = Terminal("30", "fails", "run", "train.py")
    assert terminal.finish() == 1
    closing = terminal.text[terminal.text.rindex(f"{simulated.RUN} failed") :]
    assert "RuntimeError: shapes (4,5) and (3,) differ" in closing
    assert "last lines of the script" in closing and "epoch 14/30" in closing


def test_no_color_moves_without_colours():
    terminal = Terminal("30", "-", "run", "train.py", NO_COLOR="1")
    assert terminal.finish() == 0
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", terminal.raw)
    assert "stint 1 handed over" in terminal.text


def test_dumb_terminal_gets_plain_lines():
    terminal = Terminal("30", "-", "run", "train.py", TERM="dumb")
    assert terminal.finish() == 0
    assert "\x1b" not in terminal.raw
    assert "[outlast] stint 1 handed over" in terminal.text


def test_chinese_labels_in_the_live_view():
    terminal = Terminal("30", "-", "run", "train.py", LANG="zh_CN.UTF-8")
    assert terminal.finish() == 0
    assert "训练" in terminal.text and "轮 30/30" in terminal.text


def test_width_changes_are_survived():
    terminal = Terminal("8", "-", "run", "train.py")
    terminal.until("epoch 2/30")
    fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", 8, 30, 0, 0))
    os.killpg(terminal.process.pid, signal.SIGWINCH)
    assert terminal.finish() == 0


def piped(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(HERE / "drive.py"), *arguments], capture_output=True, text=True)


def test_pipe_gets_the_script_output_whole_and_the_hand_overs_between():
    done = piped("30", "-", "run", "train.py", "--limit", "15s")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    script = [line for line in lines if line.startswith("epoch ")]
    assert script == [simulated.line_of(epoch).decode().rstrip() for epoch in range(1, 31)]
    at = lines.index("[outlast] stint 1 handed over at epoch 11 (checkpoint 0001-000011, 14 s) → stint 2")
    assert lines[at - 1].startswith("epoch 11/30") and lines[at + 1].startswith("epoch 12/30")


def test_json_run_prints_only_the_final_view_on_standard_output():
    import json

    done = piped("60", "-", "run", "train.py", "--json")
    assert done.returncode == 0
    body = json.loads(done.stdout)
    assert body["state"] == "succeeded" and len(body["stints"]) == 3 and body["stint_count"] == 3
    assert "[outlast] stint 1 handed over" in done.stderr


def test_detached_run_prints_its_id_alone_on_standard_output():
    done = piped("1", "-", "run", "train.py", "--detach")
    assert (done.returncode, done.stdout) == (0, simulated.RUN + "\n")
    assert f"outlast logs -f {simulated.RUN}" in done.stderr


@pytest.mark.parametrize("kind", ["fails"])
def test_failed_run_in_a_pipe_exits_with_one(kind):
    done = piped("60", kind, "run", "train.py")
    assert done.returncode == 1
    assert "RuntimeError" in done.stdout
