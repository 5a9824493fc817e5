"""`outlast sync`: make one folder hold what another holds."""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.carrying import EXITS, Checksum, DryRun, Profile, Quiet, Verify, Way, Workers, carry
from outlast.cli.command import new_app, verb
from outlast.cli.options import AsJson

app = new_app()


@verb(
    app,
    "sync",
    about="Copies what is missing or different, like cp and with the same rule for slashes. With --delete it also "
    "removes what the source does not have: it shows that first and asks, waits until everything was copied, and "
    "refuses when the source is empty. Nothing is ever removed at the source.",
    examples=[
        ("outlast sync data/ obs://lab/data/", "obs://lab/data gets what is new in data"),
        ("outlast sync s3://lab/run7/ run7/ --delete --yes", "run7 becomes exactly what the bucket has"),
    ],
    exits=EXITS,
)
def sync(
    source: Annotated[str, typer.Argument(metavar="SRC", help="The folder to copy")],
    destination: Annotated[str, typer.Argument(metavar="DST", help="The folder to bring up to date")],
    delete: Annotated[
        bool,
        typer.Option("--delete", show_default=False,
                     help="Afterwards remove what the source does not have (default: keep it)"),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask", show_default=False)] = False,
    dry_run: DryRun = False,
    force: Annotated[
        bool,
        typer.Option("--force", show_default=False,
                     help="Copy also what is there already; let --delete empty a folder when the source is empty"),
    ] = False,
    checksum: Checksum = False,
    verify: Verify = False,
    workers: Workers = 0,
    profile: Profile = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    words = {
        "force": force, "checksum": checksum, "verify": verify, "workers": workers, "profile": profile, "delete": delete
    }  # fmt: skip
    return carry([source], destination, Way(dry_run, as_json, quiet, yes), words)
