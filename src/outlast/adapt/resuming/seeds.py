"""Random numbers that a program draws before its training: which samples it trains on must not change with each stint.

A script without a seed splits its data anew whenever it starts, and after a stop it would train on what it had kept for
testing. So in a stint, or where the contract's output folder is given, the numbers follow from the run's name.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from outlast.adapt.arguments.setup import CreatedSetup, Setup
from outlast.adapt.draft import Draft
from outlast.adapt.resuming.drawing import Draw, draws_of, reseeds
from outlast.adapt.resuming.ranks import are_several
from outlast.adapt.resuming.state import RULE
from outlast.adapt.wrapping import imported_by
from outlast.migrate.engine import Kind
from outlast.migrate.tree import tail

_SEEDERS = {"numpy": "random.seed", "torch": "manual_seed", "random": "seed"}


def keep_choices(
    entry: Draft, draws: Sequence[Draw], setup: Setup | None, value: str, before: cst.CSTNode | None = None
) -> None:
    """Let each stint draw the same numbers before its training.

    The lines stand in the script that is started. `value` is the output folder there, `before` the import ahead of
    which they must stand, where modules draw as soon as they are imported.
    """
    if not draws:
        return
    drafts = list(dict.fromkeys([entry, *(draw.draft for draw in draws)]))
    own = [draw for draw in draws if draw.draft is entry]
    first = min(own, key=lambda draw: entry.start(draw.call)) if own else draws[0]
    what = f"{tail(first.call.func)} draws other numbers in each start"
    is_late = setup is not None and not isinstance(setup, CreatedSetup) and any(
        not setup.reaches(draw.call) for draw in own
    )  # fmt: skip
    is_changed = any(reseeds([*drafts, *entry.others], source) for source in draws_of(draws))
    if any(are_several(draft) for draft in drafts) or is_late or is_changed:
        advice = "give the script a seed, so that each stint has the same data"
        first.draft.say(Kind.DIFFERS, RULE, first.call, what, advice)
        return
    lines, modules = _lines(entry, list(draws_of(draws)), value, is_early=before is not None)
    if before is not None:
        entry.import_before(before, modules, lines)
    else:
        entry.need_import(*modules)
        if setup is None or isinstance(setup, CreatedSetup):
            entry.add_on_top(lines)
        else:
            setup.follow(lines)
    first.draft.say(Kind.CHANGED, RULE, first.call, f"{what}: in a stint they follow from the run's name")


def _lines(draft: Draft, sources: list[str], value: str, *, is_early: bool) -> tuple[list[str], list[str]]:
    """The lines, and the modules that they need."""
    name, seed = draft.free("run_name"), draft.free("run_seed")
    modules = ["os", "zlib"]
    lines = [
        f'{name} = os.environ.get("OUTLAST_RUN")' + (f" or {value}" if value else ""),
        f"if {name}:  # each stint makes the same choice of data",
        f"    {seed} = zlib.crc32(str({name}).encode())",
    ]
    for source in sources:
        module = draft.names.name_for(source, [draft.module])
        if (module and (is_early or _is_late(draft, module))) or (not module and draft.is_unbound(source)):
            module = source
            modules.append(source)
        elif not module:  # the script has something else of that name
            module = f'importlib.import_module("{source}")'
            modules += ["importlib"] if "importlib" not in modules else []
        lines.append(f"    {module}.{_SEEDERS[source]}({seed})")
    return lines, modules


def _is_late(draft: Draft, name: str) -> bool:
    """Whether the script imports what it calls so behind the place of the lines."""
    bound = [statement for statement in draft.module.body if name in imported_by(statement)]
    return bool(bound) and all(draft.start(each) >= draft.start(draft.first) for each in bound)
