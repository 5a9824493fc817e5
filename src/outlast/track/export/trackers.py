"""MLflow and Aim, through their own packages: what they read is what they wrote."""

from __future__ import annotations

import contextlib
import itertools
import logging
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from outlast.track.export.source import ExportedRun, counted_points

#: MLflow refuses larger batches, longer values, and names with other characters than these.
_BATCH = 1000
_PARAM_LENGTH = 6000
_NAME = re.compile(r"[^\w\-. :/]")
_RUN_TAG = "outlast.run"
_STATUS = {"succeeded": "FINISHED", "failed": "FAILED", "stopped": "KILLED"}


def write_mlflow(runs: Sequence[ExportedRun], target: Path, *, replayed: bool) -> int:
    """A database of MLflow at `target`, an experiment per name; metrics keep their steps and times.

    A run that is there already is replaced. (A database and not a folder of files: MLflow gives those up.)
    """
    entities, tracking = import_module("mlflow.entities"), import_module("mlflow.tracking")
    logging.getLogger("mlflow").setLevel(logging.WARNING)  # it tells of every table that it makes
    client = tracking.MlflowClient(tracking_uri=f"sqlite:///{target.resolve()}")
    count = 0
    for run in runs:
        found = client.get_experiment_by_name(run.name)
        experiment = found.experiment_id if found is not None else client.create_experiment(run.name)
        for old in client.search_runs([experiment], f"tags.`{_RUN_TAG}` = '{run.run}'"):
            client.delete_run(old.info.run_id)
        tags = {"mlflow.runName": run.run, "mlflow.user": run.user, _RUN_TAG: run.run, **run.tags}
        made = client.create_run(experiment, start_time=_ms(run.created_at_s), tags=tags).info.run_id
        params = [entities.Param(_NAME.sub("-", name), value[:_PARAM_LENGTH]) for name, value in run.params.items()]
        for batch in _batches(params, 100):
            client.log_batch(made, params=batch)
        metrics = [
            entities.Metric(_NAME.sub("-", name), point.value, _ms(run.wall_s(point)), step)
            for name, series in run.series.items()
            for step, point in counted_points(series, replayed=replayed)
        ]
        for batch in _batches(metrics, _BATCH):
            client.log_batch(made, metrics=batch)
        ended_ms = max((metric.timestamp for metric in metrics), default=_ms(run.created_at_s))
        client.set_terminated(made, _STATUS.get(run.state, "RUNNING"), end_time=ended_ms)
        count += len(metrics)
    return count


def write_aim(runs: Sequence[ExportedRun], target: Path, *, replayed: bool) -> int:
    """A repository in `target` (Aim calls its folder `.aim`); each run keeps its parameters and its epochs."""
    aim = import_module("aim")
    target.mkdir(parents=True, exist_ok=True)
    repo = aim.Repo.from_path(str(target), init=True)
    count = 0
    made_runs = []
    for run in runs:
        made = aim.Run(repo=repo, experiment=run.name, system_tracking_interval=None, capture_terminal_logs=False)
        made_runs.append(made.hash)
        made.name = run.run
        made["hparams"] = dict(run.params)
        made["outlast"] = {"run": run.run, "user": run.user, "state": run.state, "stints": len(run.began_at_s)}
        for name, series in run.series.items():
            for step, point in counted_points(series, replayed=replayed):
                made.track(point.value, name=name, step=step, epoch=None if point.epoch is None else int(point.epoch))
                count += 1
        made.close()
    # Without this a run is there but not seen until `aim storage reindex`; versions that have no index need none.
    with contextlib.suppress(ImportError, AttributeError):
        index = import_module("aim.sdk.index_manager").RepoIndexManager.get_index_manager(repo).index
        for made_run in made_runs:
            index(made_run)
    return count


def _ms(seconds: float) -> int:
    return int(seconds * 1000)


def _batches(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    left = iter(items)
    while batch := list(itertools.islice(left, size)):
        yield batch
