import hashlib
import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from outlast.inside.desk import Desk, DeskHandler
from outlast.inside.flag import StopFlag

SOURCE = Path(__file__).parents[2] / "src"
OLD_PYTHON = Path("~/.pyenv/versions/3.7.16/bin/python3.7").expanduser()


def tracked_calls(batch):
    """The calls of `outlast.track` in a batch, as `on_track` would have them."""
    for (at, epoch, step), rows in itertools.groupby(batch.rows(), key=lambda row: row[:3]):
        yield {"at": at, "epoch": epoch, "step": step, "values": {name: value for *_, name, value in rows}}


class Runner(DeskHandler):
    """A runner's desk that takes snapshots of the checkpoint place into memory."""

    def __init__(self, root):
        self.root = root
        self.place = root / "ckpt"
        self.flag = StopFlag.create(str(root / "flag"))
        self.calls = []
        self.points = []
        self.saves = []  # (files, progress)
        self.refuse = ""
        self.hook = lambda name, message: None
        self.desk = Desk(str(root / "socket"), self)

    def __getattribute__(self, name):
        if not name.startswith("on_") or name == "on_points":
            return super().__getattribute__(name)

        def note(message):
            self.calls.append((name[3:], message))
            self.hook(name[3:], message)
            return getattr(self, "take_" + name[3:], lambda _: None)(message)

        return note

    def on_points(self, batch):
        for message in tracked_calls(batch):
            self.on_track(message)

    def take_track(self, message):
        self.points.append(message)

    def take_save(self, message):
        if self.refuse:
            raise RuntimeError(self.refuse)
        self.saves.append((self.files(), message["progress"]))
        return {"ticket": len(self.saves)}

    def files(self):
        found = [path for path in self.place.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.place)): path.read_text() for path in found}

    def names(self):
        return [name for name, _ in self.calls]

    def env(self, **more):
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        kept.update(
            PYTHONPATH=str(SOURCE), PYTHONWARNINGS="error", PYTHONDONTWRITEBYTECODE="1",
            OUTLAST_RUN="1115-quiet-otter-abc", OUTLAST_STINT="2", OUTLAST_SOCKET=self.desk.path,
            OUTLAST_FLAG=str(self.root / "flag"), OUTLAST_CHECKPOINT=str(self.place), OUTLAST_RESTORED="",
            OUTLAST_PROGRESS="{}", OUTLAST_OUTPUT=str(self.root / "out"), OUTLAST_PARAMS="{}",
        )  # fmt: skip
        kept.update(more)
        return kept

    def start(self, script, python=sys.executable, **more):
        path = self.root / "script.py"
        path.write_text("import outlast, os, sys, time\n" + textwrap.dedent(script))
        return subprocess.Popen(
            [str(python), str(path)], env=self.env(**more), cwd=self.root, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, script, **more):
        process = self.start(script, **more)
        out, err = process.communicate(timeout=150)
        assert self.desk.drain(10)
        return process.returncode, out, err


@pytest.fixture
def runner(tmp_path):
    made = Runner(tmp_path)
    with made.desk:
        yield made


def resumed(runner):
    """The environment of a stint that restored the last save."""
    return {"OUTLAST_RESTORED": "0001-000001", "OUTLAST_PROGRESS": json.dumps(runner.saves[-1][1])}


COUNTING = """
    total = 0
    def save(folder):
        with open(folder + "/total", "w") as file:
            file.write(str(total))
    def load(folder):
        global total
        with open(folder + "/total") as file:
            total = int(file.read())
    for epoch in outlast.epochs(5, save=save, load=load):
        total += 10 ** epoch
        print("epoch", epoch, flush=True)
    print("total", total)
"""


def test_all_epochs_run_and_each_is_saved_when_nobody_asks(runner):
    code, out, err = runner.run(COUNTING)
    assert (code, err) == (0, "")
    assert out.split()[-1] == "11111"
    assert [progress["next_epoch"] for _, progress in runner.saves] == [1, 2, 3, 4, 5]
    assert runner.saves[-1][0] == {"total": "11111"}
    assert "ack" not in runner.names()
    boundaries = [message["epoch"] for name, message in runner.calls if name == "progress" and message["boundary"]]
    assert boundaries == [1, 2, 3, 4, 5]
    assert "listening" in runner.names()


