"""Every platform that runs of this home can go to: how it is, what it allows, and what was used of it."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outlast.errors import CredentialError, OutlastError
from outlast.keeper.breakers import Breakers
from outlast.keeper.platforms import Platforms
from outlast.model.quantities import format_duration
from outlast.operations.locate import open_index
from outlast.operations.signin import stand
from outlast.platforms.accounts import Account, Accounts
from outlast.platforms.allowance import Allowance, used_s
from outlast.platforms.base import Standing
from outlast.platforms.registry import create, known
from outlast.settings import Settings


@dataclass(frozen=True)
class OfferView:
    """One kind of machine that a platform gives."""

    name: str
    words: str
    limit_s: float | None = None
    is_free: bool = False


@dataclass(frozen=True)
class PlatformView:
    """One platform or account."""

    name: str
    kind: str
    state: str  # ready, full, down, signed-out; not asked: waiting (it is left alone for now) or known
    detail: str = ""
    limit_s: float | None = None  # of a stint
    store: str = ""  # what its stints can reach; empty: what this machine reaches
    used_s: float = 0.0  # machine time of this period, or in all where there is no allowance
    allowed_s: float | None = None
    per: str = ""  # day, week, month; empty: in all
    renews_s: float | None = None
    retry_s: float = 0.0  # after a refusal: until it is asked for a machine again
    refusals: int = 0  # in a row
    queue: str = ""
    offers: tuple[OfferView, ...] = ()

    @property
    def use(self) -> str:
        """`2 h 10 min of 10 h this week`."""
        if self.allowed_s is None:
            return format_duration(self.used_s) if self.used_s else ""
        per = {"day": " today", "week": " this week", "month": " this month"}.get(self.per, "")
        return f"{format_duration(self.used_s)} of {format_duration(self.allowed_s)}{per}"


def list_platforms(settings: Settings, *, check: bool = False) -> list[PlatformView]:
    """Every platform and account in the order that `--on` knows them; with `check` each is asked how it is."""
    from concurrent.futures import ThreadPoolExecutor

    names = known(settings)
    accounts = {account.name: account for account in Accounts(settings.home).all()}
    uses = read_uses(settings)
    breakers = Breakers(settings.home, settings.refusal_wait_s)
    # All at once: one that does not answer must not make the others look slow.
    with ThreadPoolExecutor(max_workers=max(1, len(names))) as threads:
        standings = list(threads.map(lambda name: _ask(name, accounts.get(name), settings, check), names))
    for name, standing in zip(names, standings, strict=True):
        if standing is not None and standing.state == "ready":
            breakers.close(name)  # its user has asked, and it is well: the next stint may try
    return [
        _view(name, accounts.get(name), standing, uses, breakers, settings)
        for name, standing in zip(names, standings, strict=True)
    ]


def read_uses(settings: Settings) -> list[Mapping[str, Any]]:
    """What every run of the home has used of each platform."""
    index = open_index(settings)
    try:
        return [row.view.get("used_s") or {} for row in index.all_runs()]
    finally:
        index.close()


def _ask(name: str, account: Account | None, settings: Settings, check: bool) -> Standing | None:
    if account is None:
        return create(name, settings).standing() if name == "local" or check else None
    if not check:
        return None
    try:
        return stand(Accounts(settings.home).open(name), settings)
    except CredentialError as error:
        return Standing("signed-out", error.message)


def _view(
    name: str, account: Account | None, standing: Standing | None, uses: Sequence[Mapping[str, Any]],
    breakers: Breakers, settings: Settings,
) -> PlatformView:  # fmt: skip
    moment = time.time()
    breaker = breakers.get(name)
    retry_s = breaker.closed_s(moment) if breaker is not None else 0.0
    detail = standing.detail if standing is not None else ""
    if breaker is not None:
        detail = "; ".join(filter(None, (detail, breaker.words(moment))))
    state = standing.state if standing is not None else "waiting" if breaker is not None else "known"
    allowance, limit_s, store = None, None, ""
    try:
        lines = Platforms(settings, lambda each: create(each, settings))
        limit_s, store = lines.limit_s(name, None), lines.line(name).platform.store
        allowance = Allowance.of(account.values) if account is not None else None
    except OutlastError as error:
        detail = detail or error.message
    now = datetime.datetime.fromtimestamp(moment, datetime.UTC)
    since = allowance.begins(now.date()) if allowance is not None else datetime.date.min
    return PlatformView(
        name=name, kind=account.kind if account is not None else name, state=state, detail=detail, limit_s=limit_s,
        store=store, used_s=used_s(uses, name, since), allowed_s=allowance.limit_s if allowance else None,
        per=allowance.per if allowance else "", renews_s=allowance.renews_s(now) if allowance else None,
        retry_s=retry_s, refusals=breaker.count if breaker is not None else 0,
        queue=standing.queue if standing is not None else "",
        offers=tuple(OfferView(*offer) for offer in standing.offers) if standing is not None else (),
    )  # fmt: skip
