"""Links, the end of a script, and real writers in real time."""

from __future__ import annotations

import os
import time
import zipfile
from pathlib import Path

import pytest
from watchbench import HOLD, World, paths, restored, start, zip_bytes

from outlast.inside.watcher import Watcher


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


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
    # Against a plain look at each file, by this thread alone: others of the same process may be at work.
    looks, scans = [], []
    for _ in range(5):
        began = time.thread_time()
        for path in folder.iterdir():
            path.stat()
        looks.append(time.thread_time() - began)
        began = time.thread_time()
        world.scan(step_s=10)
        scans.append(time.thread_time() - began)
    # About one; the bound only catches opening or hashing files.
    assert min(scans) < 3 * min(looks), (looks, scans)
    world.write("ckpt/shards/part-00007.bin", b"\x01")
    assert world.scan(step_s=100) is None
    assert world.scan(step_s=100).changed == ["ckpt/shards/part-00007.bin"]


def test_looking_at_many_files_takes_a_small_share_of_the_time(tmp_path):
    world = restored(tmp_path, *[f"ckpt/{number}.bin" for number in range(600)])
    world.scan()
    world.write("ckpt/new.bin", b"\x01")
    world.scan(step_s=1e-6)
    assert world.watcher.last_change_s is None
