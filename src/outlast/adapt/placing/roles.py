"""What a path is for: the call that takes it tells, its name where calls serve several ends, and what comes before."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from outlast.adapt.arguments.moments import Moments
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.parts import is_question, stem_of
from outlast.adapt.placing.sites import text_of
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.spelling import UNKNOWN, is_spelled_out
from outlast.adapt.placing.spoken_names import is_model_name, names_model
from outlast.migrate.tree import dotted, inner, tail

_WEIGHT_FILE = re.compile(r"\.(?:pth|pt|ckpt|safetensors|pdparams|onnx)$|weight|pretrain|checkpoint", re.I)
#: how files with weights end, where the script saves them itself
_SAVED = re.compile(r"\.(?:pth?|ckpt|safetensors|h5|hdf5|keras|weights)$", re.I)
#: not the latest weights, and not those that were trained
_DATA_FILE = re.compile(r"data|train(?!ed)|(?<!la)test|val|label|feature|image", re.I)
_MODELS = re.compile(r"(?:^|[/\\])models?[/\\]", re.I)
#: folders that scripts fill rather than find
RESULTS = re.compile(r"out|result|save|ckpt|checkpoint|log|run|snapshot|pred|figure|plot|exp|best", re.I)
#: numbers that go with the samples: how much each class counts
_COUNTS = re.compile(r"(?:class|char|sample|label|loss|word|token|edge|node|pos|neg|focal)e?s?_?weight", re.I)
#: folders that hold weights, whatever else is read there
_OF_WEIGHTS = re.compile(r"model|weight|ckpt|checkpoint|pre_?train|backbone|bert|gpt|vgg|resnet", re.I)
#: calls that read data and weights alike
_EITHER = frozenset({"load", "open", "read_bytes", "loadtxt"})
#: what is filled into a literal
_OPEN = re.compile(r"%[-0-9.]*[a-zA-Z]|\{[^{}]*\}")
#: how an address begins: what may be one is no word, and else a place
_SCHEME = re.compile("https?|ftps?|s3|gs|hdfs|oss|obs")


class Roles:
    """The roles of a file's paths."""

    def __init__(self, draft: Draft, filled: Sequence[cst.Call] = ()) -> None:
        self._draft = draft
        self._moments = Moments(draft)
        self._filled = filled  # calls that fill the folder in which the script runs
        self._compared = set(_compared(draft))
        self._given = {
            inner(node.right)
            for node in draft.nodes
            if isinstance(node, cst.BooleanOperation) and tail(node.left) in PASSED
        }

    def of_literals(self, groups: Sequence[Sequence[Use]]) -> dict[int, Role]:
        """Literal → role. The same text has one role everywhere: a file that is written and read is a result."""
        by_text: dict[str, set[Role]] = {}
        made: set[str] = set()
        moved = {
            (id(use.sink.call), text_of(use.literal).rstrip("/"))
            for uses in groups for use in uses if use.role is None and use.literal is not None
        }  # fmt: skip
        for uses in groups:
            for use in uses:
                assert use.literal is not None
                text = text_of(use.literal).rstrip("/")
                # What lies in a folder is dealt out anew within it, as into train and test: no results.
                if use.sink.makes or (use.role is Role.OUTPUT and (id(use.sink.call), text) in moved):
                    made.add(text)
                elif use.role is not None and not (use.role is Role.WEIGHTS and self._chooses(use)):
                    by_text.setdefault(text, set()).add(by_look(use, text))
        chosen = {text: main_role(text, roles) for text, roles in by_text.items()}
        for text in self._own_results(groups, chosen, made):
            chosen[text] = Role.OUTPUT
        for uses in groups:
            text = text_of(uses[0].literal).rstrip("/") if uses[0].literal is not None else ""
            stem = stem_of(text, chosen) if all(map(is_question, uses)) else ""
            is_part = text.startswith(stem + ".") if chosen.get(stem) is Role.OUTPUT else bool(stem)
            if is_part and chosen[stem] in (Role.OUTPUT, Role.WEIGHTS):
                chosen[text] = chosen[stem]
        for text in made:
            if any(other.startswith(text + "/") for other in self._given):
                continue  # the way to a place that follows an option already
            near = {role for other, role in chosen.items() if other == text or other.startswith(text + "/")}
            chosen.setdefault(text, Role.DATA if near == {Role.DATA} else Role.OUTPUT)
        found = {
            id(uses[0].literal): chosen[text]
            for uses in groups
            if uses[0].literal is not None and (text := text_of(uses[0].literal).rstrip("/")) in chosen
        }
        for uses in groups:
            # Samples are read from there, and results lie beside them only because the script puts them there.
            literal = uses[0].literal
            if literal is None or not self._is_read_only(uses):
                continue
            if _is_beside_data(literal, by_text) or self._is_read_first(uses, groups):
                found[id(literal)] = Role.DATA
        return found

    def _is_read_first(self, uses: Sequence[Use], groups: Sequence[Sequence[Use]]) -> bool:
        """Whether samples are read from a folder before anything is written below it: `Rows(ROOT)`, `ROOT + "net.pt"`.

        Where both are one literal, it can follow only one option.
        """
        text = text_of(uses[0].literal).rstrip("/") if uses[0].literal is not None else ""
        written = [
            use for others in groups if others is not uses for use in others
            if use.literal is not None and text_of(use.literal).rstrip("/") == text and use.role is Role.OUTPUT
        ]  # fmt: skip
        is_later = (self._moments.is_later(late.sink.call, use.sink.call) for late in written for use in uses)
        return bool(written) and not RESULTS.search(text) and all(is_later)

    def _is_read_only(self, uses: Sequence[Use]) -> bool:
        """Whether a literal leads only to calls that read from it as from a folder, whatever others write there."""
        return all(use.role is Role.DATA and use.is_folder and not use.sink.makes for use in uses) and not any(
            _is_asked_for(self._draft, use.sink.call) for use in uses
        )

    def is_word(self, name: str) -> bool:
        """Whether an option is one of several words (`scratch`, `resume`) instead of a place."""
        return name in self._compared

    def is_only_word(self, use: Use) -> bool:
        """Likewise, and no model that a library loads, of whose name the script asks something, too."""
        return self.is_word(use.option) and not is_model_name(self._draft, use)

    def _chooses(self, use: Use) -> bool:
        """Whether a text that is read as weights is one of several words; the name of a model is that as well."""
        parent = self._draft.parent(use.literal) if use.literal is not None and not names_model(use) else None
        names = [tail(each.target) for each in parent.targets] if isinstance(parent, cst.Assign) else []
        return any(name in self._compared for name in names)

    def _own_results(self, groups: Sequence[Sequence[Use]], chosen: dict[str, Role], made: set[str]) -> Iterator[str]:
        """What is loaded from where the script has written before: not an input, but its own."""
        places = [(text_of(use.literal).rstrip("/"), use) for uses in groups for use in uses if use.literal is not None]
        filled = [("", call) for call in self._filled]
        filled += [
            (_folder(use), use.sink.call)
            for text, use in places if chosen.get(text) is Role.OUTPUT or (text in made and use.sink.makes)
        ]  # fmt: skip
        saved = [use for text, use in places if chosen.get(text) is Role.OUTPUT and use.role is Role.OUTPUT]
        written = {_path(use) for use in saved}
        for text, use in places:
            role = chosen.get(text)
            if role is Role.DATA and use.role is Role.DATA and _path(use) in written:
                yield text
            if role in (Role.DATA, Role.WEIGHTS) and self._is_saved_here(use, saved):
                yield text
            if role is Role.DATA and (self._gathers(text, use, places, chosen) or _is_one_of(text, places, chosen)):
                yield text
            if role is None or role is Role.OUTPUT or (role is Role.DATA and not RESULTS.search(text)):
                continue
            here = _folder(use)
            if any(
                (here == folder or here.startswith(folder + "/") if folder else role is Role.WEIGHTS and not here)
                and (
                    self._moments.is_later(use.sink.call, call)
                    or _is_asked_for(self._draft, use.sink.call)
                    or re.search(r"%[sd]|\{", folder)  # a folder that both name when they run
                )
                for folder, call in filled
            ):
                yield text

    def _is_saved_here(self, use: Use, saved: Sequence[Use]) -> bool:
        """Whether a file was saved before, beside the script: `load("/content/net.pt")` behind `save(net, "net.pt")`.

        Somebody has spelled the folder in which the script runs.
        """
        return any(
            is_spelled_out(_path(use), _path(each)) and self._moments.is_later(use.sink.call, each.sink.call)
            for each in saved
        )

    def _gathers(self, text: str, use: Use, places: Sequence[tuple[str, Use]], chosen: dict[str, Role]) -> bool:
        """Whether a pattern finds what was written before: `glob("image*.png")` behind `savefig(f"image_{n}.png")`.

        Weights that the script saves itself are its own, also where it looks for them first, to go on from them.
        """
        pattern = text + use.after
        return "*" in pattern and any(
            chosen.get(other) is Role.OUTPUT
            and _is_found(written, pattern)
            and (_SAVED.search(pattern) or self._moments.is_later(use.sink.call, written.sink.call))
            for other, written in places
        )


