"""Which paths of a script become which option of the contract."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from outlast.adapt.arguments.setup import BESIDE_CODE, CODE_FILE, Option
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.asked import add_asked, add_asked_data
from outlast.adapt.placing.choosing import find_chosen
from outlast.adapt.placing.configs import Entry, take_entries
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.given_settings import is_settings
from outlast.adapt.placing.held_places import by_place
from outlast.adapt.placing.implied import Implied, find_implied
from outlast.adapt.placing.kept_clear import kept_clear
from outlast.adapt.placing.kept_places import add_kept
from outlast.adapt.placing.keras_archives import is_unpacked_there
from outlast.adapt.placing.listed_names import add_listed
from outlast.adapt.placing.neighbours import add_neighbours
from outlast.adapt.placing.options import (
    FOLDERS,
    OPTION_NAMES,
    PLACES,
    SETTINGS,
    SUFFIX,
    add_named,
    add_told,
    is_folder_option,
    is_place,
    reads_settings,
)
from outlast.adapt.placing.others import is_cut
from outlast.adapt.placing.parts import is_question
from outlast.adapt.placing.rebound import gather, join_once
from outlast.adapt.placing.roles import Roles, by_look
from outlast.adapt.placing.saving import may_save
from outlast.adapt.placing.settings_files import is_beside_settings, is_read_as_settings
from outlast.adapt.placing.shapes import name_behind_dot
from outlast.adapt.placing.shared_roots import data_of, lift_data
from outlast.adapt.placing.siblings import add_siblings
from outlast.adapt.placing.sinks import HELPER, Sink, is_taken_weights, reads_itself
from outlast.adapt.placing.sites import Site, text_of
from outlast.adapt.placing.sources import Literal, Use
from outlast.adapt.placing.travelling import lies_among, may_travel
from outlast.adapt.placing.windows import tell_windows
from outlast.adapt.placing.words import Words, Wrap, find_unknown, is_unseen, without_given
from outlast.adapt.resuming.live import is_live
from outlast.adapt.resuming.own import is_resume
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, tail

_SHOWS_CODE = re.compile(r"['\"][^'\"]*\.(?:ya?ml|toml|ini|cfg)['\"]\)*$", re.I)
#: a relative path that stays below
_BELOW = re.compile(r"(?![A-Za-z]:)[\w-][^\\]*$")
_SHOWN = re.compile(r"['\"][^'\"]*[/\\][^'\"]*['\"]")
#: What is a path beyond doubt: it has folders, or the suffix of a file with data.
_LOOKS = re.compile(
    r"[A-Za-z]:[/\\]|(?:[~./]*/)?[\w.-]+/|~/|\.{0,2}/\w|[\w.-]+\.(?:csv|txt|json|npy|npz|h5|hdf5|lmdb|mat|pkl|tsv|pth?|pth\.tar|ckpt|safetensors|joblib|keras|onnx|png|jpe?g|log|pdf|svg|gif|html)$"
)
#: folders that a reader elsewhere gets by a bare word: `load_dataset("data")`
_DATA_FOLDER = re.compile(r"data|datasets?|inputs?|images|imgs|corpus")
#: a place of the machine where the script was written, and not where platforms put code; nothing there travels with it
_FAR = re.compile(r"(?:~/|[A-Za-z]:[/\\]|/(?!home/(?:ma-user|work)/|tmp/|etc/|usr/|opt/|app/)\w)")
_NOT_FILES = re.compile(r"[a-z0-9]{2,}://|/dev/(?!shm/)|/proc/|/sys/", re.I)


@dataclass
class Paths:
    """What a script does with paths, by role."""

    sites: dict[Role, list[Site]] = field(default_factory=dict)
    options: dict[Role, dict[str, bool]] = field(default_factory=dict)  # name → is a folder
    others: dict[Role, list[Use]] = field(default_factory=dict)
    makes: list[tuple[Sink, Literal]] = field(default_factory=list)
    wraps: dict[Role, list[Wrap]] = field(default_factory=dict)  # joined as a whole
    written: list[tuple[Use, str]] = field(default_factory=list)  # results, as far as their paths are known
    made: frozenset[str] = frozenset()  # folders that the script makes, likewise
    entries: list[Entry] = field(default_factory=list)  # of configurations that are handed on
    implied: list[Implied] = field(default_factory=list)  # writers that choose their folder themselves
    seen: set[int] = field(default_factory=set)  # literals that lead to a call about files
    known: set[int] = field(default_factory=set)  # literals whose use is understood
    fed: set[int] = field(default_factory=set)  # calls that will read from where the contract says
    stems: set[str] = field(default_factory=set)  # options that names are put right behind: `args.out + "net.pth"`
    unmade: set[str] = field(default_factory=set)  # options of folders that other files write to, and nobody makes
    asked: list[cst.If] = field(default_factory=list)  # questions behind which data is fetched, by other functions
    behind: list[cst.CSTNode] = field(default_factory=list)  # the statements that do so
    is_saving: bool = False  # something is written, wherever that is
    is_behind: bool = False  # a place is joined behind the code's folder: only an absolute one takes its place

    def has(self, role: Role) -> bool:
        is_implied = role is Role.OUTPUT and bool(self.implied)
        found = (self.sites, self.options, self.others, self.wraps)
        is_set = any(entry.role is role for entry in self.entries)
        return is_implied or is_set or any(bool(each.get(role)) for each in found)

    def nodes(self) -> list[cst.CSTNode]:
        """Where values will be read."""
        found: list[cst.CSTNode] = [site.literal for sites in self.sites.values() for site in sites]
        found += [*(each.call for each in self.implied), *(each.call for each in self.entries)]
        found += [wrap.node for wraps in self.wraps.values() for wrap in wraps]
        return found + [use.other for uses in self.others.values() for use in uses if use.other is not None]


def find_paths(
    draft: Draft,
    sinks: Iterable[Sink],
    flow: Flow,
    options: dict[str, Option],
    passed: frozenset[str],
    told: Mapping[str, tuple[Role, bool]] | None = None,
) -> Paths:
    """Sort every path of the file by its role; what cannot be told is reported.

    `passed`: options of the contract; `told`: options that other files of the program use, for what, and whether they
    are folders.
    """
    found = Paths(implied=find_implied(draft))
    judge = Roles(draft, [each.call for each in found.implied if each.is_here])
    words_only = {name: replace(options[name], is_text=False) for name in find_chosen(draft, options)}
    declared, options = options, {**options, **words_only}
    by_literal: dict[int, list[Use]] = {}
    has_data = False
    every = list(sinks)
    found.is_saving = any(sink.role is Role.OUTPUT for sink in every) or may_save(draft)
    ways = [use for sink in every for use in flow.ways(sink)]
    words = Words(draft, flow, ways)
    found.written = [(use, flow.full(use)) for use in ways if use.role is Role.OUTPUT]
    saved = {full for use, full in found.written if use.literal is not None}
    # Whoever reads, or asks for, what is saved under the name that an option begins means that file.
    named = {(use.option, use.after) for use, _ in found.written if use.option and use.is_stem}
    found.made = frozenset(
        {flow.spelling.of(sink.path) for sink in every if sink.makes}
        | {flow.full(use) for use in ways if use.sink.makes and use.literal is not None}
        # Who writes curves makes the folder for them.
        | {flow.full(use) for use in ways if tail(use.sink.call.func) == "SummaryWriter" and use.literal is not None}
    ) - {""}
    loaded = {_source(draft, use) for use in ways if use.role is Role.WEIGHTS and not use.after} - {""}
    for use in (use for sink in every for use in _uses(draft, flow, sink)):
        if use.is_stem and use.role is not None and is_question(use) and _source(draft, use) in loaded:
            continue  # it looks for the parts of what is loaded
        path = flow.spelling.of(use.other) + use.after if use.other is not None else flow.full(use)
        if use.role is Role.DATA and use.sink.path is not use.literal and BESIDE_CODE.search(path):
            draft.say(Kind.KEPT, "paths", use.sink.path, f"{draft.source(use.sink.path)} travels with the code")
            continue
        if (
            use.sink.is_guess
            and use.role is Role.WEIGHTS
            and not is_taken_weights(draft, use.sink, flow.full(use) if use.literal else "")
            and not (use.literal is not None and flow.full(use) in saved)
        ):
            continue
        if use.role is Role.DATA and OPTION_NAMES[Role.OUTPUT].fullmatch(use.option or tail(use.other)):
            continue  # it looks at its own results
        if use.literal is not None:
            by_literal.setdefault(id(use.literal), []).append(use)
        elif use.option and (use.option in options or use.other is None or use.option in passed):
            if use.option in passed:
                found.fed.add(id(use.sink.call))
                has_data = has_data or use.role is Role.DATA
            if use.sink.is_named and use.option in options:
                continue  # of options their own names tell, below
            whole = words.cut_option(use, declared.get(use.option)) or words.cut_option(use, options.get(use.option))
            role = Role.OUTPUT if (use.option, use.after) in named else use.role
            if whole is not None and role is not None:
                found.wraps.setdefault(role, []).append(Wrap(use, whole, flow.spelling.of(whole)))
                continue
            is_text = use.option in options and options[use.option].is_text
            if use.role is None or not is_text or use.option in passed:
                continue
            if use.role is Role.WEIGHTS and (judge.is_only_word(use) or is_resume(use.option)):
                continue  # what a script goes on from by its own flag is no input: `plan_resume` speaks of it
            is_aside = CODE_FILE.search(options[use.option].default) or SETTINGS.search(use.option)
            if use.role is Role.DATA and (is_aside or reads_settings(draft, use.sink.call)):
                continue  # settings travel with the code
            if not use.sink.is_guess or use.is_folder or is_place(options[use.option]):
                _add_option(found, use, options[use.option])
                found.fed.add(id(use.sink.call))
        elif use.other is not None and use.role is not None and (not use.sink.is_guess or _is_named_place(use.other)):
            if use.role is Role.DATA and (
                is_beside_settings(draft, use.other) or is_read_as_settings(draft, use.sink.call)
            ):
                continue
            if use.sink.is_guess and is_settings(draft, use.sink.path, use.other):
                continue
            is_folder = use.is_folder or is_cut(draft, use.other) or bool(FOLDERS.search(tail(use.other)))
            found.others.setdefault(by_look(use, tail(use.other)), []).append(replace(use, is_folder=is_folder))
            found.fed.update({id(use.sink.call)} if is_folder else ())
    # What one call saves and another loads is a file, whatever its name looks like.
    kept = {flow.full(use) for uses in by_literal.values() for use in uses if use.role is Role.WEIGHTS} & saved
    groups = [
        uses for uses in by_literal.values() if any(flow.full(use) in kept for use in uses) or _is_file(draft, uses)
    ]
    roles = judge.of_literals(groups)
    for uses in groups:
        apart = data_of(draft, flow, uses) if roles.get(id(uses[0].literal)) is Role.OUTPUT else []
        found.others.setdefault(Role.DATA, []).extend(apart)
        found.fed.update(id(use.sink.call) for use in apart)
    literals = [uses[0].literal for uses in groups if uses[0].literal is not None]
    read = [text_of(each) for each in literals if roles.get(id(each)) is Role.DATA]
    has_data = has_data or bool(found.options.get(Role.DATA) or found.others.get(Role.DATA))
    has_data = has_data or any("/" in each.removeprefix("./") for each in read)
    read += [options[name].default for name in found.options.get(Role.DATA, ()) if name in options]
    for uses in groups:
        literal = uses[0].literal
        assert literal is not None
        role, text = roles.get(id(literal)), text_of(literal)
        is_elsewhere = has_data or _has_root(flow, ways)
        may_stay = may_travel(text, read, is_elsewhere=is_elsewhere) or lies_among(draft.seen, text)
        may_stay = role is Role.DATA and may_stay
        is_way = all(use.sink.makes or use.role is None for use in uses)
        if role is Role.DATA and is_way and _holds_others(text, groups):
            continue  # the way to the data, which is there on the platform
        wraps = words.wraps(uses)
        if wraps is None and role is Role.OUTPUT and (literal.lpar or "//" in text) and _BELOW.match(text):
            wraps = [Wrap(uses[0], literal, flow.spelling.of(literal))]  # its spelling cannot be divided
        if role is not None and wraps is not None:
            found.wraps.setdefault(role, []).extend(wraps)
        elif role is not None and _is_certain(draft, literal, text):
            is_folder = any(_is_folder(use, text) for use in uses) and not any(use.is_stem for use in uses)
            is_here = not text.strip("./") and all(use.sink.path is literal for use in uses)
            is_asked = all(map(is_question, uses))
            may_stay = may_stay and not is_asked and all(use.role is None or use.sink.opens for use in uses)
            site = Site(literal, text, is_folder, is_here, is_asked=is_asked, may_stay=may_stay)
            found.sites.setdefault(role, []).append(site)
            found.fed.update(id(use.sink.call) for use in uses)
            found.makes += [(use.sink, literal) for use in uses if use.sink.makes]
    unknown = [wrap for wrap in find_unknown(draft, flow, ways) if not _is_passed_in(draft, flow, wrap.use)]
    found.wraps.setdefault(Role.OUTPUT, []).extend(gather(draft, flow, words, unknown))
    written = [site.literal for site in found.sites.get(Role.OUTPUT, ())]
    found.wraps[Role.OUTPUT] = join_once(found.wraps[Role.OUTPUT], ways, written)
    ours = {id(node) for call in draft.calls() if tail(call.func) == HELPER for node in draft.below(call)}
    found.seen = set(by_literal) | ours
    found.known = {key for key, uses in by_literal.items() if any(use.role for use in uses)} | ours | flow.filled
    add_asked(draft, found, ways)
    add_asked_data(draft, found, ways)
    lift_data(draft, flow.spelling, found.others)
    found.others = by_place(draft, found.others)
    inside = {id(node) for node in found.nodes()}
    for role, uses in found.others.items():
        found.others[role] = [*uses, *words.alike(uses, inside)]
    add_listed(draft, found, every, flow)
    add_told(found, options, judge, told or {})
    if not draft.others:
        found.entries = take_entries(draft, found)
    add_neighbours(draft, found, options)
    add_siblings(draft, found)
    add_named(draft, found, options, judge, passed)
    for name in kept_clear(draft).intersection(found.options.get(Role.DATA, ())):
        del found.options[Role.DATA][name]
    for role in (Role.DATA, Role.WEIGHTS):
        found.wraps[role] = without_given(flow, found.wraps.get(role, ()), found.options.get(role, ()))
    add_kept(draft, found, OPTION_NAMES)
    return found


def _source(draft: Draft, use: Use) -> str:
    """An option, or a value of a configuration, that a path begins with."""
    return use.option or (draft.source(use.other) if use.other is not None else "")


def _has_root(flow: Flow, ways: Sequence[Use]) -> bool:
    """Whether data lies in a folder that a function of the file is given."""
    return any(
        use.role is Role.DATA and hop.is_folder and isinstance(hop.node, cst.Name) and flow.function_of(hop.node)
        for use in ways if not use.sink.is_guess and not use.is_known for hop in use.hops[-1:]
    )  # fmt: skip


def _is_passed_in(draft: Draft, flow: Flow, use: Use) -> bool:
    """Whether a path begins with a parameter, and the other files of the program are seen: one of them passes it."""
    node = use.hops[-1].node if use.hops else None
    return bool(draft.others) and isinstance(node, cst.Name) and flow.function_of(node) is not None


def _uses(draft: Draft, flow: Flow, sink: Sink) -> list[Use]:
    """The sources of a path; one that shows a path and leads nowhere is reported."""
    ways = flow.ways(sink)
    uses = [use for use in ways if use.is_known]
    source, is_run = draft.source(sink.path), is_live(draft, draft.scope(sink.call))
    tell_windows(draft, uses if is_run else ())
    if sink.role is Role.DATA and _SHOWS_CODE.search(source):
        return [use for use in uses if use.literal is not None]  # settings, from wherever
    if not uses and is_run and any(is_unseen(draft, use) for use in ways):
        draft.say(Kind.DIFFERS, "paths", sink.path, f"{source[:60]} stays as it is: where it comes from is not visible")
        return []
    if (
        not uses
        and is_run
        and sink.role is not None
        and not sink.is_guess
        and _SHOWN.search(source)
        and not any(name in source for name in PASSED)
        and not is_unpacked_there(draft, sink.path)
        and not reads_itself(draft, sink.path)
        and name_behind_dot(sink.path) is None
    ):
        draft.say(Kind.DIFFERS, "paths", sink.path, f"{source[:60]} stays as it is: where it comes from is not certain")
    return uses


def _add_option(found: Paths, use: Use, option: Option) -> None:
    role = by_look(use, use.option)
    for other, names in found.options.items():
        if use.option in names and other is not role:
            # Written to and read from: results, unless it is called data. Made and read from: data.
            is_data = Role.DATA in (role, other) and bool(OPTION_NAMES[Role.DATA].fullmatch(use.option))
            if role is Role.DATA if is_data else role is Role.OUTPUT and not use.sink.makes:
                del names[use.option]
            else:
                return
    names = found.options.setdefault(role, {})
    is_guess = use.sink.is_guess and not is_folder_option(option)
    names[use.option] = names.get(use.option, False) or (_is_folder(use, option.default) and not is_guess)
    if use.is_stem and not option.default.endswith("/"):
        found.stems.add(use.option)
    # `--out ./net` for `./net`, `./net_0` and `./net_1`: below the contract's folder they need their name.
    if role is Role.OUTPUT and use.option in found.stems and option.default.strip("./"):
        names[use.option] = False


def _is_named_place(node: cst.BaseExpression) -> bool:
    return bool(PLACES.fullmatch(tail(node).lower())) and isinstance(node, cst.Attribute | cst.Subscript)


def _is_folder(use: Use, text: str) -> bool:
    is_whole = bool(use.after) and text.endswith("/")
    # What is loaded may have no suffix; who takes data by such a word takes a folder.
    is_guess = use.sink.is_guess and use.role is not Role.WEIGHTS
    return use.is_folder or is_whole or (is_guess and not SUFFIX.search(text))


def _is_file(draft: Draft, uses: Sequence[Use]) -> bool:
    literal = uses[0].literal
    assert literal is not None
    text = text_of(literal)
    if not text.strip("./") and text and any(use.is_folder and argument(use.sink.call, "download") for use in uses):
        return True  # a data set that is fetched to where the script runs
    if text in ("", ".", "./") and all(map(_is_read_below, uses)) and any(map(_is_told_below, uses)):
        return True  # what lies beside the script: `os.path.join("./", "train")`, `BASE = ""`
    if not text.strip("./~") and any(use.role is Role.OUTPUT and (use.after or use.is_folder) for use in uses):
        # Results beside the script; a folder that is only made there may be for anything.
        return not all(use.sink.makes for use in uses) and not (text and any(use.is_stem for use in uses))
    if not text.strip("./~") or _NOT_FILES.match(text) or any(each in text for each in "\n<>|"):
        return False
    is_data = _DATA_FOLDER.fullmatch(text) and all(use.role is Role.DATA and use.sink.path is literal for use in uses)
    is_told = any(use.sink.is_folder for use in uses)
    if all(use.sink.is_guess for use in uses) and not (_LOOKS.match(text) or is_data or is_told):
        return all(use.role is Role.WEIGHTS for use in uses)  # known by its suffix
    is_named = text.startswith((".", "/", "~")) or ":" in text[:2] or text.endswith("/") or SUFFIX.search(text)
    if all(use.sink.is_guess and use.role is Role.OUTPUT for use in uses) and not (is_named or is_told):
        return False  # `dump_graph("main/loss")`
    is_beside = not _FAR.match(text) or BESIDE_CODE.search(text)
    if CODE_FILE.search(text) and is_beside and not any(use.role is Role.OUTPUT for use in uses):
        draft.say(Kind.KEPT, "paths", literal, f"{text!r} travels with the code")
        return False
    return True


def _is_read_below(use: Use) -> bool:
    """Whether data is read that lies somewhere below a folder."""
    is_read = use.role in (Role.DATA, None)  # `os.path.isdir` only asks
    is_below = bool(use.after.strip("/")) or use.sink.is_root or tail(use.sink.call.func) in ("listdir", "scandir")
    return is_read and not use.sink.is_guess and not use.sink.makes and is_below


def _is_told_below(use: Use) -> bool:
    return use.role is not None and (bool(use.after.strip("/")) or use.sink.is_root)


def _holds_others(text: str, groups: Sequence[Sequence[Use]]) -> bool:
    others = [
        text_of(use.literal) for uses in groups for use in uses if use.literal is not None and use.role is Role.DATA
    ]
    return any(other.startswith(text.rstrip("/") + "/") and other.strip("/") != text.strip("/") for other in others)


def _is_certain(draft: Draft, literal: Literal, text: str) -> bool:
    why = ""
    if "\\" in text and isinstance(literal, cst.FormattedString):
        why = "is spelled in a way that cannot be divided safely"
    elif literal.lpar or isinstance(draft.parent(literal), cst.ConcatenatedString):
        why = "is put together from several literals"
    if why:
        draft.say(Kind.HAND, "paths", literal, f"the path {text!r} {why}", "make it one plain string below one folder")
    return not why
