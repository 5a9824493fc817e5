"""Plans and outcomes of `cp` and `sync`, as text and as JSON."""

from __future__ import annotations

import posixpath
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outlast.cli.paint import Ink
from outlast.cli.planned import notice_lines
from outlast.cli.words import count
from outlast.inside.move.base import FILE, FOLDER
from outlast.inside.move.names import as_text, shown
from outlast.inside.move.plan import would_pay
from outlast.model.quantities import format_duration, format_size

if TYPE_CHECKING:
    from outlast.inside.move.engine import Outcome
    from outlast.inside.move.plan import Plan, Step

STEPS_SHOWN = 20


def plan_lines(plan: Plan) -> list[str]:
    """What will land where: the first few files, and how many there are."""
    lines = [
        f"  {step.origin.show(step.item.path)} -> {plan.destination.show(step.target)}{_kind_words(step)}"
        for step in plan.steps[:STEPS_SHOWN]
    ]
    if len(plan.steps) > STEPS_SHOWN:
        lines.append(f"  and {len(plan.steps) - STEPS_SHOWN} more")
    lines += [f"  {plan.destination.show(item.path)} (would be removed)" for item in plan.extras[:STEPS_SHOWN]]
    if len(plan.extras) > STEPS_SHOWN:
        lines.append(f"  and {len(plan.extras) - STEPS_SHOWN} more (would be removed)")
    words = f"{count(plan.file_count, 'file')}, {format_size(plan.size_bytes)}, would be copied"
    words += f" to {shown(str(plan.landing))}"
    if plan.skipped:
        words += f"; {len(plan.skipped)} there already"
    if plan.extras:
        words += f"; {len(plan.extras)} would be removed"
    return [*lines, words]


def _kind_words(step: Step) -> str:
    return {FILE: "", FOLDER: " (empty folder)"}.get(step.item.kind, " (link)")


def plan_json(plan: Plan) -> dict[str, Any]:
    return {
        "place": as_text(str(plan.landing)),
        "copy": [_step_json(step, plan) for step in plan.steps],
        "skip": [_step_json(step, plan) for step in plan.skipped],
        "remove": [_address(plan, item.path) for item in plan.extras],
        "files": plan.file_count,
        "size_bytes": plan.size_bytes,
        "notices": plan.notices,
    }


def _step_json(step: Step, plan: Plan) -> dict[str, Any]:
    source = as_text(str(step.origin.address._replace(path=step.item.path, into=False)))
    return {
        "from": source, "to": _address(plan, step.target), "kind": step.item.kind, "size_bytes": step.item.size_bytes
    }  # fmt: skip


def _address(plan: Plan, path: str) -> str:
    return as_text(str(plan.destination.address._replace(path=path, into=False)))


def outcome_line(outcome: Outcome) -> str:
    """`copied 12 files, 3.4 MB, to s3://lab/data/ in 1.2 s (2.8 MB/s); 3 there already`."""
    rate = f" ({format_size(outcome.size_bytes / outcome.elapsed_s)}/s)" if outcome.elapsed_s > 0 else ""
    words = f"copied {count(outcome.files, 'file')}, {format_size(outcome.size_bytes)}"
    words += f", to {outcome.place} in {format_duration(outcome.elapsed_s)}{rate if outcome.size_bytes else ''}"
    if not outcome.files and outcome.skipped and outcome.complete:
        words = f"nothing to copy: {outcome.place} has everything"
    if outcome.skipped:
        words += f"; {outcome.skipped} there already"
    if outcome.removed:
        words += f"; {outcome.removed} removed"
    return words


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    failures = [failure._asdict() for failure in outcome.failures]
    return {**outcome._asdict(), "failures": failures, "complete": outcome.complete}


def print_notices(notices: Sequence[str]) -> None:
    for line in notice_lines(list(notices), Ink(sys.stderr)):
        print(line, file=sys.stderr)


def print_hint(plan: Plan, sources: Sequence[str], destination: str) -> None:
    """Name the command that would do better, when there is one: packing many small files, unpacking what is packed."""
    if len(sources) != 1 or not plan.steps:
        return
    command = shlex.join(["outlast", "cp", "--pack", sources[0], destination])
    from_here = plan.steps[0].origin.is_local
    if from_here and not plan.destination.is_local and would_pay(plan.steps):
        print(f"hint: {plan.file_count} small files go faster packed: {command}", file=sys.stderr)
    elif plan.destination.is_local and not from_here and _is_packed(plan):
        print(f"hint: this place is packed; to get the files in it: {command}", file=sys.stderr)


def _is_packed(plan: Plan) -> bool:
    names = {posixpath.basename(step.target) for step in plan.steps if step.item.kind == FILE}
    return {"index.jsonl", "shard-000000.tar"} <= names