def test_a_raised_flag_ends_the_loop_after_the_epoch_with_a_save_and_the_next_stint_goes_on(runner):
    runner.hook = lambda name, message: name == "progress" and message.get("epoch") == 2 and runner.flag.raise_("x")
    code, out, err = runner.run(COUNTING)
    assert code == 85, err
    assert "total" not in out
    assert runner.names()[-1] == "ack"
    assert runner.saves[-1] == ({"total": "11"}, {"epoch": 2, "next_epoch": 2})
    runner.flag = StopFlag.create(str(runner.root / "flag"))
    runner.hook = lambda name, message: None
    code, out, err = runner.run(COUNTING, **resumed(runner))
    assert code == 0, err
    assert out.split("\n")[:-1] == ["epoch 2", "epoch 3", "epoch 4", "total 11111"]


def test_a_flag_raised_during_the_last_epoch_lets_the_script_finish(runner):
    runner.flag.raise_("deadline")
    code, out, err = runner.run(COUNTING, OUTLAST_RESTORED="0001-000001", OUTLAST_PROGRESS='{"next_epoch": 4}')
    assert code == 1  # nothing to load: the folder is missing, which proves that load was called
    (runner.place).mkdir()
    (runner.place / "total").write_text("1111")
    code, out, err = runner.run(COUNTING, OUTLAST_RESTORED="0001-000001", OUTLAST_PROGRESS='{"next_epoch": 4}')
    assert code == 0, err
    assert out.split()[-1] == "11111"
    assert "ack" not in runner.names() and "noticed" not in runner.names()


def test_a_checkpoint_after_the_last_epoch_is_still_loaded(runner):
    runner.place.mkdir()
    (runner.place / "total").write_text("77")
    code, out, _ = runner.run(COUNTING, OUTLAST_RESTORED="0001-000005", OUTLAST_PROGRESS='{"next_epoch": 5}')
    assert (code, out) == (0, "total 77\n")


def test_rare_saves_still_save_at_a_hand_over_and_at_the_end(runner):
    script = COUNTING.replace("load=load)", "load=load, every=3)")
    code, _, _ = runner.run(script)
    assert code == 0
    assert [progress["next_epoch"] for _, progress in runner.saves] == [3, 5]
    runner.saves.clear()
    runner.flag.raise_("deadline")
    code, _, _ = runner.run(script)
    assert code == 85
    assert [progress["next_epoch"] for _, progress in runner.saves] == [1]


def test_without_a_save_function_it_goes_on_until_the_script_has_saved_by_itself(runner):
    runner.flag.raise_("deadline")
    code, out, err = runner.run("""
        for epoch in outlast.epochs(9):
            print(epoch, flush=True)
            if epoch == 3:
                outlast.save(lambda folder: open(folder + "/a", "w").close())
        """)
    assert code == 85
    assert out.split() == ["0", "1", "2", "3"]
    assert err.count("outlast:") == 1
    assert "not saved" in err and "save=function" in err
    assert runner.saves[0][1] == {"next_epoch": 4, "epoch": 4}


def test_a_save_that_the_runner_refused_does_not_count(runner):
    runner.refuse = "no space left in the store"
    runner.flag.raise_("deadline")
    code, _, err = runner.run(COUNTING)
    assert code == 0
    assert err.count("no space left in the store") == 1
    assert "ack" not in runner.names()


def test_an_epoch_saved_half_way_is_trained_again(runner):
    runner.run("""
        for epoch in outlast.epochs(3):
            outlast.save(lambda folder: open(folder + "/a", "w").close(), next_epoch=epoch, step=5)
            break
        """)
    assert runner.saves[0][1] == {"next_epoch": 0, "step": 5, "epoch": 0}
    _, out, _ = runner.run("print(list(outlast.epochs(3)))", **resumed(runner))
    assert out == "[0, 1, 2]\n"


