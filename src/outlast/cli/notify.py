"""`outlast notify`: where to be told of one's runs."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.cli.command import new_group, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.errors import UsageError

if TYPE_CHECKING:
    from outlast.server.notices.terminal import Notices

_EXITS = {0: "done", 2: "the request is wrong; nothing was changed", 10: "no such user or channel",
          12: "the message did not arrive, or the database cannot be reached"}  # fmt: skip

app = new_group(
    "notify",
    about="A channel is a webhook, an e-mail address, or a robot of DingTalk, WeCom or Slack. The server sends the "
    "messages: it must run, now or later, for they wait for it. Addresses and secrets are kept and never shown again.",
    examples=[
        ("outlast notify add dingtalk --secret", "asks for the robot's address and secret"),
        ("outlast notify list", "all of them; the word list may be left out"),
    ],
    exits=_EXITS,
    default="list",
)

UserName = Annotated[
    str | None,
    typer.Option("--user", metavar="NAME", help="Whose channel (default: the setting user)", show_default=False),
]
ChannelId = Annotated[str, typer.Argument(metavar="ID", help="Id of the channel, see outlast notify list")]


@verb(
    app,
    "add",
    sentence="Make a channel",
    about="An e-mail address is given as the second word. The address of a webhook or robot carries a token, so it is "
    "asked for, or read from standard input when that is not a terminal: its first line is the address, with --secret "
    "the second line is the secret. A webhook without --secret gets a new one, which is shown once.",
    examples=[
        ("outlast notify add email ann@lab.org --on failed,attention", "only what needs you"),
        ("outlast notify add wecom --language zh < address.txt", "a robot, in Chinese"),
    ],
    exits=_EXITS,
)
def add(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="webhook, email, dingtalk, wecom or slack")],
    address: Annotated[
        str | None, typer.Argument(metavar="[ADDRESS]", help="Of an email channel only", show_default=False)
    ] = None,
    user: UserName = None,
    name: Annotated[
        str, typer.Option("--name", "-n", metavar="TEXT", help="What it is (default: nothing)", show_default=False)
    ] = "",
    events: Annotated[
        str,
        typer.Option("--on", metavar="EVENTS", help="finished, failed, attention, with commas between (default: all)",
                     show_default=False),
    ] = "finished,failed,attention",
    language: Annotated[
        str | None,
        typer.Option("--language", metavar="LANGUAGE", help="en or zh (default: this terminal's)", show_default=False),
    ] = None,
    secret: Annotated[
        bool, typer.Option("--secret", help="Sign messages with a secret that is asked for", show_default=False)
    ] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    from outlast.cli.words import is_chinese
    from outlast.server.notices.wire import KINDS

    if kind not in KINDS:
        raise UsageError(f"unknown kind of channel {kind!r}", hint=f"kinds: {', '.join(KINDS)}")
    if (kind == "email") != (address is not None):
        words = "an email channel needs an address" if kind == "email" else "this address carries a token"
        hint = "outlast notify add email ann@lab.org" if kind == "email" else "leave it out; it is asked for"
        raise UsageError(words, hint=hint)
    target = address or _asked("address of the webhook")
    key = _asked("secret") if secret else ""
    spoken = language or ("zh" if is_chinese() else "en")
    with _open() as notices:
        added = notices.add(
            user, kind, target, secret=key, name=name, events=events.split(","), language=spoken
        )  # fmt: skip
    if as_json:
        print_json(added)
        return
    print(f"{added['user']} is told by {kind}; try it with: outlast notify test {added['id']}")
    if "secret" in added:
        print("messages are signed with this secret, which is not shown again:", file=sys.stderr, flush=True)
        print(added["secret"])


@verb(
    app,
    "list",
    sentence="List channels",
    about="Shows of each address only what is no secret, and what became of the last message.",
    examples=[("outlast notify list", "everybody's"), ("outlast notify list --user bob --json", "of one user")],
    exits=_EXITS,
)
def list_(user: UserName = None, as_json: AsJson = False) -> None:
    from outlast.cli.paint import Column, Ink, ago, table

    with _open() as notices:
        found = notices.list(user)
    if as_json:
        print_json(found)
    elif not found:
        print("no channels; make one with: outlast notify add email ann@lab.org")
    else:
        columns = [Column("id"), Column("user"), Column("kind"), Column("name", flexible=True), Column("to"),
                   Column("on", flexible=True), Column("last", flexible=True)]  # fmt: skip
        rows = [
            [each["id"], each["user"], each["kind"], each["name"], each["target"], ", ".join(each["events"]),
             _last(each["last"], ago)]
            for each in found
        ]  # fmt: skip
        print("\n".join(table(columns, rows, Ink())))


@verb(
    app,
    "test",
    sentence="Send a sample message now",
    about="Tries once and says why the message did not arrive.",
    examples=[("outlast notify test 3f9a1c2b", "by its id"), ("outlast notify test 3f9a1c2b --json", "for programs")],
    exits=_EXITS,
)
def test(channel: ChannelId, as_json: AsJson = False) -> None:
    from outlast.cli.waiting import Waiting

    with _open() as notices, Waiting("sending"):
        notices.test(channel)
    if as_json:
        print_json({"ok": True, "id": channel})
    else:
        print("sent; look there")


@verb(
    app,
    "remove",
    sentence="Forget a channel",
    about="Its address and secret are removed; what was still to be sent is not sent.",
    examples=[
        ("outlast notify remove 3f9a1c2b", "by its id"), ("outlast notify remove 3f9a1c2b --json", "for programs"),
    ],
    exits=_EXITS,
)  # fmt: skip
def remove(channel: ChannelId, as_json: AsJson = False) -> None:
    with _open() as notices:
        found = notices.remove(channel)
    if as_json:
        print_json(found)
    else:
        print(f"removed {found['kind']} channel {found['id']} of {found['user']}")


@verb(
    app,
    "password",
    sentence="Keep the mail server's password",
    about="Asks for it, or reads it from standard input, and keeps it in the system's keyring or in a file of the home "
    "that only its owner can read. The variable OUTLAST_SMTP_PASSWORD, where it is set, wins. The mail server itself "
    "is the setting smtp.",
    examples=[
        ("outlast notify password", "asks for it"),
        ("outlast notify password < password.txt", "for scripts"),
    ],
    exits=_EXITS,
)
def password() -> None:
    from outlast.server.notices.mailing import keep_password

    where = keep_password(open_client().settings.home, _asked("password"))
    print(f"kept in {'the keyring' if where == 'keyring' else 'a private file of the home'}")


def _asked(what: str) -> str:
    """From the person at the terminal, or the next line of standard input."""
    from outlast.cli.asking import ask_hidden

    if sys.stdin.isatty():
        return ask_hidden(what, "it on standard input")
    line = sys.stdin.readline().strip()
    if not line:
        raise UsageError(f"no {what} on standard input", hint="write it there as one line")
    return line


def _last(last: dict[str, Any] | None, ago: Any) -> str:
    if last is None:
        return ""
    return f"{last['state']} {ago(last['at'])}" + (f": {last['problem']}" if last["problem"] else "")


def _open() -> contextlib.AbstractContextManager[Notices]:
    from outlast.server.notices.terminal import open_notices

    return open_notices(open_client().settings)
