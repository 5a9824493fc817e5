"""Data sets as they are found in the wild, small: each function fills a folder and returns it."""

from __future__ import annotations

import gzip
import json
import struct
import zlib
from pathlib import Path


def put(folder, path, data=b"x" * 100):
    file = Path(folder, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)


def image_folder(folder, classes=("cat", "dog", "rare"), train=30, val=10):
    for split, count in (("train", train), ("val", val)):
        for name in classes:
            for at in range(3 if name == "rare" else count):
                put(folder, f"{split}/{name}/{at:04}.jpg", f"{split} {name} {at}")
    put(folder, "README.md", "flowers and beasts")
    put(folder, "classes.txt", "\n".join(classes) + "\n")
    return folder


def voc(folder, count=60):
    base = "VOCdevkit/VOC2012"
    names = [f"2007_{at:06}" for at in range(count)]
    for at, name in enumerate(names):
        put(folder, f"{base}/JPEGImages/{name}.jpg")
        put(folder, f"{base}/Annotations/{name}.xml", f"<annotation>{name}</annotation>")
        if at % 2 == 0:
            put(folder, f"{base}/SegmentationClass/{name}.png")
    train, val = names[: count * 2 // 3], names[count * 2 // 3 :]
    lists = {"train": train, "val": val, "trainval": names}
    for name, members in lists.items():
        put(folder, f"{base}/ImageSets/Main/{name}.txt", "".join(f"{each}\n" for each in members))
        for kind in ("cat", "dog", "car", "bus"):
            text = "".join(f"{each} {1 if at % 3 else -1:2d}\n" for at, each in enumerate(members))
            put(folder, f"{base}/ImageSets/Main/{kind}_{name}.txt", text)
    return folder


def coco(folder, count=50):
    for split, many in (("train2017", count), ("val2017", count // 5)):
        images = [{"id": 1000 + at, "file_name": f"{at:012}.jpg", "width": 640} for at in range(many)]
        notes = [{"id": at, "image_id": 1000 + at % many, "category_id": at % 3} for at in range(many * 4)]
        for image in images:
            put(folder, f"{split}/{image['file_name']}", f"{split} {image['id']}")
        body = {"info": {"year": 2017}, "images": images, "annotations": notes, "categories": [{"id": 0, "name": "猫"}]}
        put(folder, f"annotations/instances_{split}.json", json.dumps(body, ensure_ascii=False))
    return folder


def yolo(folder, count=40):
    for split, many in (("train", count), ("val", count // 4)):
        for at in range(many):
            put(folder, f"images/{split}/img{at}.jpg")
            if at % 7:
                put(folder, f"labels/{split}/img{at}.txt", "0 0.5 0.5 0.1 0.1\n")
        put(folder, f"{split}.txt", "".join(f"./images/{split}/img{at}.jpg\n" for at in range(many)))
    put(folder, "labels/classes.txt", "car\nbus\n")
    put(folder, "data.yaml", "train: train.txt\nnc: 2\n")
    return folder


def segmentation(folder, count=40):
    for at in range(count):
        put(folder, f"imgs/sample {at}.png")
        put(folder, f"masks/sample {at}_mask.png")
        put(folder, f"imgs/sample {at}.json", "{}")
    return folder


def csv_labels(folder, count=60):
    rows = [f'a{at:03},"{"sick" if at % 10 == 0 else "well"}, really",{at}' for at in range(count)]
    for at in range(count):
        put(folder, f"photos/a{at:03}.png")
    put(folder, "labels.csv", "\n".join(["id_code,label,age", *rows]) + "\n")
    return folder


def idx(array_type, shape, data):
    return bytes([0, 0, array_type, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + data


def mnist(folder, count=200):
    for name, many in (("train", count), ("t10k", count // 10)):
        pixels = b"".join(bytes([at % 10]) * 784 for at in range(many))
        labels = bytes(at % 10 for at in range(many))
        put(folder, f"{name}-images-idx3-ubyte.gz", gzip.compress(idx(8, (many, 28, 28), pixels)))
        put(folder, f"{name}-labels-idx1-ubyte.gz", gzip.compress(idx(8, (many,), labels)))
    return folder


def tfrecord(lengths):
    pieces = []
    for at, length in enumerate(lengths):
        data = bytes([at % 256]) * length
        head = struct.pack("<Q", length)
        # The real format masks a crc32c; nobody checks it here, only that records stay whole.
        pieces += [head, struct.pack("<I", zlib.crc32(head)), data, struct.pack("<I", zlib.crc32(data))]
    return b"".join(pieces)


def records_in(data):
    found, at = [], 0
    while at < len(data):
        (length,) = struct.unpack("<Q", data[at : at + 8])
        assert at + length + 16 <= len(data), "a record is cut"
        found.append(data[at + 12 : at + 12 + length])
        at += length + 16
    return found
