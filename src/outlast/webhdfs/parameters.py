"""What a request says besides its operation: names, defaults and ranges are Hadoop's, and so are the complaints."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outlast.webhdfs import xattrs
from outlast.webhdfs.refusals import Refusal, bad_parameter, bad_path

_ACTION = re.compile(r"[rwx-]{3}")


@dataclass(frozen=True)
class Parameters:
    """Everything a request may say besides its operation, path and user; None is what it left open."""

    overwrite: bool = False
    recursive: bool = False
    noredirect: bool = False
    createparent: bool = True
    offset: int = 0
    length: int | None = None
    buffersize: int | None = None
    blocksize: int | None = None
    replication: int | None = None
    permission: int | None = None
    newlength: int | None = None
    accesstime: int = -1
    modificationtime: int = -1
    owner: str = ""
    group: str = ""
    destination: str = ""
    sources: tuple[str, ...] = ()
    renameoptions: frozenset[str] = frozenset()
    startafter: str = ""
    fsaction: str = "---"
    xattr_names: tuple[str, ...] = ()
    xattr_value: bytes | None = None
    encoding: str = "TEXT"
    flag: frozenset[str] = frozenset()


def check_path(path: str) -> str:
    """The path without a slash at its end; `Refusal` for what HDFS can never hold."""
    inner = path.rstrip("/") if path[-2:] != "//" else path
    if not inner:
        return "/"
    parts = inner[1:].split("/")
    if path[0] != "/" or any(part in ("", ".", "..") for part in parts) or ":" in inner or "\0" in inner:
        raise bad_path(path)
    return inner


def read_parameters(pairs: Sequence[tuple[str, str]]) -> Parameters:
    """Lower-case names to values. Unknown ones are passed over, as Hadoop does; of repeated ones the first counts."""
    found: dict[str, Any] = {}
    for name, text in pairs:
        if name == "xattr.name":
            found["xattr_names"] = (*found.get("xattr_names", ()), text)
        elif name in READERS and (field := name.replace(".", "_")) not in found:
            found[field] = READERS[name](name, text)
    return Parameters(**found)


def _boolean(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise bad_parameter(name, f'Failed to parse "{text}" to Boolean.')
    return text.lower() == "true"


def _at_least(least: int, kind: str = "long integer") -> Callable[[str, str], int]:
    def read(name: str, text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
            raise bad_parameter(name, f'Failed to parse "{text}" as a radix-10 {kind}.')
        if int(text) < least:
            raise bad_parameter(name, f"Invalid parameter range: {name} = {int(text)} < {least}")
        return int(text)

    return read


def _permission(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-7]{1,5}", text):
        raise bad_parameter(name, f'Failed to parse "{text}" as a radix-8 short integer.')
    if int(text, 8) > 0o1777:
        raise bad_parameter(name, f"Invalid parameter range: {name} = {int(text, 8):o} > 1777")
    return int(text, 8)


def _destination(name: str, text: str) -> str:
    """As Java reads it: doubled slashes and dots are resolved, unlike in the path of the address."""
    if text[0] != "/":
        raise bad_parameter(name, f'Invalid parameter value: {name} = "{text}" is not an absolute path.')
    kept: list[str] = []
    for part in text.split("/"):
        if part == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif part not in ("", "."):
            kept.append(part)
    try:
        return check_path("/" + "/".join(kept))
    except Refusal:
        raise Refusal("IOException", f"Invalid name: {text}") from None


def _choices(enum: str, *known: str) -> Callable[[str, str], frozenset[str]]:
    def read(name: str, text: str) -> frozenset[str]:
        chosen = frozenset(part.strip().upper() for part in text.split(","))
        for wrong in sorted(chosen.difference(known)):
            raise bad_parameter(name, f"No enum constant {enum}.{wrong}")
        return chosen

    return read


def _encoding(name: str, text: str) -> str:
    (chosen,) = _choices("org.apache.hadoop.fs.XAttrCodec", "TEXT", "HEX", "BASE64")(name, text.partition(",")[0])
    return chosen


def _action(name: str, text: str) -> str:
    if not _ACTION.fullmatch(text):
        raise bad_parameter(name, f'Invalid value: "{text}" does not belong to the domain {_ACTION.pattern}')
    return text


def _text(_name: str, text: str) -> str:
    return text


def _sources(_name: str, text: str) -> tuple[str, ...]:
    return tuple(check_path(part) for part in text.split(","))


READERS: Mapping[str, Callable[[str, str], Any]] = {
    "overwrite": _boolean,
    "recursive": _boolean,
    "noredirect": _boolean,
    "createparent": _boolean,
    "offset": _at_least(0),
    "length": _at_least(0),
    "buffersize": _at_least(1, "integer"),
    "blocksize": _at_least(1),
    "replication": _at_least(1, "short integer"),
    "permission": _permission,
    "newlength": _at_least(0),
    "accesstime": _at_least(-1),
    "modificationtime": _at_least(-1),
    "owner": _text,
    "group": _text,
    "destination": _destination,
    "sources": _sources,
    "renameoptions": _choices("org.apache.hadoop.fs.Options.Rename", "NONE", "OVERWRITE", "TO_TRASH"),
    "startafter": _text,
    "fsaction": _action,
    "xattr.name": _text,
    "xattr.value": xattrs.decode,
    "encoding": _encoding,
    "flag": _choices("org.apache.hadoop.fs.XAttrSetFlag", "CREATE", "REPLACE"),
}
