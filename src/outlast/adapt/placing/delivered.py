"""Files in the output folder that a script reads before it has written them: somebody must have brought them.

On the first start the contract's output folder is empty. What was delivered with the code, or as an input, is taken as
long as the folder does not have the file; from then on the folder's own is the one to go on with.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from outlast.adapt.arguments.moments import Moments
from outlast.adapt.arguments.setup import Option, Value
from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.adapt.needs import Role, old_place
from outlast.adapt.placing.flags import is_flagged
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.folders import is_result
from outlast.adapt.placing.listed_folders import every_mention, fitting, is_listed, longer_paths, spelled_alike
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.places import Places
from outlast.adapt.placing.roles import by_look
from outlast.adapt.placing.shared_roots import is_searched
from outlast.adapt.placing.sinks import HELPER, Sink, is_weights_file
from outlast.adapt.placing.sites import text_of
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.spelling import UNKNOWN, is_spelled_out
from outlast.adapt.wrapping import add_helpers
from outlast.migrate.engine import Kind
from outlast.migrate.tree import tail

_HELPER = '''def find_delivered(path, folder, before, *inputs):
    """A file of the output folder; until that has it, the one that was brought as an input or lay here before."""
    def is_there(each):  # "net" may stand for net.zip, or for net.index and its like
        if os.path.isdir(each):  # an empty one was only made
            return bool(os.listdir(each))
        home, name = os.path.split(each)
        is_stem = not os.path.splitext(name)[1] and os.path.isdir(home or ".")
        return os.path.exists(each) or (is_stem and any(one.startswith(name + ".") for one in os.listdir(home or ".")))

    if not any((folder, *inputs)) or (folder and is_there(path)):
        return path
    below = os.path.relpath(path, folder or before or os.path.dirname(path) or ".")
    ends = [os.path.join(*below.split(os.sep)[at:]) for at in range(below.count(os.sep) + 1)]
    places = [each if os.path.isfile(each) else os.path.join(each, end) for each in inputs if each for end in ends]
    places += [os.path.join(before, below)] if folder and before is not None else []
    places += [each for each in inputs if each and not os.path.splitext(below)[1]]
    found = next((each for each in places if not below.startswith("..") and is_there(each)), path)
    return type(path)(os.path.join(found, "") if str(path).endswith("/") else found)
'''
_ASKS = frozenset({"exists", "isfile", "is_file", "isdir", "is_dir", "getsize", "Exists"})
_REMOVES = frozenset({"remove", "unlink", "rmtree", "replace", "rename", "move"})
#: functions of other files in which a training may write whatever it likes
_TRAINS = re.compile(r"fit|train|learn|run|main|tune|search|solve|loop", re.I)
_DEPTH = 3
_OPEN = re.compile(r"\0|%[-0-9.]*[a-zA-Z]|\{[^{}]*\}")


@dataclass(frozen=True)
class Delivered:
    """A call that reads such a file, or asks for one."""

    use: Use
    role: Role
    instead: str = ""  # where a whole folder lay that cannot be told from the contract's, as an expression
    is_only_read: bool = False  # a folder that is listed, and nothing is written to


def find_delivered(
    draft: Draft, sinks: Sequence[Sink], flow: Flow, paths: Paths, options: dict[str, Option],
    writers: Sequence[cst.Call] = (),
) -> list[Delivered]:  # fmt: skip
    """Every reading of a result that no earlier line can have written, with the questions for the same file.

    `writers`: calls of what writes results in other files.
    """
    ways = [use for sink in sinks for use in flow.ways(sink) if not sink.makes]
    writes = [use for use in ways if use.role is Role.OUTPUT]
    others = [*writers, *(call for call in draft.calls() if _is_training(draft, call))]
    seen = _Order(draft, flow, writes, [*others, *(each.call for each in paths.implied if each.is_here)], options)
    found: dict[int, Delivered] = {}
    for use in ways:
        if use.role in (None, Role.OUTPUT) or not is_result(paths, use) or _is_done(use):
            continue
        by_flag = seen.is_written_by_flag(use)
        if not _is_brought(flow, use) and not (by_flag and _keep_apart(draft, flow, paths, use)):
            continue
        if seen.is_written_before(use) or not draft.is_reached(use.sink.call):
            continue
        is_model = _is_model(use)
        if is_model and seen.may_be_trained(use):
            continue
        is_named = is_model and use.literal is not None and not use.after
        if is_named:
            _keep_name(paths, use)
        # What is named by a count that the script has found, or asked for, is its own way to go on.
        name = use.after if use.literal is None else _pattern(flow, use)
        is_open = bool(_OPEN.search(name)) and not _is_named_by_option(draft, use, options)
        is_found = is_open or _is_guarded(draft, use.sink.call) or _is_folder_asked(draft, flow, ways, use)
        if is_found and not by_flag and seen.may_be_written(use):
            continue
        instead = _whole(draft, use, options) if is_model and use.literal is None else ""
        if is_model and use.literal is None and not instead:
            continue
        role = by_look(use, flow.full(use).replace(UNKNOWN, ""))
        is_only_read = is_listed(use.sink.call) and not seen.may_be_written(use)
        found[id(use.sink.path)] = Delivered(use, role, instead, is_only_read)
        for asked in ways:
            if asked.role is None and is_result(paths, asked) and _asks_for(draft, flow, asked, use):
                found.setdefault(id(asked.sink.path), Delivered(asked, role))
    return list(found.values())


def _is_named_by_option(draft: Draft, use: Use, options: dict[str, Option]) -> bool:
    """`args.save_folder + args.basenet`: an option whose default is a file with weights says which one it is."""
    return any(
        isinstance(node, cst.Attribute) and tail(node) in options and is_weights_file(options[tail(node)].default)
        for node in draft.below(use.sink.path)
    )


class _Order:
    """What is written, and when."""

    def __init__(
        self, draft: Draft, flow: Flow, writes: Sequence[Use], others: Sequence[cst.Call], options: dict[str, Option]
    ) -> None:
        """`others`: calls that may write files of any name."""
        self._options = options
        self._draft, self._flow, self._writes, self._others = draft, flow, writes, others
        self._moments = Moments(draft)
        self._library = [call for call in draft.calls() if tail(call.func) in ("train", "fit")]

    def may_be_written(self, use: Use) -> bool:
        return any(self._may_be(use, each) for each in self._writes)

    def is_written_by_flag(self, use: Use) -> bool:
        """Whether only starts with some flag write what this one reads: others are brought it."""
        at, calls = use.sink.call, self._calls(use)
        return bool(calls) and all(is_flagged(self._draft, each, at, self._options) for each in calls)

    def _calls(self, use: Use) -> list[cst.Call]:
        return [each.sink.call for each in self._writes if self._may_be(use, each)]

    def is_written_before(self, use: Use) -> bool:
        at, is_later = use.sink.call, self._moments.is_later
        may_be = [each for each in self._calls(use) if not is_flagged(self._draft, each, at, self._options)]
        if any(is_later(at, call) for call in may_be):
            return True
        if any(map(self._is_called_back, may_be)) and any(is_later(at, call) for call in self._library):
            return True
        return any(is_later(at, call) for call in self._others)

    def _is_called_back(self, call: cst.Call) -> bool:
        """Whether a training of a library does it: in a method of a callback."""
        around = (each for each in self._draft.above(call) if isinstance(each, cst.ClassDef))
        return any(tail(base.value).endswith("Callback") for each in around for base in each.bases)

    def may_be_trained(self, use: Use) -> bool:
        """Whether a library may have trained before, and left its results in the folder that it was told."""
        return any(self._moments.is_later(use.sink.call, call) for call in self._library)

    def _may_be(self, use: Use, written: Use) -> bool:
        """Whether a path that is written can be the one that is read."""
        if _source(self._flow, use) != _source(self._flow, written):
            return False
        mine, other = _pattern(self._flow, use), _pattern(self._flow, written)
        if written.sink.is_folder or (written.sink.is_guess and written.is_folder):
            mine, other = mine.rstrip("/") + "/", other.rstrip("/") + "/\0"  # anything may be written there
        if is_listed(use.sink.call):
            mine = mine.rstrip("/") + "/\0"  # a file beside the folder is none of it, whatever their names are
        is_inside = use.sink.is_folder and other.startswith(mine.rstrip("/") + "/")
        is_found = "*" in mine and fnmatch.fnmatch(other, mine)
        return is_inside or is_found or is_spelled_out(mine, other) or _fits(mine, other) or _fits(other, mine)


def _is_training(draft: Draft, call: cst.Call) -> bool:
    name = draft.resolve(call.func)
    root = name.lstrip(".").partition(".")[0]
    return (
        bool(root) and bool(_TRAINS.search(tail(call.func))) and tail(call.func)[:1].islower() and not is_library(root)
    )


def _source(flow: Flow, use: Use) -> str:
    """What a path begins with where that is no text of this file."""
    if use.literal is not None:
        return ""
    named = use.option or flow.source(use.other)
    # Of `f"{epoch}.pt"` and `f"{best}.pt"` only the names differ, of which nothing is known.
    is_template = use.put is not None and bool(flow.full(use).strip(UNKNOWN))
    return named or (UNKNOWN if is_template else flow.source(use.put))


def _pattern(flow: Flow, use: Use) -> str:
    """A path; what is filled into a literal may be something else in each round."""
    text = flow.full(use)
    if isinstance(use.literal, cst.FormattedString):
        parts = [part.value if isinstance(part, cst.FormattedStringText) else UNKNOWN for part in use.literal.parts]
        text = "".join(parts) + use.after
    return text.removeprefix("./")


def _fits(text: str, pattern: str) -> bool:
    return re.fullmatch("(?s:.*)".join(map(re.escape, _OPEN.split(pattern))), text) is not None


def _is_brought(flow: Flow, use: Use) -> bool:
    """One file, or a folder below that of the results: neither a pattern nor that folder itself."""
    is_sure = not use.sink.is_guess or use.role is Role.WEIGHTS or is_weights_file(flow.full(use))
    is_file = not use.sink.is_folder and is_sure
    is_below = bool(use.after.strip("/")) or is_file or _is_model(use)
    return is_below and not is_searched(flow, use)


def _keep_apart(draft: Draft, flow: Flow, paths: Paths, use: Use) -> bool:
    """Let a whole folder that some starts fill, and others read, lie below the contract's; a finding if it cannot."""
    if use.literal is not None and not use.after and "*" not in flow.full(use):
        _keep_name(paths, use)
        return True
    said = f"{draft.source(use.sink.path)} is a result of starts with one flag, and an input of others"
    draft.say(Kind.HAND, "paths", use.sink.path, said, "give what is read a folder of its own")
    return False


