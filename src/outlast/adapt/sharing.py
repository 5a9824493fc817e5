"""What the files of a program share: settings that one has and others use, and folders that all of them lie in."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import libcst as cst

from outlast.adapt.arguments.namespaces import called_name, parameters_of
from outlast.adapt.draft import Draft
from outlast.adapt.elsewhere import function_elsewhere
from outlast.adapt.libraries import is_library
from outlast.adapt.made_fields import Field, fields_of
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.asked_entries import asked_entry
from outlast.adapt.placing.configs import take_entries
from outlast.adapt.placing.folders import find_guards
from outlast.adapt.placing.option_loads import HOLDERS
from outlast.adapt.placing.options import SETTINGS, is_place
from outlast.adapt.placing.shapes import is_argument
from outlast.adapt.placing.sinks import Sink
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.spelling import UNKNOWN
from outlast.adapt.placing.unmade import find_unmade
from outlast.adapt.placing.words import Words, Wrap
from outlast.adapt.settings import Stray, is_filled, is_merged, take_strays
from outlast.adapt.sight import Sight, look_again
from outlast.adapt.standing import SUFFIX, may_stand, put_where_it_stands
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, positional, tail

#: expressions that no other file can have a say in: `os.path.join(HERE, "rows")`, `HERE + "/rows"`
_PUT_TOGETHER = (cst.Call, cst.BinaryOperation)
#: stands for the calls of other files
_CALL = cst.Call(cst.Name("settings"))


def told_options(sights: Iterable[Sight], copied: Mapping[str, str]) -> dict[str, tuple[Role, bool]]:
    """Options by what files use them for that do not parse them: `args.save_dir` in a function that is given `args`.

    `copied`: settings that are filled from options.
    """
    found: dict[str, tuple[Role, bool]] = {}
    for sight in sights:
        for role, uses in sight.paths.others.items():
            for use in uses:
                name = copied.get(tail(use.other), tail(use.other))
                is_set = isinstance(use.other, cst.Attribute | cst.Subscript) and not use.is_many
                if is_set and name not in PASSED:
                    before = found.get(name)
                    # What is written is a result, whoever reads it too.
                    if before is None or (role is Role.OUTPUT and before[0] is not Role.OUTPUT):
                        found[name] = role, use.is_folder and not use.is_stem
    return found


def settle(sights: Sequence[Sight], entry: Sight, copied: Mapping[str, str], fields: Sequence[Field] = ()) -> None:
    """Bring each place that a file takes from another one to where its value stands, so that all files agree.

    `copied`: settings that are filled from options; `fields`: places that classes put together.
    """
    homes: dict[str, list[tuple[Sight, cst.BaseExpression]]] = {}
    unmade = find_unmade(sight.paths for sight in sights) if len(sights) > 1 else set()
    for sight in sights:
        sight.paths.unmade = unmade
        for name, value in _definitions(sight) if sight is not entry else ():
            homes.setdefault(name, []).append((sight, value))
    options = {
        (id(sight), name) for sight in sights if sight.native is not None for name in sight.native.options
    }  # fmt: skip
    moved: list[tuple[Sight, Role, Use]] = []
    strays: list[Stray] = []
    for sight in sights:
        _drop_defaults(sight)
        _add_given(sight, {id(each.draft): each for each in sights if each is not entry})
    for sight in sights:
        for role, uses in sight.paths.others.items():
            kept = []
            for use in uses:
                if _is_copied(sights, role, use, copied):
                    continue  # it follows where that option is parsed
                if made := fields_of(fields, sight.draft, use):
                    moved += _apart(sights, made, use)
                    continue
                owners = {at for at, name in options if name == tail(use.other)} - {id(sight)}
                is_option = bool(owners) and _is_handed(sight, use)
                is_unnamed = isinstance(use.other, cst.Name) and sight.flow.function_of(use.other) is not None
                at_home = homes.get(tail(use.other), [])
                is_home = is_option or is_unnamed or is_merged(sight, use, entry.draft)
                # A file of settings may say something else, and comes later.
                is_home = is_home or any(is_filled(home.draft, value) for home, value in at_home)
                # The folder of the code is no place of the contract, only what lies below it here.
                is_code = any(home.flow.code.is_it(value) for home, value in at_home) and not _is_at_home(at_home)
                is_home = is_home or is_code
                found = None if is_home else _home(at_home, sight, role, use)
                is_own = is_code or isinstance(use.other, _PUT_TOGETHER) or _is_of_library(sight, use)
                if found is not None:
                    moved += found
                elif is_option:
                    # A place follows where it is parsed.
                    sight.paths.wraps.setdefault(role, []).extend(_cut(sight, use, sights))
                elif sight is entry or is_unnamed or is_own or use.is_many:
                    kept.append(use)
                elif isinstance(use.other, cst.Attribute | cst.Subscript):
                    if role is Role.DATA and SETTINGS.search(tail(use.other)):
                        continue  # settings travel with the code
                    strays.append((sight, role, use))
                else:
                    _leave(sight, role, use, _is_at_home(at_home))
            sight.paths.others[role] = kept
    _leave_made(sights)
    if len(sights) > 1:
        _agree(sights)
    for sight, role, use in moved:
        put_where_it_stands(sight, role, use)
    _share_guards(sights, homes)
    if len(sights) > 1:
        # What no file of the program says comes from a configuration that is read: it is set where that is got.
        entry.paths.entries = take_entries(entry.draft, entry.paths)
        take_strays(entry, strays, sights)


def _apart(sights: Sequence[Sight], fields: Sequence[Field], use: Use) -> Iterator[tuple[Sight, Role, Use]]:
    """Results below a root of data, where a class puts their places together; all else follows the root."""
    for field in fields:
        home = next(each for each in sights if each.draft is field.draft)
        if field.is_apart:
            yield home, field.role, replace(use, other=field.value, is_folder=field.is_folder, put=None, hops=())


def _is_copied(sights: Sequence[Sight], role: Role, use: Use, copied: Mapping[str, str]) -> bool:
    """Whether a place is a setting that is filled from an option which gives way."""
    option = copied.get(tail(use.other), "") if isinstance(use.other, cst.Attribute | cst.Subscript) else ""
    return bool(option) and any(option in each.paths.options.get(role, {}) for each in sights)


def _cut(sight: Sight, use: Use, sights: Sequence[Sight]) -> list[Wrap]:
    """The name of a file that an option of another file only begins: `args.kind + ".pth"` is joined as a whole."""
    name = tail(use.other)
    options = [each.native.options[name] for each in sights if each.native is not None and name in each.native.options]
    if len(options) != 1 or is_place(options[0]):
        return []
    words = Words(sight.draft, sight.flow, [way for sink in sight.sinks for way in sight.flow.ways(sink)])
    whole = words.cut_option(use, options[0])
    return [Wrap(use, whole, sight.flow.spelling.of(whole))] if whole is not None else []


def _leave(sight: Sight, role: Role, use: Use, is_at_home: bool) -> None:
    """A place that no file of the program has stays as it is, and what is fetched to it goes on being fetched."""
    draft = sight.draft
    sight.downloads[:] = [each for each in sight.downloads if use.sink.call not in draft.above(each)]
    if role is not Role.OUTPUT and is_at_home:
        at = use.put or use.sink.path
        said = f"{draft.source(at)[:60]} stays as it is: it lies below the home of whoever starts it"
        draft.say(Kind.DIFFERS, "paths", at, said, "bring it there before the training starts")


def _share_guards(sights: Sequence[Sight], homes: Mapping[str, list[tuple[Sight, cst.BaseExpression]]]) -> None:
    """Hold back also what minds a folder for results that another file names."""
    for sight in sights:
        others = [each for each in sights if each is not sight]
        options = {
            name for each in others for name, is_folder in each.paths.options.get(Role.OUTPUT, {}).items() if is_folder
        }  # fmt: skip
        literals = {
            id(site.literal) for each in others for site in each.paths.sites.get(Role.OUTPUT, ()) if site.is_folder
        }
        settings = {name for name, found in homes.items() if [id(value) in literals for _, value in found] == [True]}

        def is_handed(
            use: Use, sight: Sight = sight, options: set[str] = options, settings: set[str] = settings
        ) -> bool:
            name = tail(use.other)
            return (name in options and _is_handed(sight, use)) or (use.other is not None and name in settings)

        found = find_guards(sight.draft, sight.sinks, sight.flow, sight.paths, is_handed)
        known = {id(guard.node) for guard in sight.guards}
        sight.guards.extend(guard for guard in found if id(guard.node) not in known)


def _drop_defaults(sight: Sight) -> None:
    """A default of a parameter that every caller gives itself is never used."""
    draft, paths = sight.draft, sight.paths
    for role, sites in paths.sites.items():
        paths.sites[role] = [site for site in sites if not _is_always_given(draft, draft.parent(site.literal))]
    for role, wraps in paths.wraps.items():
        paths.wraps[role] = [wrap for wrap in wraps if not _is_always_given(draft, draft.parent(wrap.node))]


def _is_always_given(draft: Draft, param: cst.CSTNode | None) -> bool:
    function = next((each for each in draft.above(param) if isinstance(each, cst.FunctionDef)), None) if param else None
    if function is None or not isinstance(param, cst.Param):
        return False
    name = called_name(draft, function)
    places = parameters_of(function)
    place = places.index(param.name.value) - (places[:1] in (["self"], ["cls"]))
    calls = [
        call for each in (draft, *draft.others) for call in each.calls()
        if tail(call.func) == name and not each.is_of_library(call.func)
    ]  # fmt: skip
    return bool(calls) and all(
        argument(call, param.name.value) is not None or positional(call, place) is not None
        or any(arg.star for arg in call.args)
        for call in calls
    )  # fmt: skip


def _is_of_library(sight: Sight, use: Use) -> bool:
    """`wandb.run.dir`, `sys.argv[1]`: the same in whichever file it stands."""
    if is_argument(sight.draft, use.other):
        return True
    full = sight.draft.resolve(use.other)
    return bool(full) and is_library(full)


def _agree(sights: Sequence[Sight]) -> None:
    """A folder that one file makes, to fetch something into it, holds data where another file only reads from it."""
    _take_back(sights)
    read = {
        (_named(site.text), role) for sight in sights for role in (Role.DATA, Role.WEIGHTS)
        for site in sight.paths.sites.get(role, ())
    }  # fmt: skip
    for sight in sights:
        written = {id(use.literal) for use, _ in sight.paths.written if not use.sink.makes}
        for site in list(sight.paths.sites.get(Role.OUTPUT, ())):
            if id(site.literal) in written:
                continue
            text = _named(site.text)
            roles = {role for other, role in read if other == text or other.startswith(f"{text}/")}
            if len(roles) == 1 and text:
                sight.paths.sites[Role.OUTPUT].remove(site)
                sight.paths.sites.setdefault(roles.pop(), []).append(site)


def _take_back(sights: Sequence[Sight]) -> None:
    """What one file writes and another one reads again is a result."""
    for sight in sights:
        written = {
            _named(site.text) for other in sights if other is not sight
            for ids in ({id(use.literal) for use, _ in other.paths.written if not use.sink.makes},)
            for site in other.paths.sites.get(Role.OUTPUT, ()) if id(site.literal) in ids
        } - {""}  # fmt: skip
        # `"./" + "best.ckpt"`, of which only the folder is a literal by itself.
        written |= {
            posixpath.normpath(full) for other in sights if other is not sight for use, full in other.paths.written
            if not use.sink.makes and use.literal is not None and UNKNOWN not in full and SUFFIX.search(full)
        }  # fmt: skip
        taken = [
            (role, site) for role in (Role.WEIGHTS, Role.DATA) for site in sight.paths.sites.get(role, ())
            if _named(site.text) in written
        ]  # fmt: skip
        for role, site in taken:
            sight.paths.sites[role].remove(site)
            sight.paths.sites.setdefault(Role.OUTPUT, []).append(site)
        if taken or any(_named(sight.flow.full(each.use)) in written for each in sight.delivered):
            look_again(sight, sights, written)


def _named(text: str) -> str:
    return text.removeprefix("./").rstrip("/")


def _leave_made(sights: Sequence[Sight]) -> None:
    """Folders below a setting that some file makes need not be made by another one that writes there."""
    made = {
        use.option or tail(use.other) for sight in sights for use, _ in sight.paths.written if use.sink.makes
    } - {""}  # fmt: skip
    for sight in sights:
        sight.paths.written = [
            (use, full) for use, full in sight.paths.written
            if use.sink.makes or use.other is None or tail(use.other) not in made
        ]  # fmt: skip


def _add_given(sight: Sight, homes: Mapping[int, Sight]) -> None:
    """Places that a function of another file puts together: what it returns is looked at there."""
    for sink in sight.sinks:
        for use in sight.flow.ways(sink) if sink.role is not None and not sink.is_guess else ():
            found = None if use.is_known else function_elsewhere(sight.draft, use.whole)
            home = homes.get(id(found[0])) if found is not None else None
            if home is None or found is None or use.role is None:
                continue
            returns = [each for each in home.draft.below(found[1]) if isinstance(each, cst.Return) and each.value]
            given = [asked_entry(home.flow, found[1], each.value, use.whole) for each in returns if each.value]
            for way in (way for value in given for way in home.flow.ways(Sink(_CALL, value, use.role, use.is_folder))):
                is_whole = way.other is not None and not way.option
                if may_stand(way, way) if way.literal is not None else is_whole:
                    put_where_it_stands(home, use.role, way)


def _is_handed(sight: Sight, use: Use) -> bool:
    """Whether a value is an option of a parser that may stand in another file."""
    owner = use.other.value if isinstance(use.other, cst.Attribute | cst.Subscript) else None
    return owner is not None and bool(HOLDERS.fullmatch(sight.draft.source(owner)))


def _home(
    homes: Sequence[tuple[Sight, cst.BaseExpression]], user: Sight, role: Role, use: Use
) -> list[tuple[Sight, Role, Use]] | None:
    """What a value is made of in the one file that has it; None where that is not known."""
    homes = [each for each in homes if each[0] is not user]
    if homes and all(_follows(sight, value, role, use) for sight, value in homes):
        return []
    if len(homes) > 1 and _are_alike(homes):
        # `{"train": {"root": "a"}, "test": {"root": "b"}}`: whoever asks for a root gets one of them.
        every = [_home([each], user, role, use) for each in homes]
        return [way for found in every if found is not None for way in found] if None not in every else None
    if len(homes) != 1:
        return None
    sight, value = homes[0]
    ways = sight.flow.ways(Sink(_CALL, value, role, use.is_folder, makes=use.sink.makes))
    found = [replace(each, after=each.after + use.after) for each in ways]
    return [(sight, role, each) for each in found] if all(may_stand(use, each) for each in found) else None


def _follows(sight: Sight, value: cst.BaseExpression, role: Role, use: Use) -> bool:
    """Whether a value is the contract's place already, by an earlier adaptation."""
    ways = sight.flow.ways(Sink(_CALL, value, role, use.is_folder, makes=use.sink.makes))
    return bool(ways) and all(each.option in PASSED for each in ways)


