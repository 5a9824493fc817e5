"""Calls through which a script touches files: what each path is for, and which argument holds it."""

from __future__ import annotations

import builtins
import re
from dataclasses import dataclass, replace

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.libraries import TRAINING_ARGUMENTS, is_library
from outlast.adapt.needs import Role
from outlast.adapt.placing import calls
from outlast.adapt.placing.fetchers import KERAS_MODEL, takes_known_name
from outlast.adapt.placing.hub_files import is_told_folder
from outlast.adapt.placing.keywords import handed_over, told_by_name
from outlast.adapt.placing.loaded_states import is_taken_over
from outlast.adapt.placing.writers import is_elsewhere, takes_over, written
from outlast.adapt.whole import roots_of
from outlast.migrate.tree import argument, dotted, inner, positional, tail

#: the function that `delivered` adds to a script
HELPER = "find_delivered"
#: what an earlier adaptation has put around a place
HELPERS = frozenset({HELPER, "first_name", "with_folder"})


@dataclass(frozen=True)
class Sink:
    """A path argument of a call. `role` None: the call only asks whether something is there."""

    call: cst.Call
    path: cst.BaseExpression
    role: Role | None
    is_folder: bool = False
    makes: bool = False  # creates the folder
    is_guess: bool = False  # by the name of the call alone; the value must look like a path, too
    expects: bool = False  # the folder must be there
    is_named: bool = False  # by the name of the value alone
    is_root: bool = False  # a folder below which a function of the program is seen to read
    is_opened: bool = False  # a file that a function of the program opens by itself, whatever it may hold
    is_state: bool = False  # a file whose content a model takes over

    @property
    def opens(self) -> bool:
        return self.is_opened or tail(self.call.func) == "open"


_SAVERS = re.compile(r"(?:^|_)saver$")
#: classes and functions from elsewhere that read a data set: `VOCDataset`, `build_dataset`, `get_loader`, `load_data`
_READERS = re.compile(
    r"\w*(?:Dataset|DataSet|DataModule|DataProvider)|[A-Z]\w*Dataset(?!Config)[A-Z]\w*|(?:get|build|create|make|load|prepare|read)_\w*(?:data|dataset|loader)s?"
)
#: functions and methods from elsewhere that save to a place: `save_on_master`, `dump_results`, `model.save`
_SAVES = re.compile(r"_*(?:save|save_\w+|(?:dump|export|write)_\w+|\w+_save|save[A-Z]\w*)")
#: functions and methods from elsewhere that load weights from a file: `load_checkpoint`, `restore_model`
_LOADS = re.compile(r"load|load_\w+|\w+_load|load[A-Z]\w*|restore\w*")
_WEIGHTS_FILE = re.compile(r"[^/]\.(?:pth?|ckpt|bin|safetensors|tar|pdparams)$")
#: what else is a file of weights where a model takes it; elsewhere it may be data
_MODEL_FILE = re.compile(r"[^/]\.(?:h5|hdf5|keras)$")
#: keywords that say what is handed over, whoever takes it
_DATA_KEYWORDS = frozenset("root data_root data_dir data_path dataset_path dataset_dir datadir root_dir".split())
#: what has a root for weights: `get_model_file(name, root="~/.models")`
_OF_MODELS = re.compile(r"model|weights|checkpoint|ckpt|pretrain|backbone|resnet|vgg", re.I)
#: libraries whose readers are known, or take names and values instead of places
_KNOWN = frozenset("torch torchvision torchaudio tensorflow keras mindspore mindvision sklearn pandas paddle".split())
#: methods that make a table within a file, which has a name there: `file.create_dataset("rows", data=rows)`
_TABLES = frozenset({"create_dataset", "require_dataset"})
_NOT_FOLDERS = frozenset({"mindspore.dataset.GeneratorDataset", "mindspore.dataset.NumpySlicesDataset"})


def is_weights_file(text: str) -> bool:
    """Whether a file holds weights beyond doubt."""
    return _WEIGHTS_FILE.search(text) is not None


