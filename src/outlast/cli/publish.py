"""`outlast publish`: outputs of a run as a model repository."""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson, RunRef
from outlast.cli.repo import Described, Licence, Tags
from outlast.cli.waiting import Waiting

app = new_app()


@verb(
    app,
    "publish",
    about="Commits the outputs of a run to main of a model repository, with a model card (README.md) that says how it "
    "was trained; the repository is made unless it is there. Large files become LFS objects of the bytes that the "
    "store already has: nothing is copied.",
    examples=[
        ("outlast publish mnist ann/lenet --licence mit", "as a private model of yours"),
        ("outlast publish 1115-quiet vision/lenet --group --public", "of a group, for everybody"),
    ],
    exits={0: "done", 2: "the request is wrong; nothing was changed", 10: "no such run, or it has no outputs yet",
           11: "the repository belongs to somebody else", 12: "the store cannot be reached"},
)  # fmt: skip
def publish(
    run: RunRef,
    path: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="The model repository", show_default=False)],
    public: Annotated[bool, typer.Option("--public", help="Let everybody see a new one", show_default=False)] = False,
    group: Annotated[
        bool, typer.Option("--group", help="The owner of a new one is a group", show_default=False)
    ] = False,
    description: Described = None,
    tag: Tags = None,
    licence: Licence = None,
    as_json: AsJson = False,
) -> None:
    from outlast.model.quantities import format_size

    client = open_client()
    with Waiting(f"publishing {run}"):
        done = client.repositories.publish(
            run, path, group=group, visibility="public" if public else "private", description=description or "",
            tags=tuple(tag or ()), licence=licence or "",
        )  # fmt: skip
    if as_json:
        print_json(vars(done))
        return
    count = f"{done.files} file{'' if done.files == 1 else 's'}, {format_size(done.size_bytes)}"
    print(f"published {done.run} as model:{done.path}@{done.commit[:12]}: {count}")
    print(f"see it with: outlast repo show {done.path}")
