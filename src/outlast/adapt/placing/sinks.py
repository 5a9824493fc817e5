"""Calls through which a script touches files: what each path is for, and which argument holds it."""

from __future__ import annotations

import builtins
import re
from dataclasses import dataclass, replace

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.libraries import TRAINING_ARGUMENTS, is_library
from outlast.adapt.needs import Role
from outlast.adapt.placing.fetchers import KERAS_MODEL, takes_known_name
from outlast.adapt.placing.hub_files import is_told_folder
from outlast.adapt.placing.keywords import handed_over, told_by_name
from outlast.adapt.placing.writers import is_elsewhere, takes_over, written
from outlast.adapt.whole import roots_of
from outlast.migrate.tree import argument, dotted, inner, positional, tail

#: the function that `delivered` adds to a script
HELPER = "find_delivered"


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


#: full name → (place of the path, its keyword)
_READS = {
    "numpy.load": (0, "file"), "numpy.loadtxt": (0, "fname"), "numpy.genfromtxt": (0, "fname"),
    "numpy.fromfile": (0, "file"), "numpy.memmap": (0, "filename"), "h5py.File": (0, "name"), "cv2.imread": (0, ""),
    "PIL.Image.open": (0, ""), "scipy.io.loadmat": (0, ""), "scipy.sparse.load_npz": (0, "file"),
    "gzip.open": (0, "filename"), "bz2.open": (0, "filename"), "lzma.open": (0, "filename"), "glob.glob": (0, ""),
    "glob.iglob": (0, ""), "tensorflow.data.TFRecordDataset": (0, "filenames"), "sqlite3.connect": (0, "database"),
    "tensorflow.io.read_file": (0, ""), "tensorflow.io.gfile.GFile": (0, ""), "tensorflow.gfile.GFile": (0, ""),
    "tensorflow.data.Dataset.list_files": (0, ""), "tensorflow.data.TextLineDataset": (0, "filenames"),
    "tensorflow.io.gfile.glob": (0, ""), "mindspore.dataset.MindDataset": (0, "dataset_files"),
    "mindspore.dataset.TFRecordDataset": (0, "dataset_files"), "mindspore.dataset.CSVDataset": (0, "dataset_files"),
    "mindspore.dataset.TextFileDataset": (0, "dataset_files"), "mindspore.dataset.CLUEDataset": (0, "dataset_files"),
    "torchaudio.load": (0, ""), "zipfile.ZipFile": (0, "file"), "tarfile.open": (0, "name"),
    "shutil.unpack_archive": (0, "filename"),
    "sklearn.datasets.load_svmlight_file": (0, "f"), "librosa.load": (0, "path"), "soundfile.read": (0, "file"),
    "nibabel.load": (0, "filename"), "pydicom.dcmread": (0, "fp"), "SimpleITK.ReadImage": (0, "fileName"),
    "pycocotools.coco.COCO": (0, "annotation_file"),
    "pandas.ExcelFile": (0, "path_or_buffer"), "pandas.HDFStore": (0, "path"),
    "openpyxl.load_workbook": (0, "filename"),
    "xlrd.open_workbook": (0, "filename"), "pyarrow.parquet.read_table": (0, "source"), "wave.open": (0, "f"),
    "rasterio.open": (0, "fp"), "scipy.io.wavfile.read": (0, "filename"), "torchvision.io.read_image": (0, "path"),
    **{f"IPython.display.{name}": (0, "filename") for name in ("Image", "Audio", "Video")},
}  # fmt: skip
_READ_FOLDERS = {
    "os.listdir": (0, "path"), "os.scandir": (0, "path"), "os.walk": (0, "top"), "datasets.load_from_disk": (0, ""),
    "sklearn.datasets.load_files": (0, "container_path"),
    "tensorflow.data.experimental.load": (0, "path"), "tensorflow.data.Dataset.load": (0, "path"),
    **{
        f"{root}.{kind}_dataset_from_directory": (0, "directory")
        for root in ("keras.utils", "tensorflow.keras.utils", "tensorflow.keras.preprocessing", "keras.preprocessing")
        for kind in ("image", "text", "audio", "timeseries")
    },
}  # fmt: skip
_WEIGHTS = {
    "torch.load": (0, "f"), "joblib.load": (0, "filename"), "mindspore.load_checkpoint": (0, "ckpt_file_name"),
    "mindspore.train.serialization.load_checkpoint": (0, "ckpt_file_name"), "torch.jit.load": (0, "f"),
    "tensorflow.keras.models.load_model": (0, "filepath"), "keras.models.load_model": (0, "filepath"),
    "safetensors.torch.load_file": (0, "filename"), "paddle.load": (0, "path"),
}  # fmt: skip
_WRITES = {
    "numpy.save": (0, "file"), "numpy.savez": (0, "file"), "numpy.savez_compressed": (0, "file"),
    "numpy.savetxt": (0, "fname"), "torch.save": (1, "f"), "torch.jit.save": (1, "f"), "joblib.dump": (1, "filename"),
    "cv2.imwrite": (0, ""), "matplotlib.pyplot.savefig": (0, "fname"), "logging.FileHandler": (0, "filename"),
    "logging.basicConfig": (9, "filename"), "mindspore.save_checkpoint": (1, "ckpt_file_name"),
    "mindspore.train.serialization.save_checkpoint": (1, "ckpt_file_name"), "safetensors.torch.save_file": (1, ""),
    "torchvision.utils.save_image": (1, "fp"), "torch.onnx.export": (2, "f"), "scipy.io.savemat": (0, ""),
    "imageio.imwrite": (0, ""), "mindspore.export": (99, "file_name"),
    "mindspore.train.serialization.export": (99, "file_name"),
}  # fmt: skip
_WRITE_FOLDERS = {
    "os.makedirs": (0, "name"), "os.mkdir": (0, "path"), "tensorflow.summary.create_file_writer": (0, "logdir"),
    "tensorflow.summary.FileWriter": (0, "logdir"), "tensorflow.io.gfile.makedirs": (0, "path"),
    "tensorflow.gfile.MakeDirs": (0, ""), "tensorflow.saved_model.save": (1, "export_dir"),
}  # fmt: skip
#: what a generation of TensorFlow has under its own name as well
_COMPAT = re.compile(r"^tensorflow\.compat\.v[12]\.")
#: readers that write when their second argument says so
_OPENERS = frozenset({"GFile", "File", "open", "ZipFile", "HDFStore"})
#: folders that their call makes itself
_STATE_FOLDERS = {
    f"{root}.{name}": (place, "model_dir")
    for root in ("tensorflow.estimator", "tensorflow.compat.v1.estimator")
    for name, place in (("RunConfig", 0), ("Estimator", 1))
} | {"tensorflow.data.experimental.save": (1, "path"), "wandb.init": (99, "dir")}
_ASKS = {
    "os.path.exists": (0, ""), "os.path.isfile": (0, ""), "os.path.isdir": (0, ""), "os.remove": (0, ""),
    "os.path.getsize": (0, ""), "shutil.rmtree": (0, "path"), "os.chdir": (0, "path"),
    **{
        f"tensorflow.{module}.{name}": (0, "")
        for module in ("gfile", "io.gfile", "compat.v1.gfile")
        for name in ("Exists", "exists", "IsDirectory", "isdir", "DeleteRecursively", "rmtree")
    },
}  # fmt: skip
#: from somewhere to a result
_MOVES = frozenset({"os.replace", "os.rename", "shutil.move", "shutil.copy", "shutil.copy2", "shutil.copyfile"})
#: likewise, of whole folders: (place, keyword) of each
_FOLDER_MOVES = {
    "shutil.copytree": ((0, "src"), (1, "dst")), "shutil.make_archive": ((2, "root_dir"), (0, "base_name")),
}  # fmt: skip
#: the last word alone tells, whatever it is called on: (place, keyword, role, is a folder)
_METHODS = {
    "to_csv": (0, "path_or_buf", Role.OUTPUT, False), "to_parquet": (0, "path", Role.OUTPUT, False),
    "to_pickle": (0, "path", Role.OUTPUT, False), "to_json": (0, "path_or_buf", Role.OUTPUT, False),
    "imread": (0, "fname", Role.DATA, False),
    "savefig": (0, "fname", Role.OUTPUT, False), "save_weights": (0, "filepath", Role.OUTPUT, False),
    "save_pretrained": (0, "save_directory", Role.OUTPUT, True), "save_model": (0, "fname", Role.OUTPUT, False),
    "SummaryWriter": (0, "log_dir", Role.OUTPUT, True), "TensorBoard": (0, "log_dir", Role.OUTPUT, True),
    "SummaryCollector": (0, "summary_dir", Role.OUTPUT, True), "SummaryRecord": (0, "log_dir", Role.OUTPUT, True),
    "Trainer": (99, "default_root_dir", Role.OUTPUT, True), "DiskSaver": (0, "dirname", Role.OUTPUT, True),
    "CSVLogger": (0, "filename", Role.OUTPUT, False), "load_weights": (0, "filepath", Role.WEIGHTS, False),
    "from_pretrained": (0, "pretrained_model_name_or_path", Role.WEIGHTS, True),
    "load_img": (0, "path", Role.DATA, False), "latest_checkpoint": (0, "checkpoint_dir", Role.WEIGHTS, True),
    "flow_from_directory": (0, "directory", Role.DATA, True), "ImageFolder": (0, "root", Role.DATA, True),
    "DatasetFolder": (0, "root", Role.DATA, True), "read_data_sets": (0, "train_dir", Role.DATA, True),
}  # fmt: skip
#: methods of a path itself
_PATH_METHODS = {
    "read_text": Role.DATA, "read_bytes": Role.DATA, "glob": Role.DATA, "rglob": Role.DATA, "iterdir": Role.DATA,
    "write_text": Role.OUTPUT, "write_bytes": Role.OUTPUT, "mkdir": Role.OUTPUT, "exists": None, "is_file": None,
    "is_dir": None,
}  # fmt: skip
_FOLDER_METHODS = frozenset({"glob", "rglob", "iterdir", "mkdir"})
#: places of Lightning that default_root_dir does not move
_LIGHTNING = {
    "ModelCheckpoint": "dirpath", "TensorBoardLogger": "save_dir", "CSVLogger": "save_dir", "WandbLogger": "save_dir",
}  # fmt: skip
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


