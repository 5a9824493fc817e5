"""Whole files pass, torn ones never do: every kind is really written and then cut at many lengths."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import random
import struct
import zipfile

import numpy as np
import pytest

from outlast.inside.formats import check_file

SEED = int(os.environ.get("OUTLAST_TEST_SEED", "20260"))


def npz_bytes(compressed=False):
    buffer = io.BytesIO()
    save = np.savez_compressed if compressed else np.savez
    save(buffer, weights=np.arange(3000, dtype="<f4"), step=np.array(7))
    return buffer.getvalue()


def npy_bytes(array=None):
    buffer = io.BytesIO()
    np.save(buffer, np.arange(120.0).reshape(10, 12) if array is None else array)
    return buffer.getvalue()


def torch_zip_bytes(payload=5000):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("model/data.pkl", pickle.dumps({"a": 1}, protocol=2))
        for index in range(4):
            archive.writestr(f"model/data/{index}", random.Random(index).randbytes(payload))
        archive.writestr("model/version", "3\n")
    return buffer.getvalue()


def safetensors_bytes():
    tensors = {"a": ("F32", [10, 20], 800), "b": ("BF16", [7], 14), "c": ("I64", [], 8)}
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, (dtype, shape, size) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + bytes(range(256)) * (at // 256) + bytes(at % 256)


def hdf5_bytes(version, size=2048, eof=None, flags=0):
    eof = size if eof is None else eof
    addresses = struct.pack("<QQQQ", 0, 2**64 - 1, eof, 2**64 - 1)
    if version < 2:
        head = b"\x89HDF\r\n\x1a\n" + bytes([version, 0, 0, 0, 0, 8, 8, 0]) + struct.pack("<HHI", 4, 16, 0)
        head += b"\x20\x00\x00\x00" if version == 1 else b""
    else:
        head = b"\x89HDF\r\n\x1a\n" + bytes([version, 8, 8, flags])
    return (head + addresses).ljust(size, b"\x11")


def pickle_bytes(protocol=4):
    return pickle.dumps({f"layer{i}": np.arange(50.0) for i in range(5)}, protocol=protocol)


def protobuf_bytes(tensors=5):
    data = b""
    for index in range(tensors):
        body = b"\x0a\x05layer" + b"\x12\xc8\x01" + bytes([index]) * 200
        data += b"\x0a" + bytes([len(body) & 0x7F | 0x80, len(body) >> 7]) + body
    return data


def table_bytes():
    """A table as TensorFlow writes it: blocks, then a footer with two handles and the magic number."""
    blocks = bytes(300)
    handles = bytes([0x80 | 20, 1, 10]) + bytes([0x80 | 40, 1, 100])
    return blocks + handles.ljust(40, b"\0") + (0xDB4775248B80FB57).to_bytes(8, "little")


WHOLE = {
    "model.npz": npz_bytes(),
    "packed.npz": npz_bytes(compressed=True),
    "array.npy": npy_bytes(),
    "model.pt": torch_zip_bytes(),
    "last.ckpt": torch_zip_bytes(),
    "pytorch_model.bin": torch_zip_bytes(),
    "model.keras": torch_zip_bytes(),
    "model.safetensors": safetensors_bytes(),
    "v0.h5": hdf5_bytes(0),
    "v1.hdf5": hdf5_bytes(1),
    "v2.h5": hdf5_bytes(2),
    "v3.h5": hdf5_bytes(3),
    "p2.pkl": pickle_bytes(2),
    "p4.pdparams": pickle_bytes(4),
    "p5.pickle": pickle_bytes(5),
    "state.json": json.dumps({"step": 10, "log_history": [{"loss": 1.5}] * 30}).encode(),
    "state.pkl.gz": gzip.compress(pickle_bytes()),
}


def cuts(data, extra=()):
    """Lengths to cut at: all of the first and last hundred, and a sample in between."""
    chosen = random.Random(SEED).sample(range(len(data)), min(len(data), 150))
    return sorted({*range(min(100, len(data))), *range(max(0, len(data) - 100), len(data)), *chosen, *extra})


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_whole_files_are_whole(tmp_path, name):
    (tmp_path / name).write_bytes(WHOLE[name])
    assert check_file(str(tmp_path / name)).ok is True


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_torn_files_are_never_whole(tmp_path, name):
    print("seed", SEED)
    path = tmp_path / name
    accused = 0
    lengths = cuts(WHOLE[name])
    for length in lengths:
        path.write_bytes(WHOLE[name][:length])
        verdict = check_file(str(path))
        assert verdict.ok is not True, (length, verdict)
        accused += verdict.ok is False
        if verdict.ok is False:
            assert verdict.problem
    # The few that escape (a pickle cut right behind a full stop) are unknown, not whole.
    assert accused >= 0.97 * len(lengths)


# safetensors, npy and HDF5 keep no checksum and no end mark: there only "closed" and "stable" can tell.
@pytest.mark.parametrize("name", sorted(n for n in WHOLE if not n.endswith((".safetensors", ".npy", "5"))))
def test_a_file_whose_end_is_still_zeros_is_never_whole(tmp_path, name):
    data = WHOLE[name]
    for length in (0, 1, 8, len(data) // 2, len(data) - 30):
        (tmp_path / name).write_bytes(data[:length] + bytes(len(data) - length))
        assert check_file(str(tmp_path / name)).ok is not True, length


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_bytes_behind_the_end_are_noticed(tmp_path, name):
    (tmp_path / name).write_bytes(WHOLE[name] + b"rest of an older, longer file")
    assert check_file(str(tmp_path / name)).ok is not True


@pytest.mark.parametrize("name", ["a.pt", "a.ckpt", "a.npz", "a.npy", "a.h5", "a.safetensors", "a.json", "a.index"])
def test_an_empty_file_of_a_known_kind_is_torn(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    assert check_file(str(tmp_path / name)) == (False, check_file(str(tmp_path / name)).kind, "is empty")


def test_an_empty_file_of_no_known_kind_is_nothing_against_it(tmp_path):
    (tmp_path / "done").write_bytes(b"")
    assert check_file(str(tmp_path / "done")).ok is None


def test_content_wins_over_the_extension(tmp_path):
    (tmp_path / "weights.dat").write_bytes(WHOLE["model.npz"][:-10])
    assert check_file(str(tmp_path / "weights.dat"))[:2] == (False, "zip")
    (tmp_path / "shard.bin").write_bytes(WHOLE["model.safetensors"])
    assert check_file(str(tmp_path / "shard.bin"))[:2] == (True, "safetensors")


def test_unknown_bytes_are_unknown(tmp_path):
    for name in ("weights.bin", "x.msgpack", "notes.yaml", "faiss.index"):
        (tmp_path / name).write_bytes(b"\x01 something else entirely")
        assert check_file(str(tmp_path / name)).ok is None


def test_a_missing_file_is_not_whole(tmp_path):
    assert check_file(str(tmp_path / "gone.pt"))[:2] == (False, "missing")


def test_damage_inside_a_small_npz_is_found(tmp_path):
    data = bytearray(WHOLE["model.npz"])
    data[len(data) // 2] ^= 1
    (tmp_path / "m.npz").write_bytes(data)
    assert "damaged" in check_file(str(tmp_path / "m.npz")).problem


def test_torch_files_without_checksums_are_whole(tmp_path):
    data = bytearray(torch_zip_bytes())
    at = data.find(b"PK\x01\x02", len(data) - 1000)
    data[at + 16 : at + 20] = b"\0\0\0\0"
    (tmp_path / "m.pt").write_bytes(data)
    assert check_file(str(tmp_path / "m.pt")).ok is True


def test_a_zip_inside_a_torn_zip_does_not_pass_for_it(tmp_path):
    buffer = io.BytesIO()
    inner = torch_zip_bytes(100)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("inner.pt", inner)
        archive.writestr("more", b"x" * 100)
    data = buffer.getvalue()
    (tmp_path / "m.pt").write_bytes(data[: data.find(inner) + len(inner)])
    assert check_file(str(tmp_path / "m.pt")).ok is False


def test_zip_with_large_sizes_is_followed(tmp_path):
    """More than 65,535 entries need the larger directory record that files beyond 4 GiB use too."""
    path = tmp_path / "many.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for index in range(65_600):
            archive.writestr(zipfile.ZipInfo(str(index)), b"")
    assert check_file(str(path)).ok is True
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    assert check_file(str(path)).ok is False
    path.write_bytes(data[:-22] + data[-22:].replace(b"PK\x05\x06", b"PK\x05\x07"))
    assert check_file(str(path)).ok is False


@pytest.mark.parametrize(
    "array",
    [
        np.array(["ab", "cde"]), np.array(3.5), np.zeros((0, 4)), np.array([True, False]), np.zeros(3, "<c16"),
        np.zeros(4, [("a", "<f4"), ("b", "<i8", (2, 3)), ("c", "S5")]), np.array(["2026-01-01"], "M8[D]"),
        np.asfortranarray(np.ones((3, 5))), np.zeros(2, "V7"),
    ],
)  # fmt: skip
def test_every_kind_of_array_has_the_size_its_header_says(tmp_path, array):
    data = npy_bytes(array)
    (tmp_path / "a.npy").write_bytes(data)
    assert check_file(str(tmp_path / "a.npy")).ok is True
    (tmp_path / "a.npy").write_bytes(data[:-1])
    assert check_file(str(tmp_path / "a.npy")).ok is False


def test_several_arrays_in_one_npy_are_not_called_torn(tmp_path):
    data = npy_bytes() + npy_bytes(np.zeros(3))
    (tmp_path / "a.npy").write_bytes(data)
    assert check_file(str(tmp_path / "a.npy")).ok is None
    (tmp_path / "a.npy").write_bytes(data[:-1])
    assert check_file(str(tmp_path / "a.npy")).ok is False


def test_arrays_of_objects_are_judged_by_their_last_byte(tmp_path):
    data = npy_bytes(np.array([{"a": 1}], dtype=object))
    (tmp_path / "a.npy").write_bytes(data)
    assert check_file(str(tmp_path / "a.npy")).ok is None
    (tmp_path / "a.npy").write_bytes(data[:-1])
    assert check_file(str(tmp_path / "a.npy")).ok is False


def test_safetensors_with_a_gap_or_a_wrong_size_is_torn(tmp_path):
    for header in (
        {"a": {"dtype": "U8", "shape": [4], "data_offsets": [4, 8]}},
        {"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 8]}},
        {"a": {"dtype": "U8"}},
        [],
    ):
        text = json.dumps(header).encode()
        (tmp_path / "m.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(8))
        assert check_file(str(tmp_path / "m.safetensors")).ok is False


def test_hdf5_longer_than_its_superblock_says_is_unknown(tmp_path):
    (tmp_path / "m.h5").write_bytes(hdf5_bytes(0, size=4096, eof=2048))
    assert check_file(str(tmp_path / "m.h5")).ok is None


def test_hdf5_marked_open_for_writing_is_torn(tmp_path):
    (tmp_path / "m.h5").write_bytes(hdf5_bytes(3, flags=1))
    assert "open for writing" in check_file(str(tmp_path / "m.h5")).problem


def test_hdf5_behind_a_user_block_is_found(tmp_path):
    (tmp_path / "m.h5").write_bytes(bytes(512) + hdf5_bytes(0, size=1536, eof=2048))
    assert check_file(str(tmp_path / "m.h5")).ok is True


def test_mindspore_checkpoint_cut_within_a_tensor_is_torn(tmp_path):
    data = protobuf_bytes()
    path = tmp_path / "resnet-1_10.ckpt"
    path.write_bytes(data)
    assert check_file(str(path))[:2] == (None, "protobuf")
    length = len(data) // 5
    for cut in range(1, len(data)):
        path.write_bytes(data[:cut])
        # Between two tensors nothing can be told; never is it called whole.
        assert check_file(str(path)).ok is (None if cut % length == 0 else False), cut


def legacy_torch_bytes():
    parts = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}, {"w": [1, 2]}, ["0"]]
    return b"".join(pickle.dumps(part, protocol=2) for part in parts) + struct.pack("<q", 640) + bytes(2560)


def test_legacy_torch_file_is_torn_within_its_pickles_and_unknown_behind(tmp_path):
    data = legacy_torch_bytes()
    pickles = len(data) - 2568
    for cut in range(2, len(data), 7):
        (tmp_path / "m.pth").write_bytes(data[:cut])
        assert check_file(str(tmp_path / "m.pth")).ok is (None if cut >= pickles else False), cut


def test_a_pickle_with_raw_bytes_between_its_opcodes_is_not_called_torn(tmp_path):
    """As joblib does: arrays lie raw behind the opcode that announces them, and a STOP ends the file."""
    data = pickle.dumps([1, 2], protocol=4)[:-1] + bytes([0xFF]) * 1000 + b"."
    (tmp_path / "m.joblib").write_bytes(data)
    assert check_file(str(tmp_path / "m.joblib")).ok is None
    (tmp_path / "m.joblib").write_bytes(data[:-1])
    assert check_file(str(tmp_path / "m.joblib")).ok is False


def test_a_very_long_pickle_is_judged_by_its_last_byte(tmp_path):
    data = pickle.dumps(list(range(1000, 200_000)), protocol=4)
    (tmp_path / "m.pkl").write_bytes(data)
    assert check_file(str(tmp_path / "m.pkl")).ok is None
    (tmp_path / "m.pkl").write_bytes(data[:-1])
    assert check_file(str(tmp_path / "m.pkl")).ok is False


def test_json_lines_under_a_json_name_are_not_called_torn(tmp_path):
    (tmp_path / "metrics.json").write_bytes(b'{"a": 1}\n{"a": 2}\n')
    assert check_file(str(tmp_path / "metrics.json")).ok is None
    (tmp_path / "metrics.json").write_bytes(b'{"a": 1}\n{"a": ')
    assert check_file(str(tmp_path / "metrics.json")).ok is False


def tensorflow_files(folder, shards=2):
    for index in range(shards):
        (folder / f"ckpt-5.data-{index:05d}-of-{shards:05d}").write_bytes(b"\x80\x02 raw numbers")
    (folder / "ckpt-5.index").write_bytes(table_bytes())
    state = 'model_checkpoint_path: "ckpt-5"\nall_model_checkpoint_paths: "ckpt-4"\n'
    state += 'all_model_checkpoint_paths: "ckpt-5"\n'
    state += "all_model_checkpoint_timestamps: 1.5\nall_model_checkpoint_timestamps: 2.5\n"
    (folder / "checkpoint").write_text(state)


def test_a_tensorflow_checkpoint_is_whole_with_all_its_parts(tmp_path):
    tensorflow_files(tmp_path)
    assert check_file(str(tmp_path / "ckpt-5.index")).ok is True
    assert check_file(str(tmp_path / "checkpoint")).ok is True
    assert check_file(str(tmp_path / "ckpt-5.data-00001-of-00002")).ok is None


def test_a_tensorflow_index_without_its_data_is_torn(tmp_path):
    tensorflow_files(tmp_path)
    (tmp_path / "ckpt-5.data-00001-of-00002").unlink()
    assert check_file(str(tmp_path / "ckpt-5.index")).problem == "ckpt-5.data-00001-of-00002 is missing"
    (tmp_path / "ckpt-5.data-00000-of-00002").unlink()
    assert check_file(str(tmp_path / "ckpt-5.index")).ok is False


def test_tensorflow_data_without_its_index_is_torn(tmp_path):
    tensorflow_files(tmp_path)
    (tmp_path / "ckpt-5.index").unlink()
    assert check_file(str(tmp_path / "ckpt-5.data-00000-of-00002")).problem == "ckpt-5.index is missing"
    assert check_file(str(tmp_path / "checkpoint")).problem == "ckpt-5.index is missing"


def test_a_torn_tensorflow_index_or_state_is_never_whole(tmp_path):
    tensorflow_files(tmp_path)
    for name in ("ckpt-5.index", "checkpoint"):
        data = (tmp_path / name).read_bytes()
        for cut in range(len(data)):
            (tmp_path / name).write_bytes(data[:cut])
            assert check_file(str(tmp_path / name)).ok is not True, (name, cut)
        (tmp_path / name).write_bytes(data)


def test_shards_of_an_older_size_do_not_stand_in_for_missing_ones(tmp_path):
    tensorflow_files(tmp_path, shards=1)
    os.utime(tmp_path / "ckpt-5.data-00000-of-00001", (1, 1))
    (tmp_path / "ckpt-5.data-00000-of-00002").write_bytes(b"new")
    assert check_file(str(tmp_path / "ckpt-5.index")).ok is False


def test_random_bytes_never_raise(tmp_path):
    print("seed", SEED)
    rng = random.Random(SEED)
    names = [*WHOLE, "checkpoint", "x.index", "y.data-00000-of-00001", "m.ckpt"]
    for _ in range(1500):
        name = rng.choice(names)
        data = bytearray(WHOLE.get(name, table_bytes())[: rng.choice([40, 600, 10**6])])
        for _ in range(rng.randint(1, 30)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        (tmp_path / name).write_bytes(data)
        check_file(str(tmp_path / name))
