"""The beginning of a file, shown as what it is: a picture, a table, JSON, text."""

from __future__ import annotations

import json
from typing import Any

from nicegui import ui

from outlast.model.quantities import format_size
from outlast.server.console.html import Html, joined, table, tag
from outlast.server.console.words import say


def show_preview(seen: dict[str, Any], path: str) -> None:
    """What `previews.preview` found, on the current page."""
    ui.html(preview_html(seen, path), sanitize=False)


def is_shown_in_part(seen: dict[str, Any]) -> bool:
    """Whether there is more than what is shown; of a file without a preview nothing is."""
    return bool(seen["cut"]) and seen["kind"] != "bytes"


def preview_html(seen: dict[str, Any], path: str) -> Html:
    more = is_shown_in_part(seen)
    cut = tag("p", say("only the beginning is shown"), class_="o-quiet o-small") if more else Html()
    return joined(
        tag("div", _content(seen, path), class_="o-preview", tabindex="0", role="region", aria_label=path), cut
    )


def _content(seen: dict[str, Any], path: str) -> Html:
    match seen["kind"]:
        case "picture":
            return Html(tag("img", src=seen["url"], alt=path).removesuffix("</img>"))
        case "json":
            return tag("pre", json.dumps(seen["value"], indent=2, ensure_ascii=False))
        case "table":
            first, *rows = seen["rows"] or [[]]
            width = max(map(len, [first, *rows]))
            heads = [head.removeprefix("#") for head in first] + [""] * (width - len(first))
            return table(path, heads, [row + [""] * (width - len(row)) for row in rows])
        case "text":
            return tag("pre", seen["text"])
    return tag("p", say("{size}; there is no preview of such files", size=format_size(seen["size_bytes"])))
