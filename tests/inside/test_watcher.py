"""A torn checkpoint is never offered; a whole one is, soon. Time is simulated."""

from __future__ import annotations

import json
import os
import random
import time

import pytest
from watchbench import HOLD, SEED, World, paths, restored, start, zip_bytes

from outlast.inside.procfiles import find_writers, open_for_writing


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


# ---- one file


def test_a_place_that_does_not_exist_offers_nothing(world):
    assert world.scans(3) is None
    assert world.watcher.final(True, world.now) is None


def test_a_new_file_is_offered_once_the_place_is_quiet(world):
    world.write("ckpt/model.pt")
    assert world.scans(0.9) is None
    candidate = world.scans(0.5)
    assert paths(candidate) == ["ckpt/model.pt"]
    assert candidate.changed == ["ckpt/model.pt"]
    assert candidate.first_change_s == pytest.approx(100.1)


def test_an_offered_candidate_is_not_offered_twice(world):
    world.write("ckpt/model.pt")
    assert world.scans(2) is not None
    assert world.scans(3) is None


def test_a_rejected_candidate_is_offered_again(world):
    world.write("ckpt/model.pt")
    first = world.scans(2)
    world.watcher.rejected(first)
    assert world.scans(3).files == first.files


def test_a_candidate_rejected_after_it_was_called_committed_is_offered_again(world):
    world.write("ckpt/model.pt")
    first = world.commit()
    world.watcher.rejected(first)
    assert world.scans(3).changed == ["ckpt/model.pt"]


def test_rejections_in_any_order_leave_the_right_baseline(world):
    world.write("ckpt/model.pt")
    first = world.commit()
    world.write("ckpt/model.pt")
    second = world.commit()
    world.watcher.rejected(first)
    assert world.scans(3) is None
    world.watcher.rejected(second)
    assert world.scans(3).changed == ["ckpt/model.pt"]


def test_what_was_restored_is_not_a_change(tmp_path):
    world = restored(tmp_path, "ckpt/model.pt")
    assert world.scans(3) is None
    assert world.watcher.final(True, world.now) is None


def test_the_only_file_of_a_restored_place_is_offered_at_once_when_rewritten(tmp_path):
    world = restored(tmp_path, "ckpt/model.pt")
    world.write("ckpt/model.pt")
    assert world.scans(0.3) is not None


def test_the_second_save_of_a_single_file_is_offered_at_once(world):
    world.write("ckpt/model.pt")
    world.commit()
    world.write("ckpt/model.pt")
    assert world.scan() is None  # not yet seen twice
    assert world.scan() is not None


def test_numbered_files_are_offered_at_once_after_the_first(world):
    world.write("ckpt/epoch_6.pt")
    world.commit()
    world.write("ckpt/epoch_7.pt")
    assert paths(world.scans(0.3)) == ["ckpt/epoch_6.pt", "ckpt/epoch_7.pt"]


def test_a_numbered_file_that_follows_restored_ones_is_offered_at_once(tmp_path):
    world = restored(tmp_path, "ckpt/epoch_5.pt", "ckpt/epoch_6.pt")
    world.write("ckpt/epoch_7.pt")
    assert world.scans(0.3).changed == ["ckpt/epoch_7.pt"]


def test_several_single_saves_during_one_upload_are_still_single(world):
    world.write("ckpt/epoch_6.pt")
    world.commit()
    for number in (7, 8, 9):
        world.write(f"ckpt/epoch_{number}.pt")
    assert len(world.commit(0.3).changed) == 3
    world.write("ckpt/epoch_10.pt")
    assert world.scans(0.3) is not None


def test_a_file_that_never_rests_is_offered_when_it_was_seen_whole_twice(world):
    """A first save in an empty place could be the first file of several; the second version proves otherwise."""
    offered = []
    for _ in range(6):
        world.replace("ckpt/model.npz")
        offered.append(world.scans(0.4))
    assert offered[0] is None
    assert any(offered)


def test_rotation_goes_with_the_next_save_and_is_no_checkpoint_by_itself(world):
    for number in (1, 2, 3):
        world.write(f"ckpt/epoch_{number}.pt")
        world.commit()
    (world.root / "ckpt/epoch_1.pt").unlink()
    assert world.scans(5) is None
    world.write("ckpt/epoch_4.pt")
    assert paths(world.commit()) == [f"ckpt/epoch_{number}.pt" for number in (2, 3, 4)]


def test_an_emptied_place_is_never_a_checkpoint(world):
    world.write("ckpt/model.pt")
    world.commit()
    (world.root / "ckpt/model.pt").unlink()
    assert world.scans(5) is None
    assert world.watcher.final(True, world.now) is None


def test_the_place_may_be_one_file(tmp_path):
    world = World(tmp_path, place="model.npz")
    world.write("model.npz")
    world.write("other.npz")
    assert paths(world.commit()) == ["model.npz"]
    world.replace("model.npz")
    assert world.scans(0.3) is not None


