"""The model card of a published run, filled in from what the run has recorded. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from outlast.hub.repository import Repository
from outlast.model.quantities import format_size
from outlast.model.view import RunView

CARD = "README.md"
_SHOWN_FILES = 100


def model_card(view: RunView, repository: Repository, files: Sequence[tuple[str, int]]) -> bytes:
    """Markdown with the facts that hubs read at its top: licence, tags, data sets, metrics."""
    assets = [given["asset"] for given in view.spec.get("inputs", ()) if given.get("asset")]
    sections = [
        _facts(repository, assets),
        f"# {repository.name}",
        repository.description or f"Trained by the run `{view.id}` ({_plain(view.name)}).",
        "## Training\n\n" + _table(_training(view, assets), ("what", "value")),
    ]
    if view.metrics:
        rows = [(name, f"{value:.6g}", _best(view, name)) for name, value in sorted(view.metrics.items())]
        sections.append("## Metrics\n\n" + _table(rows, ("metric", "last", "best")))
    sizes = [(path, format_size(size)) for path, size in files[:_SHOWN_FILES]]
    sections.append("## Files\n\n" + _table(sizes, ("file", "size")))
    sections.append(f"## Use\n\n```\noutlast run train.py --data model:{repository.path}\n```")
    return ("\n\n".join(sections) + "\n").encode()


def attributes(paths: Iterable[str]) -> bytes:
    """`.gitattributes` that says of each path that LFS keeps it."""
    return "".join(f"{_pattern(path)} filter=lfs diff=lfs merge=lfs -text\n" for path in sorted(paths)).encode()


def _facts(repository: Repository, assets: Sequence[str]) -> str:
    lines = ["---"]
    if repository.licence:
        lines.append(f"license: {repository.licence}")
    lines += _listed("tags", repository.tags)
    lines += _listed("datasets", [each.partition(":")[2] for each in assets if each.startswith("dataset:")])
    lines += _listed("base_model", [each.partition(":")[2] for each in assets if each.startswith("model:")])
    return "\n".join([*lines, "---"])


def _listed(name: str, values: Iterable[str]) -> list[str]:
    found = [f"  - {_yaml(value)}" for value in values]
    return [f"{name}:", *found] if found else []


def _training(view: RunView, assets: Sequence[str]) -> list[tuple[str, ...]]:
    spec = view.spec
    code = spec.get("code", {})
    progress = [f"{value:g} {name}" for name, value in (("epochs", view.epoch), ("steps", view.step)) if value]
    rows = [
        ("run", view.id),
        ("script", spec.get("script", "")),
        ("arguments", " ".join(map(shlex.quote, spec.get("args", ())))),
        ("parameters", ", ".join(f"{name}={value}" for name, value in sorted(view.params.items()))),
        ("inputs", ", ".join(assets)),
        ("length", ", ".join(progress)),
        ("stints", str(view.stints)),
        ("started", view.created_at),
        ("code", str(code.get("asset") or code.get("sha256", "")[:16])),
    ]
    return [row for row in rows if row[1]]


def _best(view: RunView, name: str) -> str:
    return f"{view.best[name]:.6g}" if name in view.best else ""


def _table(rows: Sequence[Sequence[str]], titles: Sequence[str]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(map(_plain, line))} |" for line in lines)


def _plain(text: str) -> str:
    """One cell of a table, whatever the name of a file or a value is."""
    flat = "".join(char if char.isprintable() else " " for char in text)
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def _yaml(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _pattern(path: str) -> str:
    """A path as a pattern that means only itself, quoted as git reads it."""
    literal = "".join(f"\\{char}" if char in "\\*?[" else char for char in path)
    raw = ("/" + literal).encode("utf-8", "surrogateescape")
    quoted = {ord('"'): r"\"", ord("\\"): r"\\"}
    return '"' + "".join(quoted.get(b, chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in raw) + '"'
