"""Calls that write to a place of their own choice unless they are told one."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, positional, tail

#: last name of the call → (its modules, place of the folder among the arguments, its keyword, what it is by default)
_WRITERS = {
    "ModelCheckpoint": (("mindspore.",), 1, "directory", ""),
    "ValAccMonitor": (("mindvision.",), 6, "ckpt_directory", '"./"'),
    "SummaryWriter": (("torch.utils.tensorboard.", "tensorboardX."), 0, "log_dir", ""),
    "TensorBoard": (("tensorflow.keras.callbacks.", "keras.callbacks."), 0, "log_dir", '"logs"'),
    "Live": (("dvclive.",), 0, "dir", '"dvclive"'),
}
#: a list of callbacks, and the like, cannot be looked into
_OPEN = ("*", "**")


@dataclass(frozen=True)
class Implied:
    """Such a call, the keyword that tells it a folder, and the folder without it: empty where that is None."""

    call: cst.Call
    keyword: str
    default: str

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
        writer = _WRITERS.get(tail(call.func))
        if writer is None or any(arg.star in _OPEN for arg in call.args):
            continue
        modules, place, keyword, default = writer
        words = (keyword, keyword.replace("_", ""))  # tensorboardX knows `logdir` as well
        is_told = any(argument(call, each) for each in words) or positional(call, place) is not None
        if not is_told and draft.resolve(call.func).startswith(modules):
            found.append(Implied(call, keyword, default))
    return found


def tell_folders(draft: Draft, writers: list[Implied], value: Value, name: str) -> None:
    """Name the contract's folder to each of them."""
    for each in writers:
        end = draft.span(each.call)[1] - 1
        before = draft.data[:end].rstrip()
        comma = "" if before.endswith((b",", b"(")) else ", "
        given = value.at(each.call) + (f" or {each.default}" if each.default else "")
        draft.insert(end, f"{comma}{each.keyword}={given}")
        draft.say(Kind.CHANGED, "paths", each.call, f"{tail(each.call.func)} writes to --{name} when it is given")
