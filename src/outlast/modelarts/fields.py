"""Reading a JSON body field by field: every mistake is named with its path and value, and nothing is lost silently."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from outlast.errors import SpecError
from outlast.modelarts.job import looks_secret

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_MOST_SHOWN = 60


class InvalidBody(SpecError):
    """A body that ModelArts would refuse, or that cannot be run elsewhere; one line for each field at fault."""


class Report:
    """What was found while a body was read."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[str] = []
        self.notices: list[str] = []
        self.skipped: list[str] = []
        self._bodies: list[Body] = []

    def open(self, value: dict[str, Any], path: str = "") -> Body:
        body = Body(self, value, path)
        self._bodies.append(body)
        return body

    def wrong(self, path: str, value: Any, words: str) -> None:
        shown = "" if value is None or looks_secret(path, str(value)) else f" {_short(value)}"
        self.problems.append(f"{self.source}: {path}{shown} {words}")

    def unknown(self) -> list[str]:
        """The fields that nobody asked for, in the order of the document."""
        return [path for body in self._bodies for path in body.left_over()]

    def require_sound(self) -> None:
        if self.problems:
            raise InvalidBody("\n".join(dict.fromkeys(self.problems)))


class Body:
    """One object of a body. A field that is null counts as absent, as the service's own clients send it."""

    def __init__(self, report: Report, value: dict[str, Any], path: str) -> None:
        self.report = report
        self.path = path
        self._value = value
        self._asked: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return self._value.get(name) is not None

    def where(self, name: str) -> str:
        return f"{self.path}.{name}".lstrip(".")

    def raw(self, name: str) -> Any:
        self._asked.add(name)
        return self._value.get(name)

    def text(self, name: str, check: Callable[[str], str] | None = None) -> str:
        """A text, empty when absent; numbers and switches count as the text they are written as.

        `check` returns what is wrong with it, or nothing.
        """
        value = self.raw(name)
        if value is None:
            return ""
        if not isinstance(value, str | int | float):
            self.wrong(name, "must be a text")
            return ""
        text = as_text(value)
        problem = check(text) if check and text else ""
        if problem:
            self.wrong(name, problem)
            return ""
        return text

    def whole(self, name: str, least: int = 1) -> int | None:
        """A whole number, also written as text; None when absent."""
        value = self.raw(name)
        if value is None or value == "":
            return None
        text = str(value).strip()
        if isinstance(value, bool) or not re.fullmatch(r"-?[0-9]{1,9}", text) or int(text) < least:
            self.wrong(name, f"must be a whole number from {least}")
            return None
        return int(text)

    def address(self, name: str) -> str:
        """A place in OBS as `obs://bucket/path`, however it is written; empty when absent."""
        text = self.text(name)
        if not text:
            return ""
        try:
            return obs_address(text)
        except ValueError as error:
            self.wrong(name, str(error))
            return ""

    def below(self, name: str) -> Body:
        """An object, empty when absent."""
        value = self.raw(name)
        if value is not None and not isinstance(value, dict):
            self.wrong(name, "must be an object")
        return self.report.open(value if isinstance(value, dict) else {}, self.where(name))

    def each(self, name: str) -> Iterator[Body]:
        """The objects of a list, none when absent."""
        value = self.raw(name)
        if value is not None and not isinstance(value, list):
            self.wrong(name, "must be a list")
        for index, entry in enumerate(value if isinstance(value, list) else ()):
            where = f"{self.where(name)}[{index}]"
            if isinstance(entry, dict):
                yield self.report.open(entry, where)
            else:
                self.report.wrong(where, entry, "must be an object")

    def skip(self, *names: str) -> None:
        """Fields that are known and mean nothing here."""
        self._asked.update(names)
        self.report.skipped += [self.where(name) for name in names if self._value.get(name) not in (None, "", [], {})]

    def ignore(self, *names: str) -> None:
        """Fields that say nothing worth a word: what the service filled in."""
        self._asked.update(names)

    def wrong(self, name: str, words: str) -> None:
        self.report.wrong(self.where(name), self._value.get(name), words)

    def left_over(self) -> list[str]:
        return [self.where(name) for name in self._value if name not in self._asked]


def as_text(value: str | float | bool) -> str:
    """The text that a parameter has on a command line."""
    return value if isinstance(value, str) else json.dumps(value)


def obs_address(text: str) -> str:
    """`/bucket/dir/`, `obs://bucket/dir` and `s3://bucket/dir` as `obs://bucket/dir`; else a `ValueError` says why."""
    match = re.fullmatch(r"(?:(?:obs|s3):/)?/([^/]*)(.*)", text.strip(), re.DOTALL)
    if match is None:
        raise ValueError("is not a place in OBS; write it like /bucket/folder/ or obs://bucket/folder/")
    bucket, path = match.groups()
    if not _BUCKET.fullmatch(bucket):
        raise ValueError("names no bucket; a bucket has 3 to 63 small letters, digits, '-' and '.'")
    parts = [part for part in path.split("/") if part]
    if ".." in parts or any(not part.isprintable() for part in parts):
        raise ValueError("is not a path in a bucket")
    return "/".join([f"obs://{bucket}", *parts])


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"
