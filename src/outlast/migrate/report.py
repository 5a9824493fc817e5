"""What a migration says: per file and in total, as JSON and as SARIF for editors."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from outlast.migrate.engine import Finding, Kind

#: A silent difference takes off one point, all together at most this many.
_DIFFERS_CAP = 10
_SARIF_LEVELS = {
    Kind.CHANGED: "note",
    Kind.HAND: "error",
    Kind.DIFFERS: "warning",
    Kind.KEPT: "none",
    Kind.UNPARSED: "error",
}


@dataclass(frozen=True)
class FileReport:
    """One file: its findings, and its text before and after where they differ."""

    path: str
    findings: tuple[Finding, ...]
    before: str = ""
    after: str = ""
    sites: int = 0  # how often the result speaks of the target

    @property
    def is_changed(self) -> bool:
        return self.before != self.after

    def diff(self, context: int = 3) -> list[str]:
        """A unified diff, one item per line; line endings other than \\n are shown as they are."""
        old, new = _lines(self.before), _lines(self.after)
        return list(difflib.unified_diff(old, new, f"a/{self.path}", f"b/{self.path}", n=context))


@dataclass
class Migration:
    """A whole migration. Texts of files are not kept; without `detail`, neither are changes: they are only counted."""

    target: str
    detail: bool = True
    files: int = 0  # looked at
    sites: int = 0  # device sites that the result has
    skipped: int = 0  # without any device word
    changed: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    backups: list[str] = field(default_factory=list)
    findings: list[tuple[str, Finding]] = field(default_factory=list)
    _counts: Counter[Kind] = field(default_factory=Counter)

    def add(self, report: FileReport) -> None:
        self.sites += report.sites
        for finding in report.findings:
            self._counts[finding.kind] += 1
            if self.detail or finding.kind not in (Kind.CHANGED, Kind.KEPT):
                self.findings.append((report.path, finding))
        if report.is_changed:
            self.changed.append(report.path)

    def of(self, *kinds: Kind) -> list[tuple[str, Finding]]:
        return [(path, finding) for path, finding in self.findings if finding.kind in kinds]

    @property
    def counts(self) -> dict[str, int]:
        return {kind.value: self._counts[kind] for kind in Kind}

    @property
    def is_done(self) -> bool:
        """Nothing to change and nothing left for a person."""
        return not self.changed and not self.of(Kind.HAND, Kind.UNPARSED)

    @property
    def score(self) -> int:
        """How ready the code is once the changes are made, 0 to 100: the share of device sites that need no hand."""
        counts = self.counts
        by_hand = counts["by-hand"] + counts["unparsed"]
        share = 100.0 * self.sites / (self.sites + by_hand) if by_hand else 100.0
        return max(0, int(share - min(counts["differs"], _DIFFERS_CAP)))

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target, "score": self.score, "files": self.files, "skipped": self.skipped,
            "changed": self.changed, "written": self.written, "backups": self.backups, "counts": self.counts,
            "findings": [{"path": path, **asdict(finding)} for path, finding in self.findings],
        }  # fmt: skip

    def to_sarif(self, version: str) -> dict[str, Any]:
        """SARIF 2.1.0, as editors and code hosts read it."""
        from outlast.migrate.rules import all_rules

        rules = [{"id": rule.name, "shortDescription": {"text": rule.summary}} for rule in all_rules()]
        known = {rule["id"] for rule in rules}
        rules += [{"id": name, "shortDescription": {"text": name}} for name in ("parse", "text") if name not in known]
        driver = {"name": "outlast migrate", "version": version, "rules": rules}
        results = [_sarif_result(path, finding) for path, finding in self.findings]
        return {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
        }


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + (
        [lines[-1] + "\n\\ No newline at end of file\n"] if lines[-1] else []
    )


def _sarif_result(path: str, finding: Finding) -> dict[str, Any]:
    said = f"{finding.message}. {finding.advice}" if finding.advice else finding.message
    where = {"artifactLocation": {"uri": path.replace("\\", "/")},
             "region": {"startLine": finding.line, "startColumn": finding.column}}  # fmt: skip
    return {
        "ruleId": finding.rule,
        "level": _SARIF_LEVELS[finding.kind],
        "message": {"text": said},
        "locations": [{"physicalLocation": where}],
        "properties": {"kind": finding.kind.value} | ({"cell": finding.cell} if finding.cell else {}),
    }
