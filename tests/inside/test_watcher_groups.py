"""Saves of several files are offered together, and never mixed with another save. Time is simulated."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest
from watchbench import SEED, World, paths, restored


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


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
