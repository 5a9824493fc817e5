"""Settings that a script reads and modules of the program use: `cfg["data"]["root"]` where `cfg` is handed in.

No file of the program says their values. They are set in the script, right behind the call that gave them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import libcst as cst

from outlast.adapt.arguments.namespaces import bound_in, called_name, parameters_of
from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.choosing import find_chosen_entries
from outlast.adapt.placing.configs import Configs, Entry, keys_of
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.takers import bases_run
from outlast.adapt.sight import Sight
from outlast.adapt.signatures import fits
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, positional, tail

#: functions and fields through which settings are handed on, more than any program has
_DEPTH = 8
_RANKS = (Role.OUTPUT, Role.WEIGHTS, Role.DATA)

#: methods of a class, whosever, that make an object of what a file says: `Config.from_yaml(path)`
_FILLS = re.compile(
    r"(?:from|load|parse|read)_(?:yaml|yml|json|toml|file|path|raw|obj|dict|config)(?:_\w+)?|model_validate(?:_\w+)?"
)

Stray = tuple[Sight, Role, Use]


def take_strays(entry: Sight, strays: Sequence[Stray], sights: Sequence[Sight]) -> None:
    """Set what modules take from the script's settings where the script gets them; what cannot be set is named.

    `sights`: all files of the program.
    """
    configs = Configs(entry.draft)
    found = {each.spelled: each for each in entry.paths.entries}
    imported: list[Stray] = []
    for sight, role, use in strays:
        assert use.other is not None
        ways = list(_origins(sight.draft, use.other, entry.draft, (), _DEPTH))
        ways += [] if ways else _of_merged(configs, sight.draft, use.other)
        entries = [configs.behind(role, use, root, keys) for root, keys in ways]
        if not entries:
            imported += [(sight, role, use)] if _is_settled_there(sight.draft, use.other) else []
            continue
        known = [each for each in entries if each is not None]
        for each in known:
            before = found.get(each.spelled, each)
            first = min((before, each), key=lambda one: _RANKS.index(one.role))
            is_folder = before.is_folder or each.is_folder
            found[each.spelled] = replace(first, is_folder=is_folder, is_optional=before.is_optional)
        if len(known) < len(entries) and not any(_gives_way(each, role, tail(use.other)) for each in sights):
            source = sight.draft.source(use.other)
            said = f"{source} stays as it is: where it comes from is not visible"
            sight.draft.say(Kind.DIFFERS, "paths", use.other, said, "set it in the configuration")
            _leave_too(entry, role, use.other)
    _leave_set(entry, configs, found)
    _leave_words(entry, found)
    entry.paths.entries = list(found.values())
    _take_imported(entry, imported)


def _leave_too(entry: Sight, role: Role, node: cst.BaseExpression) -> None:
    """Leave a place as it is in the script, too: a folder made here would be looked for where it was."""
    uses = entry.paths.others.get(role, [])
    entry.paths.others[role] = [
        use for use in uses
        if not isinstance(use.other, cst.Attribute | cst.Subscript) or tail(use.other) != tail(node)
    ]  # fmt: skip


def _gives_way(sight: Sight, role: Role, name: str) -> bool:
    """Whether a file follows the contract where it says what a setting of that name is: by an option, or by a value
    that it gives it (`C.system.work_dir = "out"`).
    """
    if name in sight.paths.options.get(role, {}):
        return True
    sites = {id(site.literal) for site in sight.paths.sites.get(role, ())}
    return any(
        isinstance(node, cst.Assign) and id(node.value) in sites
        and any(isinstance(each.target, cst.Attribute) and tail(each.target) == name for each in node.targets)
        for node in sight.draft.nodes
    )  # fmt: skip


def _leave_words(entry: Sight, found: dict[str, Entry]) -> None:
    """What the script chooses by is no place: with a folder before it, its tables would not know it."""
    for spelled in find_chosen_entries(entry.draft) & set(found):
        said = f"{spelled} stays as it is: the script chooses by it, and also makes a path of it"
        entry.draft.say(Kind.DIFFERS, "paths", found.pop(spelled).call, said, "keep what has that name beside the code")


def _leave_set(entry: Sight, configs: Configs, found: dict[str, Entry]) -> None:
    """What is set where the script gets its settings need not give way again where the script uses it."""
    for role, uses in entry.paths.others.items():
        kept = []
        for use in uses:
            ways = _origins(entry.draft, use.other, entry.draft, (), _DEPTH) if use.other is not None else ()
            known = [each for root, keys in ways if (each := configs.behind(role, use, root, keys)) is not None]
            same = [each for each in known if each.spelled in found]
            for each in same:
                before = found[each.spelled]
                found[each.spelled] = replace(before, is_folder=before.is_folder or each.is_folder)
            kept += [] if same else [use]
        entry.paths.others[role] = kept


def _take_imported(entry: Sight, strays: Sequence[Stray]) -> None:
    """Settings that files import: one place gives way wherever it is used; of several nobody sees which is which."""
    for role in _RANKS:
        mine = [(sight, use) for sight, each, use in strays if each is role]
        uses = [(entry, use) for use in entry.paths.others.get(role, ())] + mine
        spelled = {sight.draft.source(use.other) for sight, use in uses if use.other is not None}
        for sight, use in mine:
            if len(spelled) == 1:
                sight.paths.others.setdefault(role, []).append(use)
            elif use.other is not None:
                said = f"{sight.draft.source(use.other)} stays as it is: its value is not visible"
                sight.draft.say(Kind.DIFFERS, "paths", use.other, said, "set it in the configuration")


def is_filled(draft: Draft, value: cst.BaseExpression) -> bool:
    """Whether a value is a default of a class whose objects are made of what a file says: `Config(**yaml.load(f))`."""
    home = next((each for each in draft.above(value) if isinstance(each, cst.ClassDef | cst.FunctionDef)), None)
    if not isinstance(home, cst.ClassDef) or _is_frozen(draft, home):
        return False
    for file in (draft, *draft.others):
        for call in file.calls():
            is_own = tail(call.func) == "cls" and any(each is home for each in draft.above(call))
            named = argument(call, "data_class") or argument(call, "cls")
            is_read = tail(call.func) in ("from_dict", "structure") and named and tail(named.value) == home.name.value
            is_made = (tail(call.func) == home.name.value or is_own) and any(arg.star == "**" for arg in call.args)
            is_told = isinstance(call.func, cst.Attribute) and tail(call.func.value) == home.name.value
            if is_made or is_read or (is_told and _FILLS.fullmatch(tail(call.func))):
                return True
    return False


def _is_frozen(draft: Draft, home: cst.ClassDef) -> bool:
    """Nothing can be set in an object of such a class."""
    return any("frozen" in draft.source(each.decorator) for each in home.decorators)


def is_merged(sight: Sight, use: Use, entry: Draft) -> bool:
    """Whether a value is one of settings that the script merges a file into: what stands in a module is a default."""
    configs = Configs(entry)
    if use.other is None or not configs.merged:
        return False
    ways = list(_origins(sight.draft, use.other, entry, (), _DEPTH))
    return bool(_of_merged(configs, sight.draft, use.other)) or any(root.value in configs.merged for root, _ in ways)


def _of_merged(
    configs: Configs, draft: Draft, node: cst.BaseExpression
) -> list[tuple[cst.Name, tuple[cst.BaseExpression | str, ...]]]:
    """The same settings where a module imports them itself."""
    chain = list(keys_of(node))
    root = chain[-1][0] if chain else None
    if not isinstance(root, cst.Name) or root.value not in configs.merged or not _is_settled_there(draft, node):
        return []
    return [(root, tuple(key for _, key in reversed(chain)))]


def _is_settled_there(draft: Draft, node: cst.BaseExpression) -> bool:
    """Whether a setting is one of an object that another file of the program has, or that this one reads for itself."""
    chain = list(keys_of(node))
    made = draft.resolve(chain[-1][0]) if chain else ""
    is_own = isinstance(node, cst.Subscript) and dotted(chain[-1][0]).startswith("self.")
    return is_own or ("." in made and not is_library(made.lstrip(".")))


def _origins(
    draft: Draft, node: cst.BaseExpression, entry: Draft, keys: tuple[cst.BaseExpression | str, ...], depth: int
) -> Iterator[tuple[cst.Name, tuple[cst.BaseExpression | str, ...]]]:
    """The names of the script that a value of a module comes from, with the keys by which it is asked for."""
    chain = list(keys_of(node))
    at = chain[-1][0] if chain else node
    keys = (*(key for _, key in reversed(chain)), *keys)
    if depth == 0:
        return
    if draft is entry:
        if isinstance(at, cst.Name):
            yield at, keys
        return
    if isinstance(at, cst.Attribute) and dotted(at.value) == "self":
        for value in _fields(draft, at):
            yield from _origins(draft, value, entry, keys, depth - 1)
        return
    function = draft.scope(at)
    if not isinstance(at, cst.Name) or not isinstance(function, cst.FunctionDef):
        return
    if at.value in parameters_of(function):
        for file, value in _given(draft, function, at.value):
            yield from _origins(file, value, entry, keys, depth - 1)
    elif at.value in bound_in(draft, function):
        values = [
            each.value for each in draft.below(function)
            if isinstance(each, cst.Assign) and any(tail(one.target) == at.value for one in each.targets)
        ]  # fmt: skip
        for value in values if len(values) == 1 else ():
            yield from _origins(draft, value, entry, keys, depth - 1)


def _fields(draft: Draft, node: cst.Attribute) -> list[cst.BaseExpression]:
    """What `self.cfg` is set to in its class."""
    owner = next((each for each in draft.above(node) if isinstance(each, cst.ClassDef)), None)
    return [
        each.value for each in (draft.below(owner) if owner is not None else ())
        if isinstance(each, cst.Assign) and any(dotted(one.target) == dotted(node) for one in each.targets)
    ]  # fmt: skip


def _given(draft: Draft, function: cst.FunctionDef, name: str) -> Iterator[tuple[Draft, cst.BaseExpression]]:
    """What callers in any file give to a parameter."""
    called, places = called_name(draft, function), parameters_of(function)
    skip = int(places[:1] in (["self"], ["cls"]))
    is_made = function.name.value == "__init__" and called != "__init__"
    for file in (draft, *draft.others):
        for call in file.calls():
            is_called = tail(call.func) == called
            if is_made and not is_called:
                is_called = called in bases_run(file, call) or (_is_chosen(file, call) and fits(call, function, skip))
            if is_called:
                named = argument(call, name)
                value = named.value if named is not None else positional(call, places.index(name) - skip)
                if value is not None and tail(value) not in PASSED:
                    yield file, value


def _is_chosen(file: Draft, call: cst.Call) -> bool:
    """`kind = getattr(trainers, config["kind"])`, `kind(model, config)`: a class that only a configuration names."""
    return isinstance(call.func, cst.Name) and any(
        isinstance(node.value, cst.Call) and tail(node.value.func) == "getattr"
        and any(tail(each.target) == tail(call.func) for each in node.targets)
        and (full := file.resolve(positional(node.value, 0))) and not is_library(full)
        for node in file.all_assigns
    )  # fmt: skip
