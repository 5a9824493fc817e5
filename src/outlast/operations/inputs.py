"""`--data` and `[data]`: where inputs come from, and at which path the script finds them."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from outlast.errors import SpecError
from outlast.inside.errors import RequestError
from outlast.inside.move.address import SCHEMES, Address
from outlast.inside.move.address import parse as parse_address
from outlast.model.spec import NAME_PATTERN, Input
from outlast.operations.problems import Problems, closest, guess_path
from outlast.operations.repositories import Assets, Elsewhere, InAnyHub
from outlast.operations.target import absolute
from outlast.operations.tomlfile import TomlFile
from outlast.store.assets import Asset, read_asset

_HOW_TO_GIVE = "write it like --data ./mnist, --data mnist=./mnist or --data s3://bucket/mnist"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")

#: Where an input lies. An address is looked at later, when the keys for it were found.
Source = Path | Address | Elsewhere
NO_REPOSITORIES: Mapping[str, str] = MappingProxyType({})
#: Where a contract puts an input of this name.
Placing = Callable[[str, Source], str]


@dataclass(frozen=True)
class FoundInput:
    """An input that exists."""

    name: str
    source: Source
    path: str
    writable: bool
    where: str  # what the user wrote, for messages
    asset: str = ""  # its pinned name in the hub

    def to_spec(self) -> Input:
        source = self.source.as_uri() if isinstance(self.source, Path) else str(self.source)
        return Input(name=self.name, source=source, path=self.path, writable=self.writable, asset=self.asset)


def find_inputs(
    data: Sequence[str],
    cwd: Path,
    toml: TomlFile | None,
    folder: Path,
    problems: Problems,
    placing: Placing | None = None,
    repositories: Mapping[str, str] = NO_REPOSITORIES,
    in_hub: InAnyHub | None = None,
) -> list[FoundInput]:
    """All inputs, those of the command line first; one of the same name replaces the file's.

    Names that nobody chose are made from the path, and made different from each other. With `placing` an input is
    passed by its name, so everyone must have been given one, and lies where that says. `repositories` are the folders
    that play those of a hub; `in_hub` looks into the one of this home, or of a server.
    """
    found: list[FoundInput] = []
    for text in data:
        with problems.collecting():
            found.append(_from_flag(text, cwd, folder, found, placing, Assets(repositories, in_hub)))
    taken = {given.name for given in found}
    for entry in toml.data if toml else ():
        if entry.name in taken:
            continue
        where = f"data.{entry.name} in {toml.path.name}" if toml else ""
        with problems.collecting():
            _require_name(entry.name, where)
            source, asset = _find_source(
                entry.source, toml.folder if toml else folder, where, Assets(repositories, in_hub)
            )
            path = entry.path
            if path is None:
                path = placing(entry.name, source) if placing else _path_for(entry.source, source, folder)
            found.append(FoundInput(entry.name, source, _checked_path(path, where), entry.writable, where, asset))
    for index, given in enumerate(found):
        with problems.collecting():
            _refuse_overlap(given, found[:index])
    return found


def read_inputs(given: Sequence[Input], problems: Problems, in_hub: InAnyHub | None = None) -> list[FoundInput]:
    """Inputs that another machine has found; what it has sent lies at a path of this one, or in the hub of it."""
    found: list[FoundInput] = []
    for each in given:
        where = f"data {each.name}"
        with problems.collecting():
            source, pinned = _read_source(each.source, where, Assets(NO_REPOSITORIES, in_hub))
            read = FoundInput(each.name, source, _checked_path(each.path, where), each.writable, where, pinned)
            _refuse_overlap(read, found)
            found.append(read)
    return found


def _from_flag(
    text: str,
    cwd: Path,
    folder: Path,
    earlier: Sequence[FoundInput],
    placing: Placing | None,
    assets: Assets,
) -> FoundInput:
    where = f"--data {text}"
    name, source_text = _split(text, cwd)
    if not source_text:
        raise SpecError(f"{where} names no file or folder", hint=_HOW_TO_GIVE)
    source, asset = _find_source(source_text, cwd, where, assets)
    if name is None and placing is not None:
        raise SpecError(
            f"{where} has no name, and inputs are passed by their names here",
            hint=f"name the option that the script reads: --data data_url={text}",
        )
    if name is None:
        path = _path_for(source_text, source, folder)
        return FoundInput(_free_name(source, earlier), source, _checked_path(path, where), False, where, asset)
    twin = next((given for given in earlier if given.name == name), None)
    if twin is not None:
        raise SpecError(f"{where} and {twin.where} have the same name {name!r}", hint="give each input its own name")
    path = placing(name, source) if placing else name
    return FoundInput(name, source, _checked_path(path, where), False, where, asset)


def _split(text: str, cwd: Path) -> tuple[str | None, str]:
    """(name, source) of `NAME=SRC` or `SRC`; an equals sign inside a path that exists belongs to the path."""
    name, equals, source = text.partition("=")
    if not equals or not NAME_PATTERN.fullmatch(name):
        return None, text
    if absolute(text, cwd).exists() and not absolute(source, cwd).exists():
        return None, text
    return name, source


def _read_source(text: str, where: str, assets: Assets) -> tuple[Source, str]:
    asset = read_asset(text)
    return (find_address(text, where), "") if asset is None else _in_assets(asset, where, assets)


def _in_assets(asset: Asset, where: str, assets: Assets) -> tuple[Source, str]:
    found = assets.find(asset, where)
    if isinstance(found, Elsewhere):
        return found, found.pinned
    return _require_readable(found.path, where), found.name


def _find_source(text: str, base: Path, where: str, assets: Assets) -> tuple[Source, str]:
    """Where an input lies, and its pinned name when that is in the hub."""
    if _SCHEME.match(text) is not None:
        return find_address(text, where), ""
    path = absolute(text, base)
    asset = read_asset(text)
    if asset is not None and not path.exists():
        return _in_assets(asset, where, assets)
    if not path.exists():
        relative = "" if Path(text).is_absolute() else f" (relative to {base})"
        near = guess_path(text, path)
        message = f"no such file or folder: {text}{relative}{near}"
        raise SpecError(
            message if where == f"--data {text}" else f"{where}: {message}", hint="" if near else _HOW_TO_GIVE
        )
    return _require_readable(path, where), ""


def find_address(text: str, where: str, *, must_exist: bool = True) -> Path | Address:
    """The place of an address, one on this machine as a path. Stores are asked later."""
    scheme = text.partition("://")[0].lower()
    if scheme not in SCHEMES:
        near = closest(scheme, SCHEMES)
        instead = "copy the data to this machine and give its path" if must_exist else "name a folder, like ./out"
        hint = f"did you mean {near}://?" if near else instead
        known = ", ".join(f"{each}://" for each in SCHEMES)
        problem = f"data from {scheme}:// cannot be read" if must_exist else f"nothing can be brought to {scheme}://"
        raise SpecError(f"{where}: {problem}; known: {known}", hint=hint)
    if scheme != "file":
        try:
            return parse_address(text)
        except RequestError as error:
            raise SpecError(f"{where}: {error}") from None
    parts = urlsplit(text)
    path = Path(unquote(parts.path))
    if parts.netloc not in ("", "localhost") or not path.is_absolute():
        raise SpecError(f"{where} is not the address of a file here", hint="write it like file:///data/mnist")
    if not must_exist:
        return path
    if not path.exists():
        near = guess_path(str(path), path)
        raise SpecError(f"{where}: no such file or folder: {path}{near}", hint="" if near else _HOW_TO_GIVE)
    return _require_readable(path, where)


def _require_readable(path: Path, where: str) -> Path:
    if not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
        raise SpecError(f"{where} cannot be read: no permission", hint=f"allow it with: chmod -R u+rX {path}")
    return path


def _path_for(text: str, source: Source, folder: Path) -> str:
    """Where the script finds an input it was given no path for: where it lies now, seen from the script.

    What lies at an address or in a hub is found beside the script, under its own name.
    """
    if isinstance(source, Address):
        return source.name
    asset = read_asset(text)
    if isinstance(source, Elsewhere):
        return asset.name if asset is not None else source.name
    if asset is not None and not source.as_posix().endswith(text):
        return asset.name
    if _SCHEME.match(text) or Path(text).is_absolute() or text.startswith("~"):
        return source.as_posix()
    return Path(os.path.relpath(source, folder)).as_posix()


def _checked_path(path: str, where: str) -> str:
    normal = posixpath.normpath(path)
    if not path or set(normal.split("/")) <= {".", ".."}:
        raise SpecError(
            f"{where} is or holds the code folder itself, which travels as code",
            hint="name the data below it, like --data ./mnist",
        )
    return normal


def _free_name(source: Source, earlier: Sequence[FoundInput]) -> str:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", source.name).strip("-._")[:50] or "data"
    taken = {given.name for given in earlier}
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}-{number}", number + 1
    return name


def _require_name(name: str, where: str) -> None:
    if not NAME_PATTERN.fullmatch(name):
        raise SpecError(f"{where}: {name!r} is not a name; use letters, digits, '.', '_' and '-', at most 63")


def _refuse_overlap(given: FoundInput, earlier: Sequence[FoundInput]) -> None:
    for other in earlier:
        if given.path == other.path:
            raise SpecError(
                f"{given.where} and {other.where} would both be at {given.path}",
                hint="give one of them another name, like --data NAME=SRC",
            )
        if lies_in(given.path, other.path) or lies_in(other.path, given.path):
            raise SpecError(
                f"{given.where} and {other.where} lie in each other ({given.path}, {other.path})",
                hint="keep the outer one, or give one of them another name, like --data NAME=SRC",
            )


def lies_in(path: str, folder: str) -> bool:
    """Whether a path of the work folder is `folder` or below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