def _is_model(use: Use) -> bool:
    """`from_pretrained("saved")`: a folder as a whole, which the platform's empty one cannot stand for."""
    return use.sink.is_folder and use.role is Role.WEIGHTS


def _keep_name(paths: Paths, use: Use) -> None:
    """Let a folder lie below the contract's, so that it is not there before something was saved."""
    assert use.literal is not None
    sites = paths.sites.get(Role.OUTPUT, [])
    sites[:] = [replace(site, keeps_name=True) if site.text == text_of(use.literal) else site for site in sites]


def _whole(draft: Draft, use: Use, options: dict[str, Option]) -> str:
    """A folder of an option or of another file, as it was before."""
    if use.other is not None and not use.option:
        return "" if use.after else draft.source(use.other)
    option = options.get(use.option)
    text = option.default + use.after if option is not None else ""
    return _quoted(text) if text.strip("./") and UNKNOWN not in text else ""


def _is_done(use: Use) -> bool:
    return isinstance(use.sink.path, cst.Call) and tail(use.sink.path.func) == HELPER


def _is_guarded(draft: Draft, call: cst.Call, depth: int = _DEPTH) -> bool:
    """Whether the script has another way where the file is not there, in this function or in all that call it."""
    before: cst.CSTNode = call
    for each in draft.above(call):
        if isinstance(each, cst.FunctionDef):
            return bool(depth) and _are_guarded(draft, each, depth - 1)
        if isinstance(each, cst.If | cst.IfExp) and before is each.body and _asks(draft, each.test):
            return True
        if isinstance(each, cst.Try) and before is each.body and each.handlers:
            return True
        before = each
    return False


