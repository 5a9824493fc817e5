"""What `cp` and `sync` have in common: plan, say, ask, move, tell how it went."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.cli import moved
from outlast.cli.asking import agreed
from outlast.cli.command import open_client, print_json
from outlast.cli.words import count
from outlast.errors import INTERRUPTED_EXIT_CODE, UsageError

if TYPE_CHECKING:
    from outlast.inside.move.engine import Outcome
    from outlast.inside.move.plan import Plan

EXITS: Mapping[int, str] = {
    0: "everything is there",
    1: "some files could not be copied, or you said no; the rest is there",
    2: "the request is wrong; nothing was moved",
    10: "a source does not exist",
    11: "credentials are missing or refused",
    12: "a store cannot be reached, or a disk is full",
    130: "interrupted; the same command goes on",
}

Profile = Annotated[
    str,
    typer.Option("--profile", metavar="NAME", show_default=False,
                 help="Whose keys to use (default: the default profile of each kind of store)"),
]  # fmt: skip
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print what would land where and move nothing", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Copy also what is there already", show_default=False)]
Checksum = Annotated[
    bool,
    typer.Option("--checksum", show_default=False,
                 help="Compare checksums to find out what is there already (default: sizes and times)"),
]  # fmt: skip
Verify = Annotated[
    bool,
    typer.Option("--verify", show_default=False,
                 help="Read everything once more afterwards where a store gives no checksum (default: sizes)"),
]  # fmt: skip
Workers = Annotated[
    int,
    typer.Option("--workers", metavar="N", min=0, show_default=False,
                 help="Connections or threads at once (default: what suits the place)"),
]  # fmt: skip
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no notices", show_default=False)]


@dataclass(frozen=True)
class Way:
    """How the user wants it done and told."""

    dry_run: bool = False
    as_json: bool = False
    quiet: bool = False
    yes: bool = True  # do not ask before extras are removed

    @property
    def silent(self) -> bool:
        return self.quiet or self.as_json


def carry(sources: Sequence[str], destination: str, way: Way, words: dict[str, Any]) -> int:
    """Plan and move; returns the exit code."""
    from outlast.cli.moving import Watch

    files = open_client().files
    with Watch(way.silent) as watch:
        plan = files.plan(sources, destination, tell=watch.looking, **words)
    if not way.silent:
        moved.print_notices(plan.notices)
        moved.print_hint(plan, sources, destination)
    if way.dry_run:
        return _tell_plan(plan, way)
    if plan.extras and not way.yes and not _agreed(plan, way):
        return 1
    with Watch(way.silent) as watch:
        outcome = files.carry_out(plan, watch)
    return tell(outcome, way)


def carry_packed(source: str, destination: str, way: Way, words: dict[str, Any]) -> int:
    """Move one folder as shards."""
    from outlast.cli.moving import Watch

    if way.dry_run:
        raise UsageError("--dry-run cannot say how --pack will cut the files", hint="leave one of them out")
    with Watch(way.silent) as watch:
        watch.begin()
        outcome = open_client().files.copy_packed(source, destination, listener=watch, **words)
    if not way.silent:
        moved.print_notices(outcome.notices)
    return tell(outcome, way)


def tell(outcome: Outcome, way: Way) -> int:
    """Say how it went; the exit code says the same."""
    if way.as_json:
        print_json(moved.outcome_json(outcome))
    elif not way.quiet or outcome.stopped:
        print(moved.outcome_line(outcome))
    sys.stdout.flush()
    if outcome.failures:
        _complain(outcome)
    if outcome.stopped:
        print("stopped; the same command goes on where it ended", file=sys.stderr)
        return INTERRUPTED_EXIT_CODE
    return 1 if outcome.failures else 0


def _complain(outcome: Outcome) -> None:
    from outlast.cli.failures import complain
    from outlast.operations.transfer import failure_words

    complain(failure_words(outcome), "the same command tries them again and skips what is there")


def _tell_plan(plan: Plan, way: Way) -> int:
    if way.as_json:
        print_json(moved.plan_json(plan))
    else:
        print("\n".join(moved.plan_lines(plan)))
    return 0


def _agreed(plan: Plan, way: Way) -> bool:
    what = f"remove {count(len(plan.extras), 'file')} that the source does not have"
    if not way.as_json:
        for item in plan.extras[: moved.STEPS_SHOWN]:
            print(f"  {plan.destination.show(item.path)}")
        if len(plan.extras) > moved.STEPS_SHOWN:
            print(f"  and {len(plan.extras) - moved.STEPS_SHOWN} more", flush=True)
    return agreed(f"{what}, after copying?", verb="sync --delete", instead="--yes or --dry-run")
