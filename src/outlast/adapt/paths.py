"""Which paths of a script become which option, and what is written in their place.

A path keeps its old value as the default at its own spot (`args.data_url or "./data"`), so that the script without
the new options does what it did.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.flow import Flow, Literal, Use
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.setup import Option, Value
from outlast.adapt.sinks import Sink
from outlast.migrate.context import is_prose_call
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, opening, tail

_WEIGHT_FILE = re.compile(r"\.(?:pth|pt|ckpt|safetensors|h5|pdparams|onnx)$|weight|pretrain|checkpoint", re.I)
_DATA_FILE = re.compile(r"data|train|test|val|label|feature|image", re.I)
_CODE_FILE = re.compile(r"\.(?:ya?ml|toml|ini|cfg|py|md)$|(?:config|conf|hparams|hyp|args|params)[^/]*\.json$", re.I)
#: read beside data that lies elsewhere, it is a list of names or the like
_BESIDE_CODE = re.compile(r"(?:\./)?[\w.-]+\.(?:json|txt|names)")
_PLACEHOLDER = re.compile(r"%[-0-9.]*[a-zA-Z(]|\{")
_SHOWN = re.compile(r"['\"][^'\"]*[/\\][^'\"]*['\"]")
#: What is a path beyond doubt: it has folders, or the suffix of a file with data.
_LOOKS = re.compile(r"(?:[~./]*/)?[\w.-]+/|~/|\.{0,2}/\w|[\w.-]+\.(?:csv|txt|json|npy|npz|h5|hdf5|lmdb|mat|pkl|tsv)$")
_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,5}$")
#: A place of this machine, beyond doubt; `/tmp` and devices are the same everywhere.
_PLACE = re.compile(r"(?:\.{1,2}/|~/|/(?!tmp|dev|proc|sys|usr|bin|cache)[A-Za-z])[\w./~-]*\w[\w./~-]*")
_NOT_PLACES = frozenset(
    "append insert replace split join startswith endswith add_argument rstrip lstrip strip DEFINE_string option Option "
    "run system call Popen check_call check_output compile sub match search chdir".split()
)
_NOT_FILES = re.compile(r"[a-z0-9]+://|/dev/|/proc/|/sys/", re.I)
#: Names by which people know an option's role when its value goes where it cannot be followed.
_OPTION_NAMES = {
    Role.DATA: "data_dir data_path data data_root dataset_dir dataset_path dataset_root dataroot root data_folder "
    "train_dir input_dir datadir train_data",
    Role.OUTPUT: "output_dir save_dir out_dir output output_path save_path checkpoint_dir ckpt_dir model_dir train_url "
    "outdir work_dir save_folder log_dir logdir results_dir exp_dir",
    Role.WEIGHTS: "pretrained weights pretrained_path pretrain init_checkpoint checkpoint_path pretrained_model ckpt",
}


@dataclass(frozen=True)
class Site:
    """A literal that is a path: whole (`is_folder`), or with a file's name at its end."""

    literal: Literal
    text: str  # up to the first placeholder of an f-string
    is_folder: bool

    @property
    def is_formatted(self) -> bool:
        return isinstance(self.literal, cst.FormattedString)

    @property
    def folders(self) -> list[str]:
        """The folders of the path, without a leading `./`."""
        folder = self.text.rstrip("/") if self.is_folder and not self.is_formatted else self.text.rpartition("/")[0]
        parts = folder.split("/") if folder or self.text.startswith("/") else []
        # A folder whose name is filled in later must stay where the filling in finds it.
        whole = list(itertools.takewhile(lambda part: not _PLACEHOLDER.search(part), parts))
        return whole[1:] if whole[:1] == ["."] else whole


@dataclass
class Paths:
    """What a script does with paths, by role."""

    sites: dict[Role, list[Site]] = field(default_factory=dict)
    options: dict[Role, dict[str, bool]] = field(default_factory=dict)  # name → is a folder
    others: dict[Role, list[Use]] = field(default_factory=dict)
    makes: list[tuple[Sink, Literal]] = field(default_factory=list)
    fed: set[int] = field(default_factory=set)  # calls that will read from where the contract says
    is_saving: bool = False  # something is written, wherever that is

    def has(self, role: Role) -> bool:
        return bool(self.sites.get(role) or self.options.get(role) or self.others.get(role))

    def nodes(self) -> list[cst.CSTNode]:
        """Where values will be read."""
        found: list[cst.CSTNode] = [site.literal for sites in self.sites.values() for site in sites]
        return found + [use.other for uses in self.others.values() for use in uses if use.other is not None]


