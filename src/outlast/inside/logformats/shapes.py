"""Lines that repeat themselves: what one of them taught is applied to the next by a single regular expression.

A training prints the same line thousands of times with other numbers. Reading it the general way takes tens of
microseconds; matching it against the shape of a line that was read before takes one. A shape is learned without
knowing any format: change one number of the line, read it the general way again, and see what came out differently.
"""

from __future__ import annotations

import re
from typing import Callable, Dict, Iterator, List, Match, NamedTuple, Optional, Tuple

from .reading import Reading

#: A shape is worth the millisecond of learning when its line came so often.
_SIGHTINGS = 3
_SHAPES_CAP = 128
_SIGHTINGS_CAP = 1024
_LINE_CAP_BYTES = 600

#: Digits that are no part of a word: `f1` and `acc@5` are names. The same test decides what a number is below.
_DIGITS = re.compile(rb"(?<![A-Za-z_@0-9\x80-\xff])[0-9]+")
_NUMBER = re.compile(
    rb"(?:(?<![0-9A-Za-z_@)\]\x80-\xff.])[-+])?(?<![A-Za-z_@0-9\x80-\xff])"
    rb"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
)
_RUN = re.compile(rb"[0-9]+")
#: No digit becomes a zero: a number that was positive stays so.
_OTHER = bytes.maketrans(b"0123456789", b"1234567898")

_PROGRESS = ("epoch", "epochs", "step", "steps")
#: What the general way makes of a number: itself, an epoch counted from zero, a fraction of a percentage, seconds.
_MAKINGS = (
    "float({})", "float({}) + 1", "round(float({}) * 0.01, 12)", "round(float({}) * 1e-3, 12)",
    "round(float({}) * 1e-6, 12)", "round(float({}) * 60.0, 12)",
)  # fmt: skip
_MADE = tuple(eval("lambda text: " + making.format("text")) for making in _MAKINGS)

Read = Callable[[bytes], Optional[Reading]]
#: Epoch, epochs, step, steps and the values of a line.
Told = Tuple[Optional[float], Optional[float], Optional[int], Optional[int], Dict[str, float]]
Outcome = Dict[Tuple[str, str], float]  # ("", "epoch") or ("value", "loss") -> number


class Shape:
    """One kind of line. `match` finds it at the start of a line, its end included, in bytes decoded as Latin-1.

    `read` takes the groups of the match and tells what the line says, exactly as the general way would have it. It is
    compiled from a line of source, as named tuples are: a loop over roles would take twice the time of all the rest.
    """

    __slots__ = ("match", "read", "then")

    def __init__(self, pattern: str, source: str) -> None:
        self.match: Callable[[str, int], Optional[Match[str]]] = re.compile(pattern, re.ASCII).match
        self.read: Callable[..., Told] = eval(source, {})  # made by `_source`, of literals
        self.then: Shape = self  # what followed it the last time


class _Role(NamedTuple):
    """What one number of a line is for."""

    is_progress: bool
    name: str
    making: str


class Shapes:
    """The shapes of one log, learned as it goes. Bounded: a log of ever new shapes costs a dictionary lookup a line."""

    def __init__(self, read: Read) -> None:
        self._read = read  # the general way, free of what earlier lines announced
        self._known: Dict[bytes, Optional[Shape]] = {}  # None: cannot be learned
        self._sightings: Dict[bytes, int] = {}

    def find(self, line: bytes) -> Optional[Shape]:
        """The shape of a line, if it has been learned; a line that came often enough is learned now."""
        if len(line) > _LINE_CAP_BYTES:
            return None
        key = _DIGITS.sub(b"0", line)
        if key in self._known:
            return self._known[key]
        seen = self._sightings.get(key, 0) + 1
        if len(self._sightings) >= _SIGHTINGS_CAP:
            self._sightings.clear()
        self._sightings[key] = seen
        if seen < _SIGHTINGS:
            return None
        if len(self._known) >= _SHAPES_CAP:
            self._known.clear()
        self._known[key] = shape = learn(line, self._read)
        return shape


