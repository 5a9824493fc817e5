"""Requirements files: what they ask for, in one spelling, and which line a tool's complaint is about."""

from __future__ import annotations

import os
import re
from typing import List, NamedTuple, Optional, Tuple

from .errors import InsideError, PlaceError, RequestError

_INCLUDE = re.compile(r"(?:-r|-c|--requirement|--constraint)[ =]*(\S.*)")
_LOCAL = re.compile(r"(?:-e|--editable)\b|\.{0,2}/|\.$|file:|.*@\s*file:|.*\.(?:whl|zip|tar\.gz)$")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

#: What only the machine can mend. Looked for first: pip ends with "no matching distribution" when it cannot connect.
_PLACE_WORDS = re.compile(
    r"connection (?:refused|reset|broken|aborted|closed|error)|NewConnectionError|ConnectTimeout|ReadTimeout"
    r"|timed? ?out|dns error|failed to lookup address|name or service not known|name resolution"
    r"|network is unreachable|network was disabled|no route to host|error sending request|proxyerror"
    r"|no space left on device|disk quota exceeded|read-only file system|permission denied|cannot allocate memory"
    r"|certificate verify failed|invalid peer certificate|50[234] |429 too many|ensurepip is not available",
    re.IGNORECASE,
)
_REQUEST_WORDS = re.compile(
    r"no matching distribution|could not find a version|not found in the package registry|no versions? of"
    r"|unsatisfiable|no solution found|couldn't parse|invalid requirement|could not open requirements file"
    r"|error parsing|failed to read from file|resolutionimpossible|conflicting dependencies|failed to build"
    r"|metadata-generation-failed|requires a different python|unsupported requirement|not a supported wheel"
    r"|hash mismatch|hashes are required|failed to download and build|404 not found|401 |403 |does not exist"
    r"|unexpected",
    re.IGNORECASE,
)


class Line(NamedTuple):
    """One requirement as written: which file, which line, its text without comment."""

    file: str
    number: int
    text: str


def read_requirements(path: str) -> List[Line]:
    """All lines that ask for something, those of included files in their place. `RequestError` names a missing file."""
    return _read(path, os.path.basename(path), ())


def _read(path: str, shown: str, above: Tuple[str, ...]) -> List[Line]:
    real = os.path.realpath(path)
    if real in above:
        raise RequestError("%s includes itself" % shown)
    found: List[Line] = []
    for number, text in _logical_lines(path, shown):
        found.append(Line(shown, number, text))
        include = _INCLUDE.match(text)
        if include and "://" not in text:
            name = include.group(1).strip()
            inner = os.path.join(os.path.dirname(path), name)
            if not os.path.exists(inner):
                raise RequestError("%s line %d includes %s, which is not in the code folder" % (shown, number, name))
            found += _read(inner, os.path.normpath(os.path.join(os.path.dirname(shown), name)), (*above, real))
    return found


def _logical_lines(path: str, shown: str) -> List[Tuple[int, str]]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            raw = file.read().splitlines()
    except FileNotFoundError:
        raise RequestError("there is no %s in the code folder; check --requirements" % shown) from None
    except UnicodeDecodeError:
        raise RequestError("%s is not a text file in UTF-8" % shown) from None
    except OSError as error:
        raise PlaceError("cannot read %s: %s" % (shown, error.strerror)) from None
    found: List[Tuple[int, str]] = []
    held, started = "", 0
    for number, line in enumerate(raw, 1):
        started = started if held else number
        if line.endswith("\\"):
            held += line[:-1] + " "
            continue
        text = " ".join(re.sub(r"(^|\s)#.*$", "", held + line).split())
        held = ""
        if text:
            found.append((started, text))
    rest = " ".join(held.split())
    return [*found, (started, rest)] if rest else found


def is_local(lines: List[Line]) -> bool:
    """Does a line install from the code folder itself, which lies elsewhere in every stint?"""
    return any(_LOCAL.match(line.text) and not _INCLUDE.match(line.text) for line in lines)


def has_hashes(lines: List[Line]) -> bool:
    return any("--hash" in line.text or "--require-hashes" in line.text for line in lines)


def options(lines: List[Line]) -> List[str]:
    """Lines that say where and how to look for packages, not what to install."""
    return [
        line.text
        for line in lines
        if line.text.startswith("-") and not _INCLUDE.match(line.text) and not _LOCAL.match(line.text)
    ]


def explain_failure(output: str, lines: List[Line], shown: str) -> InsideError:
    """The error that a failed installation stands for: `PlaceError` if another try may work, else `RequestError`."""
    sentence = _sentence(output)
    if _PLACE_WORDS.search(output) or not _REQUEST_WORDS.search(output):
        return PlaceError("cannot install %s here: %s" % (shown, sentence))
    line = _blamed(sentence, lines)
    where = "%s line %d (%s)" % (line.file, line.number, line.text) if line else shown
    return RequestError("%s cannot be installed: %s; correct it and start a new run" % (where, sentence.rstrip(".")))


def _sentence(output: str) -> str:
    """The tool's own reason in one line: uv's chain of causes, or pip's last error."""
    text = output.strip()
    cause = re.search(r"^\s*(?:cause|Caused by|[×╰─▶ ]+):? (.*?)(?:^\s*$|^hint:|\Z)", text, re.MULTILINE | re.DOTALL)
    if cause:
        words = " ".join(re.sub(r"^\s*(?:cause|Caused by):", ";", cause.group(1), flags=re.MULTILINE).split())
        return _cut(words.replace(" ;", ";"))
    errors = [line for line in text.splitlines() if re.match(r"\s*error:", line, re.IGNORECASE)]
    last = (errors or text.splitlines() or ["the tool said nothing"])[-1]
    return _cut(re.sub(r"^\s*error:\s*", "", last, flags=re.IGNORECASE))


def _cut(text: str, most: int = 400) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _blamed(sentence: str, lines: List[Line]) -> Optional[Line]:
    for line in lines:
        name = _NAME.match(line.text)
        if name and re.search(r"(?<![\w.-])%s(?![\w-])" % re.escape(name.group(0)), sentence, re.IGNORECASE):
            return line
    return None
