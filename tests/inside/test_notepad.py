"""Points on their way from the script to the runner: none is lost, none twice, whatever dies and whoever writes."""

from __future__ import annotations

import errno
import itertools
import math
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from outlast.inside import notepad as notepad_module
from outlast.inside.gathering import Gatherer
from outlast.inside.notepad import NAMES_LIMIT, Notepad
from outlast.inside.points import NO_STEP, RECORD, RECORD_BYTES, Batch, encode_block, items, whole_bytes

SOURCE = Path(__file__).parents[2] / "src"
OLD_PYTHON = Path("~/.pyenv/versions/3.7.16/bin/python3.7").expanduser()
NAN = math.nan


class Bench:
    """A notepad's folder and a runner that gathers from it."""

    def __init__(self, folder):
        self.folder = folder / "points"
        self.rows = []
        self.notes = []
        self.said = []
        self.gatherer = Gatherer(str(self.folder), lambda batch: self.rows.extend(batch.rows()), self.notes.append)

    def notepad(self, kind=Notepad):
        return kind(str(self.folder), lambda sentence, once: self.said.append(sentence))

    def values(self, name="loss"):
        return [value for _, _, _, each, value in self.rows if each == name]

    def script(self, text, python=sys.executable):
        """A script whose points land here."""
        env = {
            "PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1",
            "OUTLAST_RUN": "r", "OUTLAST_STINT": "1", "OUTLAST_SOCKET": str(self.folder.parent / "socket"),
        }  # fmt: skip
        code = "import outlast, os, sys, time\n" + textwrap.dedent(text)
        return subprocess.Popen([str(python), "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_what_is_written_is_gathered_once_and_in_order(bench):
    notepad = bench.notepad()
    notepad.write(1.0, 7, {"loss": 0.5, "acc": 0.25})
    bench.gatherer.gather()
    bench.gatherer.gather()
    notepad.write(NAN, NO_STEP, {"loss": NAN})
    bench.gatherer.gather()
    assert [row[1:] for row in bench.rows[:2]] == [(1.0, 7, "loss", 0.5), (1.0, 7, "acc", 0.25)]
    assert bench.rows[0][0] == bench.rows[1][0] < bench.rows[2][0]
    assert bench.rows[2][1:4] == (None, None, "loss") and math.isnan(bench.rows[2][4]) and len(bench.rows) == 3


def test_a_call_is_gathered_whole_or_not_at_all(bench):
    notepad = bench.notepad()

    class Watched(dict):
        """Values that somebody gathers between any two of them."""

        def items(self):
            for item in super().items():
                yield item
                bench.gatherer.gather()
                assert bench.rows == []

    notepad.write(1.0, 7, Watched(loss=0.5, acc=0.25, speed=3.0))
    bench.gatherer.gather()
    assert [row[3] for row in bench.rows] == ["loss", "acc", "speed"]


def test_pages_are_turned_and_those_that_were_read_are_removed(bench):
    notepad = bench.notepad()
    for number in range(40_000):
        notepad.write(NAN, number, {"loss": float(number)})
        if number % 977 == 0:
            bench.gatherer.gather()
    bench.gatherer.gather()
    assert bench.values() == list(map(float, range(40_000)))
    assert len([name for name in os.listdir(bench.folder) if not name.endswith(".notes")]) == 1
    bench.gatherer.close()
    assert not bench.folder.exists()


def test_a_call_that_does_not_fit_on_the_page_goes_on_with_the_next(bench):
    notepad = bench.notepad()
    many = {f"n{number}": float(number) for number in range(700)}
    for _ in range(5):
        notepad.write(NAN, 1, many)
    bench.gatherer.gather()
    assert [row[4] for row in bench.rows] == list(map(float, range(700))) * 5


def test_threads_may_write_at_once(bench):
    notepad = bench.notepad()
    stop = threading.Event()

    def gather():
        while not stop.is_set():
            bench.gatherer.gather()

    def write(thread):
        for number in range(8000):
            notepad.write(NAN, number, {f"t{thread}": float(number), "all": float(thread)})

    gathering = threading.Thread(target=gather)
    writing = [threading.Thread(target=write, args=(thread,)) for thread in range(4)]
    for thread in [gathering, *writing]:
        thread.start()
    for thread in writing:
        thread.join()
    stop.set()
    gathering.join()
    bench.gatherer.gather()
    for thread in range(4):
        assert bench.values(f"t{thread}") == list(map(float, range(8000)))
    assert len(bench.values("all")) == 32_000


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_script_that_is_killed_loses_nothing(bench, how):
    script = bench.script("""
        step = 0
        while True:
            for _ in range(100):
                outlast.track(loss=float(step), step=step)
                step += 1
            os.write(1, b"%d\\n" % step)
        """)
    for _ in range(50):
        told = int(script.stdout.readline())
    script.send_signal(how)
    rest, _ = script.communicate(timeout=150)
    told = int((rest.split(b"\n")[-2:-1] or [b"%d" % told])[0])
    bench.gatherer.gather()
    values = bench.values()
    assert len(values) >= told and values == list(map(float, range(len(values))))
    assert script.returncode == -how


@pytest.mark.skipif(not OLD_PYTHON.exists(), reason="needs Python 3.7")
def test_everything_works_on_the_oldest_python(bench):
    script = bench.script(
        "for step in range(5000): outlast.track(loss=float(step), step=step, epoch=1)", python=OLD_PYTHON
    )
    _, err = script.communicate(timeout=150)
    assert (script.returncode, err) == (0, b"")
    bench.gatherer.close()
    assert bench.values() == list(map(float, range(5000)))


def test_forked_workers_and_other_processes_do_not_disturb_each_other(bench):
    script = bench.script("""
        import subprocess
        outlast.track(loss=1.0, step=1)
        for _ in range(3):
            if os.fork() == 0:
                outlast.track(loss=99.0)
                os._exit(0)
        own = [sys.executable, "-c", "import outlast\\nfor n in range(100): outlast.track(other=float(n))"]
        children = [subprocess.Popen(own) for _ in range(2)]
        outlast.track(loss=2.0, step=2)
        assert [child.wait() for child in children] == [0, 0]
        """)
    _, err = script.communicate(timeout=150)
    assert (script.returncode, err) == (0, b"")
    bench.gatherer.gather()
    assert bench.values() == [1.0, 2.0]
    assert sorted(bench.values("other")) == sorted(list(map(float, range(100))) * 2)


def test_odd_values_are_kept_or_refused_in_one_sentence_each(bench):
    script = bench.script("""
        outlast.track(nan=float("nan"), up=float("inf"), down=float("-inf"), big=10**300, step=10**30)
        outlast.track(huge=10**400)
        outlast.track(huge=10**400)
        outlast.track(loss=1.0, step=float("nan"), epoch=float("inf"))
        outlast.track(loss=2.0, step=2.0, epoch=3)
        outlast.track(**{"n" * 300: 1.0})
        outlast.track(**{"\\ud800": 1.0, "": 2.0, "学习率": 3.0})
        """)
    _, err = script.communicate(timeout=150)
    bench.gatherer.gather()
    lines = err.decode().splitlines()
    assert script.returncode == 0 and len(lines) == 3
    assert "63 bits" in lines[0] and "huge" in lines[1] and "300 letters" in lines[2]
    assert [row[1:] for row in bench.rows[1:6]] == [
        (None, None, "up", math.inf), (None, None, "down", -math.inf), (None, None, "big", 1e300),
        (None, None, "loss", 1.0), (3.0, 2, "loss", 2.0),
    ]  # fmt: skip
    assert [row[3:] for row in bench.rows[6:]] == [("\ud800", 1.0), ("", 2.0), ("学习率", 3.0)]


def test_a_million_names_are_refused_politely_and_once(bench):
    script = bench.script("""
        for number in range(1000000):
            outlast.track(**{"loss_%d" % number: 1.0})
            if number == 30000: break
        outlast.track(loss_3=2.0)
        """)
    _, err = script.communicate(timeout=150)
    bench.gatherer.gather()
    sentences = err.decode().splitlines()
    assert len(sentences) == 1 and str(NAMES_LIMIT) in sentences[0] and "loss_10000" in sentences[0]
    assert "step=" in sentences[0]
    assert len(bench.rows) == NAMES_LIMIT + 1 and bench.rows[-1][3:] == ("loss_3", 2.0)


def test_a_full_disk_costs_points_and_never_the_training(bench, monkeypatch):
    real = os.posix_fallocate

    def full(fd, offset, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    notepad = bench.notepad()
    for number in range(10):
        notepad.write(NAN, number, {"loss": 1.0})
    assert bench.said and all("No space left" in sentence for sentence in bench.said)
    assert [name for name in os.listdir(bench.folder) if not name.endswith(".notes")] == []
    monkeypatch.setattr(os, "posix_fallocate", real)
    monkeypatch.setattr(notepad, "_retry_at_s", 0.0)
    notepad.write(NAN, 10, {"loss": 2.0})
    bench.gatherer.gather()
    assert bench.values() == [2.0]


def test_a_runner_that_takes_nothing_does_not_fill_the_disk(bench, monkeypatch):
    monkeypatch.setattr(notepad_module, "PAGES_LIMIT", 3)
    monkeypatch.setattr(notepad_module, "PAGE_BYTES", 64 << 10)
    notepad = bench.notepad()
    for number in range(10_000):
        notepad.write(NAN, number, {"loss": float(number)})
    assert len(os.listdir(bench.folder)) == 4
    assert "the runner takes none" in bench.said[0]
    bench.gatherer.gather()
    notepad._retry_at_s = 0.0
    notepad.write(NAN, 1, {"loss": -1.0})
    bench.gatherer.gather()
    taken = (64 << 10) // RECORD_BYTES * 3
    assert bench.values() == [*map(float, range(taken)), -1.0]


def test_nobody_there_is_one_sentence(tmp_path):
    said = []
    notepad = Notepad(str(tmp_path / "gone"), lambda sentence, once: said.append((sentence, once)))
    for _ in range(5):
        notepad.write(NAN, 1, {"loss": 1.0})
    assert said and {once for _, once in said} == {"points lost"}


def test_an_interrupted_record_holds_the_others_up_only_for_a_while(bench, monkeypatch):
    notepad = bench.notepad()
    notepad.write(NAN, 1, {"loss": 1.0})
    next(notepad._sheet[1])  # taken by a thread that an interrupt came upon
    notepad.write(NAN, 2, {"loss": 2.0})
    bench.gatherer.gather()
    assert bench.values() == [1.0]
    monkeypatch.setattr("outlast.inside.gathering._GAP_S", 0.0)
    bench.gatherer.gather()
    assert bench.values() == [1.0, 2.0]


def test_a_signal_handler_may_track_at_any_moment(bench):
    script = bench.script("""
        import signal
        count = 0
        def tick(*_):
            global count
            count += 1
            outlast.track(**{"tick_%d" % (count % 50): 1.0})
        outlast.track(loss=-1.0)  # imports are done before the first signal
        signal.signal(signal.SIGALRM, tick)
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        for step in range(60000):
            outlast.track(loss=float(step))
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(count)
        """)
    out, err = script.communicate(timeout=150)
    assert (script.returncode, err) == (0, b"")
    bench.gatherer.close()
    assert bench.values() == list(map(float, range(-1, 60_000)))
    assert all(list(note["values"].values()) == [1.0] for note in bench.notes)
    assert len(bench.rows) + len(bench.notes) - 60_001 == int(out)


def test_a_signal_handler_that_turns_the_page_first_loses_nothing(bench):
    class Interrupted(Notepad):
        """Its page turns are interrupted, by what writes too, where it looks whether it is in one already."""

        interrupts, turning = 0, False

        @property
        def _is_turning(self):
            if self.interrupts and not self.turning:
                self.interrupts -= 1
                self.write(NAN, 1, {"tick": 1.0})
            return self.turning

        @_is_turning.setter
        def _is_turning(self, value):
            self.turning = value

    notepad = bench.notepad(Interrupted)
    notepad.write(NAN, 1, {"tick": 1.0})
    for step in range(20_000):
        notepad.interrupts = 1
        notepad.write(NAN, step, {"loss": float(step)})
    bench.gatherer.close()
    assert bench.values() == list(map(float, range(20_000)))


def test_rubbish_in_the_folder_is_harmless(bench):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    (bench.folder / "1-x.notes").write_bytes(b'[1, "loss"]\n{"at": 1\n[[\n' + dice.randbytes(200) + b"\n")
    (bench.folder / "1-x.000001").write_bytes(dice.randbytes(4001))
    (bench.folder / "2-y.notes").mkdir()
    (bench.folder / "3-z.notes").write_bytes(b"")
    notepad = bench.notepad()
    notepad.write(NAN, 1, {"acc": 0.5})
    bench.gatherer.close()
    assert bench.values("acc") == [0.5]


# ---- blocks


def test_a_block_brings_back_every_bit():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    records = b"".join(
        RECORD.pack(dice.random(), dice.choice([NAN, 3.0]), dice.randrange(-(2**63), 2**63), dice.gauss(0, 1e9), mark)
        for mark in (dice.randrange(1, 4) for _ in range(1000))
    )
    names = {1: "loss", 2: "", 3: "学\n习", 4: "unused"}
    block = next(items(encode_block(records, names, -5.5)))
    assert block.batch() == Batch(records, {1: "loss", 2: "", 3: "学\n习"})
    assert (block.base_s, block.source, block.points) == (-5.5, "track", 1000)


def test_a_segment_is_cut_between_lines_and_blocks_only():
    block = encode_block(RECORD.pack(1.0, NAN, 10, 0.5, 1), {1: "loss"}, 0.0)
    line = b'{"at_s": 1}\n'
    data = line + block + line + block
    ends = {0, *itertools.accumulate(map(len, (line, block, line, block)))}
    for cut in range(len(data) + 1):
        assert whole_bytes(data[:cut]) == max(end for end in ends if end <= cut)