def is_taken_weights(draft: Draft, sink: Sink, text: str) -> bool:
    """Whether a text that a call may take for weights is a file of them, and no name that it knows (`"imagenet"`)."""
    is_model = KERAS_MODEL.match(draft.resolve(sink.call.func)) is not None
    return is_weights_file(text) or (is_model and _MODEL_FILE.search(text) is not None)


def reads_itself(draft: Draft, path: cst.BaseExpression) -> bool:
    """Whether what a call is given is found by another one, which has a path of its own: `read(glob("rows/*"))`."""
    calls = (each for each in (path, *draft.below(path)) if isinstance(each, cst.Call))
    return any((sink := _sink(draft, call)) is not None and sink.role is Role.DATA for call in calls)


#: fields that a path object has; a text has none
_OF_PATHS = frozenset({"anchor", "drive", "name", "parent", "parents", "parts", "root", "stem", "suffix", "suffixes"})


def find_sinks(draft: Draft) -> list[Sink]:
    """Every path argument of the file, in source order."""
    found = []
    ours = [node for function in draft.functions() if _is_ours(draft, function) for node in draft.below(function)]
    added = {id(node) for node in ours}
    for call in draft.calls():
        if id(call) in added:
            continue
        if (name := draft.resolve(call.func)) in calls.MOVES or name in calls.FOLDER_MOVES:
            (before, source), (after, target) = calls.FOLDER_MOVES.get(name, ((0, "src"), (1, "dst")))
            is_folder = name == "shutil.copytree"
            both = (_at(call, before, source, None, is_folder), _at(call, after, target, Role.OUTPUT, is_folder))
            found += [sink for sink in both if sink is not None]
            continue
        if draft.resolve(call.func) == "datasets.load_dataset":
            found += _dataset_files(call)
            continue
        places = [Sink(call, path, Role.OUTPUT, is_folder) for path, is_folder in written(draft, call)]
        sink = None if takes_over(draft, call) else _sink(draft, call)
        if sink is not None and not any(each.path is sink.path for each in places):
            is_state = sink.role is Role.WEIGHTS and is_taken_over(draft, call)
            places.append(replace(sink, is_state=True) if is_state else sink)
        found += places or _guesses(draft, call)
    objects = _objects(draft)
    return [sink for sink in found if dotted(sink.path) not in objects]


def _objects(draft: Draft) -> set[str]:
    """`cfg.checkpoint`, where `cfg.checkpoint.patience` is read: settings of their own, and no path."""
    called = {id(call.func) for call in draft.calls()}
    return {
        dotted(node.value) for node in draft.nodes
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Attribute) and id(node) not in called
        and node.attr.value not in _OF_PATHS
    } - {""}  # fmt: skip


def _is_ours(draft: Draft, function: cst.FunctionDef) -> bool:
    """A function that an earlier adaptation added: its paths are where they belong."""
    is_resume = function.name.value.startswith("resume_") and "OUTLAST_CHECKPOINT" in draft.source(function)
    return is_resume or function.name.value == HELPER


def _dataset_files(call: cst.Call) -> list[Sink]:
    """`load_dataset("csv", data_files={"train": "a.csv"}, data_dir="d")`."""
    folder, files = argument(call, "data_dir"), argument(call, "data_files")
    found = [Sink(call, folder.value, Role.DATA, True)] if folder is not None else []
    if files is None:
        return found
    many = files.value.elements if isinstance(files.value, cst.Dict) else ()
    values = [each.value for each in many if isinstance(each, cst.DictElement)] if many else [files.value]
    return found + [Sink(call, value, Role.DATA) for value in values]


