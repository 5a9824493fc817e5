"""Writing an outlast.toml for people: explanations above the keys, and keys that are there to be switched on."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

from outlast.errors import SpecError

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 118


class TomlText:
    """Lines of a file. `# ` begins an explanation, `#` alone a key that is switched off, as in `outlast init`."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def note(self, words: str) -> None:
        """An explanation, on as many lines as it needs. Whatever it quotes stays within the comment."""
        flat = "".join(char if char.isprintable() else " " for char in words)
        self._lines += [f"# {line}" for line in textwrap.wrap(flat, _WIDTH, break_long_words=False) or [""]]

    def gap(self) -> None:
        if self._lines:
            self._lines.append("")

    def table(self, name: str, words: str = "") -> None:
        """Begin a table, with a sentence above it."""
        self.gap()
        if words:
            self.note(words)
        self._lines.append(f"[{name}]")

    def key(self, name: str, value: object, words: str = "", *, off: bool = False) -> None:
        """Set a key: a text, a number, a switch or a list of texts. With `off` it is only shown."""
        if words:
            self.note(words)
        shown = name if _BARE_KEY.fullmatch(name) else _quoted(name)
        self._lines.append(f"{'#' if off else ''}{shown} = {_quoted(value)}")

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"


def _quoted(value: object) -> str:
    # JSON's texts are TOML's, but for one character that TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def write_new(path: Path, text: str, *, force: bool = False) -> None:
    """Write a file that does not exist yet, or with `force` any; `SpecError` says why it cannot be."""
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise SpecError(f"{path} exists already; it was left as it is", hint="overwrite it with: --force") from None
    except OSError as error:
        raise SpecError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None