def find_paths(draft: Draft, sinks: Iterable[Sink], flow: Flow, options: dict[str, Option]) -> Paths:
    """Sort every path of the file by its role; what cannot be told is reported."""
    found = Paths()
    by_literal: dict[int, list[Use]] = {}
    has_data = False
    every = list(sinks)
    found.is_saving = any(sink.role is Role.OUTPUT for sink in every)
    for use in (use for sink in every for use in _uses(draft, flow, sink)):
        if use.role is Role.DATA and (use.option or tail(use.other)) in _OPTION_NAMES[Role.OUTPUT].split():
            continue  # it looks at its own results
        if use.literal is not None:
            by_literal.setdefault(id(use.literal), []).append(use)
        elif use.option and (use.option in options or use.other is None or use.option in PASSED):
            if use.option in PASSED:
                found.fed.add(id(use.sink.call))
                has_data = has_data or use.role is Role.DATA
            if use.role is None or not _is_text(options, use.option) or use.option in PASSED:
                continue
            if not use.sink.is_guess or use.option in _OPTION_NAMES[Role.DATA].split():
                _add_option(found, use)
                found.fed.add(id(use.sink.call))
        elif use.other is not None and use.role is not None and not use.sink.is_guess:
            found.others.setdefault(use.role, []).append(use)
            found.fed.update({id(use.sink.call)} if use.is_folder else ())
    groups = [uses for uses in by_literal.values() if _is_file(draft, uses)]
    roles = _roles(draft, groups)
    has_data = (
        has_data
        or bool(found.options.get(Role.DATA) or found.others.get(Role.DATA))
        or any(
            roles.get(id(literal)) is Role.DATA and "/" in _text(literal).removeprefix("./")
            for literal in (uses[0].literal for uses in groups)
            if literal is not None
        )
    )
    for uses in groups:
        literal = uses[0].literal
        assert literal is not None
        role, text = roles.get(id(literal)), _text(literal)
        if role is Role.DATA and _BESIDE_CODE.fullmatch(text) and has_data and tail(uses[0].sink.call.func) == "open":
            draft.say(Kind.KEPT, "paths", literal, f"{text!r} travels with the code")
            continue
        if role is not None and _is_certain(draft, literal, text):
            found.sites.setdefault(role, []).append(Site(literal, text, any(_is_folder(use, text) for use in uses)))
            found.fed.update(id(use.sink.call) for use in uses)
            found.makes += [(use.sink, literal) for use in uses if use.sink.makes]
    _tell_others(draft, {key for key, uses in by_literal.items() if any(use.role for use in uses)})
    for role, names in _OPTION_NAMES.items():
        if not found.has(role):
            named = next((each for each in names.split() if _is_text(options, each) and each not in PASSED), "")
            found.options.update({role: {named: True}} if named else {})
    return found


def _tell_others(draft: Draft, known: set[int]) -> None:
    """Places that stand in the file and lead to no call that is understood."""
    for node in draft.nodes:
        if not isinstance(node, cst.SimpleString) or id(node) in known or not _PLACE.fullmatch(inner(node)):
            continue
        calls = [each for each in draft.above(node) if isinstance(each, cst.Call)]
        aside = calls and (is_prose_call(tail(calls[0].func)) or tail(calls[0].func) in _NOT_PLACES)
        parent = draft.parent(node)
        aside = aside or (isinstance(parent, cst.BinaryOperation) and parent.right is node)
        if (
            aside
            or isinstance(parent, cst.Expr | cst.ComparisonTarget | cst.Comparison)
            or _CODE_FILE.search(inner(node))
        ):
            continue
        draft.say(Kind.DIFFERS, "paths", node, f"{inner(node)!r} stays as it is: what is done with it is not certain")


