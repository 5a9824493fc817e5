"""Reading a file so that writing it back changes nothing but what was meant.

The text keeps its line endings as they are, mixed ones too; encoding and byte order mark are remembered.
"""

from __future__ import annotations

import codecs
import io
import os
import tempfile
import tokenize
from dataclasses import dataclass, replace
from pathlib import Path


class SourceError(Exception):
    """A file cannot be read as text; the message says why."""


@dataclass(frozen=True)
class Source:
    """One file as text. `encode` gives back the exact bytes of `decode` for the same text."""

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""

    @classmethod
    def decode(cls, data: bytes, *, python: bool = True) -> Source:
        """`python`: obey a coding comment, as the interpreter does."""
        bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        try:
            encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0] if python else "utf-8"
            encoding = "utf-8" if encoding == "utf-8-sig" else encoding
            text = data[len(bom) :].decode(encoding)
            if text.encode(encoding) != data[len(bom) :]:
                raise SourceError(f"text in {encoding} that does not survive reading and writing")
        except (SyntaxError, LookupError) as error:
            raise SourceError(f"not text in a known encoding ({error})") from None
        except UnicodeError:
            raise SourceError(f"not text in {encoding}") from None
        return cls(text, encoding, bom)

    def encode(self) -> bytes:
        return self.bom + self.text.encode(self.encoding)

    def with_text(self, text: str) -> Source:
        return replace(self, text=text)


def write_aside(path: Path, data: bytes) -> None:
    """Replace a file in one step, keeping its mode; a link stays a link to the replaced file."""
    real = path.resolve()
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as writer:
            writer.write(data)
        aside.chmod(real.stat().st_mode & 0o7777)
        aside.replace(real)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
