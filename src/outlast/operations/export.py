"""The metrics of runs, written for other programs."""

from __future__ import annotations

import datetime
import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from outlast.errors import PlatformError, UsageError
from outlast.keeper.observe import RunFolder
from outlast.model.parameters import run_parameters
from outlast.operations.chart import Charted, read_charted
from outlast.operations.locate import locate
from outlast.operations.runs import show_run
from outlast.settings import Settings
from outlast.track.export.source import ExportedRun


@dataclass(frozen=True)
class Format:
    """One thing to export to: who writes it, where to, and what must be installed."""

    writer: str  # module:function
    default: str  # the path when none is named
    place: Literal["file", "folder", "database"]  # a database is a file that is added to
    needs: str = ""  # a module that must be there
    with_replayed: bool = False  # tables have a column for it; elsewhere the two parts would be one zigzag


FORMATS: Mapping[str, Format] = {
    "csv": Format("tables:write_csv", "metrics.csv", "file", with_replayed=True),
    "parquet": Format("tables:write_parquet", "metrics.parquet", "file", "pyarrow", with_replayed=True),
    "tensorboard": Format("tensorboard:write_tensorboard", "tensorboard", "folder"),
    "mlflow": Format("trackers:write_mlflow", "mlflow.db", "database", "mlflow"),
    "aim": Format("trackers:write_aim", "aim", "folder", "aim"),
}


@dataclass(frozen=True)
class Exported:
    """What was written."""

    path: Path
    kind: str
    runs: int
    values: int


def export_runs(
    settings: Settings, refs: Sequence[str], kind: str, target: Path | None = None, *, replayed: bool | None = None,
    force: bool = False, tell: Callable[[str], None] | None = None,
) -> Exported:  # fmt: skip
    """Write all metrics of some runs to a file or a folder.

    Tables hold every point and say which were replayed; elsewhere replayed points are left out unless asked for.
    A file that exists is written over only with `force`; folders and databases are added to.
    """
    known = FORMATS.get(kind)
    if known is None:
        raise UsageError(f"cannot export to {kind!r}", hint=f"one of: {', '.join(FORMATS)}")
    path = target if target is not None else Path(known.default)
    _check_target(path, known, force)
    _check_installed(kind, known)
    charted = read_charted(settings, refs)
    runs = [_exported(settings, one) for one in charted]
    if tell is not None:
        tell(f"writing {sum(len(each.points) for one in charted for each in one.series.values())} values to {path}")
    values = _write(known, runs, path, known.with_replayed if replayed is None else replayed)
    return Exported(path, kind, len(runs), values)


def _write(known: Format, runs: Sequence[ExportedRun], path: Path, replayed: bool) -> int:
    module, _, name = known.writer.partition(":")
    write = getattr(importlib.import_module(f"outlast.track.export.{module}"), name)
    # A file appears when it is whole; the others are added to.
    aside = path.with_name(f".{path.name}.part") if known.place == "file" else path
    try:
        values: int = write(runs, aside, replayed=replayed)
        if aside is not path:
            aside.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", hint="name a place that can be written to") from None
    except Exception as error:
        if not known.needs:
            raise
        raise PlatformError(f"{known.needs} could not write {path}: {str(error).partition(chr(10))[0]}") from error
    return values


def _check_target(path: Path, known: Format, force: bool) -> None:
    if known.place == "folder":
        if path.exists() and not path.is_dir():
            raise UsageError(f"{path} is a file, and a folder is needed", hint="name another place with -o")
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint=f"name a file, like {path / known.default}")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}", hint="make it first, or name another place with -o")
    if known.place == "file" and path.exists() and not force:
        raise UsageError(f"{path} exists already", hint="name another file with -o, or write over it with --force")


def _check_installed(kind: str, known: Format) -> None:
    if known.needs and importlib.util.find_spec(known.needs) is None:
        raise UsageError(
            f"exporting to {kind} needs the package {known.needs}, which is not installed here",
            hint=f"pip install 'outlast[{kind}]'",
        )


def _exported(settings: Settings, one: Charted) -> ExportedRun:
    view = show_run(settings, one.run)
    created_at_s = _seconds(view.created_at)
    return ExportedRun(
        run=one.run,
        name=one.name,
        user=view.user,
        state=str(view.state),
        created_at_s=created_at_s,
        series=one.series,
        began_at_s=_beginnings(locate(settings, one.run).folder(), created_at_s),
        params=run_parameters(view.spec),
        tags={"outlast.state": str(view.state), "outlast.stints": str(view.stints)},
    )


def _beginnings(folder: RunFolder, created_at_s: float) -> dict[int, float]:
    """When each stint's runner started. Never before the one before: machines' clocks differ, a run's time does not."""
    found: dict[int, float] = {}
    latest = created_at_s
    for stint, order in sorted(folder.orders.items()):
        claim = folder.claims.get(stint)
        latest = max(latest, _seconds(claim.claimed_at if claim else order.created_at))
        found[stint] = latest
    return found


def _seconds(moment: str) -> float:
    try:
        return datetime.datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return 0.0