def test_a_second_loop_is_not_confused_with_the_first(runner):
    script = """
        for fold in range(3):
            saved = lambda folder: open(folder + "/fold", "w").write(str(fold))
            loaded = lambda folder: print("load", fold, open(folder + "/fold").read())
            for epoch in outlast.epochs(2, save=saved, load=loaded):
                print(fold, epoch, flush=True)
                if (fold, epoch) == (1, 1) and len(sys.argv) == 1 and not outlast.info().restored:
                    os._exit(9)
    """
    script = script.replace("open(folder", "opened(folder")
    script = (
        """
        def opened(path, mode="r"):
            class Box:
                def write(self, text):
                    with open(path, mode) as file: file.write(text)
                def read(self):
                    with open(path) as file: return file.read()
            return Box()
    """
        + script
    )
    code, out, err = runner.run(script)
    assert (code, err) == (9, "")
    assert runner.saves[-1] == ({"fold": "1"}, {"next_epoch": 1, "epoch": 1, "loop": 1})
    code, out, err = runner.run(script, **resumed(runner))
    assert (code, err) == (0, "")
    assert out.split("\n")[:-1] == ["load 1 1", "1 1", "2 0", "2 1"]


def test_a_checkpoint_that_does_not_know_its_epoch_says_so_once(runner):
    code, out, err = runner.run("print(list(outlast.epochs(2)))", OUTLAST_RESTORED="0001-000004")
    assert (code, out) == (0, "[0, 1]\n")
    assert err.count("\n") == 1 and "0001-000004" in err and "start=N" in err
    code, out, err = runner.run("print(list(outlast.epochs(4, start=2)))", OUTLAST_RESTORED="0001-000004")
    assert (out, err) == ("[2, 3]\n", "")


def test_len_is_what_is_left_to_do(runner):
    progress = '{"next_epoch": 3}'
    _, out, _ = runner.run("print(len(outlast.epochs(5)))", OUTLAST_RESTORED="0001-000001", OUTLAST_PROGRESS=progress)
    assert out == "2\n"


def test_leaving_early_by_break_saves_nothing_and_goes_on_after_the_loop(runner):
    code, out, _ = runner.run("""
        for epoch in outlast.epochs(5, save=lambda folder: open(folder + "/a", "w").close()):
            if epoch == 1:
                break
        outlast.track(after=1)
        print("after")
        """)
    assert (code, out) == (0, "after\n")
    assert len(runner.saves) == 1
    assert runner.points[-1]["epoch"] is None


@pytest.mark.parametrize(
    "call", ["epochs(-1)", "epochs(2.5)", "epochs(3, every=0)", "epochs('9')", "epochs(3, start=-1)"]
)
def test_wrong_numbers_are_named(runner, call):
    code, _, err = runner.run(f"outlast.{call}")
    assert code == 1
    assert "ValueError: outlast.epochs: " in err and "must be a whole number" in err


# ---- save


def test_the_checkpoint_is_exactly_what_was_written(runner):
    for name in ("old", "sub/old", "sub/both", "gone/deep/er", "turns"):
        (runner.place / name).parent.mkdir(parents=True, exist_ok=True)
        (runner.place / name).write_text("old")
    code, out, err = runner.run("""
        def write(folder):
            for name in ("new", "sub/both", "turns/into/folder", "gone/deep"):
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write("new")
        print(outlast.save(write, epoch=4))
        """)
    assert (code, out, err) == (0, "1\n", "")
    expected = dict.fromkeys(["new", "sub/both", "turns/into/folder", "gone/deep"], "new")
    assert runner.saves == [(expected, {"epoch": 4})]
    assert sorted(path.name for path in runner.place.iterdir()) == ["gone", "new", "sub", "turns"]
    assert runner.names()[-2:] == ["saving", "save"]
    assert not list(runner.root.glob("*.tmp"))


