"""How far the training is, how fast it goes, and when it will be done: from the log, from `track`, from `epochs`."""

from __future__ import annotations

import math
import threading
from typing import Any, Dict, Iterable, Mapping, Optional, Sequence

from .better import direction

#: Metrics that a beat carries; the points of all others are in the store all the same.
METRICS_LIMIT = 1000


class Progress:
    """What is known right now. Safe to update from the output thread, the desk and the main loop."""

    def __init__(self, restored: Mapping[str, Any]) -> None:
        self._lock = threading.Lock()
        self.epoch: Optional[float] = restored.get("epoch")
        self.epochs: Optional[float] = restored.get("epochs")
        self.step: Optional[int] = restored.get("step")
        self.steps: Optional[int] = restored.get("steps")
        self.metrics: Dict[str, float] = {}  # last value of each
        self.best: Dict[str, float] = {}  # of those that can get better, in this stint and what it continues
        self._told = False  # the script itself reports progress: then the log is not consulted for it
        self._first: Dict[str, Any] = {}
        self._last: Dict[str, Any] = {}

    def from_script(self, now_s: float, message: Mapping[str, Any]) -> None:
        """The script said where it is."""
        with self._lock:
            self._told = True
            for name in ("epoch", "epochs", "step", "steps"):
                if message.get(name) is not None:
                    setattr(self, name, message[name])
            self._mark(now_s)

    def from_log(
        self,
        now_s: float,
        epoch: Optional[float],
        epochs: Optional[float],
        step: Optional[int],
        steps: Optional[int],
    ) -> None:
        """The output said where it is; believed unless the script speaks for itself."""
        with self._lock:
            if self._told:
                return
            self.epoch = epoch if epoch is not None else self.epoch
            self.epochs = epochs if epochs is not None else self.epochs
            self.step = step if step is not None else self.step
            self.steps = steps if steps is not None else self.steps
            self._mark(now_s)

    def measured(self, values: Mapping[str, float]) -> None:
        """New values of some metrics."""
        self.measured_all({name: (value,) for name, value in values.items()})

    def measured_all(self, values: Mapping[str, Sequence[float]]) -> None:
        """Several new values of some metrics, each in its order."""
        with self._lock:
            for name, several in values.items():
                if name not in self.metrics and len(self.metrics) >= METRICS_LIMIT:
                    continue
                self.metrics[name] = several[-1]
                sign = direction(name)
                known = [value for value in several if not math.isnan(value)] if sign else []
                if known:
                    top = max(known) if sign > 0 else min(known)
                    old = self.best.get(name, top)
                    self.best[name] = max(old, top) if sign > 0 else min(old, top)

    def forget(self, names: Iterable[str]) -> None:
        """Metrics that a better source gives under another name."""
        with self._lock:
            for name in names:
                self.metrics.pop(name, None)
                self.best.pop(name, None)

    def recall(self, metrics: Mapping[str, float], best: Mapping[str, float]) -> None:
        """What the checkpoint knew that the script goes on from."""
        self.measured(metrics)
        with self._lock:
            self.best.update(best)

    def values(self) -> Dict[str, float]:
        """Everything a condition such as `epoch>=100` may name."""
        with self._lock:
            found = dict(self.metrics)
            if self.epoch is not None:
                found["epoch"] = float(self.epoch)
            if self.step is not None:
                found["step"] = float(self.step)
            return found

    def snapshot(self) -> Dict[str, Any]:
        """The part that a checkpoint's manifest keeps."""
        with self._lock:
            pairs = {
                "epoch": self.epoch,
                "epochs": self.epochs,
                "step": self.step,
                "steps": self.steps,
            }
            return {name: value for name, value in pairs.items() if value is not None}

    def rate(self) -> Dict[str, Any]:
        """`rate`, `rate_of` and `eta_s` for the beat; empty while nothing can be said."""
        with self._lock:
            for unit, total in (("epoch", self.epochs), ("step", self.steps)):
                if unit not in self._first or unit not in self._last:
                    continue
                started_s, start = self._first[unit]
                seen_s, now = self._last[unit]
                if seen_s <= started_s or now <= start:
                    continue
                rate = (now - start) / (seen_s - started_s)
                eta = max(0.0, (total - now) / rate) if total is not None else None
                return {"rate": rate, "rate_of": unit + "s", "eta_s": eta}
            return {}

    def _mark(self, now_s: float) -> None:
        for unit, value in (("epoch", self.epoch), ("step", self.step)):
            if value is None:
                continue
            if unit not in self._first or value < self._first[unit][1]:
                self._first[unit] = (now_s, value)
            if unit not in self._last or value != self._last[unit][1]:
                self._last[unit] = (now_s, value)