def find_sinks(draft: Draft) -> list[Sink]:
    """Every path argument of the file, in source order."""
    found = []
    ours = [node for function in draft.functions() if _is_ours(draft, function) for node in draft.below(function)]
    added = {id(node) for node in ours}
    for call in draft.calls():
        if id(call) in added:
            continue
        if (name := draft.resolve(call.func)) in _MOVES or name in _FOLDER_MOVES:
            (before, source), (after, target) = _FOLDER_MOVES.get(name, ((0, "src"), (1, "dst")))
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
            places.append(sink)
        found += places or _guesses(draft, call)
    return found


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
    plain = _COMPAT.sub("tensorflow.", name)
    for table, role, is_folder in (
        (_READS, Role.DATA, False), (_READ_FOLDERS, Role.DATA, True), (_WEIGHTS, Role.WEIGHTS, False),
        (_WRITES, Role.OUTPUT, False), (_WRITE_FOLDERS, Role.OUTPUT, True),
        (_STATE_FOLDERS, Role.OUTPUT, True), (_ASKS, None, False),
    ):  # fmt: skip
        place = table.get(name) or table.get(plain)
        if place is not None:
            is_written = table is _READS and last in _OPENERS and _writes(call)
            return _at(call, *place, Role.OUTPUT if is_written else role, is_folder, makes=table is _WRITE_FOLDERS)
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
    if last in _LIGHTNING and (name.startswith(("lightning", "pytorch_lightning")) or argument(call, _LIGHTNING[last])):
        return _at(call, 0 if last != "WandbLogger" else 1, _LIGHTNING[last], Role.OUTPUT, True)
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
    if last in _METHODS and not is_own and not is_function and not takes_known_name(draft, call):
        return _at(call, *_METHODS[last])
    if not isinstance(call.func, cst.Attribute):
        return None
    if last == "extractall":
        return _at(call, 0, "path", None, True)  # where that is, is for those to say that read there
    owner = tail(call.func.value)
    if last in ("save", "restore") and _SAVERS.search(owner.lower()):
        return _at(call, 1, "save_path", Role.OUTPUT if last == "save" else Role.WEIGHTS, False)
    if last in _PATH_METHODS and _is_path(draft, call.func.value):
        role = _PATH_METHODS[last]
        return Sink(call, call.func.value, role, last in _FOLDER_METHODS, makes=last == "mkdir")
    if last == "open" and _is_path(draft, call.func.value):
        mode = inner(positional(call, 0))
        return Sink(call, call.func.value, Role.OUTPUT if set(mode) & set("wax") else Role.DATA)
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


def _writes(call: cst.Call) -> bool:
    named = argument(call, "mode")
    mode = inner(named.value if named else positional(call, 1))
    return bool(set(mode) & set("wax"))
