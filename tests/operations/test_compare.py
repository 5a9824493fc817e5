"""Two trainings held against each other: the first difference is found and named, and what agrees is left alone."""

from __future__ import annotations

import io
import json
import math
import pickle
import struct
import sys
import types
import zipfile
from pathlib import Path

import numpy as np
import pytest

from outlast.operations.compare import Place, Point, Training, compare_trainings, first_difference, is_timing


def training(*losses: float | str, cuts: tuple[float, ...] = (), **files: dict[str, Path]) -> Training:
    series = [Point(Place(float(n)), {"loss": loss}) for n, loss in enumerate(losses, start=1)]
    return Training(series, cuts=[Place(cut) for cut in cuts], **files)


def words(a: Training, b: Training, **options: object) -> list[str]:
    return [str(difference) for difference in compare_trainings(a, b, **options)]  # type: ignore[arg-type]


def test_equal_trainings_have_no_difference():
    assert words(training(0.5, 0.25), training(0.5, 0.25)) == []


def test_first_difference_names_value_place_and_cut():
    found = words(training(0.5, 0.4, 0.35, 0.3012), training(0.5, 0.4, 0.35, 0.3344, cuts=(1.0, 3.0)))
    assert found == ["loss at epoch 4: 0.3012 straight, 0.3344 interrupted (after the cut at epoch 3)"]


def test_last_bit_counts_unless_a_tolerance_is_given():
    a, b = training(0.3), training(math.nextafter(0.3, 1.0))
    assert len(words(a, b)) == 1
    assert words(a, b, tolerance=1e-9) == []
    assert len(words(training(0.3), training(0.31), tolerance=1e-3)) == 1


def test_values_that_are_not_numbers_agree_with_themselves():
    assert words(training(math.nan, "nan", "inf"), training(math.nan, "nan", "inf")) == []
    assert len(words(training("nan"), training("inf"))) == 1


def test_repeated_work_counts_as_it_was_repeated():
    first = training(0.5, 0.4)
    again = Training([*first.series[:1], Point(Place(2.0), {"loss": 0.9}), *first.series[1:]])
    assert words(first, again) == []


def test_missing_and_extra_places_are_told_apart():
    kinds = [d.kind for d in compare_trainings(training(0.5, 0.4), training(0.5, 0.4, 0.3))]
    assert kinds == ["extra"]
    assert [d.kind for d in compare_trainings(training(0.5, 0.4), training(0.5))] == ["missing"]


def test_samples_come_before_values_of_the_same_place_and_time_is_not_compared():
    def one(samples: str, loss: float, seconds: float) -> Training:
        values = {"acc": loss, "samples": samples, "epoch_time": seconds, "loss": loss}
        return Training([Point(Place(1.0, 10), values)])

    assert words(one("ab", 0.5, 1.0), one("ab", 0.5, 2.0)) == []
    found = compare_trainings(one("ab", 0.5, 1.0), one("cd", 0.6, 1.0))
    assert [d.kind for d in found] == ["samples", "metric", "metric"]
    assert str(found[0]) == "order of samples at epoch 1, step 10: ab straight, cd interrupted"


@pytest.mark.parametrize("name", ["time", "epoch_time", "step_ms", "images/s", "eta", "wall clock", "samples_per_sec"])
def test_timing_values_are_recognised(name):
    assert is_timing(name)


@pytest.mark.parametrize("name", ["loss", "lr", "learning_rate", "items", "update", "precision", "estimate", "params"])
def test_other_values_are_not_taken_for_timing(name):
    assert not is_timing(name)


