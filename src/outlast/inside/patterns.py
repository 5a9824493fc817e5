"""The user's own patterns for lines that no format knows, tried where a bad one can do no harm.

A regular expression may take hours on a line of a hundred characters, and while it does no other thread of its
process runs. So patterns are tried in a process of their own, which a timer interrupts: a pattern that takes too long
is put aside with a sentence, and the heartbeat never misses a beat.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
from typing import IO, Any, Dict, List, NamedTuple, Optional, Pattern, Sequence

from .logformats.reading import Reading
from .logformats.text import clean

#: Processor time that one pattern may take for one block of output (at most a megabyte).
LIMIT_S = 0.5
#: No answer for so long: the process hangs for a reason of its own.
PATIENCE_S = 20.0
LINE_CAP_BYTES = 16 * 1024

_PIECE = re.compile(rb"[^\n\r\b]+")
_LENGTH = struct.Struct(">I")
_START = "import sys; sys.path.insert(0, sys.argv[1]); from outlast.inside.patterns import serve; serve(sys.argv[2:])"


class Claimed(NamedTuple):
    """A line that one of the patterns matches."""

    start: int
    end: int
    reading: Reading


def check_pattern(pattern: str) -> Pattern[str]:
    """Compile a pattern; `ValueError` says what is wrong with it and names it."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError("metric pattern %r is not a regular expression: %s" % (pattern, error)) from None
    if not compiled.groupindex:
        raise ValueError("metric pattern %r has no named group; write it like 'my loss (?P<loss>[0-9.]+)'" % pattern)
    return compiled


class Patterns:
    """Tries the patterns on blocks of whole lines. Its process starts with the first block and ends with `close`.

    `problems` collects sentences about patterns that are no longer tried; whoever shows them empties it.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        for pattern in patterns:
            check_pattern(pattern)
        self._patterns = list(patterns)
        self._process: Optional[subprocess.Popen[bytes]] = None
        self.problems: List[str] = []
        self.spent_s = 0.0  # processor time of the last search

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def search(self, region: bytes) -> List[Claimed]:
        """The lines that a pattern matches, in order; the first pattern that matches a line has it."""
        self.spent_s = 0.0
        if not self._patterns:
            return []
        try:
            answer = self._ask(region)
        except (OSError, ValueError) as error:
            self.problems.append("the patterns for metrics are no longer tried: %s" % error)
            self._patterns = []
            self.close()
            return []
        self.spent_s = answer["spent_s"]
        self.problems += answer["problems"]
        return [Claimed(start, end, reading_of(groups)) for start, end, groups in answer["found"]]

    def close(self) -> None:
        """End the process. Safe to call twice."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None and process.stdout is not None:
            process.kill()
            process.wait()
            process.stdout.close()
            try:
                process.stdin.close()
            except OSError:
                pass  # what it has not read is lost, as it should be

    def _ask(self, region: bytes) -> Dict[str, Any]:
        if self._process is None:
            self._process = self._start()
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(_LENGTH.pack(len(region)) + region)
        stdin.flush()
        if not select.select([stdout], [], [], PATIENCE_S)[0]:
            raise ValueError("no answer within %d s" % PATIENCE_S)
        answer = _receive(stdout)
        if answer is None:
            raise ValueError("their process has ended")
        found: Dict[str, Any] = json.loads(answer.decode("utf-8"))
        return found

    def _start(self) -> subprocess.Popen[bytes]:
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        command = [sys.executable, "-I", "-S", "-c", _START, root, *self._patterns]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=-1
        )


def reading_of(groups: Dict[str, Optional[str]]) -> Reading:
    """`epoch`, `epochs`, `step` and `steps` are progress, `name` with `value` a metric, other groups metrics."""
    numbers = {name: number for name, number in ((name, _number(text)) for name, text in groups.items()) if number}
    values = {name: number[0] for name, number in numbers.items()}
    epoch, epochs = values.pop("epoch", None), values.pop("epochs", None)
    step, steps = (_whole(values.pop(name, None)) for name in ("step", "steps"))
    if groups.get("name") and "value" in values:
        values.pop("name", None)
        values[str(groups["name"])] = values.pop("value")
    return Reading(epoch, epochs, step, steps, values)


def _number(text: Optional[str]) -> List[float]:
    """One number or none: `96%` is a fraction, `1,234` has thousands."""
    said = (text or "").strip()
    try:
        return [round(float(said[:-1]) / 100, 12) if said.endswith("%") else float(said.replace(",", ""))]
    except ValueError:
        return []


def _whole(number: Optional[float]) -> Optional[int]:
    return None if number is None or not abs(number) < 1e18 else int(number)


# ---- the other process


class _TooSlow(Exception):
    """The timer went off in the middle of a search: the interpreter looks for signals even there."""


def serve(patterns: Sequence[str]) -> None:
    """Answer blocks of output on standard input until it ends."""
    tried: List[Optional[Pattern[str]]] = [check_pattern(pattern) for pattern in patterns]
    signal.signal(signal.SIGVTALRM, _interrupt)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    while True:
        region = _receive(stdin)
        if region is None:
            return
        answer = json.dumps(_search_all(tried, region)).encode("utf-8")
        stdout.write(_LENGTH.pack(len(answer)) + answer)
        stdout.flush()


def _interrupt(*_: object) -> None:
    raise _TooSlow


def _receive(stream: IO[bytes]) -> Optional[bytes]:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    size = _LENGTH.unpack(head)[0]
    body = stream.read(size)
    return body if len(body) == size else None


def _search_all(tried: List[Optional[Pattern[str]]], region: bytes) -> Dict[str, Any]:
    began = time.process_time()
    lines = [(piece.start(), piece.end()) for piece in _PIECE.finditer(region)]
    texts = [clean(region[start : min(end, start + LINE_CAP_BYTES)]) for start, end in lines]
    found: Dict[int, Dict[str, Any]] = {}
    problems: List[str] = []
    for index, pattern in enumerate(tried):
        if pattern is None:
            continue
        signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)
        try:
            for at, text in enumerate(texts):
                match = pattern.search(text) if at not in found else None
                if match is not None:
                    found[at] = match.groupdict()
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        except _TooSlow:
            tried[index] = None
            problems.append(
                "metric pattern %r took longer than %g s and is not used any more; see what it repeats within a "
                "repetition" % (pattern.pattern, LIMIT_S)
            )
    return {
        "found": [[*lines[at], found[at]] for at in sorted(found)],
        "problems": problems,
        "spent_s": time.process_time() - began,
    }
