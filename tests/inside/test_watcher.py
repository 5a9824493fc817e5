"""A torn or mixed checkpoint is never offered; a whole one is, soon. Time is simulated but where a real writer runs."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from outlast.inside.procfiles import find_writers, open_for_writing
from outlast.inside.watcher import Watcher

SEED = int(os.environ.get("OUTLAST_TEST_SEED", "4711"))


def zip_bytes(value=0, size=300):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", str(value))
        archive.writestr("archive/data/0", bytes(size))
    return buffer.getvalue()


class World:
    """A checkpoint place, a clock, and a script that writes with the times it is told."""

    def __init__(self, root, place="ckpt", settle_s=1.0):
        self.root = root
        self.now = 100.0
        self.stamp = time.time_ns() - 10**13
        self.pids = []
        self.watcher = Watcher(str(root), place, lambda: self.pids, settle_s)

    def write(self, path, data=None, stamp=None):
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(zip_bytes(self.stamp) if data is None else data)
        self.touch(path, stamp)

    def replace(self, path, data=None):
        self.write(path + ".tmp", data)
        (self.root / (path + ".tmp")).rename(self.root / path)

    def touch(self, path, stamp=None):
        self.stamp += 10**8
        os.utime(self.root / path, ns=(stamp or self.stamp,) * 2)

    def scan(self, step_s=0.1):
        self.now += step_s
        return self.watcher.scan(self.now)

    def scans(self, seconds):
        """Scan ten times a second; the first candidate, or None."""
        for _ in range(round(seconds * 10)):
            candidate = self.scan()
            if candidate is not None:
                return candidate
        return None

    def commit(self, seconds=2.0):
        candidate = self.scans(seconds)
        assert candidate is not None
        self.watcher.committed(candidate)
        return candidate


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def restored(tmp_path, *names):
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(zip_bytes())
    return World(tmp_path)


def paths(candidate):
    return sorted(file.path for file in candidate.files)


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


HOLD = """
import sys
file = open(sys.argv[1], sys.argv[2])
file.write(sys.argv[3])
file.flush()
print("ready", flush=True)
input()
"""


def start(code, *args):
    """A process that has printed its first line and waits for one."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    return process


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


# ---- several files


def test_several_files_wait_for_quiet_without_history(world):
    world.write("ckpt/a.pt")
    assert world.scans(0.8) is None
    world.write("ckpt/b.pt")
    assert world.scans(0.9) is None
    assert len(world.scans(0.5).files) == 2


def test_a_pair_that_never_rests_is_offered_when_complete_and_never_mixed(world):
    """A then B in every save, without a pause: A6 with B5 has the order of their times reversed."""
    version = {"ckpt/a.npy": 0, "ckpt/b.npy": 0}

    def save(name, number):
        buffer = io.BytesIO()
        np.save(buffer, np.array(number))
        world.write(name, buffer.getvalue())
        version[name] = number

    save("ckpt/a.npy", 1)
    save("ckpt/b.npy", 1)
    world.commit()
    offered = 0
    for number in range(2, 30):
        for name in version:
            save(name, number)
            candidate = world.scans(0.3)
            if candidate is not None:
                offered += 1
                assert version["ckpt/a.npy"] == version["ckpt/b.npy"]
                world.watcher.committed(candidate)
    assert offered >= 20


def test_random_interleavings_of_a_triple_are_never_mixed(tmp_path):
    print("seed", SEED)
    rng = random.Random(SEED)
    world = World(tmp_path)
    names = ["ckpt/a.npy", "ckpt/b.npy", "ckpt/c.npy"]
    version = dict.fromkeys(names, 0)
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    for name in names:
        world.write(name, buffer.getvalue())
    world.commit()
    offered = 0
    for number in range(1, 150):
        for name in names:
            # No pause within a save is as long as the quiet that ends one.
            candidate = world.scans(rng.choice([0.1, 0.2, 0.3, 0.8]))
            world.replace(name, buffer.getvalue()) if rng.random() < 0.5 else world.write(name, buffer.getvalue())
            if candidate is not None:
                offered += 1
                assert len(set(version.values())) == 1, version
                world.watcher.committed(candidate)
            version[name] = number
    assert offered > 60


def run_rounds(world, names, between_s, rounds, number_them=False):
    """Save `names` again and again without ever resting; (offered, versions at each offer)."""
    version = dict.fromkeys(names, 0)
    offers = []
    world.scan()
    for number in range(1, rounds + 1):
        for name, pause_s in zip(names, between_s, strict=True):
            world.write(name.replace("#", str(number)) if number_them else name)
            version[name] = number
            for _ in range(round(pause_s * 10)):
                # File times follow the same clock as the looks.
                world.stamp += 10**8
                candidate = world.scan()
                if candidate is not None:
                    offers.append(dict(version))
                    world.watcher.committed(candidate)
            world.stamp -= 10**8
    return offers


