"""CSV and Parquet: one row per value, with its stint, whether it is a seam and whether it was replayed."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from outlast.track.export.source import ExportedRun, Row, rows_of


def write_csv(runs: Sequence[ExportedRun], target: Path, *, replayed: bool) -> int:
    """One CSV file with a header; returns how many values it holds."""
    count = 0
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        for run in runs:
            for row in rows_of(run, replayed=replayed):
                writer.writerow(["" if cell is None else int(cell) if isinstance(cell, bool) else cell for cell in row])
                count += 1
    return count


def write_parquet(runs: Sequence[ExportedRun], target: Path, *, replayed: bool) -> int:
    """One Parquet file; a row group per run keeps the memory small. Parameters are in the schema's metadata."""
    pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    params = {run.run: dict(run.params) for run in runs}
    texts = pa.dictionary(pa.int32(), pa.string())
    kinds = [texts, texts, texts, pa.int32(), pa.int64(), *[pa.float64()] * 4, pa.bool_(), pa.bool_()]
    schema = pa.schema(
        list(zip(Row._fields, kinds, strict=True)), metadata={"outlast": json.dumps({"params": params}).encode()}
    )
    count = 0
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for run in runs:
            rows = list(rows_of(run, replayed=replayed))
            columns = [pa.array(cells, type=kind) for cells, kind in zip(zip(*rows, strict=True), kinds, strict=False)]
            if columns:
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            count += len(rows)
    return count
