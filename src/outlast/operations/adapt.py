"""`outlast adapt`: fit a script to a contract, show it, check it, or write it safely."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast.errors import NotFoundError, UsageError
from outlast.operations.migrate import need_libcst, write_all
from outlast.operations.problems import guess

if TYPE_CHECKING:
    from outlast.adapt.needs import Needs
    from outlast.migrate.engine import Finding
    from outlast.migrate.report import FileReport
    from outlast.migrate.source import Source

#: Contracts whose platform can start something other than the script itself.
_WITH_ENTRY = ("modelarts", "modelarts-v1")
#: What lies at the top of a project.
_PROJECT = (".git", "pyproject.toml", "setup.py", "requirements.txt")
#: A larger module is data in the form of code.
_LARGEST_BYTES = 200_000


@dataclass
class Adaptation:
    """What was found in a script, and the files as they are to be."""

    script: str
    contract: str
    lacks: tuple[str, ...]
    setup: str
    files: list[FileReport] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    backups: list[str] = field(default_factory=list)
    #: what the script does something with when it is given, as words of `outlast run`
    given: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """How the script is run when all is written; empty where nothing can start it like this."""
        if any(each.kind.value == "unparsed" for each in self.files[0].findings):
            return ""
        named = _entry_of(Path(self.script))
        entry = next((report.path for report in self.files if report.path == str(named)), "")
        if self.contract == "modelarts-v1" and not entry:
            return ""
        contract = () if self.contract == "plain" else ("--contract", self.contract)
        return " ".join(("outlast run", entry or self.script, *contract, *self.given))

    @property
    def findings(self) -> list[Finding]:
        """What was found in the script and in its modules."""
        return [finding for report in self.files for finding in report.findings]

    @property
    def changed(self) -> list[str]:
        return [report.path for report in self.files if report.is_changed]

    @property
    def by_hand(self) -> list[Finding]:
        """What a person must decide."""
        return [finding for finding in self.findings if finding.kind.value in ("by-hand", "unparsed")]

    @property
    def is_done(self) -> bool:
        """Nothing to change and nothing left for a person."""
        return not self.changed and not self.by_hand

    def to_json(self) -> dict[str, Any]:
        return {
            "script": self.script, "contract": self.contract, "lacks": list(self.lacks), "setup": self.setup,
            "changed": self.changed, "written": self.written, "backups": self.backups, "by_hand": len(self.by_hand),
            "findings": [
                {"file": report.path, **asdict(finding)} for report in self.files for finding in report.findings
            ],
        }  # fmt: skip


def adapt(
    script: str, *, contract: str = "modelarts", write: bool = False, entry: bool = False, force: bool = False
) -> Adaptation:
    """Fit one script to a contract; without `write` nothing is touched.

    Written files are safe as with `outlast migrate`: refused while git has not seen the last changes, and kept as
    `.orig` outside git or with `force`. With `entry` the platform's entry script is written beside it.
    """
    need_libcst("adapt")
    from outlast.adapt import CONTRACTS, adapt_text
    from outlast.migrate.report import FileReport
    from outlast.migrate.source import Source, SourceError

    if contract not in CONTRACTS:
        near = guess(contract, list(CONTRACTS)) or ";"
        raise UsageError(f"unknown contract {contract!r}{near} there are: {', '.join(CONTRACTS)}")
    path = Path(script)
    if not path.is_file():
        raise (
            UsageError(f"{script} is a folder", hint="name the script")
            if path.is_dir()
            else NotFoundError(f"there is no {script}")
        )
    if path.suffix not in (".py", ".pyw"):
        raise UsageError(f"{script} is not a Python script", hint="name the file that python starts, like train.py")
    try:
        source = Source.decode(path.read_bytes())
    except SourceError as error:
        raise UsageError(f"{script} cannot be read: {error}") from None
    needs = CONTRACTS[contract]
    folder = _Folder(path.parent, source.text)
    done = adapt_text(source.text, needs, _beside(path), script=path.name, read=folder.read)
    found = Adaptation(str(path), contract, done.lacks, done.setup)
    found.files.append(FileReport(str(path), done.findings, source.text, done.text))
    for name, module in sorted(done.modules.items()):
        before = folder.sources[name].text
        found.files.append(FileReport(_shown(path, name), module.findings, before, module.text))
    sources = {str(path): source, **{_shown(path, name): each for name, each in folder.sources.items()}}
    found.given = tuple(_given(needs, "\n".join(report.after for report in found.files)))
    if entry:
        found.files.append(_entry(path, contract))
    if write:
        _write(found, sources, force=force)
    return found


def _entry_of(script: Path) -> Path:
    return script.with_name(f"{script.stem}_entry.py")


def _given(needs: Needs, text: str) -> Iterator[str]:
    """The inputs and outputs to name for options that a program does more with than to accept them."""
    for role, name in needs.options.items():
        if len(re.findall(rf"\b{name}\b", text)) > 1:
            yield f"--output {name}=./out" if role == "output" else f"--data {name}={role.upper()}"


def _shown(script: Path, name: str) -> str:
    """A module of a script's folder as the user would name it."""
    return os.path.normpath(script.parent / name)