def _is_beside_data(literal: cst.CSTNode, roles: Mapping[str, set[Role]]) -> bool:
    """`data/test`, where `data/train` is only read: a folder that is named for no results."""
    text = text_of(literal).rstrip("/") if isinstance(literal, cst.SimpleString | cst.FormattedString) else ""
    top = text.removeprefix("./").partition("/")[0]
    beside = (
        other for other, found in roles.items()
        if other != text and found == {Role.DATA} and other.removeprefix("./").startswith(f"{top}/")
    )  # fmt: skip
    return "/" in text.removeprefix("./") and not RESULTS.search(text) and any(beside)


def _is_found(use: Use, pattern: str) -> bool:
    assert use.literal is not None
    if isinstance(use.literal, cst.SimpleString):
        return fnmatch.fnmatch(inner(use.literal) + use.after, pattern)
    # Of what is filled in only the start is known.
    start, known = pattern.partition("*")[0], text_of(use.literal)
    return bool(start) and "/" not in known.removeprefix(start) and known.startswith(start)


def _is_one_of(text: str, places: Sequence[tuple[str, Use]], chosen: Mapping[str, Role]) -> bool:
    """Whether a file has a name that the script gives to results: `a_7.png`, where it saves `"a_%d.png" % n`."""
    for other, written in places:
        parts = _fixed(written.literal) if chosen.get(other) is Role.OUTPUT and not written.after else []
        # `"%s.csv" % name` may be anything: what is fixed must tell.
        name = "".join([parts[0].rpartition("/")[2], *parts[1:]]) if parts else ""
        is_telling = len(parts) > 1 and re.search(r"[a-zA-Z]{2}", name.rpartition(".")[0] if "." in name else name)
        if is_telling and re.fullmatch("[^/]*".join(map(re.escape, parts)), text.removeprefix("./")):
            return True
    return False


