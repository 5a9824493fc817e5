"""The same metric from several mouths: what is tracked is exact, event files nearly so, printed numbers are rounded.

Tracked and printed names are compared as they are. Event files spell names in their own way (`train/loss` for a printed
`loss`), so theirs are compared by their words.
"""

from __future__ import annotations

import functools
import re
from typing import Iterable, Set

LOG, EVENTS, TRACK = "log", "events", "track"

_WORDS = re.compile(r"[^a-z0-9@\u0080-\uffff]+")
_SHORT = {"validation": "val", "valid": "val", "evaluation": "eval", "accuracy": "acc", "training": "train"}
#: A loss that names no data set is the training's; `epoch_loss` is Keras's name for it.
_IDLE = frozenset(("train", "epoch", ""))


class Precedence:
    """Who has spoken about which metrics so far, and whether a value from somewhere is still needed."""

    def __init__(self) -> None:
        self._tracked: Set[str] = set()
        self._tracked_words: Set[str] = set()
        self._events: Set[str] = set()

    def add(self, source: str, names: Iterable[str]) -> bool:
        """A source has given values of these metrics. True when that is news that may make others superfluous."""
        before = len(self._tracked) + len(self._events)
        if source == TRACK:
            new = [name for name in names if name not in self._tracked]
            self._tracked.update(new)
            self._tracked_words.update(map(words_of, new))
        elif source == EVENTS:
            self._events.update(map(words_of, names))
        return len(self._tracked) + len(self._events) > before

    def is_needed(self, source: str, name: str) -> bool:
        """False when a better source gives this metric."""
        if source == TRACK:
            return True
        if source == EVENTS:
            return words_of(name) not in self._tracked_words
        return name not in self._tracked and not (self._events and words_of(name) in self._events)


@functools.lru_cache(maxsize=4096)
def words_of(name: str) -> str:
    """What two spellings of one metric have in common: `Loss/val`, `validation/epoch_loss` and `val_loss` are one."""
    plain = name.lower().replace("learning_rate", "lr")
    words = {_SHORT.get(word, word) for word in _WORDS.split(plain)} - _IDLE
    return " ".join(sorted(words))