def _are_alike(homes: Sequence[tuple[Sight, cst.BaseExpression]]) -> bool:
    """Whether several values of one key stand in dictionaries of one file, side by side."""
    drafts = {id(sight): sight.draft for sight, _ in homes}
    return len(drafts) == 1 and all(
        isinstance(value, cst.SimpleString) and isinstance(sight.draft.parent(value), cst.DictElement)
        for sight, value in homes
    )


def _is_at_home(homes: Sequence[tuple[Sight, cst.BaseExpression]]) -> bool:
    """`HOME = os.path.expanduser("~")`: below it anything may lie."""
    return len(homes) == 1 and homes[0][0].flow.spelling.of(homes[0][1]) == "~"


def _definitions(sight: Sight) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Values by the names that other files may use: of the module, of classes, and in dictionaries."""
    draft = sight.draft
    for node in draft.nodes:
        if isinstance(node, cst.Assign | cst.AnnAssign) and node.value is not None:
            targets = [each.target for each in node.targets] if isinstance(node, cst.Assign) else [node.target]
            is_open = draft.scope(node) is draft.module or any(isinstance(each, cst.Attribute) for each in targets)
            for target in targets:
                if is_open and isinstance(target, cst.Name | cst.Attribute | cst.Subscript):
                    yield tail(target), node.value
        elif isinstance(node, cst.DictElement) and inner(node.key):
            yield inner(node.key), node.value
        elif isinstance(node, cst.Arg) and node.keyword is not None and _makes_settings(draft.parent(node)):
            yield node.keyword.value, node.value


def _makes_settings(call: cst.CSTNode | None) -> bool:
    return isinstance(call, cst.Call) and bool(
        re.fullmatch(r"dict|Namespace|SimpleNamespace|\w*(?:Dict|Config|Settings|Cfg|Node)", tail(call.func))
    )