def test_a_save_that_fails_keeps_the_previous_checkpoint_and_is_not_announced(runner):
    code, _, err = runner.run("""
        def good(folder):
            with open(folder + "/a", "w") as file: file.write("good")
        def bad(folder):
            with open(folder + "/a", "w") as file: file.write("ba")
            raise KeyError("optimizer")
        outlast.save(good)
        try:
            outlast.save(bad)
        except KeyError:
            print("raised")
        try:
            outlast.save(lambda folder: None)
        except ValueError as error:
            sys.exit(str(error))
        """)
    assert code == 1 and "wrote nothing" in err
    assert runner.files() == {"a": "good"}
    assert len(runner.saves) == 1 and runner.names().count("saving") == 1
    assert not list(runner.root.glob("*.tmp"))


def test_killed_at_any_moment_the_desk_knows_whether_the_place_is_whole(runner):
    """Each save writes the same number into five files; a mixture may only ever lie there while the desk is saving."""
    script = """
        def write(folder):
            for name in "abcde":
                with open(os.path.join(folder, name), "w") as file:
                    file.write(str(n))
        for n in range(100000):
            outlast.save(write)
        """
    for _ in range(8):
        before = len(runner.saves)
        process = runner.start(script)
        until_s = time.monotonic() + 150
        while len(runner.saves) < before + 25:
            assert time.monotonic() < until_s
            time.sleep(0.002)
        process.kill()
        process.communicate()
        until_s = time.monotonic() + 150
        while runner.desk.clients:
            assert time.monotonic() < until_s
            time.sleep(0.002)
        contents = set(runner.files().values())
        assert runner.desk.is_saving or len(contents) == 1
    assert all(len(set(files.values())) == 1 and len(files) == 5 for files, _ in runner.saves)


def test_save_without_a_function_commits_what_is_there(runner):
    code, out, _ = runner.run("""
        os.makedirs("ckpt")
        with open("ckpt/own", "w") as file: file.write("mine")
        print(outlast.save(step=10))
        """)
    assert (code, out) == (0, "1\n")
    assert runner.saves == [({"own": "mine"}, {"step": 10})]
    assert "saving" not in runner.names()


def test_a_checkpoint_place_that_is_a_file_is_refused_by_name(runner):
    runner.place.write_text("a file")
    code, _, err = runner.run("outlast.save(lambda folder: open(folder + '/a', 'w').close())")
    assert code == 1 and "place ckpt is a file" in err and "--checkpoint" in err
    assert runner.place.read_text() == "a file"


def test_progress_that_cannot_be_kept_is_refused_by_name(runner):
    code, _, err = runner.run("outlast.save(model=object())")
    assert code == 1 and "TypeError: outlast.save: model=" in err


def test_only_rank_0_saves_and_tracks(runner):
    script = """
        outlast.track(loss=1)
        print(outlast.save(lambda folder: open(folder + "/a", "w").close()), outlast.info().rank)
    """
    for variable in ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "LOCAL_RANK"):
        code, out, err = runner.run(script, **{variable: "1"})
        assert (code, out, err) == (0, "None 1\n", "")
    assert runner.saves == [] and runner.points == []
    _, out, _ = runner.run(script, RANK="0", LOCAL_RANK="3")
    assert out == "1 0\n"


def test_a_rank_given_only_to_torch_is_found(runner):
    (runner.root / "torch").mkdir()
    (runner.root / "torch" / "__init__.py").write_text("")
    (runner.root / "torch" / "distributed.py").write_text(
        "def is_initialized(): return True\ndef get_rank(): return 2\ndef get_world_size(): return 4\n"
    )
    _, out, _ = runner.run("import torch.distributed; print(outlast.save(), outlast.info().rank)")
    assert out == "None 2\n"


