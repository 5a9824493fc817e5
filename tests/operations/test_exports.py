"""Exports of real run folders: what is written, what is refused before anything is."""

from __future__ import annotations

import csv
import importlib

import pytest
from measured import train

from outlast.errors import NotFoundError, PlatformError, UsageError
from outlast.operations import export
from outlast.operations.export import export_runs


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_csv_has_every_value_of_every_run_and_says_what_was_replayed(bench, tmp_path):
    train(bench, "a")
    train(bench, "b")
    told = []
    done = export_runs(bench.settings, ["a", "b"], "csv", tmp_path / "m.csv", tell=told.append)
    found = rows(done.path)
    assert done.values == len(found) == 44 and done.runs == 2 and "44 values" in told[0]
    assert sum(row["replayed"] == "1" for row in found) == 8 and sum(row["seam"] == "1" for row in found) == 4
    times = [float(row["wall_s"]) for row in found if row["metric"] == "loss" and row["name"] == "a"]
    assert times[0] > 1.7e9 and list(tmp_path.glob("*.part")) == []


def test_what_was_replayed_stays_out_of_trackers_unless_asked_for(bench, tmp_path):
    train(bench, "a")
    assert export_runs(bench.settings, ["a"], "tensorboard", tmp_path / "events").values == 18
    assert export_runs(bench.settings, ["a"], "tensorboard", tmp_path / "all", replayed=True).values == 22


def test_an_existing_file_is_kept_unless_forced(bench, tmp_path):
    train(bench, "a")
    path = tmp_path / "m.csv"
    path.write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        export_runs(bench.settings, ["a"], "csv", path)
    assert path.read_text() == "mine"
    export_runs(bench.settings, ["a"], "csv", path, force=True)
    assert len(rows(path)) == 22


def test_wrong_places_and_formats_are_refused_by_name(bench, tmp_path):
    (tmp_path / "file").write_text("")
    for kind, path, message in (
        ("xls", tmp_path / "x", "cannot export to 'xls'"),
        ("csv", tmp_path, "is a folder"),
        ("csv", tmp_path / "no" / "m.csv", "there is no folder"),
        ("tensorboard", tmp_path / "file", "is a file"),
    ):
        with pytest.raises(UsageError, match=message):
            export_runs(bench.settings, ["a"], kind, path)
    with pytest.raises(NotFoundError):
        export_runs(bench.settings, ["nobody"], "csv", tmp_path / "n.csv")


def test_a_missing_package_is_one_sentence_with_the_command(bench, monkeypatch, tmp_path):
    monkeypatch.setattr(export.importlib.util, "find_spec", lambda name: None)
    for kind in ("parquet", "mlflow", "aim"):
        with pytest.raises(UsageError) as caught:
            export_runs(bench.settings, ["a"], kind, tmp_path / "x")
        assert caught.value.hint == f"pip install 'outlast[{kind}]'"


def test_a_failure_of_another_package_is_not_called_our_bug(bench, monkeypatch, tmp_path):
    pytest.importorskip("pyarrow")
    train(bench, "a")

    def fail(*_, **__):
        raise RuntimeError("schema is odd\nand more")

    monkeypatch.setattr(importlib.import_module("outlast.track.export.tables"), "write_parquet", fail)
    with pytest.raises(PlatformError, match=r"pyarrow could not write .*: schema is odd$"):
        export_runs(bench.settings, ["a"], "parquet", tmp_path / "x.parquet")
