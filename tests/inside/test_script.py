"""Epochs and saves as a script asks for them."""

from __future__ import annotations

import time

import pytest
from scriptbench import COUNTING, Runner, resumed

from outlast.inside.flag import StopFlag


@pytest.fixture
def runner(tmp_path):
    made = Runner(tmp_path)
    with made.desk:
        yield made


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