def test_other_ranks_leave_only_after_rank_0_has_saved(runner):
    script = """
        import pathlib
        for epoch in outlast.epochs(50, save=lambda folder: (time.sleep(0.2), open(folder + "/a", "w").close())):
            print(epoch, flush=True)
            pathlib.Path("rank%s-%d" % (os.environ["RANK"], epoch)).touch()
            other = pathlib.Path("rank%d-%d" % (1 - int(os.environ["RANK"]), epoch))
            while not other.exists():  # a collective call: nobody goes on alone
                time.sleep(0.001)
    """
    runner.hook = lambda name, message: name == "save" and len(runner.saves) == 2 and runner.flag.raise_("x")
    others = [runner.start(script, RANK=str(rank), WORLD_SIZE="2") for rank in (0, 1)]
    outs = [process.communicate(timeout=150) for process in others]
    assert [process.returncode for process in others] == [85, 85], outs
    assert outs[0][0] == outs[1][0]
    assert runner.names().count("ack") == 1


# ---- restore, params, output, info


def test_restore_gives_the_folder_or_calls_the_function(runner):
    script = "print(outlast.restore(), outlast.restore(lambda folder: print('got', folder)))"
    assert runner.run(script)[1] == "None False\n"
    _, out, _ = runner.run(script, OUTLAST_RESTORED="0001-000002")
    assert out == f"got {runner.place}\n{runner.place} True\n"


def test_parameters_take_the_type_of_their_defaults(runner):
    params = {"lr": "0.1", "layers": "3", "fast": "yes", "name": "x", "extra": "7"}
    script = "print(sorted(outlast.params({'lr': 1.0, 'layers': 1, 'fast': False, 'name': '', 'own': None}).items()))"
    _, out, _ = runner.run(script, OUTLAST_PARAMS=json.dumps(params))
    assert out == ("[('extra', '7'), ('fast', True), ('layers', 3), ('lr', 0.1), ('name', 'x'), ('own', None)]\n")
    code, _, err = runner.run(script, OUTLAST_PARAMS='{"layers": "many"}')
    assert code == 1 and "parameter layers='many' is not a number" in err
    code, _, err = runner.run(script, OUTLAST_PARAMS='{"fast": "maybe"}')
    assert code == 1 and "parameter fast='maybe' is not a bool" in err


def test_the_output_folder_exists_when_it_is_named(runner):
    _, out, _ = runner.run("print(os.path.isdir(outlast.output()), outlast.output())")
    assert out == "True %s\n" % (runner.root / "out")


def test_info_says_where_the_script_is(runner):
    script = "i = outlast.info(); print(i.inside, i.run, i.stint, i.restored, i.progress, i.rank, i.time_left_s)"
    _, out, _ = runner.run(script)
    assert out == "True 1115-quiet-otter-abc 2 None {} 0 None\n"
    late = repr(time.monotonic() - 5)
    _, out, _ = runner.run(script, OUTLAST_DEADLINE=late, OUTLAST_RESTORED="a", OUTLAST_PROGRESS='{"step": 3}')
    assert out == "True 1115-quiet-otter-abc 2 a {'step': 3} 0 0.0\n"


# ---- track


def test_metrics_of_many_kinds_arrive_with_their_epoch_and_step(runner):
    before_s = time.monotonic()
    code, _, err = runner.run("""
        class Scalar:
            def item(self): return 0.25
        class Array:
            def __float__(self): return 0.5
        class Vector:
            def item(self): raise ValueError("more than one element")
        for epoch in outlast.epochs(2, track=lambda: {"epoch_loss": 9}):
            outlast.track(loss=Scalar(), acc=Array(), n=3, ok=True, bad=Vector(), worse="0.3", step=epoch * 10)
        outlast.track(epoch=1.5, nan=float("nan"))
        """)
    assert code == 0
    assert err.count("\n") == 2 and "track(bad=...)" in err and "track(worse=...)" in err
    got = [(point["epoch"], point["step"], point["values"]) for point in runner.points]
    values = {"loss": 0.25, "acc": 0.5, "n": 3.0, "ok": 1.0}
    assert got[:4] == [
        (1, 0, values), (1, None, {"epoch_loss": 9.0}), (2, 10, values), (2, None, {"epoch_loss": 9.0}),
    ]  # fmt: skip
    assert got[4][0] == 1.5
    assert before_s < runner.points[0]["at"] < time.monotonic()


