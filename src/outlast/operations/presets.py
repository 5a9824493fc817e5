"""`outlast init --like NAME`: an outlast.toml for a way of working that people know from elsewhere."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from outlast.errors import SpecError
from outlast.modelarts.fields import obs_address
from outlast.operations.problems import guess
from outlast.operations.tomltext import TomlText

#: The value of the tutorial's CONTINUE_ITERS that means: one hour, and tell me how far it comes.
MEASURE = "-1"


class Asked(NamedTuple):
    """What a preset may be told."""

    folder: Path
    script: str | None = None
    bucket: str | None = None  # a place in OBS, as an address or as forms write it
    stints: str | None = None


@dataclass(frozen=True)
class Preset:
    """A file to write, and the commands that come after it, each with its reason after #."""

    text: str
    steps: tuple[str, ...]


def make_preset(name: str, asked: Asked) -> Preset:
    """The file of a preset. `SpecError` lists the presets that there are, or names the value that is wrong."""
    if name not in PRESETS:
        known = "; ".join(f"{each}: {sentence}" for each, (sentence, _) in PRESETS.items())
        raise SpecError(f"unknown preset {name!r}{guess(name, PRESETS) or ';'} there is {known}")
    return PRESETS[name][1](asked)


def _free_train(asked: Asked) -> Preset:
    place = _place(asked.bucket or "obs://my-bucket/free_train")
    bucket = "/".join(place.split("/")[:3])
    measure = asked.stints == MEASURE
    toml = TomlText()
    toml.note(
        "free-train: many jobs of one hour and one last_epoch.ckpt in OBS, which each of them reads when it starts and "
        "writes after every epoch. The command line wins over this file."
    )
    toml.table("run")
    toml.key("script", asked.script or "train.py", f"this folder is the code; nothing has to lie in {place}/code")
    toml.key("name", "free-train")
    toml.key("contract", "modelarts-v1", "the script gets addresses in OBS and copies with moxing, as on ModelArts")
    toml.key("limit", "1h", "a free machine is taken away after an hour")
    toml.key("stints", *_stints(asked.stints))
    toml.key("drop_unknown", True, "options of ModelArts that the script does not know are not passed")
    toml.key("ma_log", True, f"the log appears in MA_LOG beside the script, instead of in {place}/log")
    toml.table("data", "passed as --data_url")
    toml.key("data_url", f"{place}/data")
    toml.table("outputs", "passed as --train_url; last_epoch.ckpt and the results belong there")
    toml.key("train_url", f"{place}/out")
    folder = shlex.quote(str(asked.folder))
    # Not in the code folder: everything there would be packed with every run.
    player = shlex.quote(str(asked.folder.absolute().parent / bucket.partition("://")[2]))
    steps = [
        f"outlast store map {bucket} {player}  # a folder plays the bucket; or: outlast login obs",
        f"outlast cp ./data {place}/data  # the data, once",
        f"outlast probe {folder}  # how many epochs fit into an hour",
        f"outlast run {folder}" + ("" if measure else "  # hour after hour"),
    ]
    return Preset(str(toml), tuple(steps))


def _place(text: str) -> str:
    try:
        return obs_address(text)
    except ValueError as error:
        raise SpecError(f"--bucket {text!r} {error}") from None


def _stints(text: str | None) -> tuple[int | str, str]:
    words = "CONTINUE_ITERS: stop after so many hours, finished or not"
    if text == MEASURE:
        return 1, f"{words}; it was -1: outlast probe says how many epochs fit into one, then change this"
    if text is None or text == "auto":
        return "auto", f"{words}; auto: as many as it takes"
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise SpecError(
            f"--stints {text!r}: not a number of stints", hint="write a number from 1, auto, or -1 to measure"
        )
    return int(text), words


#: name -> what it is, how its file is made
PRESETS: dict[str, tuple[str, Callable[[Asked], Preset]]] = {
    "free-train": ("many one-hour jobs on ModelArts that share one last_epoch.ckpt", _free_train),
}