def test_a_pair_that_rests_neither_at_first_nor_later_is_learned_from_its_rhythm(world):
    offers = run_rounds(world, ["ckpt/a.pt", "ckpt/b.json.npz"], [0.1, 0.7], 12)
    assert len(offers) >= 6
    assert world.watcher.saving_s == pytest.approx(0.1)
    assert all(len(set(versions.values())) == 1 for versions in offers)


def test_numbered_pairs_that_never_rest_are_learned_from_their_rhythm(world):
    offers = run_rounds(world, ["ckpt/a_#.pt", "ckpt/b_#.pt"], [0.1, 0.7], 12, number_them=True)
    assert len(offers) >= 6
    assert all(len(set(versions.values())) == 1 for versions in offers)


@pytest.mark.parametrize("between_s", [[0.4, 0.4], [0.7, 0.1], [0.3, 0.5]])
def test_a_rhythm_that_does_not_show_where_a_save_begins_teaches_nothing(world, between_s):
    assert run_rounds(world, ["ckpt/a.pt", "ckpt/b.pt"], between_s, 12) == []


def test_saves_as_frequent_as_the_looks_teach_nothing(world):
    offers = []
    world.scan()
    for _ in range(40):
        world.write("ckpt/a.pt")
        world.stamp -= 9 * 10**7
        world.write("ckpt/b.pt")
        offers.append(world.scan())
    assert not any(offers)


def test_numbered_files_that_never_rest_are_saves_when_they_go_on_for_long(world):
    offers = run_rounds(world, ["ckpt/epoch_#.pt"], [0.8], 6, number_them=True)
    assert offers == []
    world.watcher.baseline()
    world.scan()
    offers = []
    for number in range(100, 112):
        world.write(f"ckpt/step-{number}.pt")
        for _ in range(8):
            world.stamp += 10**8
            candidate = world.scan()
            if candidate is not None:
                offers.append(number)
                world.watcher.committed(candidate)
        world.stamp -= 10**8
    assert offers[-1] == 111


def test_a_clock_that_is_set_back_does_not_make_a_mixture_look_ordered(world):
    for _ in range(2):
        world.write("ckpt/a.pt")
        world.write("ckpt/b.pt")
        world.commit()
    world.write("ckpt/a.pt")
    world.write("ckpt/b.pt")
    assert world.scan() is None
    world.write("ckpt/a.pt", stamp=world.stamp - 3600 * 10**9)
    assert world.scans(0.8) is None


def test_files_with_the_same_time_have_no_order(world):
    stamp = world.stamp
    for _ in range(3):
        stamp += 10**9
        world.write("ckpt/a.pt", stamp=stamp)
        world.write("ckpt/b.pt", stamp=stamp)
        assert world.scans(0.8) is None
        world.commit()


def test_one_file_of_a_pair_is_given_more_time_than_usual(world):
    world.write("ckpt/model.pt")
    world.write("ckpt/optimizer.pt")
    world.commit()
    world.write("ckpt/model.pt")
    assert world.scans(2.5) is None
    world.write("ckpt/optimizer.pt")
    assert len(world.commit(1.5).changed) == 2


def test_numbered_pairs_are_not_taken_for_single_files(tmp_path):
    world = restored(tmp_path, "ckpt/model_6.pt", "ckpt/opt_6.pt")
    world.write("ckpt/model_7.pt")
    assert world.scans(0.8) is None
    world.write("ckpt/opt_7.pt")
    world.commit()
    world.write("ckpt/model_8.pt")
    assert world.scans(0.8) is None
    world.write("ckpt/opt_8.pt")
    assert len(world.scans(0.3).changed) == 2


def test_shards_of_one_save_are_not_taken_for_single_saves(tmp_path):
    world = restored(tmp_path, *[f"ckpt/step-50/shard-{number}.pt" for number in range(3)])
    for step in (100, 150):
        for number in (0, 1):
            world.write(f"ckpt/step-{step}/shard-{number}.pt")
            assert world.scans(0.8) is None
        world.write(f"ckpt/step-{step}/shard-2.pt")
        assert len(world.commit().changed) == 3