def _are_guarded(draft: Draft, function: cst.FunctionDef, depth: int) -> bool:
    """Whether each call of a function is: `if os.path.exists(path): self.load(path)`."""
    name = function.name.value
    calls = [each for each in draft.calls() if tail(each.func) == name and not draft.resolve(each.func)]
    is_one = sum(each.name.value == name for each in draft.functions()) == 1
    is_ours = is_one and not any(other.speaks_of(name) for other in draft.others)
    return bool(calls) and is_ours and all(_is_guarded(draft, each, depth) for each in calls)


def _is_folder_asked(draft: Draft, flow: Flow, ways: Sequence[Use], read: Use) -> bool:
    """`assert os.path.isdir("saved")` before `torch.load("saved/last.pt")`: what is brought elsewhere does not help."""
    file, at = _pattern(flow, read), read.sink.call
    return any(
        asked.role is None and _source(flow, asked) == _source(flow, read)
        and file.startswith(_pattern(flow, asked).rstrip("/") + "/")
        and tail(asked.sink.call.func) in _ASKS and isinstance(draft.parent(asked.sink.call), cst.Assert)
        and draft.scope(asked.sink.call) is draft.scope(at) and draft.start(asked.sink.call) < draft.start(at)
        for asked in ways
    )  # fmt: skip