def test_names_and_files_can_be_left_out(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_bytes(b"1")
    b.write_bytes(b"2")
    left = training(0.5, outputs={"out/x.bin": a, "out/train.log": a, "logs/events.out.tfevents.1": a})
    right = training(0.6, outputs={"out/x.bin": b, "out/train.log": b, "logs/events.out.tfevents.1": b})
    assert len(words(left, right)) == 2
    assert words(left, right, ignore=("loss", "out/*")) == []


def test_file_that_only_one_training_left_is_named(tmp_path):
    (tmp_path / "m").write_bytes(b"1")
    found = words(training(outputs={"out/m": tmp_path / "m"}), training())
    assert found == ["out/m: there straight, missing interrupted"]


# -- files -----------------------------------------------------------------------------------------------------


def pair(folder: Path, name: str) -> tuple[Path, Path]:
    for side in ("a", "b"):
        (folder / side).mkdir(exist_ok=True)
    return folder / "a" / name, folder / "b" / name


@pytest.mark.parametrize("kind", ["<f8", "<f4", "<f2", ">f4", "<i8", "<i4", "|u1", "|b1"])
def test_first_element_of_a_numpy_array_is_named(tmp_path, kind):
    a, b = pair(tmp_path, "w.npy")
    array = np.zeros((3, 40_000), dtype=kind)
    np.save(a, array)
    np.save(b, array)
    assert first_difference(a, b) is None
    array[2, 17] = 1
    np.save(b, array)
    name, left, right = first_difference(a, b) or ("", "", "")
    assert name == "[2, 17]"
    assert (left, right) in (("0", "1"), ("False", "True"))


def test_first_array_of_an_archive_is_named_and_other_bytes_may_say_the_same(tmp_path):
    a, b = pair(tmp_path, "m.npz")
    arrays = {"time_embed": np.ones(4), "w1": np.arange(6.0).reshape(2, 3), "momentum": np.zeros(2)}
    np.savez(a, **arrays)
    np.savez_compressed(b, **arrays)
    assert a.read_bytes() != b.read_bytes()
    assert first_difference(a, b) is None
    np.savez(b, **{**arrays, "momentum": np.array([0.0, 0.5])})
    assert first_difference(a, b) == ("momentum[1]", "0", "0.5")
    assert first_difference(b, a, tolerance=0.1) == ("momentum[1]", "0.5", "0")
    np.savez(b, **{**arrays, "time_embed": np.zeros(4)})
    assert first_difference(a, b) == ("time_embed[0]", "1", "0")
    np.savez(b, **{**arrays, "w1": np.zeros((2, 4))})
    assert first_difference(a, b) == ("w1", "f8 2 x 3", "f8 2 x 4")
    np.savez(b, w1=arrays["w1"], time_embed=arrays["time_embed"])
    assert first_difference(a, b) == ("momentum", "there", "missing")
    assert first_difference(b, a) == ("momentum", "missing", "there")


def test_tolerance_holds_for_arrays_too(tmp_path):
    a, b = pair(tmp_path, "w.npy")
    np.save(a, np.array([1.0, 2.0]))
    np.save(b, np.array([1.0, 2.0 + 1e-12]))
    assert first_difference(a, b) is not None
    assert first_difference(a, b, tolerance=1e-9) is None


def write_safetensors(path: Path, **tensors: tuple[str, list[int], bytes]) -> None:
    header: dict[str, object] = {"__metadata__": {"by": path.parent.name}}
    data = b""
    for name, (kind, shape, piece) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_first_tensor_of_a_safetensors_file_is_named(tmp_path):
    a, b = pair(tmp_path, "model.safetensors")
    weight = struct.pack("<4f", 1, 2, 3, 4)
    half = struct.pack("<f", 1.5)[2:]
    write_safetensors(a, weight=("F32", [2, 2], weight), bias=("BF16", [1], half))
    write_safetensors(b, weight=("F32", [2, 2], weight), bias=("BF16", [1], half))
    assert a.read_bytes() != b.read_bytes()
    assert first_difference(a, b) is None
    write_safetensors(b, weight=("F32", [2, 2], weight), bias=("BF16", [1], struct.pack("<f", -2.0)[2:]))
    assert first_difference(a, b) == ("bias[0]", "1.5", "-2")


@pytest.fixture
def torch_stand_in(monkeypatch):
    """Just enough of torch's names for pickle to write the structure that `torch.save` writes."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")

    def _rebuild_tensor_v2(*args):
        raise AssertionError("reading a file must call nothing of torch")

    _rebuild_tensor_v2.__module__ = "torch._utils"
    _rebuild_tensor_v2.__qualname__ = "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = _rebuild_tensor_v2
    torch.FloatStorage = type("FloatStorage", (), {"__module__": "torch"})
    torch._utils = utils
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._utils", utils)
    return torch


def write_torch(path: Path, torch: types.ModuleType, state: object, storages: dict[str, bytes]) -> None:
    class Stored:
        def __init__(self, key: str) -> None:
            self.key = key

    class Tensor:
        def __init__(self, key: str, offset: int, shape: tuple[int, ...]) -> None:
            self.args = (Stored(key), offset, shape, (1,), False, {})

        def __reduce__(self):
            return torch._utils._rebuild_tensor_v2, self.args

    class Writer(pickle.Pickler):
        def persistent_id(self, thing):
            return ("storage", torch.FloatStorage, thing.key, "cpu", 4) if isinstance(thing, Stored) else None

    def build(value):
        if isinstance(value, dict):
            return {key: build(inner) for key, inner in value.items()}
        if isinstance(value, tuple) and value and value[0] == "tensor":
            return Tensor(*value[1:])
        return value

    text = io.BytesIO()
    Writer(text, protocol=2).dump(build(state))
    with zipfile.ZipFile(path, "w") as archive:
        prefix = f"{path.parent.name}-{path.stem}"
        archive.writestr(f"{prefix}/data.pkl", text.getvalue())
        for key, data in storages.items():
            archive.writestr(f"{prefix}/data/{key}", data)


def test_first_tensor_or_value_of_a_torch_file_is_named(tmp_path, torch_stand_in):
    a, b = pair(tmp_path, "last.pt")
    state = {
        "epoch": 9,
        "model": {"fc.weight": ("tensor", "0", 0, (2, 2)), "fc.bias": ("tensor", "0", 4, (2,))},
        "optimizer": {"state": {0: {"exp_avg": ("tensor", "1", 0, (2,))}}},
        "rng": np.arange(3),
    }
    storages = {"0": struct.pack("<6f", *range(6)), "1": struct.pack("<2f", 0.5, 0.25)}
    write_torch(a, torch_stand_in, state, storages)
    write_torch(b, torch_stand_in, state, storages)
    assert a.read_bytes() != b.read_bytes()
    assert first_difference(a, b) is None
    write_torch(b, torch_stand_in, state, {**storages, "1": struct.pack("<2f", 0.5, 0.75)})
    assert first_difference(a, b) == ("optimizer.state.0.exp_avg[1]", "0.25", "0.75")
    write_torch(b, torch_stand_in, state, {**storages, "0": struct.pack("<6f", 0, 1, 2, 3, 4, 7)})
    assert first_difference(a, b) == ("model.fc.bias[1]", "5", "7")
    write_torch(b, torch_stand_in, {**state, "epoch": 10}, storages)
    assert first_difference(a, b) == ("epoch", "9", "10")
    write_torch(b, torch_stand_in, {**state, "rng": np.arange(1, 4)}, storages)
    name, _, _ = first_difference(a, b) or ("", "", "")
    assert name.startswith("rng")


def test_reading_a_hostile_pickle_runs_nothing(tmp_path):
    class Bomb:
        def __reduce__(self):
            return exec, (f"open({str(tmp_path / 'boom')!r}, 'w')",)

    a, b = pair(tmp_path, "x.pt")
    for path, extra in ((a, 1), (b, 2)):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x/data.pkl", pickle.dumps({"bomb": Bomb(), "n": extra}))
    assert first_difference(a, b) == ("n", "1", "2")
    assert not (tmp_path / "boom").exists()


def test_json_and_tables_are_compared_by_value(tmp_path):
    a, b = pair(tmp_path, "m.json")
    a.write_text('{"best": {"acc": [0.5, 0.75]}, "seconds": 3}')
    b.write_text('{ "best": {"acc": [0.5, 0.75]}, "seconds": 4}')
    assert first_difference(a, b) is None
    b.write_text('{"best": {"acc": [0.5, 0.7]}, "seconds": 4}')
    assert first_difference(a, b) == ("best.acc[1]", "0.75", "0.7")
    a, b = pair(tmp_path, "m.csv")
    a.write_text("epoch,loss,time\n1,0.5,10\n2,0.25,11\n")
    b.write_text("epoch,loss,time\n1,0.50,20\n2,0.25,22\n")
    assert first_difference(a, b) is None
    b.write_text("epoch,loss,time\n1,0.5,20\n2,0.3,22\n")
    assert first_difference(a, b) == ("line 3, loss", "0.25", "0.3")


@pytest.mark.parametrize("name", ["m.bin", "m.json", "m.npz", "m.pt", "m.safetensors", "m.csv", "m.npy"])
def test_files_that_are_not_what_they_seem_are_compared_by_bytes(tmp_path, name):
    a, b = pair(tmp_path, name)
    head = {".npy": b"\x93NUMPY\x01\x00\xff\xff", ".npz": b"PK\x03\x04", ".pt": b"PK\x03\x04"}.get(
        a.suffix, b"\xff\xfe"
    )
    a.write_bytes(head + b"same then 1")
    b.write_bytes(head + b"same then 2")
    assert first_difference(a, b) == (f"byte {len(head) + 10}", "0x31", "0x32")
    b.write_bytes(head)
    assert first_difference(a, b) == ("", f"{len(head) + 11} bytes", f"{len(head)} bytes")
