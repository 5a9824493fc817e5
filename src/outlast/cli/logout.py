"""`outlast logout`: forget the keys of a store or a platform."""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, verb
from outlast.errors import UsageError

app = new_app()


def complete_profile(incomplete: str) -> list[str]:
    """Names of profiles that begin so; a broken home completes nothing rather than failing."""
    try:
        return [each.profile for each in open_client().whoami() if each.profile.startswith(incomplete) and each.profile]
    except Exception:  # noqa: BLE001 - a completion must never print a traceback into the user's prompt
        return []


@verb(
    app,
    "logout",
    about="Removes a profile and its secret from this machine. The keys themselves stay valid: to end them, use the "
    "store's own console. Environment variables and files of other tools are left alone.",
    examples=[
        ("outlast logout obs", "the default profile for obs://"),
        ("outlast logout free-v100", "an account on a platform"),
        ("outlast logout --profile lab", "one by its name"),
    ],
    exits=(0, 2, 10),
)
def logout(
    kind: Annotated[
        str, typer.Argument(metavar="[KIND]", help="obs, s3, hdfs, or the name of an account", show_default=False,
                            autocompletion=complete_profile),
    ] = "",
    profile: Annotated[
        str, typer.Option("--profile", metavar="NAME", help="The profile's name (default: the kind)",
                          show_default=False, autocompletion=complete_profile),
    ] = "",
) -> None:  # fmt: skip
    if not kind and not profile:
        raise UsageError("nothing to log out of is named", hint="for example: outlast logout obs; see: outlast whoami")
    name = open_client().logout(profile or kind)
    print(f"forgot profile {name}")
