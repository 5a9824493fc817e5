"""JSON with comments, as VS Code writes it: `//`, `/* */`, and a comma after the last entry."""

from __future__ import annotations

import json
import re
from typing import Any

from outlast.errors import SpecError

_STRING = r'"(?:\\.|[^"\\\n])*"'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*[\]}}])")


def load_jsonc(text: str, source: str) -> Any:
    """Read a document; `SpecError` names the line and column at which it cannot be understood."""
    plain = _LAST_COMMA.sub(_blank, _COMMENT.sub(_blank, text.removeprefix("\ufeff")))
    try:
        return json.loads(plain)
    except ValueError as error:
        raise SpecError(f"{source} is not JSON: {error}", hint="mend that place; comments are fine") from None


def _blank(match: re.Match[str]) -> str:
    """Spaces instead of what goes, so that an error's line and column are those of the file."""
    return match.group(1) or re.sub(r"[^\n]", " ", match.group(0))
