"""Plans and reports as text: what a dry run would do, what was fetched, what can be freed, what to expect."""

from __future__ import annotations

import dataclasses
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast.cli.paint import Ink, wrap
from outlast.cli.words import count, pad
from outlast.model.quantities import format_duration, format_size

if TYPE_CHECKING:
    from outlast.model.spec import RunSpec
    from outlast.operations.clean import Cleaned
    from outlast.operations.fetch import Fetched
    from outlast.operations.forecast import Forecast
    from outlast.operations.rehearse import Rehearsal
    from outlast.operations.submit import RunPlan

FILES_SHOWN = 10


def plan_json(plan: RunPlan) -> dict[str, Any]:
    """The plan for programs: the spec as it would be written, and what would be started."""
    return {
        "spec": plan.spec.to_json(),
        "command": list(plan.platform.command),
        "platforms": [dataclasses.asdict(each) for each in plan.destinations],
        "notices": list(plan.notices),
        "forecast": None if plan.prospect is None else dataclasses.asdict(plan.prospect),
    }


def plan_lines(plan: RunPlan) -> list[str]:
    """The whole plan; nothing of it has been done."""
    ink = Ink()
    facts = _spec_facts(plan.spec) | {"command": shlex.join(plan.platform.command)}
    if len(plan.destinations) > 1 or any(each.kind != "local" for each in plan.destinations):
        facts["platform"] = "\n".join(each.words for each in plan.destinations)
    if plan.prospect is not None:
        facts["forecast"] = "\n".join(plan.prospect.lines)
    lines = [ink("bold", f"{plan.spec.name}: the plan; nothing was started")]
    for name, value in facts.items():
        first, *more = wrap(value, 13) or [""]
        lines += [f"  {ink('dim', pad(name, 10))} {first}", *(f"{'':13}{line}" for line in more)]
    return lines + notice_lines(plan.notices, ink)


def _spec_facts(spec: RunSpec) -> dict[str, str]:
    stints = "as many as it takes" if spec.max_stints is None else f"at most {spec.max_stints}"
    limit = f"{format_duration(spec.limit_s)} each" if spec.limit_s is not None else "no limit"
    arguments = [*(f"--{name}={value}" for name, value in spec.params.items()), *spec.args]
    need = spec.resources
    machine = [f"{need.cpus} cpu", format_size(need.memory_bytes) if need.memory_bytes else "memory without limit"]
    machine += [f"{count} {kind}" for kind, count in (("gpu", need.gpus), ("npu", need.npus)) if count]
    machine += [f"on each of {need.nodes} nodes"] if need.nodes > 1 else []

    def at(path: str) -> str:
        # The first generation of ModelArts passes addresses: nothing is put anywhere.
        return "" if spec.contract == "modelarts-v1" else f" at {path}"

    facts = {
        "script": shlex.join([spec.script, *arguments]),
        "code": f"{count(spec.code.files, 'file')}, {format_size(spec.code.size_bytes)} from {spec.code_folder}",
        "data": ", ".join(f"{each.name}: {each.source}{at(each.path)}" for each in spec.inputs),
        "checkpoint": spec.checkpoint,
        "output": spec.output or "",
        "contract": "" if spec.contract == "plain" else spec.contract,
        "outputs": ", ".join(f"{each.name}: {each.target or 'the run'}{at(each.path)}" for each in spec.outputs),
        "not passed": ", ".join(f"--{name}" for name in spec.drop_args),
        "log": spec.log_folder or "",
        "stints": f"{stints}, {limit}",
        "until": spec.until or "the script ends",
        "grace": f"{format_duration(spec.grace_s)} to save before the end",
        "retries": f"{spec.script_retries} after an error of the script that came after progress",
        "python": spec.python,
        "pinned to": spec.environment.name if spec.environment else "",
        "packages": spec.requirements or "",
        "env": ", ".join(spec.env),  # names only: a value may be private
        "secrets": ", ".join(spec.secrets),
        "platform": ", ".join(spec.platforms),
        "machine": ", ".join(machine),
        "sandbox": f"{spec.sandbox}, network {'on' if spec.network else 'off'}",
        "store": spec.store,
    }
    return {name: value for name, value in facts.items() if value}


