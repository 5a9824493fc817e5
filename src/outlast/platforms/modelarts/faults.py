"""What ModelArts says when it does not do what it was asked, and what follows from that.

Codes are those of its documents; everything that nothing is known of counts as refused for good.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any, Literal

from outlast.errors import CredentialError, OutlastError, SpecError, Unavailable
from outlast.inside.errors import InsideError
from outlast.store.registry import translate

Why = Literal["full", "quota", "down", "refused"]

DUPLICATE = frozenset(("ModelArts.2751", "ModelArts.0103"))
#: 2775 comes with status 400, and stands for versions of the first generation too.
NO_SUCH_JOB = frozenset(("ModelArts.2775",))
#: Too late to be stopped, or it changed in that moment.
ENDED_ALREADY = frozenset(("ModelArts.2796", "ModelArts.2878"))
#: No log yet, none any more, or none that is kept.
NO_LOG = frozenset(f"ModelArts.{number}" for number in (2776, 2818, 2819, 2820, 2822))
NO_METRICS = frozenset(("ModelArts.2777",))
_NO_PATH = frozenset(("", "ModelArts.2836", "APIG.0101", "APIGW.0101"))
_THROTTLED = frozenset(("ModelArts.2799", "APIG.0308", "APIGW.0308"))
_BUSY_STATUS = frozenset((408, 429, 500, 502, 503, 504))
#: Asked again sooner, a service that throttles throttles longer.
_THROTTLE_S = 30.0
#: code → why, when to ask again. The free job in the way is mostly our last one, which takes a moment to be cleared
#: away; a quota changes when somebody deletes jobs.
_WHY: dict[str, tuple[Why, float | None]] = {"ModelArts.2833": ("full", 20.0), "ModelArts.2815": ("quota", 600.0)}
_HINTS = {
    "ModelArts.2785": "authorise ModelArts to use OBS: its console, Global Configuration, Add Authorization",
    "ModelArts.2833": "one user has one job on a free flavor at a time",
    "ModelArts.2815": "delete jobs that are no longer needed in the console of ModelArts",
    "ModelArts.0210": "leave the project id out, and it is found by the region",
    "ModelArts.2786": "leave the project id out, and it is found by the region",
} | dict.fromkeys(
    ("ModelArts.2757", "ModelArts.2758", "ModelArts.2791", "ModelArts.2802"),
    "the bucket of the account's store must lie in the region of the account",
) | dict.fromkeys(
    ("ModelArts.2763", "ModelArts.2780", "ModelArts.2781", "ModelArts.2832", "ModelArts.2840"),
    "see what is offered with: outlast platforms --check",
)  # fmt: skip


class Said(Exception):
    """The service answered with a refusal."""

    def __init__(self, status: int, code: str, words: str, date: str = "", after_s: float | None = None) -> None:
        super().__init__(f"{words or 'no words'} ({code or status})")
        self.status = status
        self.code = code
        self.date = date  # its clock, as the header says
        self.after_s = after_s

    @classmethod
    def read(cls, status: int, body: bytes, date: str, after_s: float | None) -> Said:
        """A refusal from its body, in any of the spellings that the services of the cloud use."""
        try:
            value: Any = json.loads(body)
        except ValueError:
            value = {}
        value = value if isinstance(value, dict) else {}
        inner = value.get("error") if isinstance(value.get("error"), dict) else value
        code = next((str(inner[name]) for name in ("error_code", "errorCode", "code") if inner.get(name)), "")
        names = ("error_msg", "error_message", "errorMsg", "message")
        words = next((str(inner[name]) for name in names if inner.get(name)), "")
        return cls(status, "" if code.isdecimal() else code, " ".join(words.split())[:400], date, after_s)

    @property
    def is_busy(self) -> bool:
        """Whether the same question may be answered in a moment."""
        return self.status in _BUSY_STATUS or self.code in _THROTTLED

    @property
    def is_throttling(self) -> bool:
        return self.status == 429 or self.code in _THROTTLED

    @property
    def is_about_credentials(self) -> bool:
        return self.status == 401 or self.code.endswith((".0301", ".0206", ".2784")) or ".020" in self.code

    @property
    def means_no_such_path(self) -> bool:
        """A server that has only the first generation."""
        return self.status == 404 and self.code in _NO_PATH


class Unheard(Exception):
    """No answer came. What was asked for may have been done all the same."""


def unavailable(error: Said | Unheard | OutlastError, name: str) -> Unavailable:
    """What a keeper is told; `name` is the account's."""
    if isinstance(error, Unheard):
        return Unavailable(f"{name} does not answer: {error}", why="down")
    if isinstance(error, OutlastError):
        lasting = isinstance(error, CredentialError | SpecError)
        words = f"the store of {name} cannot be used: {error.message}"
        return Unavailable(words, why="refused" if lasting else "down", hint=error.hint)
    if error.is_throttling:
        return Unavailable(f"{name} asks for patience: {error}", why="down", retry_after_s=error.after_s or _THROTTLE_S)
    if error.is_busy:
        return Unavailable(f"{name} has trouble: {error}", why="down", retry_after_s=error.after_s)
    if error.is_about_credentials:
        hint = f"sign in again with: outlast login modelarts --profile {name}"
        return Unavailable(f"{name} does not let this account in: {error}", why="refused", hint=hint)
    known: tuple[Why, float | None] = _WHY.get(error.code, ("refused", None))
    why, after_s = known
    return Unavailable(f"{name} refuses: {error}", why=why, retry_after_s=after_s, hint=_HINTS.get(error.code, ""))


@contextlib.contextmanager
def told(name: str) -> Iterator[None]:
    """Within this block trouble with the service or its store comes out as `Unavailable`."""
    try:
        yield
    except Unavailable:
        raise
    except InsideError as error:
        raise unavailable(translate(error), name) from error
    except (Said, Unheard, OutlastError) as error:
        raise unavailable(error, name) from error
