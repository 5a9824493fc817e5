"""One script, one contract: what it lacks, and the change that gives it that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import libcst as cst

from outlast.adapt.composed import Read
from outlast.adapt.draft import Draft
from outlast.adapt.edits import Meeting
from outlast.adapt.needs import Needs
from outlast.adapt.program import Adapting, ModuleError
from outlast.adapt.reading import read_program
from outlast.adapt.unbound import Unbound, newly_unbound
from outlast.migrate.engine import EditError, Finding, Kind
from outlast.migrate.repair import Unparsable, complaint


@dataclass(frozen=True)
class Adapted:
    """A script after its adaptation. `text` is the original where nothing was to change."""

    text: str
    findings: tuple[Finding, ...] = ()
    lacks: tuple[str, ...] = ()  # options of the contract that the script did not have
    setup: str = ""  # how it reads its arguments now
    modules: Mapping[str, Adapted] = field(default_factory=dict)  # files of its folder that it imports

    @property
    def is_complete(self) -> bool:
        """Nothing is left for a person."""
        findings = (*self.findings, *(finding for each in self.modules.values() for finding in each.findings))
        return not any(finding.kind in (Kind.HAND, Kind.UNPARSED) for finding in findings)


def _read_none(path: str) -> str | None:
    """Of a script that stands alone."""
    return None


def adapt_text(
    text: str, needs: Needs, beside: frozenset[str] = frozenset(), *, script: str = "train.py", read: Read = _read_none
) -> Adapted:
    """Adapt one script. What does not parse, or would not after the change, comes back as it was, with the reason.

    `beside`: names of modules in the script's folder; `read`: the text of a path below it, or None.
    """
    if text.startswith("\ufeff"):  # places are counted without it
        done = adapt_text(text[1:], needs, beside, script=script, read=read)
        return replace(done, text="\ufeff" + done.text)
    try:
        draft = Draft(text, beside)
    except (cst.ParserSyntaxError, RecursionError) as error:
        wrong = Unparsable("nested too deeply") if isinstance(error, RecursionError) else complaint(text, error)
        why = f"left alone: {wrong.why}"
        return Adapted(text, (Finding(Kind.UNPARSED, "parse", wrong.line, 1, why, "make it valid Python 3"),))
    if not draft.module.body:
        return Adapted(text, (Finding(Kind.HAND, "parse", 1, 1, "the file is empty"),))
    program = read_program(script, draft, read, beside)
    adapting = Adapting(program, needs)
    try:
        changed = adapting.adapt()
    except ModuleError as error:
        return _without(error.path, "two changes meet in it", text, needs, beside, script, read)
    except Meeting as met:
        return _unchanged(
            text, draft.line_at(met.at), "two changes meet on this line", "divide it, then adapt it again"
        )
    except (EditError, cst.ParserSyntaxError) as error:
        line = min(error.raw_line, text.count("\n") + 1) if isinstance(error, cst.ParserSyntaxError) else 1
        return _unchanged(text, line, "with the change it would not be valid Python", "please report this script")
    for path, new in adapting.texts.items():
        if (unbound := newly_unbound(adapting.modules[path].text, new)) is not None:
            return _without(path, _without_value(unbound), text, needs, beside, script, read)
    if (unbound := newly_unbound(text, changed)) is not None:
        return _unchanged(text, 1, _without_value(unbound), "please report this script")
    modules = {
        path: Adapted(new, _sorted(module.findings))
        for path, new in adapting.texts.items()
        if new != (module := adapting.modules[path]).text or module.findings
    }
    return Adapted(changed, _sorted(adapting.entry.findings), tuple(adapting.lacks), adapting.kind, modules)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: (finding.line, finding.rule)))


def _without_value(unbound: Unbound) -> str:
    return f"with the change {unbound.name} would be read before it has a value"


def _without(path: str, why: str, text: str, needs: Needs, beside: frozenset[str], script: str, read: Read) -> Adapted:
    """The adaptation of a program of which one module must stay as it is."""
    done = adapt_text(text, needs, beside, script=script, read=lambda each: None if each == path else read(each))
    said = f"{path} cannot be changed safely: {why}"
    left = Finding(Kind.HAND, "parse", 1, 1, said, f"look at its paths by hand: outlast adapt {path}")
    return replace(done, findings=(left, *done.findings))


def _unchanged(text: str, line: int, why: str, advice: str) -> Adapted:
    return Adapted(text, (Finding(Kind.HAND, "parse", line, 1, f"cannot be changed safely: {why}", advice),))