def test_a_trainer_folder_is_one_checkpoint(world):
    names = ["model.safetensors.index.json", "optimizer.pt", "rng_state.pth", "trainer_state.json"]
    for step in (500, 1000):
        for name in names:
            world.write(f"ckpt/checkpoint-{step}/{name}", b"{}" if name.endswith("json") else None)
            if name != names[-1]:
                assert world.scans(0.5) is None
        assert len(world.commit().changed) == 4


def test_a_save_under_a_temporary_name_keeps_the_place_from_being_quiet(world):
    """A is new, B is still being written beside its final name: A alone would be a mixture."""
    world.write("ckpt/a.pt")
    for size in range(40):
        world.write("ckpt/b.pt.tmp", bytes(size))
        assert world.scan() is None
    (world.root / "ckpt/b.pt.tmp").unlink()
    world.write("ckpt/b.pt")
    candidate = world.scans(2)
    assert paths(candidate) == ["ckpt/a.pt", "ckpt/b.pt"]
    assert world.watcher.saving_s == pytest.approx(4.0, abs=0.2)


@pytest.mark.parametrize(
    "name",
    [
        "m.tmp", "m.part", "m.temp", ".~m", ".tmp_m", "m.incomplete", "m.lock", "m.pt.tmp.1234", "x.tmp/m.pt",
        "ckpt-1_temp/part-00000-of-00001.index", "tmp-checkpoint-5/model.pt", "m.tmp.npz",
    ],
)  # fmt: skip
def test_temporary_names_are_never_part_of_a_checkpoint(world, name):
    world.write("ckpt/" + name)
    assert world.scans(3) is None
    assert world.watcher.final(True, world.now) is None
    world.write("ckpt/model.pt")
    assert paths(world.scans(3)) == ["ckpt/model.pt"]


# ---- links and special files


def test_links_that_lead_outside_are_left_out_and_others_are_files(world):
    outside = world.root.parent / "secret.pt"
    outside.write_bytes(zip_bytes())
    world.write("ckpt/epoch_1.pt")
    (world.root / "ckpt/out.pt").symlink_to(outside)
    (world.root / "ckpt/up").symlink_to(world.root.parent)
    (world.root / "ckpt/loop").symlink_to(world.root / "ckpt")
    (world.root / "ckpt/dangling").symlink_to("nowhere")
    (world.root / "ckpt/last.pt").symlink_to("epoch_1.pt")
    assert paths(world.scans(2)) == ["ckpt/epoch_1.pt", "ckpt/last.pt"]


def test_a_place_that_leads_outside_is_not_watched_and_that_is_said(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "work/ckpt").symlink_to(tmp_path / "elsewhere")
    world = World(tmp_path / "work")
    world.write("ckpt/model.pt")
    assert world.scans(3) is None
    assert "outside the work folder" in world.watcher.pending(world.now)


def test_special_files_and_names_that_are_not_text_are_left_out(world):
    (world.root / "ckpt").mkdir()
    os.mkfifo(world.root / "ckpt/pipe")
    Path(os.fsdecode(os.fsencode(world.root) + b"/ckpt/\xff.pt")).write_bytes(zip_bytes())
    world.write("ckpt/模型.pt")
    assert paths(world.scans(2)) == ["ckpt/模型.pt"]


# ---- the end


def test_a_clean_end_takes_what_is_there_at_once(world):
    world.write("ckpt/a.pt")
    world.write("ckpt/b.bin", b"anything")
    assert world.watcher.final(True, world.now).changed == ["ckpt/a.pt", "ckpt/b.bin"]


def test_a_clean_end_without_a_save_is_no_checkpoint(world):
    world.write("ckpt/train.log", b"line")
    assert world.watcher.final(True, world.now) is None


def test_a_killed_script_leaves_a_whole_single_save(world):
    world.write("ckpt/model.pt")
    world.commit()
    world.write("ckpt/model.pt")
    assert world.watcher.final(False, world.now).changed == ["ckpt/model.pt"]


def test_a_killed_script_leaves_no_half_pair(world):
    world.write("ckpt/a.pt")
    world.write("ckpt/b.pt")
    world.commit()
    world.write("ckpt/a.pt")
    world.scan()
    assert world.watcher.final(False, world.now) is None
    world.write("ckpt/b.pt")
    assert world.watcher.final(False, world.now) is not None


def test_a_killed_script_without_history_leaves_nothing_that_was_just_written(world):
    world.write("ckpt/a.pt")
    world.scans(0.5)
    assert world.watcher.final(False, world.now) is None
    assert "still changing" in world.watcher.pending(world.now + 100)


