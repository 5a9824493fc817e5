"""A small copy of a real layout still is one: classes, splits and pairs are there, and the lists name what is."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tarfile
import zipfile

import layouts
import numpy as np
import pytest


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def stems(folder, pattern):
    return {path.stem for path in folder.glob(pattern)}


def test_image_folder_keeps_every_class_and_split(tmp_path, shrink):
    source = layouts.image_folder(tmp_path / "source")
    mini, made = shrink(source, 20)
    assert made.kept == 20 and made.total == 86
    for split in ("train", "val"):
        counts = {name: len(list((mini / split / name).iterdir())) for name in ("cat", "dog", "rare")}
        assert all(counts.values()) and counts["cat"] >= counts["rare"]
    assert (mini / "README.md").read_text() == "flowers and beasts"
    assert (mini / "classes.txt").read_text() == "cat\ndog\nrare\n"
    for path in mini.rglob("*.jpg"):
        assert path.read_bytes() == (source / path.relative_to(mini)).read_bytes()
        assert path.stat().st_mtime_ns == (source / path.relative_to(mini)).stat().st_mtime_ns


def test_more_classes_than_samples_still_gives_one_each(tmp_path, shrink):
    names = [f"class{at:02}" for at in range(30)]
    mini, made = shrink(layouts.image_folder(tmp_path / "source", names, train=5, val=5), 10)
    assert made.kept == 60 and len(list(mini.glob("*/*"))) == 60


def test_voc_keeps_pairs_and_trims_every_list(tmp_path, shrink):
    mini, made = shrink(layouts.voc(tmp_path / "source"), 12)
    base = mini / "VOCdevkit/VOC2012"
    kept = stems(base, "JPEGImages/*.jpg")
    assert len(kept) == made.kept == 12 and stems(base, "Annotations/*.xml") == kept
    assert stems(base, "SegmentationClass/*.png") == {name for name in kept if int(name[-1]) % 2 == 0}
    lists = {path.stem: path.read_text().splitlines() for path in base.glob("ImageSets/Main/*.txt")}
    assert len(lists) == 15 and all(line.split()[0] in kept for lines in lists.values() for line in lines)
    assert len(lists["train"]) == 8 and len(lists["val"]) == 4 and len(lists["trainval"]) == 12
    assert {line.split()[0] for line in lists["cat_train"]} == set(lists["train"])


def test_coco_annotations_belong_to_the_images_that_were_kept(tmp_path, shrink):
    mini, made = shrink(layouts.coco(tmp_path / "source"), 12)
    assert made.kept == 12
    for split, count in (("train2017", 10), ("val2017", 2)):
        body = json.loads((mini / f"annotations/instances_{split}.json").read_text())
        assert {image["file_name"] for image in body["images"]} == {path.name for path in (mini / split).iterdir()}
        assert len(body["images"]) == count
        ids = {image["id"] for image in body["images"]}
        assert {note["image_id"] for note in body["annotations"]} == ids and len(body["annotations"]) == 4 * count
        assert body["categories"] == [{"id": 0, "name": "猫"}] and body["info"] == {"year": 2017}


def test_yolo_keeps_labels_and_trims_the_lists_of_paths(tmp_path, shrink):
    mini, _ = shrink(layouts.yolo(tmp_path / "source"), 10)
    for split, count in (("train", 8), ("val", 2)):
        images = stems(mini, f"images/{split}/*.jpg")
        assert len(images) == count
        assert stems(mini, f"labels/{split}/*.txt") == {name for name in images if int(name[3:]) % 7}
        assert {line.split("/")[-1][:-4] for line in (mini / f"{split}.txt").read_text().splitlines()} == images
    assert (mini / "labels/classes.txt").read_text() == "car\nbus\n"
    assert (mini / "data.yaml").exists()


def test_images_masks_and_labels_of_one_stem_stay_together(tmp_path, shrink):
    mini, made = shrink(layouts.segmentation(tmp_path / "source"), 7)
    kept = stems(mini, "imgs/*.png")
    assert made.kept == len(kept) == 7
    assert stems(mini, "masks/*.png") == {f"{name}_mask" for name in kept} and stems(mini, "imgs/*.json") == kept


def test_a_table_is_trimmed_row_by_row_as_it_was_written(tmp_path, shrink):
    source = layouts.csv_labels(tmp_path / "source")
    mini, made = shrink(source, 20)
    text = (mini / "labels.csv").read_text()
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["id_code", "label", "age"]
    assert {row[0] for row in rows[1:]} == stems(mini, "photos/*.png") and made.kept == 20
    assert {row[1] for row in rows[1:]} == {"sick, really", "well, really"}
    whole = (source / "labels.csv").read_text().splitlines()
    assert [line for line in whole if line in text.splitlines()] == text.splitlines()


@pytest.mark.parametrize("keep", [20, 55])
def test_mnist_is_cut_with_images_and_labels_in_step(tmp_path, shrink, keep):
    mini, made = shrink(layouts.mnist(tmp_path / "source"), keep)
    seen = 0
    for name in ("train", "t10k"):
        images = gzip.decompress((mini / f"{name}-images-idx3-ubyte.gz").read_bytes())
        labels = gzip.decompress((mini / f"{name}-labels-idx1-ubyte.gz").read_bytes())
        count = int.from_bytes(images[4:8], "big")
        assert count == int.from_bytes(labels[4:8], "big") == len(labels) - 8 and len(images) == 16 + 784 * count
        assert [images[16 + 784 * at] for at in range(count)] == list(labels[8:])
        assert set(labels[8:]) == set(range(10))
        seen += count
    assert seen == made.kept >= keep


def test_npy_pairs_and_npz_are_cut_so_that_numpy_reads_them(tmp_path, shrink):
    chance = np.random.default_rng(5)
    arrays = {"x_train": chance.random((90, 4, 4)), "y_train": np.arange(90) % 3, "x_test": chance.random((30, 4, 4)),
              "y_test": np.arange(30) % 3}  # fmt: skip
    source = tmp_path / "source"
    source.mkdir()
    for name, array in arrays.items():
        np.save(source / f"{name}.npy", array)
    np.savez_compressed(source / "all.npz", **arrays, names=np.array(["a", "b", "c"]))
    mini, made = shrink(source, 24)
    assert made.total == 243 and made.kept == 24
    loaded = {path.stem: np.load(path) for path in mini.glob("*.npy")}
    packed = dict(np.load(mini / "all.npz"))
    for found in (loaded, packed):
        for split in ("train", "test"):
            x, y = found[f"x_{split}"], found[f"y_{split}"]
            assert len(x) == len(y) >= 3 and set(y) == {0, 1, 2}
            whole_x, whole_y = arrays[f"x_{split}"], arrays[f"y_{split}"]
            for record, label in zip(x, y, strict=True):
                at = next(at for at in range(len(whole_x)) if np.array_equal(whole_x[at], record))
                assert whole_y[at] == label


def test_arrays_that_cannot_be_cut_stay_whole_or_are_named(tmp_path, shrink):
    source = tmp_path / "source"
    source.mkdir()
    np.save(source / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.save(source / "fortran.npy", np.asfortranarray(np.zeros((600, 600))))
    layouts.put(source, "images/a.png")
    mini, made = shrink(source, 5)
    assert (mini / "objects.npy").read_bytes() == (source / "objects.npy").read_bytes()
    assert not (mini / "fortran.npy").exists() and "fortran.npy" in "".join(made.notes)


def test_records_are_cut_at_their_boundaries(tmp_path, shrink):
    source = tmp_path / "source"
    layouts.put(source, "train.tfrecord", layouts.tfrecord([100 + at for at in range(50)]))
    for shard in range(3):
        layouts.put(source, f"val-{shard:05}.tfrecord", layouts.tfrecord([100] * 10))
    mini, _ = shrink(source, 16)
    train = layouts.records_in((mini / "train.tfrecord").read_bytes())
    assert train == layouts.records_in((source / "train.tfrecord").read_bytes())[: len(train)] and len(train) >= 8
    assert all(layouts.records_in(path.read_bytes()) for path in mini.glob("val-*.tfrecord"))


@pytest.mark.parametrize("name", ["set.zip", "set.tar", "set.tar.gz"])
def test_an_archive_is_sampled_like_a_folder(tmp_path, shrink, name):
    inner = layouts.voc(tmp_path / "inner")
    source = tmp_path / "source"
    source.mkdir()
    if name.endswith(".zip"):
        with zipfile.ZipFile(source / name, "w") as out:
            for path in files(inner):
                out.write(inner / path, path)
            out.writestr("../evil.txt", "out")
    else:
        with tarfile.open(source / name, "w:gz" if name.endswith("gz") else "w") as out:
            out.add(inner, ".")
    mini, made = shrink(source, 12)
    target = tmp_path / "out"
    if name.endswith(".zip"):
        with zipfile.ZipFile(mini / name) as archive:
            archive.extractall(target)
    else:
        with tarfile.open(mini / name) as archive:
            archive.extractall(target, filter="data")
    base = target / "VOCdevkit/VOC2012"
    kept = stems(base, "JPEGImages/*.jpg")
    assert made.kept == len(kept) == 12 and stems(base, "Annotations/*.xml") == kept
    assert set((base / "ImageSets/Main/trainval.txt").read_text().split()) == kept
    assert not list(tmp_path.rglob("evil.txt"))


def test_a_broken_archive_and_a_large_unknown_file_are_named(tmp_path, shrink):
    source = layouts.image_folder(tmp_path / "source")
    layouts.put(source, "broken.zip", b"PK\3\4" + bytes(2 << 20))
    layouts.put(source, "train.mindrecord", bytes(2 << 20))
    layouts.put(source, "small.mindrecord", b"small")
    mini, made = shrink(source, 6)
    notes = "\n".join(made.notes)
    assert "broken.zip" in notes and "train.mindrecord" in notes and "small" not in notes
    assert (mini / "small.mindrecord").read_bytes() == b"small"


def test_a_table_without_files_loses_rows_but_not_its_header(tmp_path, shrink):
    source = tmp_path / "source"
    layouts.put(source, "iris.csv", "a,b,kind\n" + "".join(f"{at},{at},x\n" for at in range(150)))
    layouts.put(source, "talk.jsonl", "".join(json.dumps({"text": f"say {at}"}) + "\n" for at in range(50)))
    mini, made = shrink(source, "10%")
    rows = (mini / "iris.csv").read_text().splitlines()
    assert rows[0] == "a,b,kind" and len(rows) == 16 and made.kept == 20
    assert len([json.loads(line) for line in (mini / "talk.jsonl").read_text().splitlines()]) == 5


def test_texts_that_are_samples_are_sampled(tmp_path, shrink):
    source = tmp_path / "source"
    for kind in ("pos", "neg"):
        for at in range(40):
            layouts.put(source, f"train/{kind}/{at}_{at % 10}.txt", f"a {kind} review {at}\nsecond line\n")
    mini, made = shrink(source, 10)
    assert made.kept == 10 and len(list(mini.glob("train/pos/*"))) == 5 == len(list(mini.glob("train/neg/*")))


def test_json_of_other_forms_is_trimmed_too(tmp_path, shrink):
    source = tmp_path / "source"
    for at in range(30):
        layouts.put(source, f"images/p{at}.jpg")
    val = [{"file": f"images/p{at}.jpg"} for at in range(20, 30)]
    layouts.put(source, "splits.json", json.dumps({"train": [f"p{at}.jpg" for at in range(20)], "val": val}))
    layouts.put(source, "via.json", json.dumps({f"p{at}.jpg": {"regions": [1]} for at in range(30)}))
    layouts.put(source, "names.json", json.dumps({"0": "cat", "1": "dog"}))
    layouts.put(source, "odd.json", "{not json")
    mini, _ = shrink(source, 9)
    kept = {path.name for path in (mini / "images").iterdir()}
    splits = json.loads((mini / "splits.json").read_text())
    assert {*splits["train"], *(entry["file"].split("/")[1] for entry in splits["val"])} == kept
    assert set(json.loads((mini / "via.json").read_text())) == kept
    assert json.loads((mini / "names.json").read_text()) == {"0": "cat", "1": "dog"}
    assert (mini / "odd.json").read_text() == "{not json"


@pytest.mark.parametrize(
    "layout", [layouts.image_folder, layouts.voc, layouts.coco, layouts.yolo, layouts.csv_labels, layouts.mnist]
)
def test_the_same_seed_gives_the_same_copy_and_another_one_another(tmp_path, shrink, layout):
    source = layout(tmp_path / "source")
    before = {name: (source / name).read_bytes() for name in files(source)}
    one, two, other = (shrink(source, 9, seed)[0] for seed in (3, 3, 4))
    assert {name: (one / name).read_bytes() for name in files(one)} == {
        name: (two / name).read_bytes() for name in files(two)
    }
    assert {name: (one / name).read_bytes() for name in files(one)} != {
        name: (other / name).read_bytes() for name in files(other)
    }
    assert before == {name: (source / name).read_bytes() for name in files(source)}