def _guesses(draft: Draft, call: cst.Call) -> list[Sink]:
    """What is handed to a reader of data whose body is in another file."""
    own = draft.function_names | draft.class_names
    name = tail(call.func)
    if is_told_folder(call):
        return []  # of weights that are fetched, which have a place of their own
    if name in _TABLES and isinstance(call.func, cst.Attribute) and {"h5py", "zarr", "tables"} & draft.words:
        return []
    named = [
        arg.value for arg in call.args
        if arg.keyword is not None and arg.keyword.value in _DATA_KEYWORDS
        and not (arg.keyword.value.startswith("root") and _OF_MODELS.search(name))
    ]  # fmt: skip
    if argument(call, "download") and (place := next(iter(named), positional(call, 0))) is not None:
        return [Sink(call, place, Role.DATA, True, is_guess=not named)]
    handed = [] if name in own else list(handed_over(call))
    if (named and name not in own) or handed:
        data = [Sink(call, value, Role.DATA, is_guess=True) for value in named]
        done = {id(value) for value in named}
        return data + [Sink(call, *each, is_guess=True) for each in handed if id(each[0]) not in done]
    if _SAVES.fullmatch(name) and name not in own:
        return [Sink(call, arg.value, Role.OUTPUT, is_guess=True) for arg in call.args if not arg.star]
    is_read = bool(_READERS.fullmatch(name))
    if _LOADS.fullmatch(name) and not is_read and name not in own:
        told = [
            Sink(call, *each, is_guess=True, is_named=True)
            for each in told_by_name(call)
            if not is_weights_file(inner(each[0]))
        ]
        return told or [Sink(call, arg.value, Role.WEIGHTS, is_guess=True) for arg in call.args if not arg.star]
    if (
        not is_read
        or name in own
        or (name == "load_dataset" and "." not in draft.resolve(call.func))
        or draft.resolve(call.func).partition(".")[0] in _KNOWN
    ):
        is_out = not is_read and _leads_out(draft, call, own)
        return [Sink(call, *each, is_guess=True, is_named=True) for each in told_by_name(call)] if is_out else []
    return [Sink(call, arg.value, Role.DATA, is_guess=True) for arg in call.args if not arg.star]


def _leads_out(draft: Draft, call: cst.Call, own: frozenset[str]) -> bool:
    """Whether a call is one of a function of another file that is no library, also by `from data import *`."""
    if is_elsewhere(draft, call):
        return True
    name = call.func.value if isinstance(call.func, cst.Name) else ""
    stars = [node for node in draft.star_imports if node.relative or not is_library(dotted(node.module))]
    return bool(stars) and bool(name) and name not in own | draft.assigned_names and not hasattr(builtins, name)


def _sink(draft: Draft, call: cst.Call) -> Sink | None:
    name, last = draft.resolve(call.func), tail(call.func)
    plain = calls.COMPAT.sub("tensorflow.", name)
    for table, role, is_folder in (
        (calls.READS, Role.DATA, False), (calls.READ_FOLDERS, Role.DATA, True), (calls.WEIGHTS, Role.WEIGHTS, False),
        (calls.WRITES, Role.OUTPUT, False), (calls.WRITE_FOLDERS, Role.OUTPUT, True),
        (calls.STATE_FOLDERS, Role.OUTPUT, True), (calls.ASKS, None, False),
    ):  # fmt: skip
        place = table.get(name) or table.get(plain)
        if place is not None:
            is_written = table is calls.READS and last in calls.OPENERS and _writes(call)
            return _at(call, *place, Role.OUTPUT if is_written else role, is_folder, makes=table is calls.WRITE_FOLDERS)
    if name in ("open", "io.open", "codecs.open") and isinstance(call.func, cst.Name | cst.Attribute):
        return _at(call, 0, "file", Role.OUTPUT if _writes(call) else Role.DATA, False)
    if name.startswith("pandas.read_"):
        return _at(call, 0, "filepath_or_buffer", Role.DATA, False)
    if name.startswith("torchvision.datasets."):
        return _at(call, 0, "root", Role.DATA, True)
    if name.startswith("torchtext."):
        # `IMDB.splits(TEXT, LABEL, root=".data")`, `TabularDataset.splits(path="rows", train="train.csv")`
        is_set = last == "splits" or name.startswith("torchtext.datasets.")
        given = argument(call, "path") or argument(call, "root") if is_set else None
        return Sink(call, given.value, Role.DATA, True) if given is not None else None
    if name.startswith("torch_geometric.datasets."):
        return _at(call, 0, "root", Role.DATA, True)
    if name.startswith("mindvision.dataset."):
        return _at(call, 0, "path", Role.DATA, True)
    if name.startswith("mindspore.dataset.") and last.endswith("Dataset") and name not in _NOT_FOLDERS:
        return _at(call, 0, "dataset_dir", Role.DATA, True)
    if KERAS_MODEL.match(name):
        taken = _at(call, 1, "weights", Role.WEIGHTS, False)
        return replace(taken, is_guess=True) if taken is not None else None  # or "imagenet"
    return _method(draft, call, name, last)


