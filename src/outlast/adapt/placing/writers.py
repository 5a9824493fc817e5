"""Calls that write results, beyond those that their full name tells: loggers, callbacks, and `.save` of anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.migrate.tree import argument, dotted, inner, positional, tail

_LIGHTNING = ("pytorch_lightning.", "lightning.", "lightning_fabric.")
#: last name → (place, keyword) of a folder; what is called so makes it itself
_FOLDERS = {
    "TensorBoardLogger": (0, "save_dir"), "TestTubeLogger": (0, "save_dir"), "WandbLogger": (1, "save_dir"),
    "MLFlowLogger": (99, "save_dir"), "CometLogger": (99, "save_dir"), "BackupAndRestore": (0, "backup_dir"),
    "CheckpointManager": (1, "directory"), "SummaryCollector": (0, "summary_dir"), "SummaryRecord": (0, "log_dir"),
    "save_state": (0, "output_dir"), "CheckpointCallback": (1, "save_path"),
}  # fmt: skip
#: last name → (place, keyword) of a file
_FILES = {
    "imsave": (0, "fname"), "mimsave": (0, "uri"), "mimwrite": (0, "uri"), "write_png": (1, "filename"),
    "write_jpeg": (1, "filename"), "write_video": (0, "filename"), "save_checkpoint": (0, "filepath"),
    "to_excel": (0, "excel_writer"), "to_feather": (0, "path"), "to_hdf": (0, "path_or_buf"), "write_html": (0, "file"),
    "write_image": (0, "file"), "save_parameters": (0, "filename"), "RotatingFileHandler": (0, "filename"),
    "TimedRotatingFileHandler": (0, "filename"), "plot_model": (1, "to_file"),
}  # fmt: skip
#: full name → likewise
_NAMED = {"torchaudio.save": (0, "uri"), "soundfile.write": (0, "file"), "scipy.io.wavfile.write": (0, "filename"),
          "paddle.save": (1, "path"), "imageio.get_writer": (0, "uri"),
          "imageio.v2.get_writer": (0, "uri"), "shelve.open": (0, "filename")}  # fmt: skip
#: keywords that name a folder for results, whoever takes them
_KEYWORDS = ("logging_dir", "dirpath", "tensorboard_log", "tensorboard_dir")
#: what begins at a root: of the machine, of a drive of Windows
_PLACE = re.compile(r"(?:/|[A-Za-z]:[/\\]).*\.\w+$")
#: likewise, where code of another file takes them
_HANDED = tuple("log_dir logdir save_dir output_dir out_dir checkpoint_dir ckpt_dir results_dir".split())
#: what ultralytics does below the folder `project`
_RUNS = frozenset({"train", "tune", "val", "predict"})
_MODEL = re.compile(r"model|net", re.I)
#: `save_pretrained_merged`, `save_pretrained_gguf`: what others make of `save_pretrained`
_PRETRAINED = re.compile(r"save_pretrained_\w+")
#: what writes itself to a place: `midi.write("tune.mid")`
_WRITING = frozenset({"pretty_midi.PrettyMIDI", "xml.etree.ElementTree.ElementTree", "xml.etree.ElementTree.parse"})
_MAKERS = frozenset("Sequential Model Functional load_model clone_model fromarray new".split())
#: what is done only to something that learns
_TRAINING = frozenset("fit compile train_on_batch fit_generator predict predict_on_batch".split())
_SUFFIX = re.compile(
    r"\.(?:keras|h5|hdf5|pth?|ckpt|onnx|tflite|bin|safetensors|model|zip|joblib|pkl|npy|npz|png|jpe?g|gif|bmp|tiff?|json)"
    r"""['"]"""
)


def written(draft: Draft, call: cst.Call) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """The places that a call writes to, and whether each is a folder."""
    name, last = draft.resolve(call.func), tail(call.func)
    for keyword in (*_KEYWORDS, *(_HANDED if is_elsewhere(draft, call) else ())):
        named = argument(call, keyword)
        if named is not None:
            yield named.value, True
    project = argument(call, "project")
    if project is not None and last in _RUNS and "ultralytics" in draft.names.roots:
        yield project.value, True
    has_folder = argument(call, "save_dir") is not None and not is_elsewhere(draft, call)
    is_light = name.startswith(_LIGHTNING) or has_folder
    place: tuple[int, str] | None = None
    is_folder = True
    if last == "ModelCheckpoint" and name.startswith(_LIGHTNING):
        place = (0, "") if argument(call, "dirpath") is None else None
    elif last == "CSVLogger" and is_light:
        place = (0, "save_dir")
    elif last in _FOLDERS or _PRETRAINED.fullmatch(last):
        place = _FOLDERS.get(last, (0, "save_directory"))
    elif name in _NAMED or (last in _FILES and not name.startswith("mindspore.") and not _is_own_saver(call)):
        place, is_folder = _NAMED.get(name) or _FILES[last], False
    elif last in ("save", "write") and _is_prefixed(draft, call):
        place, is_folder = (0, "file_prefix"), False
    elif last == "save" and is_saved(draft, call):
        place, is_folder = (0, _keyword(call)), False
    elif last == "write" and _writes_itself(draft, call):
        place, is_folder = (0, "filename"), False
    owner = call.func.value if isinstance(call.func, cst.Attribute) else None
    if place is not None and draft.may_be_ours(call) and not (owner is not None and _is_made(draft, owner)):
        return  # its body tells
    if place is not None:
        named = argument(call, place[1]) if place[1] else None
        path = named.value if named is not None else positional(call, place[0])
        if path is not None:
            yield path, is_folder