def test_a_file_that_was_written_this_moment_is_not_stable_yet(world, monkeypatch):
    """Within one tick of the clock a file can change twice and look the same."""
    world.write("ckpt/model.pt")
    world.commit()
    world.write("ckpt/model.pt")
    monkeypatch.setattr(time, "time_ns", lambda: world.stamp + 5_000_000)
    assert world.scans(0.5) is None
    monkeypatch.setattr(time, "time_ns", lambda: world.stamp + 50_000_000)
    assert world.scan() is not None


# ---- torn and open files


@pytest.mark.parametrize("name", ["model.pt", "model.npz", "state.json", "model.safetensors"])
def test_torn_files_are_never_offered(tmp_path, name):
    print("seed", SEED)
    whole = zip_bytes()
    if name == "state.json":
        whole = json.dumps({"a": [1] * 40}).encode()
    if name == "model.safetensors":
        text = b'{"a":{"dtype":"U8","shape":[64],"data_offsets":[0,64]}}'
        whole = len(text).to_bytes(8, "little") + text + bytes(64)
    world = World(tmp_path)
    for length in random.Random(SEED).sample(range(len(whole)), 25):
        world.write("ckpt/" + name, whole[:length])
        assert world.scans(1.5) is None
        assert world.watcher.final(False, world.now) is None
        assert world.watcher.final(True, world.now) is None
    world.write("ckpt/" + name, whole)
    assert world.scans(1.5) is not None


def test_a_torn_file_beside_whole_ones_holds_all_back_and_is_named_after_a_while(world):
    world.write("ckpt/a.pt")
    world.write("ckpt/b.pt", zip_bytes()[:-5])
    assert world.scans(4) is None
    assert world.watcher.pending(world.now) is None
    assert world.scans(4) is None
    assert world.watcher.pending(world.now) == "ckpt/b.pt: zip directory is missing"


def test_a_tensorflow_index_without_its_data_is_never_offered(world):
    table = bytes(100) + bytes(40) + (0xDB4775248B80FB57).to_bytes(8, "little")
    world.write("ckpt/ckpt-1.index", table)
    assert world.scans(3) is None
    world.write("ckpt/ckpt-1.data-00000-of-00001", b"numbers")
    assert len(world.scans(3).files) == 2


def test_an_open_file_is_not_offered_until_it_is_closed(world):
    (world.root / "ckpt").mkdir()
    process = start(HOLD, str(world.root / "ckpt/weights.bin"), "w", "half")
    world.pids = [process.pid]
    world.touch("ckpt/weights.bin")
    assert world.scans(6) is None
    assert world.watcher.pending(world.now) == f"ckpt/weights.bin is still open in pid {process.pid}"
    process.communicate("\n", timeout=150)
    assert world.scans(2) is not None


def test_a_file_open_only_for_reading_does_not_count(world):
    world.write("ckpt/model.pt")
    world.pids = [os.getpid(), 2**22 + 1]
    with (world.root / "ckpt/model.pt").open("rb"):
        assert world.scans(2) is not None


def test_writers_are_found_by_inode_even_through_another_name(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    seen = (tmp_path / "a").stat()
    inode = (seen.st_dev, seen.st_ino)
    with (tmp_path / "b").open("ab"):
        assert find_writers([os.getpid()], {inode}) == {inode: (os.getpid(), True)}
        assert open_for_writing([os.getpid()], {(seen.st_dev, 1)}) == set()
    assert open_for_writing([os.getpid(), 1, 2**22 + 1], {inode}) == set()


@pytest.mark.parametrize("name", ["events.out.tfevents.17.host", "train.log"])
def test_a_log_in_the_place_neither_triggers_nor_blocks(world, name):
    (world.root / "ckpt").mkdir()
    world.pids = [os.getpid()]
    with (world.root / "ckpt" / name).open("w") as log:
        for _ in range(30):
            print("line", file=log, flush=True)
            assert world.scan() is None
        world.write("ckpt/model.pt")
        offered = None
        for _ in range(15):
            print("line", file=log, flush=True)
            offered = offered or world.scan()
        assert paths(offered) == ["ckpt/model.pt"]
        world.watcher.committed(offered)
    world.write("ckpt/model.pt")
    assert paths(world.scans(0.3)) == sorted(["ckpt/model.pt", "ckpt/" + name])


@pytest.mark.parametrize("busy", [True, False])
def test_text_held_open_for_appending_is_a_log_too(world, busy):
    (world.root / "ckpt").mkdir()
    world.pids = [os.getpid()]
    with (world.root / "ckpt/metrics.json").open("a") as log:
        print('{"loss": 1}', file=log, flush=True)
        world.write("ckpt/model.pt")
        offered = None
        for _ in range(40):
            if busy:
                print('{"loss": 1}', file=log, flush=True)
            offered = offered or world.scan()
    assert paths(offered) == ["ckpt/model.pt"]


def test_a_checkpoint_that_is_appended_to_is_waited_for(world):
    (world.root / "ckpt").mkdir()
    world.pids = [os.getpid()]
    with (world.root / "ckpt/net-1_10.ckpt").open("ab") as file:
        file.write(b"\x0a\x02ab")
        file.flush()
        world.touch("ckpt/net-1_10.ckpt")
        assert world.scans(5) is None
    assert world.scans(2) is not None
