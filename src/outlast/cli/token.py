"""`outlast token`: personal tokens for programs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from outlast.cli.command import new_group, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from outlast.settings import Settings

_EXITS = {0: "done", 2: "the request is wrong; nothing was changed", 10: "no such user or token",
          12: "the database cannot be reached"}  # fmt: skip

app = new_group(
    "token",
    about="A token lets a program act as a user: Authorization: Bearer outlast_…. It is shown once, when it is made; "
    "only its digest is kept.",
    examples=[
        ("outlast token create --name laptop --expires 90d", "a token of your own"),
        ("outlast token list", "all of them; the word list may be left out"),
    ],
    exits=_EXITS,
    default="list",
)

UserName = Annotated[
    str | None,
    typer.Option("--user", metavar="NAME", help="Whose token (default: the setting user)", show_default=False),
]


@verb(
    app,
    "create",
    sentence="Make a token",
    about="Prints the token and nothing else on standard output, so that a script can keep it. Of an access key "
    "it prints access_key, secret_key and project_id instead, one on each line.",
    examples=[
        ("outlast token create --name laptop --expires 90d", "one that ends by itself"),
        ("outlast token create --user robot > token.txt", "for another user"),
        ("outlast token create --access-key", "an access key and its secret, for clients of ModelArts"),
    ],
    exits=_EXITS,
)
def create(
    user: UserName = None,
    name: Annotated[
        str, typer.Option("--name", "-n", metavar="TEXT", help="What it is for (default: nothing)", show_default=False)
    ] = "",
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="TIME", help="How long it works, like 90d (default: until it is revoked)",
                     show_default=False),
    ] = None,
    access_key: Annotated[
        bool,
        typer.Option("--access-key", help="Make a pair that signs requests, for clients of ModelArts",
                     show_default=False),
    ] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    import sys

    from outlast.server.terminal import open_desk

    settings = open_client().settings
    kind: Literal["access", "token"] = "access" if access_key else "token"
    with open_desk(settings) as desk:
        with _unless_named(user):
            owner = desk.accounts.users.get_active(user or settings.user)
        shown = _pair_words(settings) if access_key else None
        text, key = desk.accounts.keys.create(kind, owner.id, name=_label(name), lasts_s=_lasts(expires))
        desk.note("token.create", key.id, user=owner.name, name=name)
    words = shown(text) if shown else {"token": text}
    if as_json:
        print_json(key.to_json() | words)
        return
    until = f", until {key.to_json()['expires_at']}" if key.expires_at else ""
    noun = "access key" if access_key else "token"
    print(f"{noun} {key.id} of {owner.name}{until}; it is not shown again", file=sys.stderr)
    print("\n".join(f"{name}={value}" for name, value in words.items()) if access_key else text)


@contextlib.contextmanager
def _unless_named(user: str | None) -> Iterator[None]:
    """Whoever did not say whose token it shall be may not know that one has to."""
    try:
        yield
    except NotFoundError as error:
        if user is not None:
            raise
        hint = "say whose token it is with --user; see them with: outlast user list"
        raise NotFoundError(error.message, hint=hint) from None


@verb(
    app,
    "list",
    sentence="List tokens",
    about="Never shows the tokens themselves. Those that have run out are listed until they are revoked.",
    examples=[("outlast token list", "everybody's"), ("outlast token list --user bob --json", "of one user")],
    exits=_EXITS,
)
def list_(user: UserName = None, as_json: AsJson = False) -> None:
    from outlast.cli.paint import Column, Ink, ago, table
    from outlast.server.terminal import open_desk

    with open_desk(open_client().settings) as desk:
        owner = desk.accounts.users.get(user).id if user else None
        found = [key.to_json() for key in desk.accounts.keys.list("token", owner)]
    if as_json:
        print_json(found)
    elif not found:
        print("no tokens; make one with: outlast token create --name laptop")
    else:
        columns = [Column("id"), Column("kind"), Column("user"), Column("name", flexible=True), Column("made"),
                   Column("used"), Column("until")]  # fmt: skip
        rows = [
            [key["id"], key["kind"], key["user"], key["name"], ago(key["created_at"]), ago(key["used_at"] or "never"),
             key["expires_at"] or "no end"]
            for key in found
        ]  # fmt: skip
        print("\n".join(table(columns, rows, Ink())))


@verb(
    app,
    "revoke",
    sentence="End a token at once",
    about="Within a second no process of the server takes it any more.",
    examples=[
        ("outlast token revoke 3f9a1c2b7d10", "by its id"),
        ("outlast token revoke 3f9a1c2b7d10 --json", "for programs"),
    ],
    exits=_EXITS,
)
def revoke(
    token: Annotated[str, typer.Argument(metavar="ID", help="Id of the token, see outlast token list")],
    as_json: AsJson = False,
) -> None:
    from outlast.server.terminal import open_desk

    if token.startswith("outlast_"):
        raise UsageError("that is a token, not its id", hint="see the ids with: outlast token list")
    with open_desk(open_client().settings) as desk:
        key = desk.accounts.keys.revoke("token", token)
        desk.note("token.revoke", key.id, user=key.user)
    if as_json:
        print_json(key.to_json())
    else:
        print(f"revoked {key.id} of {key.user}")


def _pair_words(settings: Settings) -> Callable[[str], dict[str, str]]:
    """What is shown of an access key, once. Reads the home's key file first: without it no pair is made."""
    from outlast.server.accounts.pairs import Pairs

    return Pairs(settings.home).words


def _label(name: str) -> str:
    if len(name) > 64 or not name.isprintable():
        raise UsageError(f"{name!r} cannot be a token's name", hint="up to 64 characters on one line")
    return name


def _lasts(text: str | None) -> float | None:
    from outlast.model.quantities import parse_duration

    if text is None:
        return None
    try:
        lasts_s = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--expires: {error}") from None
    if not 0 < lasts_s <= 10 * 366 * 86400:
        raise UsageError(f"--expires {text} is not possible", hint="more than nothing, at most ten years")
    return lasts_s
