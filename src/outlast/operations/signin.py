"""Signing in to platforms, out of them again, and who one is there."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from outlast.errors import CredentialError, PlatformError, UsageError
from outlast.keeper.breakers import Breakers
from outlast.keeper.home import Home
from outlast.keeper.platforms import check_values
from outlast.keeper.wake import wake
from outlast.operations.checks import short
from outlast.operations.login import Identity
from outlast.platforms.accounts import Account, Accounts
from outlast.platforms.base import Field, Standing
from outlast.platforms.trust import find_ca_file
from outlast.settings import Settings
from outlast.store.profiles import check_name

#: What may be said of any account, beside the platform's own fields.
COMMON: tuple[Field, ...] = (
    Field("store", "Store", required=False, help="an address that its stints can reach, like obs://bucket/outlast"),
    Field("limit", "Time limit of a stint", required=False, help="like 1h; the platform's own when left out"),
    Field("hours", "Allowance in hours", required=False, help="no stint goes there when so many are used up"),
    Field("per", "Period of the allowance", required=False, help="day, week or month; in all when left out"),
    Field("queue_patience", "Patience", required=False, help="in its queue, before another platform is tried: 30m"),
)


@dataclass(frozen=True)
class SignedIn:
    """An account that was kept."""

    name: str
    kind: str
    values: Mapping[str, str]  # the open ones
    kept_in: str  # keyring, file, or empty when there is no secret
    path: str  # the file of the accounts
    standing: Standing | None  # None: not checked


def platform_kinds() -> tuple[str, ...]:
    """Kinds of platforms that one signs in to."""
    from outlast.platforms.registry import kinds

    return tuple(kind for kind in kinds() if kind != "local")


def fields_of(kind: str) -> tuple[Field, ...]:
    """Everything that an account of a kind may consist of: the platform's own fields first."""
    from outlast.platforms.registry import load

    own = load(kind).fields
    if not own:
        raise UsageError(f"platform {kind!r} needs no account", hint=f"use it with: outlast run --on {kind}")
    named = {field.name for field in own}
    return (*own, *(field for field in COMMON if field.name not in named))


def kept_account(settings: Settings, kind: str, name: str = "") -> Account | None:
    """What is kept under a name, without its secrets, if it is of that kind."""
    found = Accounts(settings.home).get(name or kind)
    return found if found is not None and found.kind == kind else None


def sign_in(
    settings: Settings, kind: str, values: Mapping[str, str], *, name: str = "", check: bool = True,
    in_file: bool = False,
) -> SignedIn:  # fmt: skip
    """Try an account with a real call and keep it under a name (default: its kind). Nothing is kept when it fails."""
    name = check_name(name or kind)
    accounts = Accounts(Home(settings.home).path)
    before = accounts.get(name)
    if name == "local" or (before is not None and before.kind != kind):
        whose = "this machine" if name == "local" else before.kind if before is not None else ""
        raise UsageError(f"the name {name!r} is that of {whose}", hint="choose another --profile NAME")
    account = _account(kind, name, values)
    standing = _stand(account, settings) if check else None
    kept_in = accounts.save(account, in_file)
    Breakers(settings.home, settings.refusal_wait_s).close(name)  # whatever stood against it, its user has acted
    wake(Home(settings.home))
    return SignedIn(name, kind, dict(account.values), kept_in, str(accounts.path), standing)


def account_identities(settings: Settings, *, check: bool = False) -> list[Identity]:
    """Every account on a platform; with `check` each platform is asked."""
    return [_identity(settings, account, check) for account in Accounts(settings.home).all()]


def stand(account: Account, settings: Settings) -> Standing:
    """What a platform says of an account with its secrets; trouble on our side is told in the same words."""
    from outlast.errors import OutlastError
    from outlast.platforms.registry import load

    try:
        platform = load(account.kind).from_account(account, settings)
    except CredentialError as error:
        return Standing("signed-out", error.message)
    except OutlastError as error:
        return Standing("down", error.message)
    try:
        return platform.standing()
    finally:
        platform.close()


def _account(kind: str, name: str, values: Mapping[str, str]) -> Account:
    fields = {field.name: field for field in fields_of(kind)}
    for word in values:
        if word not in fields:
            near = difflib.get_close_matches(word, fields, n=1)
            guess = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"an account on {kind} has no {word!r}{guess}", hint=f"it has: {', '.join(fields)}")
    full = {field.name: values.get(field.name, "").strip() or field.default for field in fields.values()}
    missing = [field for field in fields.values() if field.required and not full[field.name]]
    if missing:
        names = ", ".join(field.name for field in missing)
        how = "--secret-stdin" if missing[0].secret else f"--set {missing[0].name}=VALUE"
        raise UsageError(f"an account on {kind} needs: {names}", hint=f"give it with {how}")
    check_values(full)
    if full.get("ca_file"):
        full["ca_file"] = find_ca_file(full["ca_file"])
    given = {field: value for field, value in full.items() if value}
    secrets = {field: value for field, value in given.items() if fields[field].secret}
    return Account(name, kind, {field: value for field, value in given.items() if field not in secrets}, secrets)


def _stand(account: Account, settings: Settings) -> Standing:
    from outlast.platforms.registry import load

    platform = load(account.kind).from_account(account, settings)  # what is wrong with the values is raised here
    try:
        standing = platform.standing()
        if standing.state == "down" and (made := platform.make_store()):
            standing = platform.standing()
            standing = replace(standing, detail=f"{made}; {standing.detail}")
    finally:
        platform.close()
    where = account["endpoint"] or account.kind
    named = standing.detail.startswith(where)  # then it says itself who does not let us in
    if standing.state == "signed-out":
        words = standing.detail if named else f"{where} does not let us in: {standing.detail}"
        raise CredentialError(words, hint="check user and secret, then log in again")
    if standing.state == "down":
        words = standing.detail if named else f"{where} cannot be asked: {standing.detail}"
        hint = "try again later, or keep it unchecked with --no-check"
        if "certificate" in words:
            hint = "name the certificate of its authority with --ca-file FILE, or give up checking with --insecure"
        raise PlatformError(words, hint=hint)
    return standing


def _identity(settings: Settings, account: Account, check: bool) -> Identity:
    ok, detail = None, f"platform; used with --on {account.name}"
    if check:
        try:
            standing = stand(Accounts(settings.home).open(account.name), settings)
        except CredentialError as error:
            standing = Standing("signed-out", error.message)
        ok, detail = standing.state in ("ready", "full"), standing.detail
    return Identity(
        kind=account.kind, profile=account.name, origin=f"account {account.name}",
        endpoint=account["endpoint"] or account["region"], key=short(account["key"]), user=account["user"],
        kept_in=account.kept_in, used_for=(), ok=ok, detail=detail,
    )  # fmt: skip
