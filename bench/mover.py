"""The mover beside s5cmd, rclone and boto3: `python -m bench.mover --rounds 1 --rows small` for a quick look.

Every measurement has a server of its own, started for it. The tools take turns within a round. Sources are in memory,
destinations are new, and what arrived is checked each time.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.common import BIN, Result, end_processes, keep, kept
from bench.cost import Cost, run
from bench.datasets import DATASETS, Block, Dataset, large, mixed, small, stored
from bench.nulls3 import NullS3
from bench.peers import PEERS, Place, Tool, ours
from bench.rows import RIVALS, ROWS, SLOW, Row, print_table, results_of

ROUNDS = 5
_SOURCE, _FRESH = "shown", "fresh"


_DATASETS = DATASETS | {
    "some small": lambda block: small(block, 5_000),
    "some mixed": lambda block: mixed(block, 1_000, 1),
    "some large": lambda block: large(block, 4, 256 << 20),
}


class Bench:
    """A folder in memory with everything that the rows share."""

    def __init__(self, folder: Path, oldest: str) -> None:
        self._folder = folder
        self._block = Block()
        self._made: tuple[str, Dataset] | None = None
        self._environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
        self._environ |= {"OUTLAST_HOME": str(folder / "home"), "NO_COLOR": "1"}
        from outlast.platforms.bundle import inside_folder

        self.tools = [*PEERS, *ours(inside_folder(folder), oldest)]

    def measure(self, row: Row, tools: list[Tool], rounds: int) -> dict[str, Cost]:
        """The medians of every tool that knows how to do this."""
        dataset = self._source(row)
        costs: dict[str, list[Cost]] = {}
        for number in range(rounds):
            # Each round begins with another tool, so that none is always the one after the slowest.
            turn = number % len(tools)
            for tool in [*tools[turn:], *tools[:turn]]:
                # The slow one takes minutes for what the others do in seconds, and is no rival: once is enough.
                if tool.name == SLOW and number:
                    continue
                if cost := self._once(row, tool, dataset):
                    costs.setdefault(tool.name, []).append(cost)
        return {name: Cost.median(each) for name, each in costs.items()}

    def _once(self, row: Row, tool: Tool, dataset: Dataset) -> Cost | None:
        action = row.action
        if action.startswith("packed") and tool.name in RIVALS:
            action = action.removeprefix("packed_")
        command = getattr(tool, action)
        if command is None:
            return None
        shown = self._packed(dataset) if action == "packed_down" else dataset
        target = self._folder / "target"
        with self._server(row, shown) as (place, bucket, null):
            folder = target if row.is_down else self._source_folder
            target.mkdir()
            self._warm(dataset.size_bytes)
            try:
                cost = run(command(folder, bucket), place.environ(self._environ))
                self._check(f"{tool.name}, {row.name}", action, dataset, target, null)
            finally:
                shutil.rmtree(target)
        return cost

    def _warm(self, size_bytes: int) -> None:
        """Have so much memory at hand: a virtual machine that gave it back to its host pays for it page by page, more
        than the copy costs, and whose turn it is then would be chance."""
        with tempfile.TemporaryFile(dir=self._folder) as file:
            os.posix_fallocate(file.fileno(), 0, size_bytes)

    def _check(self, what: str, action: str, dataset: Dataset, target: Path, null: NullS3 | None) -> None:
        """Did it do the work?"""
        wrong: object = []
        if action.endswith("down"):
            wrong = dataset.differences(target, self._block, every=len(dataset.entries) // 100 + 1)[:5]
        elif null is not None:
            counts = null.counts
            expected = (0, 0) if action == "again" else (len(dataset.entries), dataset.size_bytes)
            arrived = (counts.objects_in, counts.bytes_in)
            packed = action == "packed_up" and counts.bytes_in > dataset.size_bytes
            wrong = counts if arrived != expected and not packed else []
        if wrong:
            raise SystemExit(f"{what}: not what was asked for: {wrong}")

    @contextlib.contextmanager
    def _server(self, row: Row, shown: Dataset) -> Iterator[tuple[Place, str, NullS3 | None]]:
        """A server, and the bucket to use on it."""
        reads = row.is_down or row.action == "again"
        if row.server == "seaweed":
            with _seaweed(self._folder) as (place, bucket):
                if reads:
                    self._fill(place, bucket)
                yield place, bucket, None
            return
        certificate = None
        if "TLS" in row.server:
            certificate = self._folder / "certificate"
            certificate.mkdir(exist_ok=True)
        with NullS3({_SOURCE: shown}, self._block, tls=certificate) as null:
            place = Place(null.url, null.key, null.secret, null.region, null.ca_file)
            yield place, _SOURCE if reads else _FRESH, null

    def _fill(self, place: Place, bucket: str) -> None:
        run([str(BIN / "s5cmd"), "--log", "error", "cp", f"{self._source_folder}/", f"s3://{bucket}/"],
            place.environ(self._environ))  # fmt: skip

    @property
    def words(self) -> str:
        """What the row before moved."""
        return self._made[1].words if self._made else ""

    @property
    def _source_folder(self) -> Path:
        return self._folder / "source"

    def _source(self, row: Row) -> Dataset:
        """The dataset of a row, its files written unless nobody reads them."""
        if self._made is None or self._made[0] != row.dataset:
            shutil.rmtree(self._source_folder, ignore_errors=True)
            shutil.rmtree(self._folder / "packed", ignore_errors=True)
            self._made = row.dataset, _DATASETS[row.dataset](self._block)
        dataset = self._made[1]
        reads = not row.is_down or row.action == "packed_down" or row.server == "seaweed"
        if reads and not self._source_folder.exists():
            dataset.write(self._source_folder, self._block)
        return dataset

    def _packed(self, dataset: Dataset) -> Dataset:
        folder = self._folder / "packed"
        if not folder.exists():
            command = [str(BIN / "outlast"), "data", "pack", f"{self._source_folder}/", str(folder)]
            subprocess.run(command, env=self._environ, check=True, capture_output=True)
        return stored("packed", dataset.words, folder)


@contextlib.contextmanager
def _seaweed(folder: Path) -> Iterator[tuple[Place, str]]:
    """The server that the tests use, with an empty bucket."""
    tests = str(Path(__file__).parent.parent / "tests")
    if tests not in sys.path:
        sys.path.insert(0, tests)
    from servers.seaweed import REGION, Seaweed

    with tempfile.TemporaryDirectory(dir=folder, prefix="w") as own:
        server = Seaweed(Path(own))
        try:
            yield Place(server.endpoint, server.key, server.secret, REGION), server.bucket()
        finally:
            server.stop()


def measure(
    rows: list[Row] = ROWS,
    rounds: int = ROUNDS,
    tools: list[str] | None = None,
    where: Path = Path("/dev/shm"),
    oldest: str = "",
) -> list[Result]:
    """Measure and print rows; the results hold the medians of everything."""
    found: list[Result] = []
    # Gigabytes in memory are not left behind by a benchmark that is asked to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="outlast-mover-", dir=where if where.is_dir() else None) as folder:
        try:
            bench = Bench(Path(folder), oldest)
            chosen = [tool for tool in bench.tools if tools is None or tool.name in tools]
            for row in rows:
                costs = bench.measure(row, chosen, rounds)
                words = bench.words
                print_table(row, words, costs)
                found += results_of(row, words, costs)
        finally:
            end_processes(folder)
    return found


def _replace_kept(results: list[Result]) -> None:
    found = kept()
    fresh = {result.name: result.to_json() for result in results}
    found["mover"] = [each for each in found.get("mover", []) if each["name"] not in fresh] + [*fresh.values()]
    keep(found)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the mover beside other tools.")
    parser.add_argument("--rows", default="", help="only rows whose names begin so, with commas: small,tls-large")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--tools", help="only these, with commas, such as: s5cmd,rclone,outlast cp")
    parser.add_argument("--where", type=Path, default=Path("/dev/shm"), help="folder for sources and destinations")
    parser.add_argument("--oldest", default="", help="a Python 3.7 to measure the inside half with, too")
    parser.add_argument("--keep", action="store_true", help="put these rows into results.json, in place of older ones")
    options = parser.parse_args()
    rows = [row for row in ROWS if row.name.startswith(tuple(options.rows.split(",")))]
    tools = options.tools.split(",") if options.tools else None
    # Row by row: an hour of measuring that is interrupted keeps what it has.
    for row in rows:
        results = measure([row], options.rounds, tools, options.where, options.oldest)
        for result in results:
            mark = "met   " if result.met else "MISSED"
            print(f"{mark} {result.name}: {result.value:.3g} {result.unit} ({result.target})", flush=True)
        if options.keep:
            _replace_kept(results)


if __name__ == "__main__":
    main()