def notice_lines(notices: tuple[str, ...] | list[str], ink: Ink) -> list[str]:
    lines = []
    for notice in notices:
        first, *more = wrap(notice, 8) or [""]
        lines += [f"{ink('yellow', 'notice:')} {first}", *(f"        {line}" for line in more)]
    return lines


def fetched_lines(fetched: Fetched, folder: Path) -> list[str]:
    """What landed where."""
    lines = []
    for word, paths in (("new", fetched.new), ("replaced", fetched.replaced)):
        lines += [f"  {folder / path} ({word})" for path in paths[:FILES_SHOWN]]
        if len(paths) > FILES_SHOWN:
            lines.append(f"  and {len(paths) - FILES_SHOWN} more ({word})")
    count = len(fetched.new) + len(fetched.replaced)
    words = f"fetched {_count(count, 'file')}, {format_size(fetched.size_bytes)}, to {folder}"
    if fetched.same:
        words += f"; {len(fetched.same)} there already"
    return [*notice_lines(fetched.notices, Ink()), *lines, words]


def fetched_json(fetched: Fetched) -> dict[str, Any]:
    return {**dataclasses.asdict(fetched), "folder": str(fetched.folder)}


def forecast_lines(forecast: Forecast) -> list[str]:
    """What to expect of the whole training."""
    lines = wrap(forecast.sentence, 0)
    if forecast.stints is not None and forecast.units_per_stint:
        lines.append(f"a whole stint has room for {_count(round(forecast.units_per_stint), forecast.unit)}")
    return lines


def rehearsal_lines(outcome: Rehearsal) -> list[str]:
    """Whether both trainings agree; otherwise the first difference, its likely cause, and some of the others."""
    ink = Ink()
    lines = [ink("green" if outcome.agree else "red", line) for line in wrap(outcome.sentence, 0)]
    if outcome.cause:
        lines += wrap(f"likely cause: {outcome.cause}", 0)
    others = outcome.differences[1:]
    lines += [f"  {difference}" for difference in others[:FILES_SHOWN]]
    if len(others) > FILES_SHOWN:
        lines.append(f"  and {len(others) - FILES_SHOWN} more differences")
    if outcome.cuts:
        lines.append(ink("dim", f"the same cuts again: --seed {outcome.seed}"))
    return lines


def rehearsal_json(outcome: Rehearsal) -> dict[str, Any]:
    differences = [{"words": str(difference), **dataclasses.asdict(difference)} for difference in outcome.differences]
    return {**dataclasses.asdict(outcome), "differences": differences}


def clean_json(cleaned: Cleaned) -> dict[str, Any]:
    return dataclasses.asdict(cleaned)


def clean_lines(cleaned: Cleaned) -> list[str]:
    """What goes (or went), by kind, and how much space that frees."""
    if cleaned.is_empty:
        return [*notice_lines(cleaned.notices, Ink()), "nothing to free"]
    by_run = Counter(name.split(" ")[0] for name in cleaned.checkpoints)
    lines = [f"  {_count(number, 'old checkpoint')} of {run}" for run, number in sorted(by_run.items())]
    if cleaned.blobs:
        lines.append(f"  {_count(cleaned.blobs, 'file')} in the store that nothing refers to")
    if cleaned.work_folders:
        lines.append(f"  {_count(len(cleaned.work_folders), 'work folder')} of ended stints")
    word = "would be freed" if cleaned.dry_run else "freed"
    return [*notice_lines(cleaned.notices, Ink()), *lines, f"{format_size(cleaned.size_bytes)} {word}"]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("s" if number != 1 else "")