def test_unknown_bytes_of_a_killed_script_are_taken_only_when_they_are_old(world):
    world.write("ckpt/w.bin", b"\x01 version one")
    world.commit()
    world.write("ckpt/w.bin", b"\x01 version t")
    world.scan()
    assert world.watcher.final(False, world.now + 60) is None


def test_unknown_bytes_that_were_open_when_the_script_was_killed_are_not_taken(world):
    (world.root / "ckpt").mkdir()
    process = start(HOLD, str(world.root / "ckpt/w.bin"), "w", "hal")
    world.pids = [process.pid]
    world.touch("ckpt/w.bin")
    assert world.scans(3) is None
    process.kill()
    process.communicate(timeout=150)
    world.pids = []
    assert world.watcher.final(False, world.now) is None


def test_a_save_that_was_quiet_before_the_end_is_taken(world):
    world.write("ckpt/a.pt")
    world.write("ckpt/b.bin", b"anything")
    first = world.scans(2)
    world.watcher.rejected(first)
    world.scan()
    assert world.watcher.final(False, world.now).files == first.files


# ---- real writers, real time

PAIRS = """
import os, sys, time, zipfile
folder, way, pause = sys.argv[1], sys.argv[2], float(sys.argv[3])
print("ready", flush=True)
def put(name, number):
    path = os.path.join(folder, name)
    target = path + ".tmp" if way == "rename" else path
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("a/data.pkl", str(number))
        archive.writestr("a/pad", bytes(50000 + number))
    if way == "rename":
        os.replace(target, path)
for number in range(1, 100000):
    put("a.pt", number)
    time.sleep(pause / 2)
    put("b.pt", number)
    time.sleep(2.5 if number == 1 else pause)
"""


def version_in(path):
    with zipfile.ZipFile(path) as archive:
        return int(archive.read("a/data.pkl"))


def versions_unless_changed(root, candidate):
    """What the candidate holds, or None when a file is no longer what was seen: the committer abandons it then."""
    versions = []
    for file in candidate.files:
        try:
            versions.append(version_in(root / file.path))
            seen = (root / file.path).stat()
        except (OSError, zipfile.BadZipFile, KeyError):
            return None
        if (seen.st_size, seen.st_mtime_ns, seen.st_ino) != (file.size, file.mtime_ns, file.inode):
            return None
    return versions


@pytest.mark.parametrize("way", ["rename", "in-place"])
@pytest.mark.parametrize("pause", [0.0, 0.3])
def test_real_pairs_are_never_mixed(tmp_path, way, pause):
    (tmp_path / "ckpt").mkdir()
    pids = []
    watcher = Watcher(str(tmp_path), "ckpt", lambda: pids, settle_s=1.5)
    process = start(PAIRS, str(tmp_path / "ckpt"), way, str(pause))
    pids.append(process.pid)
    offered = 0
    deadline_s = time.monotonic() + (12 if pause else 4)
    try:
        while time.monotonic() < deadline_s and offered < 4:
            time.sleep(0.04)
            candidate = watcher.scan(time.monotonic())
            if candidate is None:
                continue
            pair = versions_unless_changed(tmp_path, candidate)
            if pair is None:
                watcher.rejected(candidate)
                continue
            assert len(pair) == 2 and len(set(pair)) == 1, pair
            offered += 1
            watcher.committed(candidate)
    finally:
        process.kill()
        process.communicate(timeout=150)
    assert offered >= (2 if pause else 1)
    last = watcher.final(False, time.monotonic())
    if last is not None:
        assert len({version_in(tmp_path / file.path) for file in last.files}) == 1


def test_thousands_of_files_are_looked_at_quickly(tmp_path):
    folder = tmp_path / "ckpt/shards"
    folder.mkdir(parents=True)
    for number in range(3000):
        (folder / f"part-{number:05d}.bin").write_bytes(b"")
    world = World(tmp_path)
    began = time.process_time()
    for _ in range(5):
        world.scan(step_s=10)
    # About 5 ms on a fast machine; the bound only catches opening or hashing files.
    assert (time.process_time() - began) / 5 < 0.2
    world.write("ckpt/shards/part-00007.bin", b"\x01")
    assert world.scan(step_s=100) is None
    assert world.scan(step_s=100).changed == ["ckpt/shards/part-00007.bin"]


def test_looking_at_many_files_takes_a_small_share_of_the_time(tmp_path):
    world = restored(tmp_path, *[f"ckpt/{number}.bin" for number in range(600)])
    world.scan()
    world.write("ckpt/new.bin", b"\x01")
    world.scan(step_s=1e-6)
    assert world.watcher.last_change_s is None
