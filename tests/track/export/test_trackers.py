"""MLflow and Aim, each read back by itself; only where it is installed."""

from __future__ import annotations

import pytest

from outlast.track.export.source import ExportedRun
from outlast.track.export.trackers import write_aim, write_mlflow
from outlast.track.series import Series, SeriesPoint

POINTS = [
    SeriesPoint(1, 1.0, 1.0, 10, 0.9),
    SeriesPoint(1, 2.0, 2.0, 20, 0.8, replayed=True),
    SeriesPoint(2, 1.0, 2.0, 20, 0.7),
]
RUN = ExportedRun(
    "1115-quiet-otter-7kx", "digits", "ann", "failed", 1000.0, {"val@loss": Series("val@loss", POINTS)},
    {1: 1000.0, 2: 2000.0}, {"lr": "0.1", "note": "x" * 9000},
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_mlflow_reads_params_steps_and_times_and_a_second_export_replaces_the_first(tmp_path):
    tracking = pytest.importorskip("mlflow.tracking")
    pytest.importorskip("alembic")
    path = tmp_path / "mlflow.db"
    for _ in range(2):
        assert write_mlflow([RUN], path, replayed=False) == 2
    client = tracking.MlflowClient(tracking_uri=f"sqlite:///{path}")
    (run,) = client.search_runs([client.get_experiment_by_name("digits").experiment_id])
    assert run.data.params["lr"] == "0.1" and run.info.status == "FAILED" and run.info.run_name == RUN.run
    history = client.get_metric_history(run.info.run_id, "val-loss")
    assert [(one.step, one.timestamp, one.value) for one in history] == [(10, 1001000, 0.9), (20, 2001000, 0.7)]


@pytest.mark.filterwarnings("ignore")
def test_aim_lists_the_run_with_its_parameters(tmp_path):
    aim = pytest.importorskip("aim")
    assert write_aim([RUN], tmp_path / "repo", replayed=True) == 3
    (run,) = aim.Repo(str(tmp_path / "repo")).iter_runs()
    assert run.name == RUN.run and run["hparams"]["lr"] == "0.1"
    assert [metric.name for metric in run.metrics()] == ["val@loss"]