def _writes_itself(draft: Draft, call: cst.Call) -> bool:
    owner = dotted(call.func.value) if isinstance(call.func, cst.Attribute) else ""
    return bool(owner) and any(
        isinstance(node, cst.Assign) and isinstance(node.value, cst.Call)
        and draft.resolve(node.value.func) in _WRITING and any(dotted(each.target) == owner for each in node.targets)
        for node in draft.nodes
    )  # fmt: skip


def _is_own_saver(call: cst.Call) -> bool:
    """`save_checkpoint(state, is_best, "x.pth")`: what is no method of a Trainer takes its place anywhere."""
    return tail(call.func) == "save_checkpoint" and isinstance(call.func, cst.Name)


def is_elsewhere(draft: Draft, call: cst.Call) -> bool:
    """Whether what is called stands in another file that is no library."""
    name = draft.resolve(call.func).lstrip(".")
    return "." in name and not is_library(name)


def takes_over(draft: Draft, call: cst.Call) -> bool:
    """Whether no other rule may speak of a call: Lightning's classes are called as those of Keras."""
    return draft.resolve(call.func).startswith(_LIGHTNING) and tail(call.func) in ("ModelCheckpoint", "CSVLogger")


def _is_prefixed(draft: Draft, call: cst.Call) -> bool:
    """`checkpoint.save("run/ckpt")` of TensorFlow 2, which puts a number behind it: that is no folder."""
    if argument(call, "file_prefix") is not None:
        return True
    name = dotted(call.func.value) if isinstance(call.func, cst.Attribute) else ""
    return bool(name) and any(
        isinstance(node, cst.Assign) and isinstance(node.value, cst.Call)
        and draft.resolve(node.value.func) in ("tensorflow.train.Checkpoint", "tensorflow.compat.v1.train.Checkpoint")
        and any(dotted(target.target) == name for target in node.targets)
        for node in draft.nodes
    )  # fmt: skip


def _keyword(call: cst.Call) -> str:
    return next((each for each in ("filepath", "fp", "path") if argument(call, each) is not None), "")


def is_saved(draft: Draft, call: cst.Call) -> bool:
    """Whether `.save` is told a path: by what it is called on, where that comes from, or by the path itself."""
    if not isinstance(call.func, cst.Attribute) or draft.resolve(call.func).count(".") == 1:
        return False  # `torch.save` and the like are functions of a module
    owner = call.func.value
    path = argument(call, _keyword(call)) or (call.args[0] if call.args else None)
    if path is None or path.star:
        return False
    is_alone = len([arg for arg in call.args if arg.keyword is None]) < 2
    if isinstance(path.value, cst.SimpleString) and _PLACE.match(inner(path.value)):
        return True  # whatever else it is told
    if is_alone and (_SUFFIX.search(draft.source(path.value)) or _MODEL.search(tail(owner))):
        return True
    return is_alone and (_is_made(draft, owner) or _is_trained(draft, owner))


def _is_made(draft: Draft, owner: cst.BaseExpression) -> bool:
    """`generator = Sequential()`, `Image.fromarray(x)`, `net = Net()` of a class that is a model."""
    if isinstance(owner, cst.Call):
        return _makes(draft, owner)
    name = dotted(owner)
    return any(
        isinstance(node.value, cst.Call)
        and any(dotted(target.target) == name for target in node.targets)
        and _makes(draft, node.value)
        for node in draft.all_assigns
    )


def _makes(draft: Draft, call: cst.Call) -> bool:
    last = tail(call.func)
    bases = [tail(base.value) for node in draft.of(cst.ClassDef) if node.name.value == last for base in node.bases]
    return last in _MAKERS or any(base in _MAKERS for base in bases)


def _is_trained(draft: Draft, owner: cst.BaseExpression) -> bool:
    name = dotted(owner)
    return bool(name) and any(
        isinstance(call.func, cst.Attribute) and call.func.attr.value in _TRAINING and dotted(call.func.value) == name
        for call in draft.calls()
    )
