"""`outlast queue`: shares of the machines, for groups."""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.command import new_group, open_client, print_json, verb
from outlast.cli.options import AsJson

_EXITS = {0: "done", 2: "the request is wrong; nothing was changed", 10: "no such queue",
          12: "the database cannot be reached"}  # fmt: skip

app = new_group(
    "queue",
    about="A queue is a share of the machines, elsewhere called a virtual cluster. Groups wait in it; when machines "
    "are full, queues get time in proportion to their weights, and users share their queue's evenly. Nothing is held "
    "back: an idle machine takes whatever waits.",
    examples=[
        ("outlast queue set lab --weight 2", "make one, or change its weight"),
        ("outlast queue list", "all of them; the word list may be left out"),
    ],
    exits=_EXITS,
    default="list",
)

Name = Annotated[str, typer.Argument(metavar="QUEUE", help="Name of the queue", show_default=False)]


@verb(
    app,
    "list",
    sentence="List queues",
    about="With the groups that wait in each.",
    examples=[("outlast queue list", "as a table"), ("outlast queue list --json", "for programs")],
    exits=_EXITS,
)
def list_(as_json: AsJson = False) -> None:
    from outlast.cli.paint import Column, Ink, table
    from outlast.server.terminal import open_desk

    with open_desk(open_client().settings) as desk:
        found = desk.accounts.queues.list()
    if as_json:
        print_json([queue.to_json() for queue in found])
    elif not found:
        print("no queues; make one with: outlast queue set NAME --weight 1")
    else:
        columns = [Column("queue"), Column("weight", right=True), Column("groups", flexible=True)]
        rows = [[queue.name, f"{queue.weight:g}", ", ".join(queue.groups)] for queue in found]
        print("\n".join(table(columns, rows, Ink())))


@verb(
    app,
    "set",
    sentence="Make a queue, or change its weight",
    about="The weights of users follow at once, in the setting user_weights.",
    examples=[("outlast queue set lab --weight 2", "twice a usual share"), ("outlast queue set guests", "a usual one")],
    exits=_EXITS,
)
def set_(
    name: Name,
    weight: Annotated[
        float,
        typer.Option("--weight", metavar="N", help="Its share beside the others' (default: 1)", show_default=False),
    ] = 1.0,
    as_json: AsJson = False,
) -> None:
    from outlast.server.terminal import open_desk

    with open_desk(open_client().settings) as desk:
        queue = desk.accounts.queues.put(name, weight)
        desk.note("queue.set", name, weight=weight)
    if as_json:
        print_json(queue.to_json())
    else:
        print(f"queue {name} has weight {weight:g}")


@verb(
    app,
    "remove",
    sentence="Take away a queue",
    about="No group may wait in it any more.",
    examples=[("outlast queue remove lab", "by its name"), ("outlast queue remove lab --json", "for programs")],
    exits=_EXITS,
)
def remove(name: Name, as_json: AsJson = False) -> None:
    from outlast.server.terminal import open_desk

    with open_desk(open_client().settings) as desk:
        desk.accounts.queues.remove(name)
        desk.note("queue.remove", name)
    if as_json:
        print_json({"name": name})
    else:
        print(f"removed {name}")