class _Folder:
    """The modules in a script's folder, as they are read."""

    def __init__(self, folder: Path, script: str) -> None:
        self._folder = folder
        self._top = _project_of(folder, script)
        self._seen: dict[str, str | None] = {}
        self.sources: dict[str, Source] = {}

    def read(self, name: str) -> str | None:
        """The text of a module, or None where there is none, or none that anybody oversees; names of a folder's.

        `"tasks/"`: of its modules; `"tasks/*/"`: of its folders.
        """
        if name not in self._seen:
            self._seen[name] = self._read(name)
        return self._seen[name]

    def _read(self, name: str) -> str | None:
        from outlast.migrate.source import Source, SourceError

        path = self._folder / name
        if not path.resolve().is_relative_to(self._top):
            return None
        if name.endswith("/*/"):
            return "\n".join(sorted(each.name for each in path.parent.glob("*/"))) or None
        if name.endswith("/"):
            return "\n".join(sorted(each.stem for each in path.glob("*.py"))) or None
        try:
            if not path.is_file() or path.stat().st_size > _LARGEST_BYTES:
                return None
            self.sources[name] = Source.decode(path.read_bytes())
        except (OSError, SourceError):
            return None
        return self.sources[name].text


def _project_of(folder: Path, script: str) -> Path:
    """The folder of the project that a script's folder belongs to; that folder itself where nothing shows it.

    A copy without git shows it, too, where the script looks for modules above its own folder.
    """
    from outlast.adapt.modules import folders_up

    folder = folder.resolve()
    named = folders_up(script)
    for up, each in enumerate((folder, *folder.parents[:3])):
        if up >= named and any((each / name).exists() for name in _PROJECT):
            return each
    return (folder, *folder.parents)[min(named, len(folder.parents))]


def _beside(script: Path) -> frozenset[str]:
    """What `import` finds in the script's folder before anything that is installed."""
    files = {each.stem for each in script.parent.glob("*.py") if each.name != script.name}
    return frozenset(files | {each.parent.name for each in script.parent.glob("*/__init__.py")})


def _entry(script: Path, contract: str) -> FileReport:
    from outlast.adapt import CONTRACTS
    from outlast.adapt.entry import entry_text
    from outlast.migrate.report import FileReport

    if contract not in _WITH_ENTRY:
        raise UsageError(
            f"contract {contract} starts {script.name} itself; it needs no entry script", hint="leave out --entry"
        )
    path = _entry_of(script)
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    return FileReport(str(path), (), before, entry_text(script.name, CONTRACTS[contract]))


def _write(found: Adaptation, sources: dict[str, Source], *, force: bool) -> None:
    """Changed files first: where one is refused, nothing is written."""
    with tempfile.TemporaryDirectory(prefix="outlast-adapt-") as spool:
        kept = []
        for at, report in enumerate(each for each in found.files if each.is_changed and Path(each.path).exists()):
            aside = Path(spool, str(at))
            source = sources.get(report.path)
            aside.write_bytes(source.with_text(report.after).encode() if source else report.after.encode())
            kept.append((Path(report.path), aside))
        if kept:
            write_all(kept, found, force=force)
    for report in found.files:
        if report.is_changed and not Path(report.path).exists():
            Path(report.path).write_text(report.after, encoding="utf-8", newline="\n")
            found.written.append(report.path)