def _asks(draft: Draft, test: cst.BaseExpression) -> bool:
    is_not = isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not)
    return not is_not and re.search(r"exists|isfile|is_file|isdir|is_dir|latest", draft.source(test)) is not None


def _asks_for(draft: Draft, flow: Flow, asked: Use, read: Use) -> bool:
    """Whether a question before a reading is for the same file, and nothing else hangs on the answer."""
    call = asked.sink.call
    is_same = flow.full(asked) == flow.full(read) and _source(flow, asked) == _source(flow, read)
    is_before = draft.scope(call) is draft.scope(read.sink.call) and draft.start(call) < draft.start(read.sink.call)
    if not is_same or not is_before or tail(call.func) not in _ASKS or _is_done(asked):
        return False
    around = next((each for each in draft.above(call) if isinstance(each, cst.If)), None)
    return around is None or not any(tail(each.func) in _REMOVES for each in draft.calls(around))


def still_read(found: Sequence[Delivered], paths: Paths, options: dict[str, Option], name: str) -> set[str]:
    """Options that give way to `name`, the output folder, and say where something lay that is looked for there."""
    places = paths.options.get(Role.OUTPUT, {})
    read = {each.use.option for each in found if each.use.literal is None and not each.instead}
    given_way = {own for own in places if own in options and options[own] is not options.get(name)}
    return {own for own in given_way if own in read and not options[own].is_many}


