"""One stint without keeper, platform or command line: a store, an order, a place, and the real runner."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

from outlast.inside import layout
from outlast.inside.blobs import Blobs
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.place import ACCESSES, SECRET_PREFIX, Place
from outlast.inside.points import Block, items
from outlast.inside.records import Beat, Control, End, Order, to_bytes
from outlast.inside.stores import open_store

SOURCE = Path(__file__).parents[2] / "src"


class StintBench:
    """Start stints of one run by hand and read what they left."""

    def __init__(
        self, folder, script, *, store=None, access=None, sandbox=False, python=sys.executable,
        runner_python=sys.executable, **spec,
    ):  # fmt: skip
        """`store` is an address that `access` opens; without one the run folder lies below `folder`."""
        self.folder = Path(folder)
        self.address = store or (self.folder / "store").as_uri()
        self.access = access
        self.keys_for = self.address
        self.store = open_store(self.address, access)
        self.run = "0101-test-run"
        self.runner_python = runner_python
        self.sandbox = sandbox
        pack = io.BytesIO()
        with tarfile.open(fileobj=pack, mode="w") as tar:
            entry = tarfile.TarInfo("train.py")
            entry.size = len(script.encode())
            tar.addfile(entry, io.BytesIO(script.encode()))
        digest = Blobs(self.store).put_bytes(pack.getvalue())
        assert digest == hashlib.sha256(pack.getvalue()).hexdigest()
        body = {
            "id": self.run, "script": "train.py", "args": [], "params": {}, "python": python, "requirements": None,
            "code": {"sha256": digest, "size_bytes": len(pack.getvalue()), "files": 1}, "env": {}, "inputs": [],
            "checkpoint": "ckpt", "output": "out", "until": None, "resources": {"cpus": 1, "gpus": 0, "npus": 0},
            **spec,
        }  # fmt: skip
        self.store.put(layout.spec_key(self.run), to_bytes(body))
        self.want("go")

    def want(self, word):
        self.store.put(layout.control_key(self.run), Control(want=word).to_bytes())

    def order(self, stint=1, *, limit_s=None, grace_s=2.0, secrets=(), memory_bytes=None):
        ids = Checkpoints(self.store, self.run).ids()
        order = Order(
            run=self.run, stint=stint, token=f"token{stint}", platform="local", limit_s=limit_s, grace_s=grace_s,
            resume_from=ids[-1] if ids else None,
        )  # fmt: skip
        self.store.put(layout.order_key(self.run, stint), order.to_bytes())
        work = self.folder / "work" / f"{stint:04d}"
        work.mkdir(parents=True, exist_ok=True)
        place = Place(
            store=self.address, run=self.run, stint=stint, token=order.token, work=str(work),
            shared=str(self.folder / "shared"), cache=str(self.folder / "cache"), sandbox=self.sandbox,
            hide=[str(self.folder)], secret_names=list(secrets), memory_bytes=memory_bytes,
        )  # fmt: skip
        path = work / "place.json"
        place.write(str(path))
        return path

    def private(self):
        """How the runner is told which keys open the store."""
        if self.access is None:
            return {}
        root = "/".join(self.keys_for.split("/")[:3])
        return {SECRET_PREFIX + ACCESSES: json.dumps({root: self.access._asdict()})}

    def start(self, stint=1, *, environ=None, **options):
        place = self.order(stint, **options)
        env = {**os.environ, "PYTHONPATH": str(SOURCE), **self.private(), **(environ or {})}
        command = [self.runner_python, "-m", "outlast.inside", str(place)]
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def play(self, stint=1, *, timeout=150, **options):
        """Run one stint to its end and return its end record."""
        runner = self.start(stint, **options)
        output, _ = runner.communicate(timeout=timeout)
        assert runner.returncode == 0, output
        return self.end(stint)

    def end(self, stint=1):
        return End.from_bytes(self.store.get(layout.end_key(self.run, stint)))

    def beat(self, stint=1):
        if self.store.head(layout.beat_key(self.run, stint)) is None:
            return None
        return Beat.from_bytes(self.store.get(layout.beat_key(self.run, stint)))

    def log(self, stint=1):
        entries = self.store.list(layout.log_prefix(self.run, stint))
        return b"".join(self.store.get(entry.key) for entry in entries).decode(errors="replace")

    def metrics(self, stint=1):
        entries = self.store.list(layout.metrics_prefix(self.run, stint))
        found = []
        for item in items(b"".join(self.store.get(entry.key) for entry in entries)):
            if isinstance(item, Block):
                found += [
                    {"at_s": at + item.base_s, "epoch": epoch, "step": step, "values": {name: value}}
                    for at, epoch, step, name, value in item.batch().rows()
                ]
            else:
                found.append(json.loads(item))
        return found

    def checkpoints(self):
        return Checkpoints(self.store, self.run).ids()

    def file(self, path, manifest_key=None):
        """A file of outputs.json, or of the manifest named."""
        from outlast.inside.records import Manifest

        key = manifest_key or layout.outputs_key(self.run)
        entry = Manifest.from_bytes(self.store.get(key)).files[path]
        return Blobs(self.store).get_bytes(entry["sha256"])