def test_samples_become_a_digest_that_depends_on_their_order(runner):
    runner.run("""
        class Array:
            def tolist(self): return [1, 2, 3]
        for samples in ([1, 2, 3], (1, 2, 3), Array(), [3, 2, 1]):
            outlast.track(samples=samples)
        """)
    digests = [point["values"]["samples"] for point in runner.points]
    assert digests[0] == digests[1] == digests[2] != digests[3]
    assert digests[0] == hashlib.sha1(b"[1, 2, 3]").hexdigest()[:16]


def test_metrics_of_an_epoch_arrive_before_its_checkpoint(runner):
    runner.run("""
        for epoch in outlast.epochs(3, save=lambda folder: open(folder + "/a", "w").close()):
            outlast.track(loss=epoch)
        """)
    names = [name for name in runner.names() if name in ("track", "save")]
    assert names == ["track", "save"] * 3


def test_metrics_are_flushed_when_the_script_ends_by_an_error(runner):
    code, _, _ = runner.run("outlast.track(loss=1)\nraise SystemExit(3)")
    assert code == 3
    assert [point["values"] for point in runner.points] == [{"loss": 1.0}]


def test_tracking_is_cheap_and_should_stop_nearly_free(runner):
    code, out, err = runner.run("""
        import timeit
        outlast.track(loss=1.0); outlast.should_stop()
        def step():
            outlast.track(loss=0.5, acc=0.25, step=7)
        tracking = min(timeit.repeat(step, number=2000, repeat=5)) / 2000
        asking = min(timeit.repeat(outlast.should_stop, number=5000, repeat=5)) / 5000
        print(tracking * 1e6, asking * 1e6)
        """)
    assert (code, err) == (0, "")
    tracking_us, asking_us = map(float, out.split())
    print(f"track {tracking_us:.1f} us, should_stop {asking_us:.2f} us")
    assert tracking_us < 20 and asking_us < 5
    assert sum(len(point["values"]) for point in runner.points) == 20001


def test_a_runner_that_is_gone_never_hurts_the_training(runner):
    def close():
        runner.desk.close(patience_s=0.0)
        (runner.root / "closed").touch()

    runner.hook = lambda name, message: name == "track" and threading.Thread(target=close).start()
    code, out, err = runner.run("""
        def write(folder):
            with open(folder + "/a", "w") as file: file.write("x")
        outlast.track(loss=1)
        while not os.path.exists("closed"):
            time.sleep(0.005)
        for epoch in outlast.epochs(3, save=write):
            for step in range(100):
                outlast.track(loss=step)
        print("done", outlast.should_stop())
        """)
    assert (code, out) == (0, "done False\n")
    assert err.count("\n") == 1 and "the runner does not answer" in err
    assert runner.files() == {"a": "x"}


# ---- stopping


def test_the_manual_form_saves_and_leaves(runner):
    process = runner.start("""
        step = 0
        print("ready", flush=True)
        while not outlast.should_stop():
            step += 1
            time.sleep(0.001)
        outlast.save(lambda folder: open(folder + "/a", "w").close(), step=step)
        outlast.leave()
        """)
    assert process.stdout.readline() == "ready\n"
    runner.flag.raise_("deadline")
    out, err = process.communicate(timeout=150)
    assert (process.returncode, out, err) == (85, "", "")
    assert runner.names()[-4:] == ["noticed", "saving", "save", "ack"]
    assert runner.names().count("listening") == 1


def test_under_torchrun_an_acknowledged_leave_is_no_crash(runner):
    runner.flag.raise_("deadline")
    code, _, err = runner.run(COUNTING, TORCHELASTIC_RUN_ID="1")
    assert (code, err) == (0, "")
    assert runner.names()[-1] == "ack"
    code, _, _ = runner.run("outlast.leave()", TORCHELASTIC_RUN_ID="1", OUTLAST_SOCKET="/nowhere")
    assert code == 85


def test_sigterm_counts_as_the_flag_when_the_script_has_no_handler(runner):
    process = runner.start("""
        outlast.should_stop()
        print("ready", flush=True)
        while not outlast.should_stop():
            time.sleep(0.001)
        print("saw it")
        """)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=150)
    assert (process.returncode, out) == (0, "saw it\n")