def _method(draft: Draft, call: cst.Call, name: str, last: str) -> Sink | None:
    keyword = calls.LIGHTNING.get(last, "")
    if keyword and (name.startswith(("lightning", "pytorch_lightning")) or argument(call, keyword)):
        return _at(call, 0 if last != "WandbLogger" else 1, keyword, Role.OUTPUT, True)
    if name.startswith("ignite.") and last in ("ModelCheckpoint", "Checkpoint"):
        return _at(call, last == "Checkpoint", "dirname" if last != "Checkpoint" else "save_handler", Role.OUTPUT, True)
    if last == "ModelCheckpoint":
        # MindSpore names the folder, Keras the file.
        if name.startswith("mindspore.") or argument(call, "directory"):
            return _at(call, 1, "directory", Role.OUTPUT, True)
        return _at(call, 0, "filepath", Role.OUTPUT, False)
    if TRAINING_ARGUMENTS.fullmatch(last):
        return _at(call, 0, "output_dir", Role.OUTPUT, True)
    is_own = isinstance(call.func, cst.Name) and last in draft.function_names | draft.class_names
    # As a function it takes the model; as a method it is asked of one.
    is_function = last == "save_model" and (isinstance(call.func, cst.Name) or len(call.args) > 1)
    if last in calls.METHODS and not is_own and not is_function and not takes_known_name(draft, call):
        return _at(call, *calls.METHODS[last])
    if not isinstance(call.func, cst.Attribute):
        return None
    if last == "extractall":
        return _at(call, 0, "path", None, True)  # where that is, is for those to say that read there
    owner = tail(call.func.value)
    if last in ("save", "restore") and _SAVERS.search(owner.lower()):
        if tail(positional(call, 1)) == "model_checkpoint_path":
            return None  # what `get_checkpoint_state` has found in the folder that it was given
        return _at(call, 1, "save_path", Role.OUTPUT if last == "save" else Role.WEIGHTS, False)
    if last in calls.PATH_METHODS and _is_path(draft, call.func.value):
        role = calls.PATH_METHODS[last]
        return Sink(call, call.func.value, role, last in calls.FOLDER_METHODS, makes=last == "mkdir")
    if last == "open" and _is_path(draft, call.func.value):
        return Sink(call, call.func.value, Role.OUTPUT if _writes(call, 0) else Role.DATA)
    return None


def _is_path(draft: Draft, node: cst.BaseExpression) -> bool:
    """`Path("x")`, `Path("x") / "y"`, or a name; for a name the flow decides."""
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, cst.Divide) and _is_path(draft, node.left)
    if isinstance(node, cst.Call):
        return draft.resolve(node.func) in ("pathlib.Path", "pathlib.PurePath")
    return isinstance(node, cst.Name | cst.Attribute) and "pathlib" in roots_of(draft)


def _at(
    call: cst.Call, place: int, keyword: str, role: Role | None, is_folder: bool, *, makes: bool = False
) -> Sink | None:
    named = argument(call, keyword) if keyword else None
    named = named or (argument(call, "logdir") if keyword == "log_dir" else None)  # so tensorboardX calls it as well
    path = named.value if named else positional(call, place)
    return None if path is None else Sink(call, path, role, is_folder, makes)


def _writes(call: cst.Call, place: int = 1) -> bool:
    """Whether a file is opened to be written; its mode is named, or stands at a place."""
    named = argument(call, "mode")
    return bool(set(_mode(named.value if named else positional(call, place))) & set("wax"))


def _mode(node: cst.BaseExpression | None) -> str:
    """What a file is opened for; of `"a" if goes_on else "w"` both."""
    return _mode(node.body) + _mode(node.orelse) if isinstance(node, cst.IfExp) else inner(node)
