"""When is the training done? `epoch>=100`, `val_acc >= 0.98`, `loss<0.1 and epoch>=5`."""

from __future__ import annotations

import operator
import re
from typing import Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

_OPERATORS: Dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
# Names as logs print them: val_acc, val/loss, acc@1, top-5, 损失.
_COMPARISON = re.compile(r"([^\W\d][\w./@%:-]*)\s*(>=|<=|==|>|<)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)", re.I)
_OR = re.compile(r"\s+or\s+", re.I)
_AND = re.compile(r"\s+and\s+", re.I)
_EXAMPLE = "write it like 'epoch>=100' or 'val_acc>=0.98 and epoch>=5'"


class Comparison(NamedTuple):
    """One name, compared with one number."""

    name: str
    sign: str
    number: float

    def holds(self, values: Mapping[str, float]) -> bool:
        return self.name in values and _OPERATORS[self.sign](values[self.name], self.number)


class Until:
    """A condition on the last values of epoch, step and the metrics; `and` binds tighter than `or`."""

    def __init__(self, text: str, ways: Sequence[Sequence[Comparison]]) -> None:
        self.text = text
        self._ways = [list(way) for way in ways]

    @classmethod
    def parse(cls, text: str) -> Until:
        """Read a condition; `ValueError` names the part that is wrong and shows how to write it."""
        if not text.strip():
            raise ValueError("the condition is empty; %s" % _EXAMPLE)
        return cls(text.strip(), [[_comparison(part) for part in _AND.split(way)] for way in _OR.split(text)])

    def holds(self, values: Mapping[str, float]) -> bool:
        """Whether the condition is met; a comparison with a name that has no value yet is not, nor one with NaN."""
        return any(all(comparison.holds(values) for comparison in way) for way in self._ways)

    @property
    def names(self) -> List[str]:
        """Every name that the condition mentions, once, in its order."""
        return list(dict.fromkeys(comparison.name for way in self._ways for comparison in way))

    def bound(self, name: str) -> Optional[float]:
        """The value that `name` must reach for the condition to hold, when it says so; for forecasts."""
        if len(self._ways) != 1:
            return None
        found = [each.number for each in self._ways[0] if each.name == name and each.sign in (">=", ">", "==")]
        return max(found) if found else None

    def __str__(self) -> str:
        return self.text


def _comparison(part: str) -> Comparison:
    match = _COMPARISON.fullmatch(part.strip())
    if match is None:
        raise ValueError("%s; %s" % (_fault(part.strip()), _EXAMPLE))
    return Comparison(match.group(1), match.group(2), float(match.group(3)))


def _fault(part: str) -> str:
    """What is wrong with a part, as precisely as can be told."""
    if not part or re.fullmatch(r"and|or", part, re.I):
        return "a comparison is missing beside 'and' or 'or'"
    if "(" in part or ")" in part:
        return "%r has brackets, which are not understood; 'and' binds tighter than 'or'" % part
    if "!=" in part or re.search(r"[^<>=!]=[^=]|=>|=<|<>", part):
        return "%r does not compare with one of >= <= > < ==" % part
    if not re.search(r"[<>=]", part):
        return "%r compares nothing" % part
    if re.match(r"[-+]?[\d.]", part):
        return "%r must begin with a name" % part
    return "%r is not a name, a comparison and a number" % part
