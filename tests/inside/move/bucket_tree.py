"""A bucket in memory that holds any key at all. Real servers refuse some of the names the mover must survive."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

from outlast.inside.errors import Damaged, NotFound
from outlast.inside.move.aside import Aside
from outlast.inside.move.base import FOLDER, Item, Tree


class BucketTree(Tree):
    url = "s3://memory"

    def __init__(self, *keys: str) -> None:
        self.objects: dict[str, tuple[bytes, int]] = {}
        for key in keys:
            self.put(key, key.encode("utf-8", "surrogateescape"))

    def put(self, key, data, modified_ns=None):
        self.objects[key] = (data, modified_ns or time.time_ns())

    def _item(self, key):
        data, modified_ns = self.objects[key]
        if key.endswith("/"):
            return Item(key[:-1], 0, modified_ns, FOLDER)
        return Item(key, len(data), modified_ns, digest="md5:" + hashlib.md5(data).hexdigest())

    def stat(self, path):
        if path in self.objects:
            return self._item(path)
        return Item(path, 0, 0, FOLDER) if any(key.startswith(path + "/") for key in self.objects) else None

    def walk(self, path):
        prefix = path + "/" if path else ""
        for key in sorted(self.objects):
            empty = not any(other.startswith(key) for other in self.objects if other != key)
            if key.startswith(prefix) and key != prefix and (empty or not key.endswith("/")):
                yield self._item(key)

    def children(self, path):
        prefix = path + "/" if path else ""
        seen = {}
        for item in self.walk(path):
            first, slash, _ = item.path[len(prefix) :].partition("/")
            seen[prefix + first] = Item(prefix + first, 0, 0, FOLDER) if slash else item
        return iter(seen.values())

    def read(self, path, start=0, length=None):
        if path not in self.objects:
            raise NotFound(path)
        data = self.objects[path][0]
        yield data[start : None if length is None else start + length]

    def write(self, path, pieces, size_bytes):
        data = b"".join(pieces)
        if len(data) != size_bytes:
            raise Damaged(path)
        self.put(path, data)

    def remove(self, paths):
        for path in paths:
            self.objects.pop(path, None)
            self.objects.pop(path + "/", None)

    def make_folder(self, path):
        self.put(path + "/", b"")

    def send_one(self, job, report, how):
        data = Path(job.local).read_bytes()
        report.moved(len(data))
        self.put(job.path, data)

    def fetch_one(self, job, report, how):
        data = b"".join(self.read(job.path))
        with Aside(job.local) as aside:
            aside.write(data)
            aside.commit(job.modified_ns)
        report.moved(len(data))
