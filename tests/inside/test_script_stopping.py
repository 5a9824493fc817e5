"""A script that is asked to stop, one outside a stint, and one on an old Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from scriptbench import COUNTING, OLD_PYTHON, SOURCE, Runner, resumed

from outlast.inside.flag import StopFlag


@pytest.fixture
def runner(tmp_path):
    made = Runner(tmp_path)
    with made.desk:
        yield made


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