def _uses(draft: Draft, flow: Flow, sink: Sink) -> list[Use]:
    """The sources of a path; one that shows a path and leads nowhere is reported."""
    uses = flow.uses(sink)
    source = draft.source(sink.path)
    if (
        not uses
        and sink.role is not None
        and not sink.is_guess
        and _SHOWN.search(source)
        and not any(name in source for name in PASSED)
    ):
        draft.say(Kind.DIFFERS, "paths", sink.path, f"{source[:60]} stays as it is: where it comes from is not certain")
    return uses


def _is_text(options: dict[str, Option], name: str) -> bool:
    return name in options and options[name].is_text


def _add_option(found: Paths, use: Use) -> None:
    role = _by_look(use, use.option)
    for other, names in found.options.items():
        if use.option in names and other is not role:
            # Written to and read from: results. Made and read from: data.
            if role is Role.OUTPUT and not use.sink.makes:
                del names[use.option]
            else:
                return
    names = found.options.setdefault(role, {})
    names[use.option] = names.get(use.option, False) or _is_folder(use, "")


def _is_folder(use: Use, text: str) -> bool:
    return use.is_folder or (use.sink.is_guess and not _SUFFIX.search(text))


def _is_file(draft: Draft, uses: Sequence[Use]) -> bool:
    literal = uses[0].literal
    assert literal is not None
    text = _text(literal)
    if not text.strip("./") and text and any(use.is_folder and argument(use.sink.call, "download") for use in uses):
        return True  # a data set that is fetched to where the script runs
    if not text.strip("./~") or _NOT_FILES.match(text) or any(each in text for each in "\n<>|"):
        return False
    if all(use.sink.is_guess for use in uses) and not _LOOKS.match(text):
        return False
    if _CODE_FILE.search(text) and not any(use.role is Role.OUTPUT for use in uses):
        draft.say(Kind.KEPT, "paths", literal, f"{text!r} travels with the code")
        return False
    return True


def _roles(draft: Draft, groups: Sequence[Sequence[Use]]) -> dict[int, Role]:
    """Literal → role. The same text has one role everywhere: a file that is written and read is a result."""
    by_text: dict[str, set[Role]] = {}
    made: set[str] = set()
    for uses in groups:
        for use in uses:
            assert use.literal is not None
            text = _text(use.literal).rstrip("/")
            if use.sink.makes:
                made.add(text)
            elif use.role is not None:
                by_text.setdefault(text, set()).add(_by_look(use, text))
    chosen = {
        text: next(role for role in (Role.OUTPUT, Role.WEIGHTS, Role.DATA) if role in roles)
        for text, roles in by_text.items()
    }
    for text in _own_results(draft, groups, chosen):
        chosen[text] = Role.OUTPUT
    for text in made:
        near = {role for other, role in chosen.items() if other == text or other.startswith(text + "/")}
        chosen.setdefault(text, Role.DATA if near == {Role.DATA} else Role.OUTPUT)
    return {
        id(uses[0].literal): chosen[text]
        for uses in groups
        if uses[0].literal is not None and (text := _text(uses[0].literal).rstrip("/")) in chosen
    }


def _own_results(draft: Draft, groups: Sequence[Sequence[Use]], chosen: dict[str, Role]) -> list[str]:
    """Weights that are loaded from a folder which an earlier call of the file fills: the script's own."""
    places = [(_text(use.literal).rstrip("/"), use) for uses in groups for use in uses if use.literal is not None]
    filled = [(text, use) for text, use in places if chosen.get(text) is Role.OUTPUT and use.is_folder]
    return [
        text
        for text, use in places
        if chosen.get(text) is Role.WEIGHTS
        and any(
            folder.strip("./") and text.startswith(folder + "/") and _is_later(draft, use, other)
            for folder, other in filled
        )
    ]


def _is_later(draft: Draft, use: Use, other: Use) -> bool:
    call, earlier = use.sink.call, other.sink.call
    return draft.scope(call) is draft.scope(earlier) and draft.start(call) > draft.start(earlier)


def _by_look(use: Use, text: str) -> Role:
    """Loaders that serve data and weights alike are told apart by the file's name."""
    assert use.role is not None
    name = text.rpartition("/")[2]
    if use.role is Role.DATA and not use.is_folder and _WEIGHT_FILE.search(name) and tail(use.sink.call.func) != "File":
        return Role.WEIGHTS
    is_either = tail(use.sink.call.func) == "load"
    if use.role is Role.WEIGHTS and is_either and _DATA_FILE.search(text) and not _WEIGHT_FILE.search(text[:-4]):
        return Role.DATA
    return use.role


