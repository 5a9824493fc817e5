"""How far `outlast adapt` gets on real training scripts that it was not written for, by running them.

The scripts are the trials (see `bench.trials`) in the folders that `OUTLAST_BENCH_TRIALS` names, separated by colons.
With `OUTLAST_BENCH_KEEP` each trial's folders are left there, to be looked at. What a trial cannot show is whether a
report is true, and whether a refusal was needed: that is left to reading.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.common import Result
from bench.trials import OriginalError, Trial, Verdict, judge

SEED = int(os.environ.get("OUTLAST_BENCH_SEED", "1"))


def measure() -> list[Result]:
    roots = [Path(each).resolve() for each in os.environ.get("OUTLAST_BENCH_TRIALS", "").split(":") if each]
    folders = sorted(path.parent for root in roots for path in root.glob("**/trial.json"))
    if not folders:
        print("  skipped: name folders with trials of training scripts in OUTLAST_BENCH_TRIALS")
        return []
    print(f"  seed {SEED}")
    found = []
    for folder in folders:
        with _work(folder.name) as work:
            try:
                found.append(judge(Trial.read(folder), work, SEED))
            except OriginalError as error:
                print(f"  left out {folder.name}: the original {error}")
                continue
        _print(found[-1])
    return _results(found) if found else []


@contextlib.contextmanager
def _work(name: str) -> Iterator[Path]:
    keep = os.environ.get("OUTLAST_BENCH_KEEP")
    if keep:
        yield Path(keep, name)
        return
    with tempfile.TemporaryDirectory(prefix="outlast-trial-") as work:
        yield Path(work)


def _print(verdict: Verdict) -> None:
    word = "WRONG  " if verdict.faults else "by hand" if verdict.is_refused else "right  "
    print(f"  {word} {verdict.name}", flush=True)
    for line in verdict.faults or [f"line {each.line}: {each.message}" for each in verdict.report.by_hand]:
        print(f"          {line[:300]}")


def _results(found: list[Verdict]) -> list[Result]:
    share = 100 / len(found)
    right = sum(not each.faults and not each.is_refused for each in found)
    refused = sum(not each.faults and each.is_refused for each in found)
    same = sum(not each.without_options for each in found)
    rows = [
        ("right", right * share, "% of scripts fit without help", "at least 90", right * share >= 90),
        (
            "answered",
            (right + refused) * share,
            "% of scripts fit, or refused in part",
            "100",
            right + refused == len(found),
        ),
        ("unchanged", same * share, "% of scripts that do the same without the options", "100", same == len(found)),
    ]
    return [
        Result(f"adapt-{name}", value, unit, target, met, {}, note=f"{len(found)} scripts")
        for name, value, unit, target, met in rows
    ]  # fmt: skip
