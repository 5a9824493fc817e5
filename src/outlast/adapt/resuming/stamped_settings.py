"""Names that the settings of another file make of the clock: `TIME_NOW = datetime.now().strftime("%m%d-%H%M")`.

What the script puts below such a name lies in one folder for all stints, where each start only adds to it.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.begun import mode_of
from outlast.adapt.resuming.clocks import is_stamp
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.stamped import Stamped
from outlast.adapt.resuming.stamps import begins_files, is_asked_for, names_in, reached, result_paths
from outlast.adapt.resuming.state import RULE
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, tail


def find_settings(draft: Draft, values: Values) -> list[Stamped]:
    """Those that all stints may have alike; any other is told."""
    found = list(_settings(draft, values))
    is_open = all(home.is_module for home, _ in found) and not begins_files(draft, values)
    if is_open and not _needs_new_folders(draft) and not _adds_elsewhere(draft):
        return [Stamped(home, node.value, is_early=True) for home, node in found]
    for home, node in found:
        said = f"{_name(node)} is another one in each start: each stint has a place of its own"
        home.say(Kind.DIFFERS, RULE, node, said, "give it a value that stays the same")
    return []


def _settings(draft: Draft, values: Values) -> Iterator[tuple[Draft, cst.Assign]]:
    made_of = [value for path in result_paths(draft) for value in reached(draft, path, values)]
    names = {name.rpartition(".")[2] for value in made_of for name in names_in(draft, value)}
    for other in draft.others:
        for node in (each for each in other.nodes if isinstance(each, cst.Assign)):
            is_setting = _name(node).isupper() and _name(node) in names and isinstance(other.scope(node), cst.Module)
            if is_setting and isinstance(node.value, cst.Call) and is_stamp(other, node.value, {}):
                yield other, node


def _name(node: cst.Assign) -> str:
    return tail(node.targets[0].target)


def _needs_new_folders(draft: Draft) -> bool:
    """Whether a folder is made that must not be there yet: in the next stint it is."""
    return any(
        tail(call.func) in ("makedirs", "mkdir") and argument(call, "exist_ok") is None and each.is_reached(call)
        and not is_asked_for(each, call)
        for each in (draft, *draft.others) for call in each.calls()
    )  # fmt: skip


def _adds_elsewhere(draft: Draft) -> bool:
    """Whether another file adds to tables: what a round added that did not get to its end would stand there twice."""
    return any(
        mode_of(each, call)[:1] == "a" and each.is_reached(call) for each in draft.others for call in each.calls()
    )
