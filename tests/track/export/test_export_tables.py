"""CSV and Parquet: one row per value, with its seams and what was replayed."""

from __future__ import annotations

import csv
import json
import math

import pytest

from outlast.track.export.source import ExportedRun
from outlast.track.export.tables import write_csv, write_parquet
from outlast.track.series import Series, SeriesPoint

POINTS = [
    SeriesPoint(1, 1.0, 1.0, None, 0.9),
    SeriesPoint(1, 2.0, 2.0, None, math.inf, replayed=True),
    SeriesPoint(2, 1.0, None, 7, 0.1 + 0.2),
]
RUN = ExportedRun(
    "r1", '=cmd,"x"\n', "ann", "failed", 100.0, {"损失": Series("损失", POINTS)}, {1: 100.0, 2: 200.0}, {"lr": "0.1"}
)


def test_csv_keeps_every_digit_and_every_strange_name(tmp_path):
    path = tmp_path / "m.csv"
    assert write_csv([RUN], path, replayed=True) == 3
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [RUN.name] * 3 and rows[0]["metric"] == "损失"
    assert [(row["replayed"], row["seam"]) for row in rows] == [("0", "0"), ("1", "0"), ("0", "1")]
    assert float(rows[2]["value"]) == 0.1 + 0.2 and rows[0]["step"] == "" and rows[2]["epoch"] == ""
    assert float(rows[2]["wall_s"]) == 201.0 and rows[1]["value"] == "inf"
    assert write_csv([RUN], path, replayed=False) == 2


def test_parquet_has_the_same_rows_with_their_types(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "m.parquet"
    empty = ExportedRun("r2", "none", "ann", "failed", 0.0, {})
    assert write_parquet([RUN, empty], path, replayed=True) == 3
    table = parquet.read_table(path)
    assert table.column("step").to_pylist() == [None, None, 7]
    assert table.column("value").to_pylist() == [0.9, math.inf, 0.1 + 0.2]
    assert table.column("seam").to_pylist() == [False, False, True]
    assert json.loads(table.schema.metadata[b"outlast"])["params"]["r1"] == {"lr": "0.1"}
