"""Output and metrics on their way into the store, in segments that are never rewritten."""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
import time
from typing import Any, Callable, Dict, Optional, Sequence

from . import layout
from .errors import InsideError
from .masking import Masker
from .metrics import Point
from .points import BLOCK_POINTS, NAMES_IN_BLOCK, RECORD_BYTES, Batch, encode_block, whole_bytes
from .spool import Spool
from .stores.base import Store

SEGMENT_BYTES = 1 << 20
#: Waiting bytes that are shipped at once.
EAGER_BYTES = 256 << 10
#: The first lines shall be seen at once; a stint of many hours shall not fill the store with tiny segments.
FIRST_INTERVAL_S = 0.3
LAST_INTERVAL_S = 3.0
_GROWTH = 1.25
#: Quiet time after which an end that was held back (it may begin a secret) is passed on.
QUIET_S = 0.2
_RETRY_S = (0.5, 1.0, 2.0, 5.0)


class Shipper:
    """Takes output at full speed and brings it to the store in the background.

    `log` and `metric` never wait for the store. What the store does not take stays on the local disk and is tried
    again: nothing is lost and nothing is repeated while this process lives. Secrets are masked before anything is
    written. `last_error` says why shipping fails at the moment, empty when it does not; `dropped_bytes` counts output
    that not even the local disk could take. The log also goes to the file `copy`, as far as that can be written.
    """

    def __init__(
        self, store: Store, run: str, stint: int, spool_path: str, secrets: Sequence[bytes] = (), copy: str = "",
        node: int = 0,
    ) -> None:  # fmt: skip
        self.last_error = ""
        self.dropped_bytes = 0
        self._unsaid_bytes = 0  # dropped, and no line says so yet
        self._store = store
        self._masker = Masker(secrets)
        self._copy = _open_copy(copy) if copy else None
        pace_s = store.pace_s
        # Where every segment is a request, a flood of output goes in whole segments.
        self._eager_bytes = SEGMENT_BYTES if pace_s else EAGER_BYTES
        self._log = _Stream(
            spool_path, lambda segment: layout.log_key(run, stint, segment, node), pace_s, self._eager_bytes,
            _whole_lines,
        )  # fmt: skip
        self._metrics = _Stream(
            spool_path + ".metrics", lambda segment: layout.metrics_key(run, stint, segment, node), pace_s,
            self._eager_bytes, whole_bytes,
        )  # fmt: skip
        self._writing = threading.Lock()  # guards the masker and appending
        self._wake = threading.Condition()
        self._is_hurried = False
        self._is_closing = False
        self._is_closed = False
        self._is_idle = False  # the thread waits until something comes
        self._is_patient = False  # the thread waits for an interval to pass
        self._ends_line = True
        self._last_log_s = 0.0
        self._thread = threading.Thread(target=self._work, name="outlast-shipper", daemon=True)
        self._thread.start()

    @property
    def waiting_bytes(self) -> int:
        """Bytes that are not in the store yet."""
        return self._log.spool.waiting_bytes + self._metrics.spool.waiting_bytes

    def log(self, chunk: bytes) -> None:
        """Add output. Costs a write to a local file; never raises for want of space."""
        with self._writing:
            if self._is_closed:
                return
            self._append(self._masker.feed(chunk))
            self._last_log_s = time.monotonic()
        # Waking the thread for every chunk would cost more than the write.
        if self._is_idle or (self._is_patient and self._log.spool.waiting_bytes >= self._eager_bytes):
            self._notify()

    def metric(self, point: Point, source: str) -> None:
        """Add one line of metrics; `source` is `log`, `events` or `track`."""
        self._add(self._masker.mask(metric_line(point, source)))

    def points(self, batch: Batch, base_s: float) -> None:
        """Add tracked points in bulk; `base_s` added to a record's time gives the seconds since the runner's start."""
        names = {mark: self._mask_text(name) for mark, name in batch.names.items()}
        step = RECORD_BYTES * (BLOCK_POINTS if len(names) <= NAMES_IN_BLOCK else NAMES_IN_BLOCK)
        for start in range(0, len(batch.records), step):
            self._add(encode_block(batch.records[start : start + step], names, base_s))

    def _mask_text(self, text: str) -> str:
        return self._masker.mask(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    def _add(self, item: bytes) -> None:
        """One line or block for the metrics, whole; what not even the local disk can take is lost."""
        with self._writing:
            if self._is_closed:
                return
            try:
                self._metrics.spool.append_whole(item)
            except OSError:
                return
        if self._is_idle or (self._is_patient and self._metrics.spool.waiting_bytes >= self._eager_bytes):
            self._notify()

    def flush(self, timeout_s: float) -> bool:
        """Bring everything to the store now. False when it could not be done in time; it stays queued then."""
        deadline = time.monotonic() + timeout_s
        with self._writing:
            self._append(self._masker.release())
        with self._wake:
            while self.waiting_bytes and self._thread.is_alive():
                self._is_hurried = True
                self._wake.notify_all()
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    break
                self._wake.wait(min(left_s, 0.1))
            self._is_hurried = False
        return self.waiting_bytes == 0

    def close(self, timeout_s: float) -> bool:
        """Flush and end. True when everything is in the store; otherwise the local files are left.

        Output and metrics that come later are ignored; closing twice does nothing.
        """
        with self._writing:
            if self._is_closed:
                return self.waiting_bytes == 0
            self._append(self._masker.finish())
            self._append_note()
            self._is_closed = True
        done = self.flush(timeout_s)
        with self._wake:
            self._is_closing = True
            self._wake.notify_all()
        self._thread.join(timeout=1.0)  # it may hang in the store; it is a daemon
        if self._copy is not None:
            os.close(self._copy)
            self._copy = None
        if not self._thread.is_alive():
            self._log.spool.close()
            self._metrics.spool.close()
        return done

    def _append(self, data: bytes) -> None:
        """To the spool; what the disk does not take is counted, and said as soon as there is room."""
        if not data:
            return
        if self._copy is not None:
            with contextlib.suppress(OSError):
                os.write(self._copy, data)
        taken = 0
        if self._append_note():
            try:
                self._log.spool.append(data)
            except OSError:
                pass
            taken = self._log.spool.appended_bytes
        if taken:
            self._ends_line = data[taken - 1 : taken] == b"\n"
        self._unsaid_bytes += len(data) - taken
        self.dropped_bytes += len(data) - taken

    def _append_note(self) -> bool:
        """Say in the log that output was dropped. False while there is still no room."""
        if not self._unsaid_bytes:
            return True
        note = b"[outlast] %d bytes of output dropped: disk full\n" % self._unsaid_bytes
        try:
            self._log.spool.append(note if self._ends_line else b"\n" + note)
        except OSError:
            self._ends_line = self._ends_line and self._log.spool.appended_bytes == 0
            return False
        self._unsaid_bytes = 0
        self._ends_line = True
        return True

    def _notify(self) -> None:
        with self._wake:
            self._wake.notify_all()

    # ---- the background thread

    def _work(self) -> None:
        while True:
            with self._wake:
                if self._is_closing:
                    return
                # Announced before looking: whoever adds something after the look will see it and wake us.
                self._is_idle = self._is_patient = True
                wait_s = self._wait_s(time.monotonic())
                self._is_idle = wait_s is None
                if wait_s is None or wait_s > 0:
                    self._wake.wait(wait_s)
                self._is_idle = self._is_patient = False
            self._release_quiet()
            now = time.monotonic()
            for stream in (self._log, self._metrics):
                while not self._is_closing and stream.is_due(now, self._is_hurried) and self._ship(stream):
                    now = time.monotonic()
            if self.waiting_bytes == 0:
                self._notify()

    def _wait_s(self, now: float) -> Optional[float]:
        """How long nothing needs to be done; None: until something comes."""
        due = [stream.due_in_s(now, self._is_hurried) for stream in (self._log, self._metrics)]
        if self._masker.holds:
            due.append(max(0.0, self._last_log_s + QUIET_S - now))
        known = [seconds for seconds in due if seconds is not None]
        return min(known) if known else None

    def _release_quiet(self) -> None:
        with self._writing:
            if self._masker.holds and time.monotonic() - self._last_log_s >= QUIET_S:
                self._append(self._masker.release())
                self._last_log_s = time.monotonic()

    def _ship(self, stream: _Stream) -> bool:
        try:
            stream.ship(self._store)
        except (InsideError, OSError) as error:
            self.last_error = str(error)
            stream.failed(time.monotonic())
            return False
        self.last_error = ""
        return True


def _open_copy(path: str) -> Optional[int]:
    """For appending, by whole writes: earlier stints of the run have written there too. None when it cannot be had."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    except OSError:
        return None


class _Stream:
    """One spool and the segments made of it."""

    def __init__(
        self,
        path: str,
        key: Callable[[int], str],
        pace_s: float,
        eager_bytes: int,
        whole: Callable[[bytes], int],
    ) -> None:
        self._whole = whole
        self._first_s = max(FIRST_INTERVAL_S, pace_s)
        self._eager_bytes = eager_bytes
        self.spool = Spool(path)
        self._key = key
        self._segment = 1
        # A segment whose put failed may be there all the same: it is tried again with the same bytes, so that
        # nobody who has read it already misses what a longer second try would add.
        self._size_bytes = 0
        self._interval_s = self._first_s
        self._shipped_at = float("-inf")
        self._since: Optional[float] = None  # when the bytes that wait now began to wait
        self._failures = 0
        self._retry_at = 0.0

    def due_in_s(self, now: float, is_hurried: bool) -> Optional[float]:
        """Seconds until the next segment shall go; None when nothing waits."""
        if self.spool.waiting_bytes == 0:
            self._since = None
            return None
        if self._since is None:
            self._since = now
        if self._failures:
            return max(0.0, min(self._retry_at, now + 0.1 if is_hurried else self._retry_at) - now)
        if is_hurried or self.spool.waiting_bytes >= self._eager_bytes:
            return 0.0
        return max(0.0, max(self._since + FIRST_INTERVAL_S, self._shipped_at + self._interval_s) - now)

    def is_due(self, now: float, is_hurried: bool) -> bool:
        if self._failures and is_hurried and self.spool.waiting_bytes:
            return True
        return self.due_in_s(now, is_hurried) == 0.0

    def ship(self, store: Store) -> None:
        """Put the next segment: as much as is whole, if anything is."""
        data = self.spool.peek(self._size_bytes or SEGMENT_BYTES)
        if not self._size_bytes:
            data = data[: self._whole(data) or len(data)]
            self._size_bytes = len(data)
        store.put(self._key(self._segment), data)
        self.spool.advance(len(data))
        self._segment += 1
        self._size_bytes = 0
        self._failures = 0
        self._since = None
        self._shipped_at = time.monotonic()
        self._interval_s = min(LAST_INTERVAL_S, self._interval_s * _GROWTH)

    def failed(self, now: float) -> None:
        self._retry_at = now + _RETRY_S[min(self._failures, len(_RETRY_S) - 1)]
        self._failures += 1


def _whole_lines(data: bytes) -> int:
    return max(data.rfind(b"\n"), data.rfind(b"\r")) + 1


def metric_line(point: Point, source: str) -> bytes:
    """One line of a metrics segment, as `docs/design/store-format.md` describes it."""
    body: Dict[str, Any] = {
        "at_s": round(point.at_s, 3),
        "epoch": point.epoch,
        "step": point.step,
        "values": {name: _plain(value) for name, value in point.values.items()},
        "from": source,
    }
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _plain(value: Any) -> Any:
    """JSON has no not-a-number and no infinities: these are strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value
