"""`outlast migrate`: rewrite scripts for another device."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.cli.paint import Ink, wrap
from outlast.cli.waiting import Waiting
from outlast.errors import UsageError

if TYPE_CHECKING:
    from outlast.migrate.report import FileReport, Migration

app = new_app()


def _flag(name: str, help: str) -> Any:
    return typer.Option(name, help=help, show_default=False)


def _value(name: str, metavar: str, help: str) -> Any:
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


@verb(
    app,
    "migrate",
    about="Reads Python files and notebooks, changes what names a device (calls, strings, types, back ends, "
    "environment variables) and nothing else, and lists what has no twin on the other side. Comments, texts, names and "
    "formatting stay as they are. With --try it runs a training as it is and migrated, on this machine's processor, "
    "and compares the numbers.",
    examples=[
        ("outlast migrate train.py --to npu", "show what would change"),
        ("outlast migrate src --to npu --write --html report.html", "change the files and keep a report"),
        ("outlast migrate src --to any --check", "is the code free of CUDA? for CI"),
        ("outlast migrate --try -- python train.py --epochs 1", "same losses on a stand-in NPU?"),
    ],
    exits={
        0: "done; with --check: nothing left to change or to decide; with --try: the numbers agree",
        1: "--check found something; --try: the numbers differ or a run failed",
        2: "the request is wrong, or a file has changes that git does not have; nothing was written",
        10: "no such file or folder",
    },
)
def migrate(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH…] [-- COMMAND]", help="Files and folders; with --try: the training", show_default=False
        ),
    ] = None,
    to: Annotated[str, _value("--to", "npu|cuda|any", "The device (default: npu)")] = "npu",
    diff: Annotated[bool, _flag("--diff", "Show the changes (the default)")] = False,
    write: Annotated[bool, _flag("--write", "Change the files; not if git lacks their last changes")] = False,
    check: Annotated[bool, _flag("--check", "Print only what is left, and end with 1 if anything is")] = False,
    files: Annotated[bool, _flag("--files", "Also YAML and shell files")] = False,
    force: Annotated[bool, _flag("--force", "With --write: do not ask git, keep the old files as .orig")] = False,
    kept: Annotated[bool, _flag("--kept", "Also list what only looks like a device and was kept")] = False,
    html: Annotated[str, _value("--html", "FILE", "Write the report as a page")] = "",
    sarif: Annotated[str, _value("--sarif", "FILE", "Write the report for editors")] = "",
    as_json: AsJson = False,
    trial: Annotated[bool, _flag("--try", "Run the training both ways on this machine and compare")] = False,
    limit: Annotated[str, _value("--limit", "TIME", "With --try: end each run after this time (default: 5m)")] = "5m",
    light: Annotated[bool, _flag("--light", "With --try: compile nothing; check names, not devices")] = False,
) -> int:
    if sum((diff, write, check)) > 1:
        raise UsageError("--diff, --write and --check exclude each other")
    if trial:
        return _try(paths or [], limit, light, as_json)
    if not paths:
        raise UsageError("no file or folder was named", hint="for this folder: outlast migrate .")
    printer = _Printer(Ink(), shows_diff=not as_json and not check, kept=kept)
    with Waiting("migrating") as waiting:
        found = open_client().migrate(
            *paths, to=to, write=write, files=files, force=force, each=printer.read, tell=waiting.note,
            detail=bool(as_json or html or sarif or kept),
        )  # fmt: skip
    _save(found, html, sarif)
    if as_json:
        print_json(found.to_json())
    else:
        printer.close(found)
    return 1 if check and not found.is_done else 0


class _Printer:
    """Shows each file as soon as it is done, and what is left at the end."""

    def __init__(self, ink: Ink, *, shows_diff: bool, kept: bool) -> None:
        self._ink = ink
        self._shows_diff = shows_diff
        self._kept = kept

    def read(self, report: FileReport) -> None:
        if self._shows_diff and report.is_changed:
            sys.stdout.write("".join(self._painted(line) for line in report.diff()))

    def _painted(self, line: str) -> str:
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        if line.startswith(("+++", "---")):
            colour = "bold"
        text, ending = line.rstrip("\n"), line[len(line.rstrip("\n")) :]
        return self._ink(colour, text) + ending if colour else line

    def close(self, found: Migration) -> None:
        from outlast.migrate.engine import Kind

        titles = [
            (Kind.UNPARSED, "left alone", "red"),
            (Kind.HAND, "by hand", "red"),
            (Kind.DIFFERS, "differs silently", "yellow"),
        ]
        for kind, title, colour in [*titles, *([(Kind.KEPT, "kept", "dim")] if self._kept else [])]:
            rows = found.of(kind)
            if rows:
                print(f"\n{self._ink(colour, title)} ({len(rows)})")
            for path, finding in rows:
                cell = f" cell {finding.cell}" if finding.cell else ""
                print(f"  {path}:{finding.line}{cell}  {finding.message}")
                for line in wrap(finding.advice, 6) if finding.advice else ():
                    print("      " + self._ink("dim", line))
        self._total(found)

    def _total(self, found: Migration) -> None:
        from outlast.cli.words import count

        counts, changed = found.counts, len(found.changed)
        verb = "changed" if found.written else "to change"
        print(
            f"\n{count(found.files, 'file')}, {changed} {verb}: {count(counts['changed'], 'change')}, "
            f"{counts['by-hand']} by hand, {count(counts['differs'], 'silent difference')}. "
            f"Ready: {found.score} of 100"
        )
        if found.backups:
            print(f"the old files are kept: {found.backups[0]}" + (" and so on" if len(found.backups) > 1 else ""))
        if changed and not found.written:
            print("write it with: --write")


def _save(found: Migration, html: str, sarif: str) -> None:
    import json

    try:
        if html:
            from outlast.migrate.page import render

            Path(html).write_text(render(found), encoding="utf-8")
        if sarif:
            from importlib.metadata import version

            Path(sarif).write_text(json.dumps(found.to_sarif(version("outlast")), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write the report to {error.filename}: {error.strerror}") from None


def _try(command: list[str], limit: str, light: bool, as_json: bool) -> int:
    from dataclasses import asdict

    from outlast.model.quantities import parse_duration

    if not command:
        raise UsageError("--try needs the training", hint="outlast migrate --try -- python train.py --epochs 1")
    try:
        limit_s = parse_duration(limit)
    except ValueError as error:
        raise UsageError(f"--limit: {error}") from None
    with Waiting("running the training as it is") as waiting:
        found = open_client().try_migrated(command, limit_s=limit_s, light=light, tell=waiting.note)
    if as_json:
        print_json(asdict(found) | {"agree": found.agree})
    else:
        ink = Ink()
        print(f"{ink('green', 'agree') if found.agree else ink('red', 'differ')}: {found.sentence}")
        for line in found.lines:
            print(f"  {line}")
    return 0 if found.agree else 1
