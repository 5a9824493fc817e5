"""`outlast login modelarts` and the other platforms: ask for the fields of an account, try it, keep it."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from outlast.cli.asking import ask, ask_hidden, ask_or_skip
from outlast.cli.command import print_json
from outlast.cli.waiting import Waiting
from outlast.cli.words import is_chinese
from outlast.errors import UsageError
from outlast.model.quantities import format_duration
from outlast.platforms.questions_zh import CHINESE

if TYPE_CHECKING:
    from outlast.client import Client
    from outlast.operations.signin import SignedIn
    from outlast.platforms.base import Field, Standing

OFFERS_SHOWN = 12


def login_platform(
    client: Client, kind: str, profile: str, given: Mapping[str, str], settings: Sequence[str], *,
    secret_stdin: bool, check: bool, in_file: bool, as_json: bool,
) -> None:  # fmt: skip
    """The whole of it; `given` are the options that are fields too, `settings` the words of `--set`."""
    from outlast.operations.signin import COMMON, fields_of, kept_account

    fields = fields_of(kind)
    before = kept_account(client.settings, kind, profile)
    values = {**(before.values if before is not None else {}), **_read(kind, fields, given, settings)}
    if secret_stdin:
        values.update(_secrets_of_input([field for field in fields if field.secret and field.name not in values]))
    _ask_for_the_rest([field for field in fields if field not in COMMON], values)
    with Waiting(f"asking {values.get('endpoint') or kind}"):
        done = client.login_platform(kind, profile=profile, check=check, in_file=in_file, **values)
    if as_json:
        print_json(dataclasses.asdict(done))
    else:
        print("\n".join(_lines(done)))


def _read(kind: str, fields: Sequence[Field], given: Mapping[str, str], settings: Sequence[str]) -> dict[str, str]:
    known = {field.name: field for field in fields}
    for name in given:
        if name not in known:
            raise UsageError(f"an account on {kind} has no {name}", hint=f"it has: {', '.join(known)}")
    values = dict(given)
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {text!r} is not NAME=VALUE", hint=f"names: {', '.join(known)}")
        if name in known and known[name].secret:
            raise UsageError(f"{name} is a secret and has no place on a command line", hint="give --secret-stdin")
        values[name] = value
    return values


def _secrets_of_input(wanted: Sequence[Field]) -> dict[str, str]:
    """Lines of standard input: NAME=VALUE, or a value for the next secret that has none, required ones first."""
    found: dict[str, str] = {}
    names = [field.name for field in sorted(wanted, key=lambda field: not field.required)]
    for line in filter(None, (line.strip() for line in sys.stdin.read().splitlines())):
        name, equals, value = line.partition("=")
        if equals and name in names:
            found[name] = value
            continue
        free = [each for each in names if each not in found]
        if not free:
            raise UsageError("standard input holds more lines than there are secrets", hint=f"secrets: {names}")
        found[free[0]] = line
    if not found:
        raise UsageError(
            "standard input holds no secret", hint="for example: outlast login … --secret-stdin < secret.txt"
        )
    return found


def _ask_for_the_rest(fields: Sequence[Field], values: dict[str, str]) -> None:
    """Ask for what is missing, up to the last field that is required, and for one secret unless there is one."""
    if not sys.stdin.isatty():
        return  # what is missing is named by whoever checks it
    required = [at for at, field in enumerate(fields) if field.required]
    last = required[-1] if required else -1
    for at, field in enumerate(fields):
        if field.name in values:
            continue
        has_secret = any(each.secret and values.get(each.name) for each in fields)
        if field.secret and not field.required and has_secret:
            continue
        if at > last and not field.secret:
            continue
        values[field.name] = _ask(field)


def _ask(field: Field) -> str:
    texts = CHINESE if is_chinese() else {}
    question, where = (texts.get(text, text) for text in (field.question, field.help))
    question = f"{question} ({where})" if where else question
    if field.secret and field.required:
        return ask_hidden(question, "--secret-stdin")
    if field.secret or not field.required:
        return ask_or_skip(question, field.default, hidden=field.secret)
    return ask(question, f"--set {field.name}=VALUE", field.default)


def _lines(done: SignedIn) -> list[str]:
    who = done.values.get("user") or done.values.get("key", "")
    where = done.values.get("endpoint") or done.values.get("region", "")
    lines = [" ".join(filter(None, ["signed in to", done.kind, who and f"as {who}", where and f"at {where}"]))]
    lines += ["  not checked"] if done.standing is None else _standing_lines(done.standing)
    kept = {"keyring": "; its secrets are in the keyring", "file": f"; its secrets are in {done.path} (mode 0600)"}
    lines.append(f"kept as account {done.name}{kept.get(done.kept_in, '')}")
    return [*lines, f"use it with: outlast run train.py --on {done.name}"]


def _standing_lines(standing: Standing) -> list[str]:
    lines = [f"  {standing.state}" + (f": {standing.detail}" if standing.detail else "")]
    if standing.queue:
        lines.append(f"  queue: {standing.queue}")
    for offer in standing.offers[:OFFERS_SHOWN]:
        limit = f", {format_duration(offer.limit_s)} at a time" if offer.limit_s is not None else ""
        lines.append(f"  {offer.name}: {offer.words}{limit}{', free' if offer.is_free else ''}")
    more = len(standing.offers) - OFFERS_SHOWN
    return [*lines, *([f"  and {more} more kinds of machine"] if more > 0 else [])]
