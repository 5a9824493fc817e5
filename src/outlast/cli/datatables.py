"""How comparisons and small copies look, in lines and in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outlast.cli.paint import Column, Ink, table
from outlast.cli.words import count
from outlast.inside.move.names import shown
from outlast.model.quantities import format_size

if TYPE_CHECKING:
    from outlast.datasets.comparing import Comparison
    from outlast.operations.data_copies import MadeMini

#: Longer lists are for `--json`.
LINES_SHOWN = 20


def comparison_lines(found: Comparison) -> list[str]:
    """What differs, then one line that says it all."""
    lines: list[str] = []
    lines += _some("missing", [shown(path) for path in found.missing])
    lines += _some("extra", [shown(path) for path in found.extra])
    lines += _some("different", [f"{shown(path)}: {why}" for path, why in found.different])
    if not found.equal:
        counts = f"{len(found.missing)} missing, {len(found.extra)} extra, {len(found.different)} different"
        return [*lines, f"different: {counts}, {found.same} the same"]
    if found.by_content == found.same:
        return [f"equal: {count(found.same, 'file')} with the same bytes"]
    rest = found.same - found.by_content
    return [f"equal: {count(found.same, 'file')}; of {rest} only the sizes were compared (--full reads them)"]


def comparison_json(found: Comparison) -> dict[str, Any]:
    return {
        "equal": found.equal,
        "missing": [shown(path) for path in found.missing],
        "extra": [shown(path) for path in found.extra],
        "different": [{"path": shown(path), "reason": why} for path, why in found.different],
        "same": found.same,
        "same_by_content": found.by_content,
    }


def mini_lines(made: MadeMini) -> list[str]:
    """A table of what was kept of each class, then the sums and what to know."""
    ink = Ink()
    mini = made.mini
    columns = [Column("folder or class", flexible=True), Column("kept", right=True), Column("of", right=True)]
    shares = mini.shares if len(mini.shares) <= 2 * LINES_SHOWN else mini.shares[: 2 * LINES_SHOWN]
    rows = [[shown(share.name), str(share.kept), str(share.total)] for share in shares]
    lines = table(columns, rows, ink) if rows else []
    if len(shares) < len(mini.shares):
        lines.append(f"and {len(mini.shares) - len(shares)} more")
    lines += [f"note: {line}" for line in mini.notes]
    lines.append(f"kept {mini.kept} of {mini.total} samples")
    before = f"{count(mini.files_before, 'file')}, {format_size(mini.bytes_before)}"
    after = f"{count(mini.files_after, 'file')}, {format_size(mini.bytes_after)}"
    return [*lines, f"before: {before}; after: {after}: {made.place}"]


def mini_json(made: MadeMini) -> dict[str, Any]:
    mini = made.mini
    return {
        "place": made.place,
        "kept": mini.kept,
        "total": mini.total,
        "shares": [{"name": shown(share.name), "kept": share.kept, "total": share.total} for share in mini.shares],
        "files_before": mini.files_before,
        "bytes_before": mini.bytes_before,
        "files_after": mini.files_after,
        "bytes_after": mini.bytes_after,
        "notes": list(mini.notes),
    }


def _some(title: str, lines: list[str]) -> list[str]:
    shown_lines = [f"{title}: {line}" for line in lines[:LINES_SHOWN]]
    more = [f"{title}: and {len(lines) - LINES_SHOWN} more"] if len(lines) > LINES_SHOWN else []
    return shown_lines + more
