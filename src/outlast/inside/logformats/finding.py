"""Which lines of a block may hold a metric: a few substring searches, so that most bytes are never looked at twice."""

from __future__ import annotations

import re
from typing import List, Optional, Tuple

from .reading import Context

#: A line with one of these is always worth reading.
WORDS = (b"loss", b"acc", b"epoch", b"step", b"eval ", b"_rew_", "轮".encode("utf-8"))
#: Below the header of a table stand rows of bare numbers, with a bar, a time, or the word `all`.
_TABLE_WORDS = (*WORDS, b"%", b" all ", b":")

_ENDS = re.compile(rb"[\n\r\b]")
#: Some other name before a number. The separator comes first because it is rare: a pattern that starts with a
#: letter is tried at almost every byte. A digit, a colon and a digit are a time of day, not a pair; \x9a ends the
#: full-width colon.
_PAIR = re.compile(
    rb"[:=\x9a](?!(?<=[0-9]:)[0-9])\s{0,8}['\"\[(]{0,2}[-+]?"
    rb"(?:[0-9.]|[nN][aA][nN]|[iI][nN][fF]|[tT]ensor|torch\.|np\.)"
)
#: Words that make such a line worth reading when they stand just before the separator; `names` decides exactly.
#: Chinese names are recognised by the first byte of a character, boosting rounds by their bracket.
_TOKEN = re.compile(rb"(?<![a-z])[flr][12]|[a-z]+|\]\t|[\xe4-\xe9]")
_NAMES = frozenset(
    b"lr rate rmse mse mae auc err error map ndcg ppl perplexity psnr ssim f1 bleu rouge rougel iou miou dice "
    b"precision recall score reward rewards fid top wer cer norm nll elbo iter iteration l1 l2 kl r2 mcc kappa learn "
    b"]\t \xe4 \xe5 \xe6 \xe7 \xe8 \xe9".split(b" ")
)
_NAME_BYTES = 24
_NOWHERE = 1 << 62


class Finder:
    """Walks over complete lines, from one that may hold a metric to the next.

    Each word is searched for only when the walk has passed its last find: lines that were read in another way cost
    nothing here.
    """

    def __init__(self, region: bytes, context: Context) -> None:
        self.region = region
        self.text = region.decode("latin-1")  # the same positions; text is what shapes match
        self._lower = region.lower()
        self._context = context
        self._only_newlines = b"\r" not in region and b"\b" not in region
        self._found: List[int] = [-1] * len(_TABLE_WORDS)
        self._pair = -1

    def line(self, low: int, high: int) -> Optional[Tuple[int, int]]:
        """Start and end of the next candidate that begins at or after `low`, the start of a line, and before `high`."""
        nearest = self._next_pair(low)
        found, lower = self._found, self._lower
        words = _TABLE_WORDS if self._context.columns else WORDS
        for index, word in enumerate(words):
            at = found[index]
            if at < low:
                at = lower.find(word, low)
                found[index] = at = _NOWHERE if at < 0 else at
            if at < nearest:  # noqa: PLR1730 - a call of min() costs twice the comparison
                nearest = at
        if nearest >= high:
            return None
        return bounds(self.region, nearest, low, self._only_newlines)

    def _next_pair(self, low: int) -> int:
        if self._pair >= low:
            return self._pair
        match = _PAIR.search(self.region, low)
        while match is not None:
            at = match.start()
            if not _NAMES.isdisjoint(_TOKEN.findall(self._lower, max(low, at - _NAME_BYTES), at)):
                self._pair = at
                return at
            match = _PAIR.search(self.region, at + 1)
        self._pair = _NOWHERE
        return _NOWHERE


def bounds(region: bytes, at: int, low: int, only_newlines: bool) -> Tuple[int, int]:
    """The line around a position; a line starts at `low`."""
    start = region.rfind(b"\n", low, at)
    if only_newlines:
        return (start + 1 if start >= 0 else low), region.find(b"\n", at)
    start = max(start, region.rfind(b"\r", low, at), region.rfind(b"\b", low, at))
    end = _ENDS.search(region, at)
    return (start + 1 if start >= 0 else low), (len(region) if end is None else end.start())
