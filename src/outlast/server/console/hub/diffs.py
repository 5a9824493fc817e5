"""The changes of a commit as HTML. Pure: texts go in, and every one of them is escaped."""

from __future__ import annotations

import re
from typing import Any

from outlast.model.quantities import format_size
from outlast.server.console.html import Html, joined, tag
from outlast.server.console.words import say

#: A file with more changed lines than this is folded until somebody opens it.
_OPEN_LINES = 400
_OPEN_FILES = 20
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_SIGNS = {"+": "o-plus", "-": "o-minus"}
_NAMES = {"added": "added", "removed": "deleted", "renamed": "renamed", "copied": "copied", "changed": "changed"}


def changes_html(files: list[dict[str, Any]]) -> Html:
    """Each file under its name; large ones folded."""
    return joined(*(_file(each, number < _OPEN_FILES) for number, each in enumerate(files)))


def _file(change: dict[str, Any], may_open: bool) -> Html:
    path, old = change["path"], change["old_path"]
    name = tag("code", path if old == path else f"{old} → {path}", class_="o-wrap")
    signs = [tag("span", say(_NAMES[change["status"]]), class_="o-tag")]
    if change["kind"] == "text":
        signs += [
            tag("span", f"+{change['added']}", class_="o-plus"),
            tag("span", f"−{change['removed']}", class_="o-minus"),
        ]
    is_open = may_open and len(change["lines"]) <= _OPEN_LINES
    body = _lines(change["lines"]) if change["lines"] else tag("p", _words(change), class_="o-quiet o-pad")
    return tag("details", tag("summary", name, " ", *signs), body, class_="o-change", open="" if is_open else None)


def _words(change: dict[str, Any]) -> str:
    if change["kind"] == "lfs":
        sizes = [format_size(each) for each in (change["old_size_bytes"], change["size_bytes"]) if each is not None]
        return say("A file in LFS: {sizes}", sizes=" → ".join(sizes))
    if change["kind"] == "binary":
        return say("No text: its lines cannot be shown.")
    if change["kind"] == "large":
        return say("Too large to be shown here; clone the repository to see it.")
    return say("The content is the same.")


def _lines(lines: list[str]) -> Html:
    rows, old, new = [], 0, 0
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk is not None:
            old, new = int(hunk[1]), int(hunk[2])
            rows.append(tag("tr", tag("td", line, colspan=3), class_="o-hunk"))
            continue
        sign = line[:1]
        before, after = ("" if sign in "+\\" else str(old)), ("" if sign in "-\\" else str(new))
        old, new = old + (sign in " -"), new + (sign in " +")
        cells = (tag("td", before, class_="o-line-number"), tag("td", after, class_="o-line-number"), tag("td", line))
        rows.append(tag("tr", *cells, class_=_SIGNS.get(sign)))
    table = tag("table", tag("tbody", *rows), class_="o-patch")
    return tag("div", table, class_="o-scroll", tabindex="0", role="region", aria_label=say("Changed lines"))
