"""Calls that write to a place of their own choice unless they are told one."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.whole import search, words_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, positional, tail

#: last name of the call → (its modules, place of the folder among the arguments, its keyword, what it is by default)
_WRITERS = {
    "ModelCheckpoint": (("mindspore.",), 1, "directory", ""),
    "ValAccMonitor": (("mindvision.",), 6, "ckpt_directory", '"./"'),
    "SummaryWriter": (("torch.utils.tensorboard.", "tensorboardX."), 0, "log_dir", ""),
    "TensorBoard": (("tensorflow.keras.callbacks.", "keras.callbacks."), 0, "log_dir", '"logs"'),
    "Live": (("dvclive.",), 0, "dir", '"dvclive"'),
    "AimLogger": (("aim.",), 0, "repo", ""),
    "DNN": (("tflearn.",), 3, "tensorboard_dir", '"/tmp/tflearn_logs/"'),
}
#: likewise, of a file in the folder where the script runs
_FILES = {
    "plot_model": (("tensorflow.keras.utils.", "keras.utils.", "tf_keras.utils."), 1, "to_file", '"model.png"'),
}
#: library → the variable that tells it a folder, what it writes there by default, and words of who tells it otherwise
_TOLD = {
    "mlflow": ("MLFLOW_TRACKING_URI", "mlruns", {"set_tracking_uri", "MlflowClient"}),
    "wandb": ("WANDB_DIR", "", {"WandbLogger"}),
}  # fmt: skip
#: a list of callbacks, and the like, cannot be looked into
_OPEN = ("*", "**")


@dataclass(frozen=True)
class Implied:
    """Such a call, the keyword that tells it a folder, and the folder without it: empty where that is None."""

    call: cst.Call
    keyword: str
    default: str
    variable: str = ""  # of the environment, for one that takes no keyword

    @property
    def is_here(self) -> bool:
        """Whether it writes to where the script runs, by names that the script may use, too."""
        return self.default in ("", '"./"') and tail(self.call.func) not in ("SummaryWriter", "train")


def find_implied(draft: Draft) -> list[Implied]:
    found = []
    for call in draft.calls():
        is_run = tail(call.func) == "train" and "ultralytics" in draft.names.roots and bool(call.args)
        if is_run and argument(call, "project") is None and argument(call, "data") is not None:
            found += [] if any(arg.star for arg in call.args) else [Implied(call, "project", "")]
            continue
        writer = _WRITERS.get(tail(call.func)) or _FILES.get(tail(call.func))
        if writer is None or any(arg.star in _OPEN for arg in call.args):
            continue
        modules, place, keyword, default = writer
        words = (keyword, keyword.replace("_", ""))  # tensorboardX knows `logdir` as well
        is_told = any(argument(call, each) for each in words) or positional(call, place) is not None
        if not is_told and draft.resolve(call.func).startswith(modules):
            found.append(Implied(call, keyword, default))
    return found + [told for library in _TOLD if (told := _find_told(draft, library)) is not None]


def _find_told(draft: Draft, library: str) -> Implied | None:
    """The first call of a library that writes to a folder of its own, unless the program tells it another."""
    variable, default, words = _TOLD[library]
    calls = [call for call in draft.calls() if draft.resolve(call.func).startswith(f"{library}.")]
    # One that only sends what it is given, or is told a folder, has no place of its own.
    first = next((call for call in calls if library != "wandb" or tail(call.func) == "init"), None)
    is_told = words & words_of(draft) or search(re.compile(variable), draft) is not None
    is_told = is_told or (first is not None and library == "wandb" and argument(first, "dir") is not None)
    return None if first is None or is_told else Implied(first, "", f'"{default}"', variable)


def tell_folders(draft: Draft, writers: list[Implied], value: Value, name: str) -> list[str]:
    """Name the contract's folder to each of them; lines that do so as soon as the value is known."""
    lines = []
    for each in writers:
        if each.variable:
            folder = f"os.path.join(os.path.abspath({value.first}), {each.default})"
            lines += [f"if {value.first}:", f'    os.environ.setdefault("{each.variable}", {folder})']
            draft.need_import("os")
            library = draft.resolve(each.call.func).partition(".")[0]
            draft.say(Kind.CHANGED, "paths", each.call, f"{library} writes to --{name} when it is given")
            continue
        end = draft.span(each.call)[1] - 1
        before = draft.data[:end].rstrip()
        comma = "" if before.endswith((b",", b"(")) else ", "
        given = value.at(each.call) + (f" or {each.default}" if each.default else "")
        if tail(each.call.func) in _FILES:
            given = f'os.path.join({value.at(each.call)} or "", {each.default})'
            draft.need_import("os")
        draft.insert(end, f"{comma}{each.keyword}={given}")
        draft.say(Kind.CHANGED, "paths", each.call, f"{tail(each.call.func)} writes to --{name} when it is given")
    return lines
