"""Runs a script with libraries that only note where they are told to write and read."""

from __future__ import annotations

import builtins
import contextlib
import io
import os
import sys
import types
from dataclasses import dataclass, field
from pathlib import Path

#: how calls of the stand-ins take their path: (place, keyword, whether it is a folder that they make themselves)
_FILES = {
    "save": (1, "f"), "load": (0, "f"), "save_image": (1, "fp"), "savefig": (0, "fname"), "to_csv": (0, "path_or_buf"),
    "save_weights": (0, "filepath"), "load_weights": (0, "filepath"), "load_model": (0, "filepath"),
    "ModelCheckpoint": (0, "filepath"), "CSVLogger": (0, "filename"), "imsave": (0, "fname"), "imwrite": (0, ""),
    "save_model": (0, "fname"), "dump": (1, "filename"), "FileHandler": (0, "filename"), "save_state": (0, ""),
    "save_checkpoint": (0, "filepath"), "write_video": (0, "filename"), "write_html": (0, ""),
}  # fmt: skip
_FOLDERS = {
    "TensorBoardLogger": (0, "save_dir"), "WandbLogger": (1, "save_dir"), "SummaryWriter": (0, "log_dir"),
    "TensorBoard": (0, "log_dir"), "save_pretrained": (0, "save_directory"), "CheckpointManager": (1, "directory"),
    "BackupAndRestore": (0, "backup_dir"),
}  # fmt: skip


@dataclass
class Record:
    """What was written and read, in order: the paths as they were handed over."""

    paths: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # whose folder did not exist

    def note(self, path: object, *, is_folder: bool = False) -> None:
        if not isinstance(path, str | os.PathLike):
            return
        text = os.fspath(path)
        self.paths.append(text)
        if not is_folder and not Path(text).parent.is_dir():
            self.missing.append(text)


class _Thing:
    """Whatever a library offers: calling it gives another one, and notes a path where its name says so."""

    def __init__(self, record: Record, name: str, home: str = "") -> None:
        self._record, self._name, self._home = record, name, home
        self.__name__ = name

    def __getattr__(self, name: str) -> _Thing:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Thing(self._record, name, f"{self._home}.{self._name}" if self._home else self._name)

    def __call__(self, *given: object, **named: object) -> _Thing:
        is_light = "lightning" in self._home
        for keyword in (
            "dirpath",
            "logging_dir",
            "output_dir",
            "default_root_dir",
            "save_dir",
            "summary_dir",
            "directory",
        ):
            if keyword in named:
                self._record.note(named[keyword], is_folder=True)
        if self._name in _FOLDERS or (self._name == "CSVLogger" and is_light):
            self._note(given, named, *_FOLDERS.get(self._name, (0, "save_dir")), is_folder=True)
        elif self._name in _FILES and not (is_light and self._name == "ModelCheckpoint"):
            place, keyword = _FILES[self._name]
            is_own = self._name == "save" and len(given) < 2 and "f" not in named  # a method of what is saved
            self._note(given, named, 0 if is_own else place, "filepath" if is_own else keyword, is_folder=False)
        return _Thing(self._record, "made", f"{self._home}.{self._name}")

    def _note(self, given: tuple, named: dict, place: int, keyword: str, *, is_folder: bool) -> None:
        if keyword in ("save_dir", "directory") and keyword in named:
            return  # noted already
        value = named.get(keyword, given[place] if len(given) > place else None)
        self._record.note(value, is_folder=is_folder)

    def __iter__(self):
        return iter(())

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __add__(self, other: object) -> _Thing:
        return self

    def __mro_entries__(self, bases: tuple) -> tuple:
        return (object,)


class _Module(types.ModuleType):
    def __init__(self, record: Record, name: str) -> None:
        super().__init__(name)
        self.__dict__["_thing"] = _Thing(record, name)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__["_thing"], name)


_STOOD_IN = (
    "torch torch.utils torch.utils.tensorboard torchvision torchvision.utils tensorflow tensorflow.keras keras "
    "keras.models keras.layers keras.callbacks pytorch_lightning pytorch_lightning.loggers pytorch_lightning.callbacks "
    "transformers matplotlib matplotlib.pyplot cv2 joblib parts pandas tensorflow.keras.models "
    "tensorflow.keras.callbacks PIL accelerate lightning lightning.pytorch lightning.pytorch.loggers"
).split()


def run_recorded(text: str, cwd: Path, *argv: str) -> Record:
    """Run it as `python script.py argv` in a folder."""
    record = Record()
    before = Path.cwd(), sys.argv, {name: sys.modules.get(name) for name in _STOOD_IN}, builtins.open
    real = builtins.open

    def noting(path, mode="r", *rest, **named):
        if set(mode) & set("wax"):
            record.note(path)
            return io.BytesIO() if "b" in mode else io.StringIO()
        return real(path, mode, *rest, **named)

    try:
        os.chdir(cwd)
        sys.argv = ["script.py", *argv]
        sys.modules.update({name: _Module(record, name) for name in _STOOD_IN})
        builtins.open = noting
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, "script.py", "exec"), {"__name__": "__main__", "__file__": str(cwd / "script.py")})
    finally:
        builtins.open = before[3]
        os.chdir(before[0])
        sys.argv = before[1]
        for name, module in before[2].items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
    return record
