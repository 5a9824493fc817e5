"""What a script may ask and tell: restore, parameters, output, info, points."""

from __future__ import annotations

import hashlib
import json
import threading
import time

import pytest
from scriptbench import Runner


@pytest.fixture
def runner(tmp_path):
    made = Runner(tmp_path)
    with made.desk:
        yield made


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
