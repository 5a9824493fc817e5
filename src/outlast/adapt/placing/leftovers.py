"""What looks like a place and was not wired: named, so that silence means that nothing is left."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import libcst as cst

from outlast.adapt.arguments.setup import CODE_FILE, Option
from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.archives import is_of_archive
from outlast.adapt.placing.choosing import find_chosen
from outlast.adapt.placing.options import is_place, is_unread
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.roles import choices
from outlast.adapt.placing.words import is_middle
from outlast.adapt.resuming.own import is_resume
from outlast.migrate.context import is_prose_call
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, inner, tail

#: A place of this machine, beyond doubt; `/tmp` and devices are the same everywhere.
_PLACE = re.compile(r"(?:\.{1,2}/|~/|/(?!tmp|dev|proc|sys|usr|bin|cache)[A-Za-z])[\w./~-]*\w[\w./~-]*")
_FILE = re.compile(
    r"(?:[\w. (){}%-]+/)+[\w. (){}%-]*[\w)}-]\.(?:csv|tsv|txt|json|npy|npz|h5|hdf5|pkl|mat|parquet|lmdb|pth?|ckpt|"
    r"keras|onnx|safetensors|jpe?g|png)"
)
_NOT_PLACES = frozenset(
    "append insert replace split join startswith endswith add_argument add_option rstrip lstrip strip DEFINE_string "
    "option Option run system call Popen check_call check_output compile sub match search chdir".split()
)
_SETTINGS = re.compile(r"conf|cfg|yaml|json|param|setting|script|code|module|name|cache|tmp|temp|url|addr|host", re.I)


#: where a program is computed, or what it talks to
_DEVICES = re.compile(r"/?(?:job:|replica:|device:|gpu|cpu|cuda|npu|tpu|mps)[\w:/]*", re.I)
#: what a place is for by the words around it: the name of its option, keyword, call or variable, and its own
_WORDS = {
    Role.DATA: re.compile(
        r"data|train(?!er|ed|ing_)|val|test|input|source|target|image|img|corpus|csv|label|read|load", re.I
    ),
    Role.OUTPUT: re.compile(
        r"out|save|result|log|ckpt|checkpoint|model|export|report|write|dump|plot|fig|visual|draw|dest|store|metric|score|hist|pred|submission|"
        r"curve|loss|confusion",
        re.I,
    ),
}
#: verbs that leave no doubt, whatever a file is called: `plot_history(history, "training.png")`
_WRITES = re.compile(r"plot|draw|save|write|dump|export|visual", re.I)
#: names that things are handed over by where they are places
_HANDED = re.compile(r"\w*(?:path|file|filename|dir|folder|directory|root|fname)s?", re.I)
_PART = re.compile(r"(?:^|_)(?:path|dir|folder|file)(?:_|$)", re.I)
_DATA_OPTION = re.compile(r"data|datasets?|corpus")
_NO_DATA = re.compile(r"\.(?:pth?|ckpt|safetensors|onnx|html|pdf|gif|png|svg|log)$")
#: the name of a file, whatever it holds; `conv1.weight` is the name of a tensor
_NAMED = re.compile(r"[\w./~{}%-]*[\w}]\.(?!(?:py|format|weight|bias)$)[A-Za-z][A-Za-z0-9]{1,5}")
_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,5}$")
_SHOWN_AT_MOST = 3
#: what a text is one of
_AROUND = (cst.Element, cst.List, cst.Tuple, cst.ListComp)

#: names that are made of names, more than any script has
_DEPTH = 4


class Leftovers:
    """Places and options of a script that nothing was done with."""

    def __init__(
        self, draft: Draft, paths: Paths, options: dict[str, Option], read: Collection[int] = frozenset()
    ) -> None:
        self._draft, self._paths = draft, paths
        #: expressions that lead to what is only read
        self._read = read
        #: options that choose something, whatever their help speaks of: `--dataset cifar10`
        self._choices = {name for each in (draft, *draft.others) for name in choices(each)}
        self._choices |= find_chosen(draft, options)
        self._wired = {name for names in paths.options.values() for name in names}
        taken = [use for uses in paths.others.values() for use in uses]
        taken += [use for entry in paths.entries for use in entry.uses]
        others = [use.other for use in taken if use.other is not None]
        #: options whose values give way where they are used: `cfg.save_dir`, `SAVE_DIR.value`
        self._replaced = {part.lower() for other in others for part in _parts(draft, other)}
        self._options = {id(option): option for option in options.values()}.values()
        done = {site.text for sites in paths.sites.values() for site in sites}
        done |= {option.default for option in self._options if self._is_wired(option) and option.default}
        self._done = {id(node) for node in draft.nodes if isinstance(node, cst.SimpleString) and inner(node) in done}
        self._done |= {
            id(node) for option in self._options if option.call is not None and self._is_wired(option)
            for node in draft.below(option.call)
        }  # fmt: skip
        for wrap in (each for wraps in paths.wraps.values() for each in wraps):
            self._done |= {id(wrap.node), *(id(node) for node in draft.below(wrap.node))}

    def tell(self) -> None:
        """Name every place and option of which it is certain that they are places, and not what for."""
        for node in self._draft.nodes:
            if id(node) not in self._done and _is_left(self._draft, node, self._paths.known):
                said = f"{inner(node)!r} stays as it is: what is done with it is not certain"
                self._draft.say(Kind.DIFFERS, "paths", node, said)
        for option in self._options:
            is_left = self._is_wired(option) or self._is_inside(option) or option.name in self._choices
            if is_left or not _is_place_option(option) or is_unread(self._draft, option):
                continue
            if _is_set_already(self._draft, option):
                continue
            must = option.is_required or option.is_positional
            words = "PATH" if option.is_positional else f"{option.shown}=PATH"
            where = option.call or self._draft.first
            if option.name.lower() not in self._replaced:
                how = "stays as it is and must be given" if must else "stays as it is"
                said = f"{option.shown} {how}: what is done with it is not certain"
                self._draft.say(Kind.DIFFERS, "options", where, said, f"pass it yourself: outlast run … -- {words}")
            elif must:
                said = f"{option.shown} must still be given, though its value gives way where it is used"
                self._draft.say(Kind.DIFFERS, "options", where, said, f"pass it: outlast run … -- {words}")

    def _is_inside(self, option: Option) -> bool:
        """Whether an option is only ever put behind a folder that follows the contract: `args.saved + args.start`."""
        loads = [node for node in self._draft.nodes if isinstance(node, cst.Attribute) and tail(node) == option.name]
        return bool(loads) and all(
            is_middle(self._draft, node) and (id(node) in self._done or self._is_behind_wired(node)) for node in loads
        )

    def _is_behind_wired(self, node: cst.CSTNode) -> bool:
        return any(isinstance(each, cst.Attribute) and tail(each) in self._wired for each in self._beside(node))

    def _beside(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What else is in the path that a value is put into."""
        around = list(self._draft.above(node))
        joins = [each for each in around if isinstance(each, cst.BinaryOperation | cst.Call)]
        texts = [each for each in around if isinstance(each, cst.FormattedString)]
        return iter(self._draft.below((joins or texts)[0])) if joins or texts else iter(())

    def tell_unused(self, role: Role, name: str, *, has_checkpoint: bool = False) -> None:
        """An option of the contract that nothing follows: what may be its place, or that there is none."""
        said = f"nothing {'reads' if role is Role.DATA else 'is written to'} --{name}"
        if has_checkpoint:
            said = f"nothing but the checkpoint is written to --{name}"
        found = self._candidates(role)
        if found:
            more = ", …" if len(found) > _SHOWN_AT_MOST else ""
            said += f": what is done with {', '.join(found[:_SHOWN_AT_MOST])}{more} is not understood"
            advice = f"use --{name} there by hand, or pass the option yourself" if "--" in "".join(found) else ""
            self._draft.say(Kind.DIFFERS, "paths", self._draft.first, said, advice or f"use --{name} there by hand")
            return
        if role is Role.DATA:
            said += ": no place of data is visible in this file"
        else:
            is_saving = self._paths.is_saving
            said += f": {'where the results go is not visible here' if is_saving else 'the script saves nothing'}"
        self._draft.say(Kind.DIFFERS, "paths", self._draft.first, said)

    def _candidates(self, role: Role) -> list[str]:
        """What may be a place for a role, with its line."""
        found: dict[str, int] = {}
        for option in self._options:
            if self._may_be_place(option, role) and _fits(role, option.name):
                found.setdefault(option.shown, self._draft.line(option.call or self._draft.first))
        for node in self._draft.nodes:
            if id(node) in self._done or (role is Role.OUTPUT and self._is_read(node)):
                continue
            if isinstance(node, cst.SimpleString) and self._is_handed(node):
                if (role is Role.DATA and _NO_DATA.search(inner(node))) or not _fits(role, self._around(node)):
                    continue
                found.setdefault(repr(inner(node)), self._draft.line(node))
            elif (shown := self._elsewhere(node)) and _fits(role, shown):
                found.setdefault(shown, self._draft.line(node))
        here = [f"{shown} (line {line})" for shown, line in found.items()]
        return here or (list(self._of_other_files()) if role is Role.DATA else [])

    def _is_read(self, node: cst.CSTNode) -> bool:
        """Whether a place, or what it is put together of (`OUT / "x.npy"`), leads to what is only read."""
        while isinstance(around := self._draft.parent(node), cst.BinaryOperation):
            node = around
        return any(id(each) in self._read for each in (node, *self._draft.below(node)))

    def _of_other_files(self) -> Iterator[str]:
        """Files that other files of the program name: data by their words, where nobody reads any."""
        for other in self._draft.others:
            for node in other.nodes:
                text = inner(node) if isinstance(node, cst.SimpleString) else ""
                if _FILE.fullmatch(text) and _WORDS[Role.DATA].search(text) and other.is_reached(node):
                    yield f"{text!r} (line {other.line(node)} of another file)"

    def _may_be_place(self, option: Option, role: Role) -> bool:
        """Whether an option could be a place: by its words, or because it must be given and speaks of the role."""
        if self._is_wired(option) or option.name in {*PASSED, *self._choices} or option.name.lower() in self._replaced:
            return False
        if self._is_inside(option) or is_unread(self._draft, option):
            return False
        is_many = option.call is not None and argument(option.call, "nargs") is not None
        if _is_aside(option) or not (option.is_text or (is_many and is_place(option))):
            return False
        if role is Role.DATA and _DATA_OPTION.fullmatch(option.name):
            return True
        is_asked = option.is_required and bool(_WORDS[role].search(option.name))
        return is_asked or is_place(option) or bool(_PART.search(option.name))

    def _elsewhere(self, node: cst.CSTNode) -> str:
        """A place whose value is made in another file: `save_dir=config.save_dir`, `DATA_DIR / name`."""
        draft = self._draft
        if isinstance(node, cst.Arg) and isinstance(node.value, cst.Name) and not _is_aside_call(draft, node):
            root = draft.resolve(node.value)
            is_open = (
                "." in root and not is_library(root.lstrip(".")) and node.value.value.lower() not in self._replaced
            )
            return node.value.value if is_open and _HANDED.fullmatch(node.value.value) else ""
        if isinstance(node, cst.Arg) and node.keyword is not None and isinstance(node.value, cst.Attribute):
            owner, name = dotted(node.value).partition(".")[0], node.value.attr.value
            is_option = any(option.name == name for option in self._options)
            is_open = bool(owner) and owner != "self" and not is_option and name.lower() not in self._replaced
            is_place_like = _HANDED.fullmatch(node.keyword.value) and _HANDED.fullmatch(name)
            return draft.source(node.value) if is_open and is_place_like else ""
        is_joined = isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide)
        if is_joined and isinstance(node, cst.BinaryOperation) and isinstance(node.left, cst.Name):
            name = node.left.value
            is_open = bool(draft.resolve(node.left)) and name.lower() not in self._replaced
            return draft.source(node) if is_open and _HANDED.fullmatch(name) else ""
        return ""

    def _is_handed(self, node: cst.CSTNode) -> bool:
        """Whether a text is a file's name, or is handed over or kept by the name of a place."""
        if _is_left(self._draft, node, self._paths.known):
            return True
        text, parent = inner(node), self._draft.parent(node)
        if not text or CODE_FILE.search(text) or _is_aside_call(self._draft, node):
            return False
        if isinstance(parent, cst.Arg) and parent.keyword is not None:
            return bool(_HANDED.fullmatch(parent.keyword.value)) and not re.search(r"\s", text)
        is_joined = isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Divide)
        is_new = id(node) not in self._paths.known
        is_kept = isinstance(self._holder(node), cst.Arg | cst.Assign)
        return is_new and bool(_NAMED.fullmatch(text)) and (is_joined or is_kept)

    def _holder(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What takes a text, alone or as one of several, also where something is filled in: `["{}.csv".format(i)]`."""
        at = self._draft.parent(node)
        while at is not None and (isinstance(at, _AROUND) or tail(at) == "format"):
            at = self._draft.parent(at)
        return at

    def _around(self, node: cst.CSTNode) -> str:
        """The words from which people see what a text is for."""
        words = [_SUFFIX.sub("", inner(node))]
        for each in self._draft.above(node):
            if isinstance(each, cst.Arg) and each.keyword is not None:
                words.append(each.keyword.value)
                if _fits_any(each.keyword.value):
                    return each.keyword.value
            elif isinstance(each, cst.Call):
                words.append(tail(each.func))
                if _WRITES.search(tail(each.func)):
                    return tail(each.func)
            elif isinstance(each, cst.Assign):
                words += [tail(target.target) for target in each.targets]
            if isinstance(each, cst.BaseStatement):
                break
        return " ".join(words)

    def _is_wired(self, option: Option) -> bool:
        return option.name in self._wired


def _parts(draft: Draft, node: cst.CSTNode) -> list[str]:
    return [tail(node), *re.findall(r"\w+", draft.source(node))]


def _fits_any(words: str) -> bool:
    return any(each.search(words) for each in _WORDS.values())


def _fits(role: Role, words: str) -> bool:
    """Whether words speak of a role, or of none."""
    return bool(_WORDS[role].search(words)) or not _fits_any(words)


def _is_place_option(option: Option) -> bool:
    return option.is_text and option.name not in PASSED and is_place(option) and not _is_aside(option)


def _is_aside(option: Option) -> bool:
    """Settings travel with the code, and what a script goes on from is spoken of elsewhere."""
    if is_resume(option.name) or _DEVICES.fullmatch(option.default):
        return True
    return bool(_SETTINGS.search(option.name) or CODE_FILE.search(option.default))


def _is_left(draft: Draft, node: cst.CSTNode, known: set[int]) -> bool:
    if not isinstance(node, cst.SimpleString) or id(node) in known:
        return False
    text = inner(node)
    if not (_PLACE.fullmatch(text) or _FILE.fullmatch(text)) or CODE_FILE.search(text):
        return False
    parent = draft.parent(node)
    is_right = isinstance(parent, cst.BinaryOperation) and parent.right is node
    is_name = isinstance(parent, cst.Arg) and parent.keyword is not None and parent.keyword.value == "name"
    return not (
        _is_aside_call(draft, node)
        or is_name
        or is_right
        or _follows_already(draft, node)
        or _is_unused(draft, node)
        or isinstance(parent, cst.Expr | cst.ComparisonTarget | cst.Comparison)
    )


def _follows_already(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether the line of a place speaks of the contract's options: `args.data_url or "../rows"`."""
    line = draft.statement(node)
    return isinstance(line, cst.SimpleStatementLine) and _speaks_of_contract(draft, line)


def _is_set_already(draft: Draft, option: Option) -> bool:
    """Whether the script sets an option by one of the contract's: `if train_url: out = train_url`."""
    for node in draft.all_assigns:
        if not any(tail(each.target) == option.name for each in node.targets):
            continue
        asked = [each.test for each in draft.above(node) if isinstance(each, cst.If)]
        if any(_speaks_of_contract(draft, each) for each in (node.value, *asked)):
            return True
    return False


def _speaks_of_contract(draft: Draft, node: cst.CSTNode) -> bool:
    return any(
        (part.value if isinstance(part, cst.Name) else inner(part)) in PASSED
        for part in (node, *draft.below(node))
        if isinstance(part, cst.Name | cst.SimpleString)
    )


def _is_unused(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether a place only has a name that nobody ever reads."""
    around = draft.parent(node)
    made = draft.parent(around) if isinstance(around, cst.Arg) else None
    given = draft.parent(made) if isinstance(made, cst.Call) and tail(made.func) == "Path" else around
    given = given if isinstance(given, cst.Assign) else None
    target = given.targets[0].target if given is not None and len(given.targets) == 1 else None
    return isinstance(target, cst.Name) and _is_unread(draft, target.value, _DEPTH)


def _is_unread(draft: Draft, name: str, depth: int) -> bool:
    """Whether nobody reads a name, but for others that nobody reads: `prefix = os.path.join(folder, "net")`."""
    if not depth or any(name in other.words for other in draft.others):
        return False
    for each in draft.nodes:
        if not isinstance(each, cst.Name) or each.value != name or isinstance(draft.parent(each), cst.AssignTarget):
            continue
        line = next((up for up in draft.above(each) if isinstance(up, cst.BaseSmallStatement)), None)
        target = line.targets[0].target if isinstance(line, cst.Assign) and len(line.targets) == 1 else None
        is_path = line is not None and all(
            draft.resolve(call.func).startswith("os.path.") for call in draft.calls(line)
        )
        if not is_path or not isinstance(target, cst.Name) or not _is_unread(draft, target.value, depth - 1):
            return False
    return True


def _is_aside_call(draft: Draft, node: cst.CSTNode) -> bool:
    calls = [each for each in draft.above(node) if isinstance(each, cst.Call)]
    # `log.info("saved {}".format("/last.pt"))`: what is filled into a text is for whoever takes that.
    calls = calls[1:] if len(calls) > 1 and tail(calls[0].func) == "format" else calls
    if not calls or is_prose_call(tail(calls[0].func)) or tail(calls[0].func) in _NOT_PLACES:
        return bool(calls)
    return is_of_archive(draft, calls[0])
