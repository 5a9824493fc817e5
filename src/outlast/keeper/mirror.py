"""One run's folder in two stores: at home, and where the stints of some platform can reach it.

The stint works on the mirror alone. `push` brings there what it needs, `pull` brings home what it left, `fence` ends
it. Every step may be repeated and none leaves a trace that a kill could make wrong: blobs go before the manifests
that name them, an order goes last of all that its stint needs, an end comes home last of all that its stint left.
There is one end: whoever puts it into the mirror first, runner or keeper, has decided, and home gets those bytes.
"""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from outlast.inside import layout
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.errors import Damaged, InsideError, NotFound
from outlast.inside.records import Manifest, Order, to_bytes
from outlast.inside.stores.base import Store
from outlast.keeper.transit import Told, Transit

log = logging.getLogger("outlast.keeper")

#: Committed checkpoints are listed anew after so long even when no beat mentions a new one.
RELIST_S = 10.0


class _Brought:
    """What of one stint is home already; only spares asking again."""

    def __init__(self, segments: dict[str, int]) -> None:
        self.claim = False
        self.beat = b""
        self.segments = segments  # the number of the next one, by prefix
        self.checkpoints: set[str] = set()
        self.listed_at: float | None = None


class Mirror:
    """Copies between the two folders of one run. Used by one thread; `heard_at` may be read by any."""

    def __init__(
        self,
        home: Store,
        away: Store,
        run: str,
        spool: Path,
        say: Told = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._away = away
        self._run = run
        self._clock = clock
        self._control = b""
        self._stints: dict[int, _Brought] = {}
        self.pace_s = away.pace_s
        self.heard_at: float | None = None  # when the mirror was last read
        self._out = Transit(home, away, spool, say)
        self._in = Transit(away, home, spool, say)

    # ---- away

    def push(self, order: Order, addresses: dict[str, str]) -> None:
        """Bring everything to the mirror that a stint needs; the order last, so that nobody begins too early.

        `addresses` are those under which inputs are found there that the stint could not reach otherwise.
        """
        spec = json.loads(self._home.get(layout.spec_key(self._run)))
        code = spec["code"]
        self._out.bring([(code["sha256"], code["size_bytes"])], "the code")
        if order.resume_from is not None:
            self._push_checkpoint(order.resume_from)
        for given in spec.get("inputs", ()):
            given["source"] = addresses.get(given["name"], given["source"])
        self._replace(layout.spec_key(self._run), to_bytes(spec))
        self.tell()
        self._away.put_if_absent(layout.order_key(self._run, order.stint), order.to_bytes())

    def tell(self) -> None:
        """Repeat what the user wants, when that has changed."""
        key = layout.control_key(self._run)
        try:
            control = self._home.get(key)
        except NotFound:
            return
        if control != self._control:
            self._replace(key, control)
            self._control = control

    def _push_checkpoint(self, wanted: str) -> None:
        """The checkpoint to continue from; when it is damaged at home, the one that it continued."""
        checkpoints = Checkpoints(self._home, self._run)
        for name in checkpoints.line(wanted):
            data = self._home.get(layout.checkpoint_key(self._run, name))
            try:
                self._out.bring(_blobs_of(checkpoints.read(name)), f"checkpoint {name}")
            except Damaged as error:
                log.warning("%s: checkpoint %s cannot be sent: %s", self._run, name, error)
                # Kept as history, so that the runner finds its way from there to what it continued.
                self._away.put_if_absent(layout.cleaned_key(self._run, name), data)
                continue
            self._away.put_if_absent(layout.checkpoint_key(self._run, name), data)
            return

    def _replace(self, key: str, data: bytes) -> None:
        """Put what may be rewritten; not at all when it is the same already."""
        try:
            if self._away.get(key) == data:
                return
        except NotFound:
            pass
        self._away.put(key, data)

    # ---- home

    def fence(self, stint: int, end: bytes) -> None:
        """End a stint that its runner has not ended: from now on nothing that it still does counts."""
        self._away.put_if_absent(layout.end_key(self._run, stint), end)

    def pull(self, stint: int) -> bool:
        """Bring home what is new of a stint; True when its end is, and so all of it."""
        brought = self._stints.get(stint) or self._recall(stint)
        # Read first and written last: whatever the stint left before its end is home before its end is.
        end = self._read(layout.end_key(self._run, stint))
        if not self._bring_claim(stint, brought) and end is None:
            return False
        self._bring_beat(stint, brought)
        for prefix in brought.segments:
            self._bring_segments(prefix, brought)
        if end is not None or self._is_list_due(stint, brought):
            self._bring_usage(stint)
            self._bring_checkpoints(stint, brought)
        if end is None:
            return False
        self._bring_outputs(stint)
        self._home.put_if_absent(layout.end_key(self._run, stint), end)
        return True

    def _recall(self, stint: int) -> _Brought:
        """What an earlier keeper brought."""
        spec = json.loads(self._home.get(layout.spec_key(self._run)))
        nodes = int((spec.get("resources") or {}).get("nodes") or 1)
        logs = [layout.log_prefix(self._run, stint, node) for node in range(nodes)]
        following = {}
        for prefix in (*logs, layout.metrics_prefix(self._run, stint)):
            numbers = [int(entry.key[len(prefix) :]) for entry in self._home.list(prefix)]
            following[prefix] = max(numbers, default=0) + 1
        self._stints[stint] = _Brought(following)
        return self._stints[stint]

    def _bring_claim(self, stint: int, brought: _Brought) -> bool:
        if not brought.claim:
            claim = self._read(layout.claim_key(self._run, stint))
            if claim is not None:
                self._home.put_if_absent(layout.claim_key(self._run, stint), claim)
                brought.claim = True
        return brought.claim

    def _bring_beat(self, stint: int, brought: _Brought) -> None:
        beat = self._read(layout.beat_key(self._run, stint))
        if beat is not None and beat != brought.beat:
            self._home.put_quick(layout.beat_key(self._run, stint), beat)
            brought.beat = beat

    def _bring_usage(self, stint: int) -> None:
        """The history of the machine's use: rewritten now and then, wanted at the end."""
        usage = self._read(layout.usage_key(self._run, stint))
        if usage is not None:
            self._home.put_quick(layout.usage_key(self._run, stint), usage)

    def _bring_segments(self, prefix: str, brought: _Brought) -> None:
        while True:
            key = layout.segment_key(prefix, brought.segments[prefix])
            data = self._read(key)
            if data is None:
                return
            self._home.put_if_absent(key, data)
            brought.segments[prefix] += 1

    def _is_list_due(self, stint: int, brought: _Brought) -> bool:
        named = json.loads(brought.beat).get("last_checkpoint") if brought.beat else None
        if named is not None and named.startswith(f"{stint:04d}-") and named not in brought.checkpoints:
            return True
        return brought.listed_at is None or self._clock() - brought.listed_at >= RELIST_S

    def _bring_checkpoints(self, stint: int, brought: _Brought) -> None:
        """Oldest first, as they were committed; one whose bytes are damaged is left out."""
        there = [entry.key for entry in self._away.list(layout.checkpoint_key(self._run, f"{stint:04d}-")[:-5])]
        self.heard_at = self._clock()
        for key in there:
            name = layout.checkpoint_of_key(key)
            if name is None or name in brought.checkpoints:
                continue
            # One that was cleaned away at home meanwhile is not brought again.
            data = self._read(key) if self._home.head(layout.cleaned_key(self._run, name)) is None else None
            if data is not None:
                self._bring_manifest(key, data, f"checkpoint {name}", lambda: self._peek(stint, brought))
            brought.checkpoints.add(name)
        brought.listed_at = self._clock()

    def _bring_outputs(self, stint: int) -> None:
        key = layout.outputs_key(self._run)
        data = self._read(key)
        if data is not None and Manifest.from_bytes(data).stint == stint:
            self._bring_manifest(key, data, "the outputs")

    def _bring_manifest(self, key: str, data: bytes, what: str, tick: Callable[[], None] = lambda: None) -> None:
        if self._home.head(key) is not None:
            return
        try:
            self._in.bring(_blobs_of(Manifest.from_bytes(data)), what, tick)
        except Damaged as error:
            log.warning("%s: %s cannot be brought home: %s", self._run, what, error)
            return
        self._home.put_if_absent(key, data)

    def _peek(self, stint: int, brought: _Brought) -> None:
        """Show where the stint is while many bytes of it are on their way."""
        with contextlib.suppress(InsideError):
            self._bring_beat(stint, brought)

    def _read(self, key: str) -> bytes | None:
        try:
            data: bytes | None = self._away.get(key)
        except NotFound:
            data = None
        self.heard_at = self._clock()
        return data


def _blobs_of(manifest: Manifest) -> list[tuple[str, int]]:
    return [(str(each["sha256"]), int(each["size"])) for each in manifest.files.values()]


def remove_mirror(away: Store, run: str) -> None:
    """Remove a run's folder from a mirror, and the copies of inputs that no other run there names.

    Blobs stay until that store is cleaned, as they do at home.
    """
    spec_key = layout.spec_key(run)
    try:
        ours = _copied_inputs(away.get(spec_key))
    except NotFound:
        ours = set()
    away.delete_all([entry.key for entry in away.list(layout.run_prefix(run)) if entry.key != spec_key])
    if ours:
        specs = [entry.key for entry in away.list("runs/") if entry.key.endswith("/spec.json")]
        others = (_copied_inputs(away.get(key)) for key in specs if key != spec_key)
        for copied in ours.difference(*others):
            away.delete_all([entry.key for entry in away.list(f"inputs/{copied}/")])
    away.delete(spec_key)  # last: it names the copies


def _copied_inputs(spec: bytes) -> set[str]:
    """The folders below `inputs/` that a mirror's spec names."""
    sources: Iterable[str] = (str(each["source"]) for each in json.loads(spec).get("inputs", ()))
    parts = [source.split("/inputs/")[-1].split("/")[0] for source in sources if "/inputs/" in source]
    return {part for part in parts if len(part) == 16}
