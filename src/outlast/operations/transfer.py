"""Copy and sync between any two places: plan it, carry it out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from outlast.errors import StoreError
from outlast.inside.move.engine import Listener, Outcome
from outlast.inside.move.engine import carry_out as carry_out_inside
from outlast.inside.move.plan import Options, Plan
from outlast.inside.move.survey import survey
from outlast.operations.places import Places, place_errors
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.inside.move.plan import Place

Where = str | os.PathLike[str]
FAILURES_SHOWN = 10


def plan_copy(
    settings: Settings,
    sources: Sequence[Where],
    destination: Where,
    options: Options,
    *,
    profile: str = "",
    tell: Callable[[str], None] | None = None,
) -> Plan:
    """Everything that a copy would do, completely checked; moves nothing."""
    places = Places(settings, profile)
    opened = [places.open(source) for source in sources]
    target = places.open(destination)
    with place_errors():
        plan = survey(opened, target, _journaled(options, settings), tell or _silent)
    return plan._replace(notices=[*places.notices, *plan.notices])


def carry_out(plan: Plan, listener: Listener | None = None) -> Outcome:
    """Do what was planned. Files that could not be copied are named in the outcome."""
    with place_errors():
        return carry_out_inside(plan, listener or Listener())


def copy_packed(
    settings: Settings,
    source: Where,
    destination: Where,
    options: Options,
    *,
    profile: str = "",
    listener: Listener | None = None,
) -> Outcome:
    """Copy one folder as shards: packed on the way out, unpacked on the way home."""
    from outlast.inside.move.packedcopy import copy_packed as copy_inside

    places = Places(settings, profile)
    ends: tuple[Place, Place] = places.open(source), places.open(destination)
    with place_errors():
        outcome = copy_inside(*ends, _journaled(options, settings), listener or Listener())
    return outcome._replace(notices=[*places.notices, *outcome.notices])


def copy(
    source: Where | Sequence[Where],
    destination: Where,
    *,
    force: bool = False,
    checksum: bool = False,
    pack: bool = False,
    profile: str = "",
) -> Outcome:
    """Copy files and folders between this machine, `s3://`, `obs://` and `hdfs://`.

    A slash after the destination means "into this folder", a slash after a source "what is in it". What is there
    already is skipped; `force` copies it again, `checksum` compares bytes instead of times. `pack` moves a folder of
    many small files as shards. Raises when a file could not be copied; calling again does the rest.

        outlast.copy("obs://lab/mnist/", "data/")
    """
    settings = Settings.load(os.environ)
    sources = [source] if isinstance(source, str | os.PathLike) else list(source)
    options = Options(force=force, checksum=checksum)
    if pack:
        outcome = copy_packed(settings, sources[0], destination, options, profile=profile)
    else:
        outcome = carry_out(plan_copy(settings, sources, destination, options, profile=profile))
    if outcome.failures:
        raise StoreError(failure_words(outcome), hint="the same call does the rest")
    return outcome


def failure_words(outcome: Outcome) -> str:
    """One line that says how many files failed, then the first of them."""
    failures = outcome.failures
    lines = [f"{failure.path}: {failure.reason}" for failure in failures[:FAILURES_SHOWN]]
    if len(failures) > FAILURES_SHOWN:
        lines.append(f"and {len(failures) - FAILURES_SHOWN} more")
    total = outcome.files + len(failures)
    return "\n".join([f"{len(failures)} of {total} files could not be copied", *lines])


def _journaled(options: Options, settings: Settings) -> Options:
    """Half-sent large files are remembered in the home folder."""
    return options._replace(how=options.how._replace(journal=str(settings.home / "cache" / "uploads")))


def _silent(words: str) -> None:
    """Nobody listens."""