def _fixed(literal: cst.CSTNode | None) -> list[str]:
    """What stands around the parts that are filled into a name."""
    if isinstance(literal, cst.FormattedString):
        said = (part.value if isinstance(part, cst.FormattedStringText) else "\0" for part in literal.parts)
        return "".join(said).removeprefix("./").split("\0")
    return _OPEN.split(inner(literal).removeprefix("./"))


def _path(use: Use) -> str:
    """A whole path; of one that is filled in later, or not known, nothing that could be another one's."""
    is_known = isinstance(use.literal, cst.SimpleString) and UNKNOWN not in use.after and not use.sink.is_folder
    return (inner(use.literal) + use.after).removeprefix("./") if is_known else f"{UNKNOWN}{id(use)}"


def _folder(use: Use) -> str:
    assert use.literal is not None
    text = text_of(use.literal)
    folder = text if use.is_folder else text.rpartition("/")[0]
    return folder.removeprefix("./").rstrip("/") if folder != "." else ""


def _is_asked_for(draft: Draft, call: cst.Call) -> bool:
    """`if os.path.exists(path): model.load_state_dict(torch.load(path))`."""
    return any(
        isinstance(each, cst.If) and re.search(r"exists|isfile|is_file|latest", draft.source(each.test))
        for each in draft.above(call)
    )


def _compared(draft: Draft) -> Iterator[str]:
    """Names that are compared with words: `start == "scratch"`, `args.mode in ("a", "b")`, `x.startswith("gpt2")`."""
    for node in draft.nodes:
        if isinstance(node, cst.Comparison):
            sides = [node.left, *(each.comparator for each in node.comparisons)]
            if any(_is_wordy(side) for side in sides):
                yield from (tail(side) for side in sides if dotted(side))
        elif isinstance(node, cst.Call) and tail(node.func) == "startswith" and isinstance(node.func, cst.Attribute):
            yield from [tail(node.func.value)] if node.args and _is_wordy(node.args[0].value) else []


def choices(draft: Draft) -> set[str]:
    """Names that choose something: compared with several words. A place may be compared with one, such as `none`."""
    words: dict[str, set[str]] = {}
    for node in draft.nodes:
        if isinstance(node, cst.Comparison):
            sides = [node.left, *(each.comparator for each in node.comparisons)]
            said = {inner(each) for side in sides for each in (side, *draft.below(side)) if _is_wordy(each)}
            for side in sides:
                if dotted(side):
                    words.setdefault(tail(side), set()).update(said - {""})
    return {name for name, said in words.items() if len(said) > 1}


def _is_wordy(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.List | cst.Tuple | cst.Set):
        return any(_is_wordy(element.value) for element in node.elements)
    return bool(inner(node)) and not re.search(r"[/.~]", inner(node)) and not _SCHEME.fullmatch(inner(node))


def main_role(text: str, roles: set[Role]) -> Role:
    """What a text is for that is for several things. Weights that are read from a folder of data lie beside these."""
    is_folder = not re.search(r"\.\w+$", text)
    if roles == {Role.WEIGHTS, Role.DATA} and is_folder and not _OF_WEIGHTS.search(text):
        return Role.DATA
    return next(role for role in (Role.OUTPUT, Role.WEIGHTS, Role.DATA) if role in roles)


def by_look(use: Use, text: str) -> Role:
    """Loaders that serve data and weights alike are told apart by the file's name."""
    assert use.role is not None
    name = text.rpartition("/")[2]
    is_either = tail(use.sink.call.func) in _EITHER
    is_weights = _WEIGHT_FILE.search(_COUNTS.sub("", name)) is not None
    if use.role is Role.DATA and not use.is_folder and is_either and is_weights:
        return Role.WEIGHTS
    is_load = tail(use.sink.call.func) == "load" and not use.sink.is_state
    if use.role is Role.WEIGHTS and is_load and _DATA_FILE.search(text) and not _WEIGHT_FILE.search(text[:-4]):
        # A model may be called after its data, which its folder is then.
        is_model = _MODELS.search(text) is not None and not _DATA_FILE.search(re.split(r"[/\\]", text)[-1])
        return Role.WEIGHTS if is_model else Role.DATA
    return use.role
