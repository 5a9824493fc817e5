"""`outlast adapt`: fit a script to a platform's contract."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.cli.paint import Ink, wrap
from outlast.cli.waiting import Waiting
from outlast.errors import UsageError

if TYPE_CHECKING:
    from outlast.operations.adapt import Adaptation

app = new_app()


def _flag(name: str, help: str) -> Any:
    return typer.Option(name, help=help, show_default=False)


@verb(
    app,
    "adapt",
    about="Reads a training script and says which of the contract's arguments it lacks, which paths are fixed, what it "
    "downloads, and whether it can go on where it stopped; then makes the change. Without the new arguments the "
    "script does what it did. What is not certain is left alone, with the reason.",
    examples=[
        ("outlast adapt train.py --contract modelarts", "show what would change"),
        ("outlast adapt train.py --contract xihe --write", "change the script"),
        ("outlast adapt train.py --contract modelarts-v1 --entry --write", "and write the job's boot file"),
        ("outlast adapt train.py --contract plain --check", "can it resume? for CI"),
    ],
    exits={
        0: "done; with --check: nothing left to change or to decide",
        1: "--check found something",
        2: "the request is wrong, or a file has changes that git does not have; nothing was written",
        10: "no such file",
    },
)
def adapt(
    script: Annotated[str, typer.Argument(metavar="SCRIPT", help="The file that python starts", show_default=False)],
    contract: Annotated[
        str, typer.Option("--contract", metavar="modelarts|modelarts-v1|xihe|plain",
                          help="The platform (default: modelarts)", show_default=False)
    ] = "modelarts",
    diff: Annotated[bool, _flag("--diff", "Show the changes (the default)")] = False,
    write: Annotated[bool, _flag("--write", "Change it; refused where git has not seen the last changes")] = False,
    check: Annotated[bool, _flag("--check", "Print only what is left, and end with 1 if anything is")] = False,
    entry: Annotated[bool, _flag("--entry", "Also write the job's boot file beside it")] = False,
    force: Annotated[bool, _flag("--force", "With --write: do not ask git, keep the old file as .orig")] = False,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    if sum((diff, write, check)) > 1:
        raise UsageError("--diff, --write and --check exclude each other")
    with Waiting(f"reading {script} and what it imports"):
        found = open_client().adapt(script, contract=contract, write=write, entry=entry, force=force)
    if as_json:
        print_json(found.to_json())
    else:
        _print(found, Ink(), shows_diff=not check)
    return 1 if check and not found.is_done else 0


def _print(found: Adaptation, ink: Ink, *, shows_diff: bool) -> None:
    if shows_diff:
        for report in found.files:
            sys.stdout.write("".join(_painted(line, ink) for line in report.diff()))
    titles = (
        ("unparsed", "left alone", "red"), ("by-hand", "by hand", "red"), ("differs", "to know", "yellow"),
        ("kept", "kept", "dim"), ("changed", "changed" if found.written else "to change", "green"),
    )  # fmt: skip
    for kind, title, colour in titles:
        rows = [
            (report.path, finding) for report in found.files for finding in report.findings
            if finding.kind.value == kind
        ]  # fmt: skip
        if rows:
            print(f"\n{ink(colour, title)} ({len(rows)})")
        for path, finding in rows:
            print(f"  {path}:{finding.line}  {finding.message}")
            for line in wrap(finding.advice, 6) if finding.advice else ():
                print("      " + ink("dim", line))
    print("\n" + _total(found))
    if (found.written or not found.changed) and found.command:
        print(f"run it with: {found.command}")


def _painted(line: str, ink: Ink) -> str:
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    if line.startswith(("+++", "---")):
        colour = "bold"
    text, ending = line.rstrip("\n"), line[len(line.rstrip("\n")) :]
    return ink(colour, text) + ending if colour else line


def _total(found: Adaptation) -> str:
    left = len(found.by_hand)
    hands = f"; {left} {'thing needs' if left == 1 else 'things need'} a hand" if left else ""
    if found.written:
        several = len(found.backups) > 1
        kept = f"; the old {'files are' if several else 'file is'} kept: " if found.backups else ""
        kept += ", ".join(found.backups)
        return f"written: {', '.join(found.written)}{hands}{kept}"
    if found.changed:
        return f"{found.script} is not yet fit for {found.contract}{hands}; write it with: --write"
    return f"{found.script} {'cannot be fitted further' if left else 'is fit'} for {found.contract}{hands}"