def test_the_scripts_own_handler_is_never_replaced(runner):
    process = runner.start("""
        import signal
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
        for epoch in outlast.epochs(1000000):
            outlast.should_stop()
            if epoch == 0:
                print("ready", flush=True)
            time.sleep(0.001)
        """)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=150)
    assert process.returncode == 7


def test_a_script_that_never_looks_at_the_flag_still_ends_by_sigterm(runner):
    process = runner.start("outlast.track(loss=1); print('ready', flush=True); time.sleep(60)")
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=150)
    assert process.returncode == -signal.SIGTERM


def test_forked_workers_stay_silent_can_read_the_flag_and_can_be_terminated(runner):
    runner.flag.raise_("deadline")
    code, out, err = runner.run("""
        import multiprocessing
        def work(number):
            outlast.track(worker=number)
            outlast.progress(step=number)
            saved = outlast.save(lambda folder: open(folder + "/a", "w").close())
            return outlast.should_stop(), saved, list(outlast.epochs(2))
        if __name__ == "__main__":
            outlast.should_stop()
            outlast.track(parent=1)
            context = multiprocessing.get_context("fork")
            with context.Pool(3) as pool:
                print(set(map(str, pool.map(work, range(30)))))
                # Leaving the block terminates the workers by SIGTERM; it would hang if they ignored it.
            outlast.track(parent=2)
        """)
    assert (code, err) == (0, "")
    assert out == "{'(True, None, [0, 1])'}\n"
    assert [point["values"] for point in runner.points] == [{"parent": 1.0}, {"parent": 2.0}]
    assert runner.saves == []
    assert runner.names().count("hello") == 1


def test_many_threads_may_track_and_save_at_once(runner):
    code, _, err = runner.run("""
        import threading
        def work(number):
            def write(folder):
                for name in "abc":
                    with open(os.path.join(folder, name), "w") as file:
                        file.write(str(number))
            for step in range(20):
                outlast.track(loss=1, step=step)
                outlast.save(write)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """)
    assert (code, err) == (0, "")
    assert len(runner.points) == 80 and len(runner.saves) == 80
    assert all(len(set(files.values())) == 1 and len(files) == 3 for files, _ in runner.saves)


# ---- outside a stint, and on an old Python


OUTSIDE = """
    import outlast
    assert list(outlast.epochs(3, save=print, load=print, track=print)) == [0, 1, 2]
    assert list(outlast.epochs(3, start=1)) == [1, 2] and len(outlast.epochs(3)) == 3
    assert outlast.save(print) is None and outlast.save() is None
    assert outlast.restore() is None and outlast.restore(print) is False
    assert outlast.track(loss="anything") is None and outlast.progress(step=1) is None
    assert outlast.should_stop() is False
    assert outlast.params() == {} and outlast.params({"lr": 1}) == {"lr": 1}
    assert outlast.output() == "."
    assert outlast.info().inside is False and outlast.info().run is None
    import signal
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    print("fine")
"""


def run_outside(python, cwd):
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(python), "-W", "error", "-c", textwrap.dedent(OUTSIDE)]
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True)
    return done.stdout, done.stderr


def test_outside_a_stint_everything_works_and_does_nothing(tmp_path):
    assert run_outside(sys.executable, tmp_path) == ("fine\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not OLD_PYTHON.exists(), reason="there is no Python 3.7 here")
def test_everything_works_on_the_oldest_python(runner, tmp_path):
    runner.hook = lambda name, message: name == "progress" and message.get("epoch") == 2 and runner.flag.raise_("x")
    code, out, err = runner.run(COUNTING, python=OLD_PYTHON)
    assert (code, err) == (85, "")
    runner.flag = StopFlag.create(str(runner.root / "flag"))
    runner.hook = lambda name, message: None
    code, out, err = runner.run(COUNTING, python=OLD_PYTHON, **resumed(runner))
    assert (code, err, out.split()[-1]) == (0, "", "11111")
    assert run_outside(OLD_PYTHON, tmp_path) == ("fine\n", "")