def learn(line: bytes, read: Read) -> Optional[Shape]:
    """The shape of a line, or None when some number in it means more than itself (`9840/10000`, `1,234`)."""
    plain = _outcome(read(line))
    if plain is None or not any(kind for kind, _ in plain):
        return None
    parts: List[bytes] = []
    roles: List[_Role] = []
    explained = set()
    at = 0
    for number in _NUMBER.finditer(line):
        start, end = number.span()
        other = number.group().translate(_OTHER)
        told = _outcome(read(line[:start] + other + line[end:]))
        parts.append(re.escape(line[at:start]))
        at = end
        if told is None or list(told) != list(plain):
            parts.append(re.escape(number.group()))  # it names something, as in `img/3: 0.5`
            continue
        moved = [place for place in plain if repr(plain[place]) != repr(told[place])]
        if not moved:
            parts.append(_anything_like(line, start, end))
            continue
        role = _role(moved, plain, told, number.group().decode(), other.decode())
        if role is None or moved[0] in explained:
            return None
        explained.add(moved[0])
        roles.append(role)
        parts.append(b"(" + _anything_like(line, start, end, role) + b")")
    if any(not kind and (kind, name) not in explained for kind, name in plain):
        return None
    pattern = b"".join(parts) + re.escape(line[at:]) + rb"[\n\r\x08]"
    shape = Shape(pattern.decode("latin-1"), _source(plain, roles))
    return shape if all(_agrees(shape, other, read) for other in _relatives(line)) else None


def _relatives(line: bytes) -> Iterator[bytes]:
    """The line with other numbers, of the same and of other lengths: what was concluded must hold for them too."""
    yield line
    yield _DIGITS.sub(lambda run: run.group().translate(_OTHER), line)
    yield _DIGITS.sub(lambda run: run.group() + b"7", line)
    yield _DIGITS.sub(lambda run: run.group()[:1], line)


def _agrees(shape: Shape, line: bytes, read: Read) -> bool:
    match = shape.match(line.decode("latin-1") + "\n", 0)
    if match is None:
        return True
    reading = read(line)
    return reading is not None and repr(reading.told) == repr(shape.read(*match.groups()))


def _source(plain: Outcome, roles: List[_Role]) -> str:
    """The source of a function from numbers to what the line says. A metric without a number is a constant."""
    made = {(role.is_progress, role.name): role.making.format("n%d" % index) for index, role in enumerate(roles)}
    for kind, name in plain:
        made.setdefault((not kind, name), "float('%r')" % plain[kind, name])
    progress = ", ".join(made.get((True, name), "None") for name in _PROGRESS)
    values = ", ".join("%r: %s" % (name, made[False, name]) for kind, name in plain if kind)
    return "lambda %s: (%s, {%s})" % (", ".join("n%d" % index for index in range(len(roles))), progress, values)


def _outcome(reading: Optional[Reading]) -> Optional[Outcome]:
    if reading is None:
        return None
    found: Outcome = {("", name): getattr(reading, name) for name in _PROGRESS if getattr(reading, name) is not None}
    found.update((("value", name), number) for name, number in reading.values.items())
    return found


def _role(moved: List[Tuple[str, str]], plain: Outcome, told: Outcome, number: str, other: str) -> Optional[_Role]:
    if len(moved) != 1:
        return None
    kind, name = moved[0]
    for making, make in zip(_MAKINGS, _MADE):
        if make(number) == plain[moved[0]] and make(other) == told[moved[0]]:
            is_count = not kind and name.startswith("step")
            return _Role(not kind, name, making.replace("float", "int") if is_count else making)
    return None


def _anything_like(line: bytes, start: int, end: int, role: Optional[_Role] = None) -> bytes:
    """A pattern for numbers that are written in the same way as the one at this place.

    Where a comma joins digits their count decides whether it separates thousands; an epoch of seven digits is a
    time; a step must stay exact as a float.
    """
    is_joined = line[end : end + 1] == b"," and line[end + 1 : end + 2].isdigit()
    is_joined = is_joined or (line[start - 1 : start] == b"," and line[start - 2 : start - 1].isdigit())
    most = b"+"
    if role is not None and role.is_progress:
        most = b"{1,6}" if role.name.startswith("epoch") else b"{1,15}"
    parts: List[bytes] = []
    at = start
    for run in _RUN.finditer(line, start, end):
        parts += [re.escape(line[at : run.start()]), rb"\d" + (b"{%d}" % len(run.group()) if is_joined else most)]
        at = run.end()
    return b"".join(parts) + re.escape(line[at:end])
