"""What a cluster itself recorded of a job: its words on how it ended, and the last of what the container printed."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from outlast.platforms.openpai.rest import Refusal, Rest

Document = Mapping[str, Any]

_TAIL_CHARS = 64 << 10
#: The files of a YARN container that tell of a start that failed, by their names since v0.13 and before.
_YARN_FILES = ("user.pai.stdout", "user.pai.stderr", "runtime.pai.agg.error", "stdout", "stderr")
_BODY = re.compile(r"<pre>(.*?)</pre>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")


def read_log(rest: Rest, detail: Document, is_k8s: bool) -> str:
    """As much as can be had, newest last; empty when the cluster gives nothing."""
    parts = [*(_k8s_texts if is_k8s else _yarn_texts)(rest, detail), _diagnostics(detail.get("jobStatus") or {})]
    return "\n".join(part.strip("\n") for part in parts if part.strip())[-_TAIL_CHARS:]


def _places(detail: Document) -> Iterator[str]:
    for role in (detail.get("taskRoles") or {}).values():
        for task in role.get("taskStatuses") or ():
            if task.get("containerLog"):
                yield str(task["containerLog"])


def _k8s_texts(rest: Rest, detail: Document) -> Iterator[str]:
    for place in _places(detail):
        _, found, path = place.partition("/api/")
        if not found:  # v1.0: the text itself
            yield rest.text(place)
            continue
        try:
            told = rest.call("GET", path, params={"tail-mode": "true"})
        except Refusal:
            continue
        links = {each.get("name"): str(each.get("uri")) for each in (told or {}).get("locations", ())}
        chosen = next((links[name] for name in ("all", "stdout") if name in links), None)
        if chosen is not None:
            yield rest.text(chosen)


def _yarn_texts(rest: Rest, detail: Document) -> Iterator[str]:
    for place in _places(detail):
        for name in _YARN_FILES:
            yield _plain(rest.text(f"{place.rstrip('/')}/{name}"))


def _plain(text: str) -> str:
    """Node managers show a log as a page."""
    if text.lstrip()[:1] != "<":
        return text
    return html.unescape(_TAG.sub("", "\n".join(_BODY.findall(text))))


def _diagnostics(status: Document) -> str:
    told = (status.get(name) for name in ("appExitTriggerMessage", "appExitDiagnostics"))
    return "\n".join(dict.fromkeys(str(each) for each in told if each))
