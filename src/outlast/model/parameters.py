"""The parameters of a run, from its spec: by these runs are found, listed and compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MASK = "***"
#: People do pass keys as parameters; what is listed or leaves this machine must not carry them.
_SECRET = re.compile(
    r"(?:^|[^a-z])(?:pass(?:word|wd|phrase)?|secret|token|credentials?|api_?key|access_?key|private_?key|sk|ak)"
    r"(?:[^a-z]|$)",
    re.IGNORECASE,
)


def is_secret_name(name: str) -> bool:
    """Whether a parameter of this name usually holds a secret."""
    return _SECRET.search(name.replace("-", "_")) is not None


def shown_value(name: str, value: str) -> str:
    """The value, or `***` when the name says that it is a secret."""
    return MASK if is_secret_name(name) else value


def run_parameters(spec: Mapping[str, Any]) -> dict[str, str]:
    """Parameters by name: those of `--param`, and those among the script's own arguments."""
    found = dict(_of_arguments([str(word) for word in spec.get("args") or ()]))
    found |= {str(name): str(value) for name, value in (spec.get("params") or {}).items()}
    return {name: shown_value(name, value) for name, value in found.items()}


def _of_arguments(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """`--lr 0.1`, `--lr=0.1`, `-b 32`, `--amp`, `lr=0.1`; what has no name gets its position."""
    at = position = 0
    while at < len(words):
        word = words[at]
        at += 1
        name, equals, value = word.partition("=")
        if re.match(r"--?[A-Za-z]", word):
            if not equals:
                takes_next = at < len(words) and not re.match(r"--?[A-Za-z]", words[at])
                value = words[at] if takes_next else "true"
                at += takes_next
            yield name.lstrip("-"), value
        elif equals and re.fullmatch(r"[\w.+-]+", name):
            yield name.lstrip("+"), value
        else:
            position += 1
            yield f"argument {position}", word
