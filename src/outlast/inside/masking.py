"""Secrets leave the output before anything is written, however the output is cut into chunks."""

from __future__ import annotations

from typing import List, Sequence, Tuple

MASK = b"***"
#: Shorter values are not secrets: masking every `1` would only show where the ones are.
MIN_BYTES = 4


class Masker:
    """Replaces every occurrence of a secret by `***`.

    The end of a chunk that may be the beginning of a secret is held back until the next chunk decides. Overlapping
    secrets are masked as one.
    """

    def __init__(self, secrets: Sequence[bytes]) -> None:
        # A secret of several lines may be printed with other line ends, so its lines count too.
        parts = {part.strip(b"\r") for secret in secrets for part in [secret, *secret.split(b"\n")]}
        self._secrets = sorted((part for part in parts if len(part) >= MIN_BYTES), key=len, reverse=True)
        self._held = b""
        self._gone = 0  # leading bytes of the held ones that have already been passed on or masked

    @property
    def holds(self) -> bool:
        """Is something held back that `release` would pass on?"""
        return len(self._held) > self._gone

    def feed(self, chunk: bytes) -> bytes:
        """The masked output that is certain now."""
        if not self._secrets:
            return chunk
        data = self._held + chunk if self._held else chunk
        spans = self._find(data)
        hold = self._hold_from(data)
        masked = self._render(data, spans, hold)
        self._gone = max([0, self._gone - hold] + [end - hold for start, end in spans if start < hold])
        self._held = data[hold:]
        return masked

    def release(self) -> bytes:
        """What was held back, when no more came for a while. More than three bytes of a secret stay held."""
        if len(self._held) >= MIN_BYTES:
            return b""
        released = self._held[self._gone :]
        self._gone = len(self._held)  # remembered: if the rest comes after all, that is still masked
        return released

    def finish(self) -> bytes:
        """The rest at the end of the output; a long beginning of a secret is masked."""
        rest = self._held[self._gone :]
        is_long = len(self._held) >= MIN_BYTES
        self._held, self._gone = b"", 0
        return MASK if is_long and rest else rest

    def mask(self, data: bytes) -> bytes:
        """A text that is complete in itself, masked."""
        spans = self._find(data)
        if not spans:
            return data
        return Masker(self._secrets)._render(data, spans, len(data))

    def _find(self, data: bytes) -> List[Tuple[int, int]]:
        """Where secrets are, overlapping ones joined."""
        found: List[Tuple[int, int]] = []
        for secret in self._secrets:
            at = data.find(secret)
            while at >= 0:
                found.append((at, at + len(secret)))
                at = data.find(secret, at + 1)
        joined: List[Tuple[int, int]] = []
        for start, end in sorted(found):
            if joined and start < joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return joined

    def _hold_from(self, data: bytes) -> int:
        """The first position from which the data's end is the beginning of a secret."""
        found = len(data)
        for secret in self._secrets:
            at = data.find(secret[:1], max(0, len(data) - len(secret) + 1))
            while 0 <= at < found:
                if secret.startswith(data[at:]):
                    found = at
                    break
                at = data.find(secret[:1], at + 1)
        return found

    def _render(self, data: bytes, spans: List[Tuple[int, int]], hold: int) -> bytes:
        """The data up to `hold` with its secrets masked. A mask is written once, at its start or after `_gone`."""
        pieces: List[bytes] = []
        at = self._gone
        for start, end in spans:
            if start >= hold:
                break
            pieces.append(data[at:start])
            if end > at:
                pieces.append(MASK)
            at = max(at, end)
        pieces.append(data[at:hold])
        return b"".join(pieces)
