"""What `outlast probe` measured, kept for the plans of later runs. It lies in the cache: losing it costs a probe."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from outlast.inside.records import now_text
from outlast.keeper.home import Home
from outlast.model.spec import RunSpec
from outlast.operations.forecast import Measured


@dataclass(frozen=True)
class Probe:
    """One measurement of a script."""

    measured: Measured
    total: float | None  # units that the script named
    at: str
    arguments: tuple[str, ...] = ()


class Probes:
    """The newest measurement of each script of a home."""

    def __init__(self, home: Home) -> None:
        self._folder = home.cache / "probes"

    def keep(self, spec: RunSpec, measured: Measured, total: float | None) -> None:
        """Write a measurement down; a full disk must not spoil the probe itself."""
        probe = Probe(measured, total, now_text(), arguments_of(spec))
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            path = self._path(spec)
            aside = path.with_suffix(".new")
            aside.write_text(json.dumps(dataclasses.asdict(probe)), encoding="utf-8")
            aside.replace(path)

    def find(self, spec: RunSpec) -> Probe | None:
        """The measurement of this run's script, whatever its arguments were then."""
        try:
            body = json.loads(self._path(spec).read_text(encoding="utf-8"))
            return Probe(Measured(**body["measured"]), body["total"], body["at"], tuple(body["arguments"]))
        except (OSError, ValueError, KeyError, TypeError):  # none, or of another version
            return None

    def _path(self, spec: RunSpec) -> Path:
        name = hashlib.sha256(f"{spec.code_folder}\n{spec.script}".encode()).hexdigest()[:32]
        return self._folder / f"{name}.json"


def arguments_of(spec: RunSpec) -> tuple[str, ...]:
    """Everything that is passed to the script, parameters first."""
    return (*(f"--{name}={value}" for name, value in spec.params.items()), *spec.args)
