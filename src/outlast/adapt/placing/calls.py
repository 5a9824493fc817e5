"""Calls that take a path, by their names: which argument holds it. What each path is for stands in `sinks`."""

from __future__ import annotations

import re

from outlast.adapt.needs import Role

#: full name → (place of the path, its keyword)
READS = {
    "numpy.load": (0, "file"), "numpy.loadtxt": (0, "fname"), "numpy.genfromtxt": (0, "fname"),
    "numpy.fromfile": (0, "file"), "numpy.memmap": (0, "filename"), "h5py.File": (0, "name"), "cv2.imread": (0, ""),
    "cv2.VideoCapture": (0, ""),
    "PIL.Image.open": (0, ""), "scipy.io.loadmat": (0, ""), "scipy.sparse.load_npz": (0, "file"),
    "gzip.open": (0, "filename"), "bz2.open": (0, "filename"), "lzma.open": (0, "filename"), "glob.glob": (0, ""),
    "glob.iglob": (0, ""), "tensorflow.data.TFRecordDataset": (0, "filenames"), "sqlite3.connect": (0, "database"),
    "tensorflow.io.read_file": (0, ""), "tensorflow.io.gfile.GFile": (0, ""), "tensorflow.gfile.GFile": (0, ""),
    "tensorflow.data.Dataset.list_files": (0, ""), "tensorflow.data.TextLineDataset": (0, "filenames"),
    "tensorflow.io.gfile.glob": (0, ""), "mindspore.dataset.MindDataset": (0, "dataset_files"),
    "idx2numpy.convert_from_file": (0, ""),
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
READ_FOLDERS = {
    "os.listdir": (0, "path"), "os.scandir": (0, "path"), "os.walk": (0, "top"), "datasets.load_from_disk": (0, ""),
    "sklearn.datasets.load_files": (0, "container_path"),
    "imutils.paths.list_images": (0, "basePath"), "imutils.paths.list_files": (0, "basePath"),
    "tensorflow.data.experimental.load": (0, "path"), "tensorflow.data.Dataset.load": (0, "path"),
    **{
        f"{root}.{kind}_dataset_from_directory": (0, "directory")
        for root in ("keras.utils", "tensorflow.keras.utils", "tensorflow.keras.preprocessing", "keras.preprocessing")
        for kind in ("image", "text", "audio", "timeseries")
    },
}  # fmt: skip
WEIGHTS = {
    "torch.load": (0, "f"), "joblib.load": (0, "filename"), "mindspore.load_checkpoint": (0, "ckpt_file_name"),
    "mindspore.train.serialization.load_checkpoint": (0, "ckpt_file_name"), "torch.jit.load": (0, "f"),
    "tensorflow.keras.models.load_model": (0, "filepath"), "keras.models.load_model": (0, "filepath"),
    "safetensors.torch.load_file": (0, "filename"), "paddle.load": (0, "path"), "fasttext.load_model": (0, "path"),
    **{
        f"gensim.models.{module}{name}.{method}": (0, "fname")
        for name in ("Word2Vec", "FastText", "Doc2Vec", "KeyedVectors") for module in ("", f"{name.lower()}.")
        for method in ("load", "load_word2vec_format")
    },
}  # fmt: skip
WRITES = {
    "numpy.save": (0, "file"), "numpy.savez": (0, "file"), "numpy.savez_compressed": (0, "file"),
    "numpy.savetxt": (0, "fname"), "torch.save": (1, "f"), "torch.jit.save": (1, "f"), "joblib.dump": (1, "filename"),
    "cv2.imwrite": (0, ""), "matplotlib.pyplot.savefig": (0, "fname"), "logging.FileHandler": (0, "filename"),
    "logging.basicConfig": (9, "filename"), "mindspore.save_checkpoint": (1, "ckpt_file_name"),
    "mindspore.train.serialization.save_checkpoint": (1, "ckpt_file_name"), "safetensors.torch.save_file": (1, ""),
    "torchvision.utils.save_image": (1, "fp"), "torch.onnx.export": (2, "f"), "scipy.io.savemat": (0, ""),
    "imageio.imwrite": (0, ""), "mindspore.export": (99, "file_name"),
    "mindspore.train.serialization.export": (99, "file_name"),
}  # fmt: skip
WRITE_FOLDERS = {
    "os.makedirs": (0, "name"), "os.mkdir": (0, "path"), "tensorflow.summary.create_file_writer": (0, "logdir"),
    "tensorflow.summary.FileWriter": (0, "logdir"), "tensorflow.io.gfile.makedirs": (0, "path"),
    "tensorflow.gfile.MakeDirs": (0, ""), "tensorflow.saved_model.save": (1, "export_dir"),
}  # fmt: skip
#: what a generation of TensorFlow has under its own name as well
COMPAT = re.compile(r"^tensorflow\.compat\.v[12]\.")
#: readers that write when their second argument says so
OPENERS = frozenset({"GFile", "File", "open", "ZipFile", "HDFStore"})
#: folders that their call makes itself
STATE_FOLDERS = {
    f"{root}.{name}": (place, "model_dir")
    for root in ("tensorflow.estimator", "tensorflow.compat.v1.estimator")
    for name, place in (("RunConfig", 0), ("Estimator", 1))
} | {"tensorflow.data.experimental.save": (1, "path"), "wandb.init": (99, "dir")}
ASKS = {
    "os.path.exists": (0, ""), "os.path.isfile": (0, ""), "os.path.isdir": (0, ""), "os.remove": (0, ""),
    "os.path.getsize": (0, ""), "shutil.rmtree": (0, "path"), "os.chdir": (0, "path"),
    **{
        f"tensorflow.{module}.{name}": (0, "")
        for module in ("gfile", "io.gfile", "compat.v1.gfile")
        for name in ("Exists", "exists", "IsDirectory", "isdir", "DeleteRecursively", "rmtree")
    },
}  # fmt: skip
#: from somewhere to a result
MOVES = frozenset({"os.replace", "os.rename", "shutil.move", "shutil.copy", "shutil.copy2", "shutil.copyfile"})
#: likewise, of whole folders: (place, keyword) of each
FOLDER_MOVES = {
    "shutil.copytree": ((0, "src"), (1, "dst")), "shutil.make_archive": ((2, "root_dir"), (0, "base_name")),
}  # fmt: skip
#: the last word alone tells, whatever it is called on: (place, keyword, role, is a folder)
METHODS = {
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
    "get_checkpoint_state": (0, "checkpoint_dir", Role.WEIGHTS, True),
    "flow_from_directory": (0, "directory", Role.DATA, True), "ImageFolder": (0, "root", Role.DATA, True),
    "DatasetFolder": (0, "root", Role.DATA, True), "read_data_sets": (0, "train_dir", Role.DATA, True),
}  # fmt: skip
#: methods of a path itself
PATH_METHODS = {
    "read_text": Role.DATA, "read_bytes": Role.DATA, "glob": Role.DATA, "rglob": Role.DATA, "iterdir": Role.DATA,
    "write_text": Role.OUTPUT, "write_bytes": Role.OUTPUT, "mkdir": Role.OUTPUT, "exists": None, "is_file": None,
    "is_dir": None,
}  # fmt: skip
FOLDER_METHODS = frozenset({"glob", "rglob", "iterdir", "mkdir"})
#: places of Lightning that default_root_dir does not move
LIGHTNING = {
    "ModelCheckpoint": "dirpath", "TensorBoardLogger": "save_dir", "CSVLogger": "save_dir", "WandbLogger": "save_dir",
}  # fmt: skip
