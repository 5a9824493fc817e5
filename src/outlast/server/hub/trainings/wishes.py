"""What a body asks for, with the rules of Xihe's fields. Pure: nothing is looked up."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from outlast.inside.contracts.xihe import AIM, OUTPUT
from outlast.server.hub.trainings.computes import Compute, find_compute
from outlast.server.hub.trainings.envelope import BAD_BODY, BAD_PARAM, Refusal

_NAME = re.compile(r"[A-Za-z0-9_-]{5,50}")
_FOLDER = re.compile(r"[A-Za-z0-9_/-]{0,50}")
_FILE = re.compile(r"[A-Za-z0-9_./-]{1,50}")
_OPTION = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,19}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,19}")
_VALUE_LENGTH, _DESC_LENGTH, _PATH_LENGTH = 40, 256, 50
#: More rows than this in one list are a mistake.
_MOST_ROWS = 100
NAME_LENGTH = 50


class Pair(NamedTuple):
    """A hyper-parameter or a variable."""

    key: str
    value: str


class Ref(NamedTuple):
    """Something of a repository, passed to the script as the option `key`; all of it without a `file`."""

    key: str
    owner: str
    name: str
    file: str = ""

    def to_json(self) -> dict[str, str]:
        return {"key": self.key, "owner": self.owner, "name": self.name, "File": self.file}


@dataclass(frozen=True)
class Wish:
    """A training as it was asked for."""

    name: str
    desc: str
    code_dir: str  # without slashes around it; empty: the whole repository
    boot_file: str  # relative to it
    compute: Compute
    hyperparameters: tuple[Pair, ...] = ()
    env: tuple[Pair, ...] = ()
    models: tuple[Ref, ...] = ()
    datasets: tuple[Ref, ...] = ()
    enable_output: bool = False
    enable_aim: bool = False

    def to_json(self) -> dict[str, Any]:
        """The body that asks for it."""
        return {
            "name": self.name, "desc": self.desc, "code_dir": f"{self.code_dir}/" if self.code_dir else "",
            "boot_file": self.boot_file, "compute": self.compute._asdict(),
            "hyperparameter": [each._asdict() for each in self.hyperparameters],
            "env": [each._asdict() for each in self.env],
            "models": [each.to_json() for each in self.models], "datasets": [each.to_json() for each in self.datasets],
            "enable_output": self.enable_output, "enable_aim": self.enable_aim,
        }  # fmt: skip


def read_wish(body: object) -> Wish:
    """A body, checked; `Refusal` names the field that is wrong."""
    given = _object(body, "the body")
    compute = _object(given.get("compute") or {}, "compute")
    wish = Wish(
        name=_name(_text(given, "name")),
        desc=_desc(_text(given, "desc")),
        code_dir=_code_dir(_text(given, "code_dir")),
        boot_file=_boot_file(_text(given, "boot_file")),
        compute=find_compute(*(_text(compute, field, "compute.") for field in Compute._fields)),
        hyperparameters=_pairs(given, "hyperparameter", _OPTION),
        env=_pairs(given, "env", _VARIABLE),
        models=_refs(given, "models"),
        datasets=_refs(given, "datasets"),
        enable_output=_switch(given, "enable_output"),
        enable_aim=_switch(given, "enable_aim"),
    )
    _refuse_twice(_passed(wish), "an option of the script")
    _refuse_twice((each.key for each in wish.env), "a variable")
    return wish


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise Refusal(BAD_PARAM, f"name: {text[:60]!r} must have 5 to 50 letters, digits, '_' and '-'")
    return text


def _desc(text: str) -> str:
    if len(text) > _DESC_LENGTH or not text.replace("\n", " ").isprintable():
        raise Refusal(BAD_PARAM, f"desc: at most {_DESC_LENGTH} characters that can be printed")
    return text


def _code_dir(text: str) -> str:
    if not _FOLDER.fullmatch(text):
        raise Refusal(BAD_PARAM, f"code_dir: {text[:60]!r} must have at most 50 letters, digits, '_', '-' and '/'")
    return "/".join(part for part in text.split("/") if part)


def _boot_file(text: str) -> str:
    if not _FILE.fullmatch(text) or text.startswith("/"):
        raise Refusal(BAD_PARAM, f"boot_file: {text[:60]!r} must be a path of at most {_PATH_LENGTH} plain characters")
    plain = posixpath.normpath(text)
    folder, base = posixpath.split(plain)
    if not _FOLDER.fullmatch(folder) or base in ("", ".", ".."):
        raise Refusal(BAD_PARAM, f"boot_file: {text!r} must be a file below code_dir, like train.py")
    return plain


def _pairs(given: Mapping[str, Any], field: str, form: re.Pattern[str]) -> tuple[Pair, ...]:
    found = []
    for at, row in _rows(given, field):
        key, value = _text(row, "key", at), _text(row, "value", at)
        if not form.fullmatch(key):
            raise Refusal(BAD_PARAM, f"{at}key: {key[:40]!r} must be a name of 1 to 20 plain characters")
        if len(value) > _VALUE_LENGTH or not value.isprintable():
            raise Refusal(BAD_PARAM, f"{at}value: at most {_VALUE_LENGTH} characters that can be printed")
        found.append(Pair(key, value))
    return tuple(found)


def _refs(given: Mapping[str, Any], field: str) -> tuple[Ref, ...]:
    found = []
    for at, row in _rows(given, field):
        file = _text(row, "File" if "File" in row else "file", at).strip("/")
        ref = Ref(_text(row, "key", at), _text(row, "owner", at), _text(row, "name", at), file)
        if not _OPTION.fullmatch(ref.key):
            raise Refusal(BAD_PARAM, f"{at}key: {ref.key[:40]!r} must be a name of 1 to 20 plain characters")
        if file and (len(file) > _PATH_LENGTH or not file.isprintable() or {"..", "."} & set(file.split("/"))):
            raise Refusal(BAD_PARAM, f"{at}File: {file[:60]!r} must be a path in the repository, at most 50 characters")
        if "@" in file:
            raise Refusal(BAD_PARAM, f"{at}File: {file[:60]!r} holds an '@'")
        found.append(ref)
    return tuple(found)


def _rows(given: Mapping[str, Any], field: str) -> list[tuple[str, Mapping[str, Any]]]:
    rows = given.get(field) or []
    if not isinstance(rows, list):
        raise Refusal(BAD_BODY, f"{field}: must be a list")
    if len(rows) > _MOST_ROWS:
        raise Refusal(BAD_PARAM, f"{field}: {len(rows)} rows, {_MOST_ROWS} at most")
    return [(f"{field}[{number}].", _object(row, f"{field}[{number}]")) for number, row in enumerate(rows)]


def _passed(wish: Wish) -> Iterable[str]:
    yield from (each.key for each in wish.hyperparameters)
    yield from (each.key for each in (*wish.models, *wish.datasets))
    yield from [OUTPUT] if wish.enable_output else []
    yield from [AIM] if wish.enable_aim else []


def _refuse_twice(names: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise Refusal(BAD_PARAM, f"{name!r} is given twice as {what}", hint="give one of them another key")
        seen.add(name)


def _object(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Refusal(BAD_BODY, f"{where} must be a JSON object")
    return value


def _text(given: Mapping[str, Any], field: str, where: str = "") -> str:
    value = given.get(field)
    if value is not None and not isinstance(value, str):
        raise Refusal(BAD_BODY, f"{where}{field}: must be a text")
    return value or ""


def _switch(given: Mapping[str, Any], field: str) -> bool:
    value = given.get(field)
    if value is not None and not isinstance(value, bool):
        raise Refusal(BAD_BODY, f"{field}: must be true or false")
    return bool(value)
