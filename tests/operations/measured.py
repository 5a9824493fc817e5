"""Runs that have measured something: a spec, stints, points, checkpoints and code, written as the two halves do."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile

from outlast.inside import layout
from outlast.model.spec import CodePack


def keep_code(store, files):
    """A pack of these files (path → text) in the store."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    data = made.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    store.put(layout.blob_key(digest), data)
    return CodePack(sha256=digest, size_bytes=len(data), files=len(files))


def write_points(store, run, stint, points, segment=1):
    """One segment of (at_s, epoch, step, {name: value})."""
    lines = [
        json.dumps({"at_s": at_s, "epoch": epoch, "step": step, "values": values, "from": "log"})
        for at_s, epoch, step, values in points
    ]
    store.put(layout.metrics_key(run, stint, segment), ("\n".join(lines) + "\n").encode())


def losses(start, end, *, low=0.0):
    return [
        (float(epoch - start), float(epoch), epoch * 10, {"loss": low + 2 / epoch, "val_acc": 1 - low - 1 / epoch})
        for epoch in range(start, end)
    ]


def train(bench, name, *, low=0.0, params=None, code=None, **fields):
    """A run of two stints over nine epochs; the second goes back by two."""
    code = code or keep_code(bench.store, {"train.py": "print(1)", "requirements.txt": "numpy>=1.24\n"})
    spec = bench.run(name=name, params=params or {}, code=code, requirements="requirements.txt", **fields)
    first = bench.start()
    write_points(bench.store, spec.id, 1, losses(1, 7, low=low))
    first.checkpoint(epoch=4)
    first.log(1, b"epoch 1\repoch 2\n\x1b[31mred\x1b[0m <b>bold</b>\n")
    bench.end(first, "hand-over", phases={"running": 5.0, "starting": 1.0}, epoch=6.0)
    second = bench.start()
    write_points(bench.store, spec.id, 2, losses(5, 10, low=low))
    second.log(1, b"done\n")
    second.outputs({"out/model.bin": b"x" * 100})
    bench.end(second, "finished", phases={"running": 5.0}, epoch=9.0)
    return spec