def look_elsewhere(
    draft: Draft, found: Sequence[Delivered], paths: Paths, values: dict[Role, Value],
    names: dict[Role, str], options: dict[str, Option], kept: Collection[str] = (),
) -> None:  # fmt: skip
    """Let each reading take what was delivered while the output folder lacks it.

    `kept`: options whose old place is known while the script runs.
    """
    output = values.get(Role.OUTPUT)
    if output is None or not found:
        return
    if not all(each.instead for each in found):
        _add_helper(draft, found[0].use.sink.call)
    places = Places(Role.OUTPUT, paths.sites.get(Role.OUTPUT, []), paths.wraps.get(Role.OUTPUT, []))
    looked_for: set[int] = set()
    for each in found:
        node = each.use.sink.path
        if id(node) in looked_for:
            continue
        if each.instead:
            weights = f"{values[each.role].at(node)} or " if each.role in values else ""
            draft.enclose(node, f"({weights}({each.instead} if {output.at(node)} else ", "))")
            source = f"--{names[each.role]}, else from where it was" if each.role in values else "where it was"
            draft.say(Kind.CHANGED, "paths", node, f"{draft.source(node)} is loaded from {source}")
            continue
        is_kept = each.use.literal is None and each.use.option in kept
        before = old_place(each.use.option) if is_kept else _before(draft, each.use, places, paths, options)
        given = [output.at(node), before]
        if each.role in values:
            brought = values[each.role].at(node)
            given.append(brought)
            # A folder of weights that is given stands for any; one of data must have the name.
            given[1] = f"None if {brought} else {given[1]}" if _is_model(each.use) else given[1]
        mentions = every_mention(draft, node) if each.is_only_read else [node]
        for mention in mentions:
            draft.enclose(mention, f"{HELPER}(", fitting(draft, mention, f", {', '.join(given)})"))
        for first, last in longer_paths(draft, node) if each.is_only_read else ():
            draft.insert(draft.start(first), f"{HELPER}(os.path.join(")
            draft.insert(draft.span(last)[1], fitting(draft, last, f"), {', '.join(given)})"))
        if mentions != [node]:
            looked_for |= {id(other) for other in spelled_alike(draft, node)}
        also = [f"in --{names[each.role]}"] * (each.role in values) + ["where it was"] * (before != "None")
        said = f"{draft.source(node)} is looked for " + ", then ".join([f"in --{names[Role.OUTPUT]}", *also])
        advice = f"declare it: outlast run … --data {names[each.role]}=PLACE" if each.role in values else ""
        if each.use.role is not None:
            draft.say(Kind.CHANGED, "paths", node, said, advice)


def _add_helper(draft: Draft, user: cst.CSTNode) -> None:
    draft.need_import("os")
    add_helpers(draft, user, ["os"], ["", "", *_HELPER.splitlines(), ""])


def _before(draft: Draft, use: Use, places: Places, paths: Paths, options: dict[str, Option]) -> str:
    """The folder that gave way to the contract's, as an expression."""
    if use.literal is not None:
        site = next((each for each in places.sites if each.literal is use.literal), None)
        return _quoted(site.text[: places.cut(site)]) if site is not None and not site.is_opaque else '""'
    if use.option in paths.options.get(Role.OUTPUT, {}):
        option, is_folder = options.get(use.option), paths.options[Role.OUTPUT][use.option]
        if option is None or not option.default:
            return "None"
        is_whole = is_folder and len(paths.options[Role.OUTPUT]) == 1
        return _quoted(option.default if is_whole else option.default.rstrip("/").rpartition("/")[0])
    if isinstance(use.other, cst.Name) and draft.scope(use.other) is not draft.scope(use.sink.call):
        return "None"  # a parameter of another function has no name here
    if use.other is not None:
        if not _is_seen_from(draft, use.other, use.sink.path):
            return "None"  # a value of another function, which is not known where the file is read
        source = draft.source(use.other)
        is_one = len({draft.source(each.other) for each in paths.others[Role.OUTPUT] if each.other is not None}) == 1
        return source if use.is_folder and is_one else f"os.path.dirname({source})"
    return '""'


def _is_seen_from(draft: Draft, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
    """Whether an expression means the same at another place of the file."""
    scope = draft.scope(value)
    return (
        scope is draft.module or scope is draft.scope(node) or scope in draft.above(node) or bool(draft.resolve(value))
    )


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'
