"""YAML and shell files, line by line: device values, back ends, environment variables. Comments stay as they are."""

from __future__ import annotations

import re

from outlast.migrate.direction import ENVIRONMENT, Direction
from outlast.migrate.engine import Edit, Finding, Kind, Migrated, apply
from outlast.migrate.names import is_device_name

SHELL = (".sh", ".bash", ".slurm", ".sbatch", ".pbs")
YAML = (".yaml", ".yml")
_ENTRY = re.compile(r"""^(?P<lead>\s*(?:-\s+)?)(?P<key>["']?[\w.-]+["']?)\s*:\s+(?P<value>.*)$""")
_OPTION = re.compile(
    r"""--?(?P<key>[\w.-]+?)(?P<gap>[ =]+)(?P<quote>["']?)(?P<value>[\w:]+)(?P=quote)(?=[\s\\;|&)"']|$)"""
)
_ASSIGNMENT = re.compile(
    r"""(?<![\w-])(?P<key>[A-Za-z_][\w.]*)(?P<gap>=)(?P<quote>["']?)(?P<value>[\w:]+)(?P=quote)(?=[\s\\;|&)]|$)"""
)
_SMI = re.compile(r"\bnvidia-smi\b")
_ALONE = re.compile(r"\bNCCL_(?!SOCKET_IFNAME)\w+(?==)|\bCUDA_HOME\b(?==)")


def migrate_lines(text: str, direction: Direction, *, shell: bool) -> Migrated:
    """Migrate a YAML file, or with `shell` a shell script."""
    if direction.target == "any":
        return Migrated(text, findings=_neutral(text, direction))
    reader = _Lines(direction, shell)
    offset = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        reader.read(line, number, offset)
        offset += len(line.encode())
    edits = sorted(reader.edits)
    return Migrated(apply(text.encode(), edits), tuple(edits), tuple(reader.findings))


class _Lines:
    def __init__(self, direction: Direction, shell: bool) -> None:
        self._direction = direction
        self._shell = shell
        self._device = re.compile(
            rf"({'|'.join(direction.sources)})(:\d+)?(?:,\s*(?:{'|'.join(direction.sources)}):\d+)*"
        )
        self._environment = re.compile(rf"\b(?:{'|'.join(direction.environment)})\b(?!\w)")
        self.edits: list[Edit] = []
        self.findings: list[Finding] = []

    def read(self, line: str, number: int, offset: int) -> None:
        code = _without_comment(line)
        for found in self._environment.finditer(code):
            self._edit(line, number, offset, found.start(), found.end(), self._direction.environment[found.group(0)])
        if self._shell:
            for found in (*_OPTION.finditer(code), *_ASSIGNMENT.finditer(code)):
                self._value(line, number, offset, found.group("key"), found.group("value"), found.start("value"))
        else:
            entry = _ENTRY.match(code.rstrip())
            if entry:
                value = entry.group("value")
                bare = value.strip("\"' ")
                start = entry.start("value") + value.find(bare)
                self._value(line, number, offset, entry.group("key").strip("\"'"), bare, start)
                self._command(line, number, offset, value, entry.start("value"))
        self._alone(code, number)

    def _value(self, line: str, number: int, offset: int, key: str, value: str, start: int) -> None:
        if value.lower() in self._direction.backends and value.islower():
            self._edit(line, number, offset, start, start + len(value), self._direction.backend)
        elif self._device.fullmatch(value):
            if is_device_name(key) or ":" in value or key.replace("-", "_") in ("backend_device", "gpu"):
                new = self._direction.device.sub(self._direction.target, value)
                self._edit(line, number, offset, start, start + len(value), new)
            else:
                self._say(Kind.KEPT, number, start, f"{key}: {value} kept: the key does not say device")

    def _command(self, line: str, number: int, offset: int, value: str, base: int) -> None:
        for found in _OPTION.finditer(value):
            self._value(line, number, offset, found.group("key"), found.group("value"), base + found.start("value"))

    def _alone(self, code: str, number: int) -> None:
        if self._direction.target == "npu":
            for found in (*_SMI.finditer(code), *_ALONE.finditer(code)):
                advice = (
                    "npu-smi info prints other columns" if "smi" in found.group(0) else "HCCL has its own variables"
                )
                self._say(Kind.HAND, number, found.start(), f"{found.group(0)} has no counterpart", advice)

    def _edit(self, line: str, number: int, offset: int, start: int, end: int, new: str) -> None:
        first, last = offset + len(line[:start].encode()), offset + len(line[:end].encode())
        edit = Edit(first, last, line[start:end], new)
        if edit not in self.edits:
            self.edits.append(edit)
            said = f"{line[start:end]} → {new}"
            self.findings.append(
                Finding(Kind.CHANGED, "text", number, start + 1, said, before=line[start:end], after=new)
            )

    def _say(self, kind: Kind, number: int, start: int, message: str, advice: str = "") -> None:
        self.findings.append(Finding(kind, "text", number, start + 1, message, advice))


def _without_comment(line: str) -> str:
    """The part before a comment; a # counts only at the beginning or behind a blank, and outside quotes."""
    quote = ""
    for at, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "#" and (at == 0 or line[at - 1] in " \t"):
            return line[:at]
    return line


def _neutral(text: str, direction: Direction) -> tuple[Finding, ...]:
    variables = [name for pair in ENVIRONMENT for name in pair]
    words = "|".join((*direction.sources, *direction.backends, "nvidia-smi", "npu-smi", *variables))
    word = re.compile(rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])")
    found = ((number, word.search(_without_comment(line))) for number, line in enumerate(text.splitlines(), 1))
    advice = "text files have no neutral form: choose the device where the script is started"
    return tuple(
        Finding(Kind.HAND, "text", number, hit.start() + 1, f"{hit.group(0)} names one device", advice)
        for number, hit in found
        if hit
    )
