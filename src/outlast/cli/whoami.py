"""`outlast whoami`: every access that is known here."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.cli.waiting import Waiting

if TYPE_CHECKING:
    from outlast.operations.login import Identity

app = new_app()


@verb(
    app,
    "whoami",
    about="Shows each access, where it came from and which addresses are opened with it when they name no profile. "
    "Environment variables win over profiles, profiles over the files of the AWS tools. Secrets are never shown.",
    examples=[
        ("outlast whoami", "what is known here"),
        ("outlast whoami --check --json", "use each once; for programs"),
    ],
    exits={0: "done", 2: "the request is wrong", 11: "with --check: an access does not work"},
)
def whoami(
    check: Annotated[bool, typer.Option("--check", help="Use each access once and say what it can do",
                                        show_default=False)] = False,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    with Waiting("asking them"):
        known = open_client().whoami(check=check)
    if as_json:
        print_json([dataclasses.asdict(each) for each in known])
    elif known:
        _print(known)
    else:
        print("no access to a store or a platform is known; log in with: outlast login obs")
    return 11 if any(each.ok is False for each in known) else 0


def _print(known: list[Identity]) -> None:
    from outlast.cli.paint import Column, Ink, table

    ink = Ink()
    columns = [
        Column("kind", paint=lambda text: ink("bold", text)),
        Column("from"),
        Column("secret in", paint=lambda text: ink("dim", text)),
        Column("as"),
        Column("endpoint", flexible=True),
        Column("opens"),
        Column("works"),
        Column("", flexible=True, paint=lambda text: ink("dim", text)),
    ]
    works = {True: "yes", False: "no", None: ""}
    rows = [
        [each.kind, each.origin, each.kept_in, each.key or each.user, each.endpoint,
         " ".join(f"{scheme}://" for scheme in each.used_for), works[each.ok], each.detail]
        for each in known
    ]  # fmt: skip
    print("\n".join(table(columns, rows, ink)))
