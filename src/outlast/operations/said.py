"""What was said, and where: the command line wins over outlast.toml, and messages name the one that spoke."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from outlast.errors import SpecError
from outlast.model.request import RunRequest
from outlast.operations.tomlfile import TomlFile


class Said(NamedTuple):
    """A value and the words that gave it: `--limit` or `run.limit in outlast.toml`."""

    value: Any
    where: str

    def wrong(self, problem: str, *, hint: str = "") -> SpecError:
        return SpecError(f"{self.where} {self.value!r}: {problem}", hint=hint)


@dataclass(frozen=True)
class Sayings:
    """A request together with the file that speaks for its script."""

    request: RunRequest
    toml: TomlFile | None

    def get(self, name: str, table: str = "run") -> Said | None:
        """The value that counts for one key; None when nobody said anything."""
        value = getattr(self.request, name)
        # A flag that may be repeated is an empty tuple when it was not given.
        if value is not None and value != ():
            return Said(value, "--" + name.replace("_", "-"))
        if self.toml is not None and (table, name) in self.toml.values:
            return Said(self.toml.values[table, name], f"{table}.{name} in {self.toml.path.name}")
        return None

    def value(self, name: str, default: Any, table: str = "run") -> Any:
        said = self.get(name, table)
        return default if said is None else said.value

    def platforms(self, default: str) -> Said:
        """The names of the platforms to try, with commas between them."""
        said = self.get("platform") or Said(default, "setting platform")
        where = "--on" if said.where == "--platform" else said.where
        return Said(",".join(name.strip() for name in said.value.split(",")), where)


def pairs(texts: Iterable[str], flag: str, example: str) -> dict[str, str | None]:
    """`NAME=VALUE` flags by name; the value is None without an equals sign. The same name twice is an error."""
    found: dict[str, str | None] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name:
            raise SpecError(f"{flag} is given a value without a name", hint=f"write it like {flag} {example}")
        if name in found:
            raise SpecError(f"{flag} {name} is given twice", hint="keep one of them")
        found[name] = value if equals else None
    return found
