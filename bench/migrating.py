"""How right and how fast `outlast migrate` is, on real code that it was not written for.

The code is whatever lies in the folders that `OUTLAST_BENCH_CODE` names, separated by colons: checkouts or installed
packages; a file that occurs twice counts once. Device sites are counted by tokens, on their own, not by the rules.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import io
import os
import re
import resource
import time
import tokenize
from collections.abc import Iterator
from pathlib import Path

from bench.common import Result
from outlast.migrate import Direction, Kind, Migrated, Source, SourceError, migrate_text
from outlast.migrate.files import find
from outlast.migrate.namespace import NPU

_DEVICE = re.compile(r"""^[rRbBuUfF]*(['"]{1,3})cuda(?::(?:\d+|%[dsi]|\{.*\})?)?\1$""")
_LIBRARY = re.compile(r"""^[rRuU]*(['"])(?:nccl|NCCL|CUDA_VISIBLE_DEVICES|CUDA_LAUNCH_BLOCKING)\1$""")
#: What a line must have held for a change to it to be needed; the import comes on top.
_NEEDED = re.compile(r"(?i)cuda|nccl|\bgpu|DataParallel|\bDP\(|autocast|profiler")
_ADDED = re.compile(r"\s*import torch_npu\s*")
_WRITTEN = re.compile(r"\btorch\.npu\.([A-Za-z_]\w*)")


def measure() -> list[Result]:
    roots = [Path(each) for each in os.environ.get("OUTLAST_BENCH_CODE", "").split(":") if each]
    if not roots:
        print("  skipped: name folders with code for CUDA in OUTLAST_BENCH_CODE")
        return []
    survey = Survey()
    for path in find(roots, text_files=False):
        if path.suffix == ".py":
            survey.read(path)
    return survey.results()


class Survey:
    """Everything that is counted while the files pass; no text is kept."""

    def __init__(self) -> None:
        self.files = self.parsed = self.sites = self.answered = self.lines = self.needless = 0
        self.again = self.back = self.silent = self.unknown_names = 0
        self._seen: set[bytes] = set()
        self.cpu_s = self.slowest_s = 0.0
        self.missed: list[str] = []
        self.one_way: list[str] = []
        self.memory_mib: list[float] = []

    def read(self, path: Path) -> None:
        data = path.read_bytes()
        to, back = Direction("npu"), Direction("cuda")
        digest = hashlib.sha256(data).digest()
        if not to.concerns(data) or digest in self._seen:
            return
        self._seen.add(digest)
        try:
            text = Source.decode(data).text
            ast.parse(text)
        except (SourceError, SyntaxError, ValueError, RecursionError):
            return
        self.files += 1
        started = time.process_time()
        done = migrate_text(text, to)
        spent = time.process_time() - started
        self.cpu_s, self.slowest_s = self.cpu_s + spent, max(self.slowest_s, spent)
        self.parsed += all(finding.kind is not Kind.UNPARSED for finding in done.findings)
        self.again += migrate_text(done.text, to).text == done.text
        home = migrate_text(done.text, back).text
        self.back += home == text
        if home != text:
            self.one_way.append(str(path))
            self.silent += all("way back" not in finding.advice for finding in done.findings)
        self._sites(path, text, done)
        if self.files % 100 == 0:
            self.memory_mib.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)

    def _sites(self, path: Path, text: str, done: Migrated) -> None:
        said = {finding.line for finding in done.findings}
        for line in set(device_lines(text)):
            self.sites += 1
            if line in said:
                self.answered += 1
            else:
                self.missed.append(f"{path}:{line}")
        for old, new in _hunks(text, done.text):
            size = max(len(old), len(new))
            self.lines += size
            needed = any(_NEEDED.search(line) for line in old) or all(_ADDED.fullmatch(line) for line in new)
            self.needless += 0 if needed else size
        written = set(_WRITTEN.findall(done.text)) - set(_WRITTEN.findall(text))
        self.unknown_names += len(written - NPU["torch.npu"])

    def results(self) -> list[Result]:
        files = max(self.files, 1)
        grown = self.memory_mib[-1] - self.memory_mib[len(self.memory_mib) // 2] if len(self.memory_mib) > 3 else 0.0
        share = 100 / files
        rows = [
            (
                "sites",
                100 * self.answered / self.sites if self.sites else 100.0,
                "% of device sites changed or reported",
                100,
                True,
            ),
            ("needless", 100 * self.needless / max(self.lines, 1), "% of changed lines without a device", 2, False),
            ("names", self.unknown_names, "names written that torch_npu lacks", 0, False),
            ("again", self.again * share, "% of files that a second run leaves alone", 100, True),
            ("back", self.back * share, "% of files equal after there and back", 95, True),
            ("silent", self.silent, "files that differ after it without a word", 0, False),
            ("cpu", self.cpu_s / files, "CPU seconds a file", 0.5, False),
            ("memory", grown, "MiB grown over the second half", 20, False),
        ]
        return [
            Result(f"migrate-{name}", value, unit, f"{'at least' if least else 'at most'} {limit}",
                   value >= limit if least else value <= limit, {}, note=f"{self.files} files")
            for name, value, unit, limit, least in rows
        ]  # fmt: skip


def _hunks(before: str, after: str) -> Iterator[tuple[list[str], list[str]]]:
    """Changed lines, old and new side by side."""
    old, new = before.splitlines(), after.splitlines()
    for tag, first, last, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield old[first:last], new[start:end]


def device_lines(text: str) -> Iterator[int]:
    """Lines with a device site, found by tokens alone; docstrings and comments do not count."""
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in (tokenize.COMMENT, tokenize.NL)
    ]
    for at, token in enumerate(tokens):
        before = tokens[at - 1].string if at else ""
        after = tokens[at + 1].string if at + 1 < len(tokens) else ""
        earlier = tokens[at - 2].string if at > 1 else ""
        if token.type == tokenize.NAME and token.string == "cuda" and before == ".":
            if after == "(" or earlier == "torch":
                yield token.start[0]
        elif token.type == tokenize.NAME and token.string == "is_cuda" and before == ".":
            yield token.start[0]
        elif token.type == tokenize.STRING and (_DEVICE.match(token.string) or _LIBRARY.match(token.string)):
            statement = tokens[at - 1].type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT) if at else True
            if not statement:
                yield token.start[0]