def _is_certain(draft: Draft, literal: Literal, text: str) -> bool:
    why = ""
    if "\\" in text or "//" in text:
        why = "is spelled in a way that cannot be divided safely"
    elif literal.lpar or isinstance(draft.parent(literal), cst.ConcatenatedString):
        why = "is put together from several literals"
    if why:
        draft.say(Kind.HAND, "paths", literal, f"the path {text!r} {why}", "make it one plain string below one folder")
    return not why


def _text(literal: Literal) -> str:
    if isinstance(literal, cst.SimpleString):
        return inner(literal)
    first = literal.parts[0] if literal.parts else None
    return first.value if isinstance(first, cst.FormattedStringText) else ""


def replace_sites(draft: Draft, role: Role, sites: Sequence[Site], value: Value, name: str) -> None:
    """Put the option in place of each literal of a role."""
    if role is Role.WEIGHTS and len({site.text for site in sites}) == 1 and not sites[0].is_formatted:
        for site in sites:
            new = f"{value.at(site.literal)} or {draft.source(site.literal)}"
            _change(draft, site.literal, enclosed(draft, site.literal, new), name)
        return
    common = _common([site.folders for site in sites])
    is_absolute = any(site.text.startswith("/") for site in sites)
    if is_absolute and len(common) < 2:
        places = ", ".join(sorted({site.text for site in sites}))
        advice = "put them below one folder, or make the others options of their own"
        draft.say(Kind.HAND, "paths", sites[0].literal, f"the {role} lies in unrelated places: {places}", advice)
        return
    tops = sorted({site.folders[0] for site in sites if site.folders}) if not common else []
    if len(tops) > 1 and role is not Role.OUTPUT:
        draft.say(Kind.DIFFERS, "paths", sites[0].literal, f"--{name} must hold the folders {', '.join(tops)}")
    for site in sites:
        new = _expression(draft, site, len(common), value.at(site.literal))
        filled = _filled_in(draft, site.literal)
        if filled is not None and new.startswith("os."):
            # Only the file's name is filled in: a folder that the platform chose may hold a % or a brace.
            draft.insert(draft.span(filled)[1], ")")
            _change(draft, site.literal, new.removesuffix(")"), name)
        else:
            _change(draft, site.literal, new, name)
        if new.startswith("os."):
            draft.need_import("os")


def _change(draft: Draft, literal: Literal, new: str, name: str) -> None:
    draft.say(Kind.CHANGED, "paths", literal, f"{draft.source(literal)} can be replaced by --{name}")
    draft.replace(literal, new)


def _common(paths: Sequence[Sequence[str]]) -> list[str]:
    found: list[str] = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        found.append(parts[0])
    return found


def _expression(draft: Draft, site: Site, depth: int, value: str) -> str:
    """`value or "root"`, joined with the rest of the path; the old spelling is kept byte for byte."""
    source = draft.source(site.literal)
    start = opening(site.literal)
    quote = source[start - 1]
    dot = 1 if site.text.startswith("./") else 0
    cut = len("/".join(site.text.split("/")[: depth + dot]))
    root = site.text[:cut]
    rest = source[start + cut :].removeprefix("/")
    prefix = source[:start]
    if site.text == root and not site.is_formatted:
        return enclosed(draft, site.literal, f"{value} or {source}")
    return f"os.path.join({value} or {quote}{root}{quote}, {prefix}{rest})"


def _filled_in(draft: Draft, literal: Literal) -> cst.CSTNode | None:
    """The expression that fills in a literal: `"…%d" % n`, `"…{}".format(n)`."""
    parent = draft.parent(literal)
    if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Modulo) and parent.left is literal:
        return parent
    call = draft.parent(parent) if isinstance(parent, cst.Attribute) and parent.attr.value == "format" else None
    return call if isinstance(call, cst.Call) and call.func is parent else None


def enclosed(draft: Draft, literal: cst.CSTNode, text: str) -> str:
    """In brackets, unless nothing around the literal binds tighter than `or`."""
    loose = (cst.Arg, cst.Assign, cst.AnnAssign, cst.DictElement, cst.Element, cst.Return, cst.Param)
    return text if isinstance(draft.parent(literal), loose) else f"({text})"
