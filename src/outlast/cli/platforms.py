"""`outlast platforms`: where runs can go."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.cli.waiting import Waiting
from outlast.model.quantities import format_duration

if TYPE_CHECKING:
    from outlast.operations.platforms import PlatformView

app = new_app()


@verb(
    app,
    "platforms",
    about="Shows this machine and every account on a platform: its state, the time limit of a stint, what was used of "
    "its allowance, the store that its stints work on, and, after a refusal, when it is asked again. The names are "
    "those that outlast run --on takes.",
    examples=[
        ("outlast platforms", "what is known here"),
        ("outlast platforms --check", "ask each: is it there, what does it offer, how long is the queue"),
        ("outlast platforms --json | jq '.[].name'", "for programs"),
    ],
    exits={
        0: "done", 2: "the request is wrong", 11: "with --check: an account is refused",
        12: "with --check: a platform cannot be reached",
    },
)  # fmt: skip
def platforms(
    check: Annotated[bool, typer.Option("--check", help="Ask each platform how it is", show_default=False)] = False,
    as_json: AsJson = False,
) -> int:
    with Waiting("asking the platforms") if check else contextlib.nullcontext():
        found = open_client().platforms(check=check)
    if as_json:
        print_json([dataclasses.asdict(each) for each in found])
    else:
        _print(found)
    states = {each.state for each in found}
    return 11 if "signed-out" in states else 12 if "down" in states else 0


def _print(found: list[PlatformView]) -> None:
    from outlast.cli.paint import Column, Ink, table

    ink = Ink()
    colours = {"ready": "green", "full": "yellow", "waiting": "yellow", "down": "red", "signed-out": "red"}
    columns = [
        Column("name", paint=lambda text: ink("bold", text)),
        Column("kind"),
        Column("state", paint=lambda text: ink(colours.get(text.strip(), "dim"), text)),
        Column("limit", right=True),
        Column("used"),
        Column("again in", right=True),
        Column("queue"),
        Column("store", flexible=True),
        Column("", flexible=True, paint=lambda text: ink("dim", text)),
    ]
    rows = [
        [
            each.name, each.kind, each.state, format_duration(each.limit_s) if each.limit_s is not None else "",
            each.use, format_duration(each.retry_s) if each.retry_s else "", each.queue, each.store, each.detail,
        ]
        for each in found
    ]  # fmt: skip
    lines = table(columns, rows, ink)
    for each in found:
        lines += [
            f"  {each.name}: {offer.name}, {offer.words}{', free' if offer.is_free else ''}" for offer in each.offers
        ]
    if len(found) == 1:
        lines.append(ink("dim", "more with: outlast login modelarts, openpai or xihe"))
    print("\n".join(lines))
