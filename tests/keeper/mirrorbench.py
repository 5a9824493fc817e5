"""A run folder at home, its mirror, and a runner that works on the mirror alone; the keeper may die at any call."""

from __future__ import annotations

import hashlib
import json

from outlast.inside import layout
from outlast.inside.blobs import Blobs
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.errors import NotFound
from outlast.inside.records import Beat, Claim, Control, End, Manifest, Order, to_bytes
from outlast.keeper.mirror import Mirror

RUN = "0101-quiet-otter"


class Killed(BaseException):
    """The keeper is gone, between two calls."""


class MirrorBench:
    """Both stores are `MemoryStore`s or anything else; only what the keeper does can be interrupted."""

    def __init__(self, home, away, spool, rng):
        self.home, self.away, self.spool, self.rng = home, away, spool, rng
        self.calls_left = None
        self.stint = 0
        self.runners = {}
        self.numbers = 0
        code = Blobs(home).put_bytes(b"code" * 100)
        spec = {"id": RUN, "store": "x", "code": {"sha256": code, "size_bytes": 400, "files": 1}, "inputs": []}
        home.put(layout.spec_key(RUN), to_bytes(spec))
        home.put(layout.control_key(RUN), Control().to_bytes())
        self.restart()

    def restart(self):
        """A new keeper, which remembers nothing."""
        self.mirror = Mirror(self.home, self.away, RUN, self.spool)

    def count_call(self, verb, key):
        if self.calls_left is not None:
            self.calls_left -= 1
            if self.calls_left < 0:
                raise Killed

    def as_keeper(self, do, *arguments):
        """Do something that may be cut off between any two calls of a store; None then."""
        self.calls_left = self.rng.choice([None, None, self.rng.randrange(12), self.rng.randrange(40)])
        try:
            return do(*arguments)
        except Killed:
            self.restart()
            return None
        finally:
            self.calls_left = None

    # ---- the keeper

    def plan(self):
        """Order the next stint once the last one's end is home."""
        ids = Checkpoints(self.home, RUN).ids()
        if self.stint and self.home.head(layout.end_key(RUN, self.stint)) is None:
            return
        self.stint += 1
        order = Order(RUN, self.stint, f"t{self.stint}", "far", store="y", resume_from=ids[-1] if ids else None)
        self.home.put_if_absent(layout.order_key(RUN, self.stint), order.to_bytes())

    def push(self):
        order = Order.from_bytes(self.home.get(layout.order_key(RUN, self.stint)))
        self.as_keeper(self.mirror.push, order, {})

    def pull(self):
        return self.as_keeper(self.mirror.pull, self.stint)

    def fence(self):
        end = End("lost", by="keeper", message=f"stint {self.stint}").to_bytes()
        self.as_keeper(self.mirror.fence, self.stint, end)

    def settle(self):
        """A keeper that is left in peace: the open stint ends, and its end comes home."""
        self.fence_now()
        while not self.mirror.pull(self.stint):
            pass

    def fence_now(self):
        self.mirror.fence(self.stint, End("lost", by="keeper").to_bytes())

    # ---- the runners, who see the mirror only

    def run(self):
        """Let one of the runners, perhaps a forgotten one, do its next step."""
        if self.away.head(layout.order_key(RUN, self.stint)) is not None:
            self.runners.setdefault(self.stint, Runner(self, self.stint))
        if self.runners:
            self.rng.choice(list(self.runners.values())).step()

    # ---- what must hold at any time

    def check(self):
        for name in Checkpoints(self.home, RUN).ids():
            self._check_whole(self.home, name)
        for stint in range(1, self.stint + 1):
            self._check_stint(stint)

    def _check_whole(self, store, name):
        for entry in Checkpoints(store, RUN).read(name).files.values():
            assert len(Blobs(store).get_bytes(entry["sha256"])) == entry["size"]

    def _check_stint(self, stint):
        order = read(self.away, layout.order_key(RUN, stint))
        if order is not None:
            code = json.loads(self.away.get(layout.spec_key(RUN)))["code"]
            assert Blobs(self.away).has(code["sha256"], code["size_bytes"])
            resume_from = Order.from_bytes(order).resume_from
            if resume_from is not None:
                self._check_whole(self.away, resume_from)
        home_log = [entry.key for entry in self.home.list(layout.log_prefix(RUN, stint))]
        away_log = [entry.key for entry in self.away.list(layout.log_prefix(RUN, stint))]
        assert home_log == away_log[: len(home_log)]
        end = read(self.home, layout.end_key(RUN, stint))
        if end is None:
            return
        assert end == self.away.get(layout.end_key(RUN, stint))
        runner = self.runners.get(stint)
        committed = runner.committed_before_end if runner else []
        assert set(committed) <= set(Checkpoints(self.home, RUN).ids())
        if End.from_bytes(end).by == "runner":
            assert home_log == away_log


class Runner:
    """Claims, beats, logs, commits and ends, one call of the store at a time."""

    def __init__(self, bench, stint):
        self.bench, self.stint, self.store = bench, stint, bench.away
        self.committed_before_end = []
        self.segment = self.number = self.beats = 0
        self.begun = self.over = False
        self.todo = []

    def step(self):
        if self.over:
            return
        if not self.begun:
            claim = Claim(f"t{self.stint}", "host", 1).to_bytes()
            self.begun = self.store.put_if_absent(layout.claim_key(RUN, self.stint), claim)
        elif self.todo:
            self.todo.pop(0)()
        else:
            self.bench.rng.choice([self.beat, self.log, self.save, self.save, self.end])()

    def beat(self):
        self.beats += 1
        last = self.committed_before_end[-1] if self.committed_before_end else None
        self.store.put_quick(
            layout.beat_key(RUN, self.stint), Beat(self.beats, "running", last_checkpoint=last).to_bytes()
        )

    def log(self):
        self.segment += 1
        self.store.put(layout.log_key(RUN, self.stint, self.segment), b"line %d\n" % self.segment)

    def save(self):
        """Blobs first, the manifest in another step: what is between is torn, and nobody may see it."""
        self.number += 1
        self.bench.numbers += 1
        parts = [b"%d-%d" % (self.bench.numbers, part) * 50 for part in range(3)]
        files = {}
        for number, part in enumerate(parts):
            self.todo.append(lambda part=part: Blobs(self.store).put_bytes(part))
            files[f"part{number}"] = {"sha256": hashlib.sha256(part).hexdigest(), "size": len(part), "mode": 0o644}
        parent = layout.checkpoint_id(self.stint, self.number - 1) if self.number > 1 else None
        manifest = Manifest(RUN, self.stint, self.number, files, parent=parent)
        self.todo.append(lambda: self.commit(manifest))

    def commit(self, manifest):
        name = layout.checkpoint_id(manifest.stint, manifest.number)
        is_open = self.store.head(layout.end_key(RUN, self.stint)) is None
        assert Checkpoints(self.store, RUN).commit(manifest)
        if is_open:
            self.committed_before_end.append(name)

    def end(self):
        self.over = True
        last = self.committed_before_end[-1] if self.committed_before_end else None
        self.store.put_if_absent(layout.end_key(RUN, self.stint), End("hand-over", last_checkpoint=last).to_bytes())


def read(store, key):
    try:
        return store.get(key)
    except NotFound:
        return None
