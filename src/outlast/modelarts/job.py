"""A training job of ModelArts, whichever document it was read from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

_SECRET_NAME = re.compile(r"token|secret|passw|credential|(?:api|access|private)[_-]?key", re.IGNORECASE)
_SECRET_KEY = re.compile(r"^(?:ak|sk)$|(?:^|_)(?:ak|sk)$", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"://[^/\s@]*:[^/\s@]+@")  # an address with a password in it


def looks_secret(name: str, value: str = "") -> bool:
    """Whether a field must not be written down: by its name, or because its value is an address with a password."""
    return bool(_SECRET_NAME.search(name) or _SECRET_KEY.search(name) or _SECRET_VALUE.search(value))


class Channel(NamedTuple):
    """A named input or output."""

    name: str
    address: str  # obs://bucket/path; empty: only the platform knows where it is
    note: str = ""  # what a reader should know of it


@dataclass(frozen=True)
class TrainingJob:
    """What a job document says, in one form. Values that look like secrets are not in here, only their names."""

    kind: str  # v1, v2 or ToolKit
    contract: str  # modelarts-v1: addresses are passed; modelarts: folders are
    boot: str  # the boot file, relative to the code
    code: str = ""  # obs:// address of the code, or the ToolKit's local folder
    name: str = ""
    description: str = ""
    args: tuple[str, ...] = ()
    engine: str = ""
    image: str = ""
    flavor: str = ""
    nodes: int = 1
    params: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[Channel, ...] = ()
    outputs: tuple[Channel, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()  # variables whose values were left out
    hidden: tuple[str, ...] = ()  # parameters whose values were left out
    log: str = ""
    limit_h: int | None = None
    retries: int | None = None
    notices: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()  # known fields that mean nothing here
    unknown: tuple[str, ...] = ()  # fields that ModelArts does not document

    @property
    def buckets(self) -> list[str]:
        """Every bucket that the job names, as `obs://bucket`."""
        places = [self.code, self.log, *(each.address for each in (*self.inputs, *self.outputs))]
        return list(dict.fromkeys("/".join(place.split("/")[:3]) for place in places if place.startswith("obs://")))
