"""Named outputs, brought to where the user wants them."""

from __future__ import annotations

import threading
import time

import pytest

from outlast.inside.delivery import Courier, outputs_of
from outlast.inside.errors import Changed, PlaceError
from outlast.inside.move.engine import Failure, Outcome


def until(condition, seconds=150.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.005)


@pytest.fixture
def code(tmp_path):
    folder = tmp_path / "code" / ".outlast" / "outputs" / "train_url_0"
    folder.mkdir(parents=True)
    (folder / "a.ckpt").write_bytes(b"one")
    (folder / "sub").mkdir()
    (folder / "sub" / "b.txt").write_text("two")
    return tmp_path / "code"


def spec_for(target):
    path = ".outlast/outputs/train_url_0"
    return {"outputs": [{"name": "train_url", "path": path, "target": str(target)}]}


def courier(code, target, accesses=None, maps=None, said=None):
    outputs = outputs_of(spec_for(target), str(code))
    return Courier(outputs, accesses or {}, maps, (said if said is not None else []).append)


def test_an_output_lands_in_its_folder_and_is_kept_up_to_date(code, tmp_path):
    trip = courier(code, tmp_path / "out")
    assert trip.deliver() == []
    assert (tmp_path / "out" / "a.ckpt").read_bytes() == b"one"
    assert (tmp_path / "out" / "sub" / "b.txt").read_text() == "two"
    (code / ".outlast/outputs/train_url_0/a.ckpt").write_bytes(b"longer than before")
    assert trip.deliver() == []
    assert (tmp_path / "out" / "a.ckpt").read_bytes() == b"longer than before"


def test_what_the_target_held_before_stays(code, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "older").write_text("kept")
    assert courier(code, tmp_path / "out").deliver() == []
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.ckpt", "older", "sub"]


def test_an_output_lands_in_a_bucket(code, seaweed):
    bucket = seaweed.bucket()
    trip = courier(code, f"s3://{bucket}/jobs/out", {f"s3://{bucket}": seaweed.access})
    assert trip.deliver() == []
    listed = seaweed.boto.list_objects(Bucket=bucket)["Contents"]
    assert [each["Key"] for each in listed] == ["jobs/out/a.ckpt", "jobs/out/sub/b.txt"]


def test_a_folder_can_play_the_bucket(code, tmp_path):
    (tmp_path / "bucket").mkdir()
    assert courier(code, "obs://mine/out", maps={"obs://mine": str(tmp_path / "bucket")}).deliver() == []
    assert (tmp_path / "bucket" / "out" / "a.ckpt").read_bytes() == b"one"


def test_a_target_that_cannot_be_reached_is_said_once_and_harms_nothing(code):
    said, gone = [], threading.Event()
    trip = courier(code, "obs://bucket/out", said=said)
    trip._say = lambda words: (said.append(words), gone.set())
    trip.start()
    trip.nudge()
    assert gone.wait(150)
    trip.nudge()
    trip.close()
    left = trip.deliver_patiently()
    assert len(said) == 1
    assert "train_url could not be brought to obs://bucket/out" in left[0]
    assert "outlast login obs" in left[0]


def test_trips_are_not_made_more_often_than_it_is_worth(code, tmp_path):
    trip = courier(code, tmp_path / "out")
    trip.start()
    trip.nudge()
    until((tmp_path / "out" / "a.ckpt").exists)
    (code / ".outlast/outputs/train_url_0/c.ckpt").write_bytes(b"three")
    trip.nudge()
    trip.close()
    assert not (tmp_path / "out" / "c.ckpt").exists()
    assert trip.deliver_patiently() == []
    assert (tmp_path / "out" / "c.ckpt").exists()


def test_the_last_trip_is_made_again_while_that_may_help(code, tmp_path):
    trip = Courier(outputs_of(spec_for(tmp_path / "out"), str(code)), {}, None, print, pauses_s=(0.0, 0.0, 0.0))
    tries = []

    def fail_twice(output, errors, is_written, copy=trip._copy):
        tries.append(output.name)
        if len(tries) < 3:
            raise PlaceError("the disk is away")
        return copy(output, errors, is_written)

    trip._copy = fail_twice
    assert trip.deliver_patiently() == []
    assert len(tries) == 3 and (tmp_path / "out" / "a.ckpt").exists()


def test_files_that_change_while_the_script_writes_are_no_trouble(code, tmp_path):
    said = []
    trip = courier(code, tmp_path / "out", said=said)
    outcome = Outcome("", 0, 0, 0, 0, 0, [Failure("a.ckpt", "it changed")], [], 0.0, False)

    def changing(output, errors, is_written):
        errors.append(Changed("it changed"))
        return outcome

    trip._copy = changing
    assert trip.deliver(is_written=True) == [] == said
    assert [trouble.may_pass for trouble in trip.deliver()] == [True]
    assert said == ["1 file of output train_url could not be brought to %s/: a.ckpt: it changed" % (tmp_path / "out")]


def test_the_first_generation_brings_its_results_away_itself(code, tmp_path):
    assert outputs_of({**spec_for(tmp_path / "out"), "contract": "modelarts-v1"}, str(code)) == []


def test_an_output_that_was_never_written_is_no_trouble(tmp_path):
    assert courier(tmp_path, tmp_path / "out").deliver() == []
    assert not (tmp_path / "out").exists()


def test_the_last_trip_happens_on_closing(code, tmp_path):
    trip = courier(code, tmp_path / "out")
    trip.start()
    trip.close()
    assert trip.deliver_patiently() == []
    assert (tmp_path / "out" / "a.ckpt").exists()
