"""The platforms that a run may go to, each checked before anything is spent, and what the plan says of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outlast.errors import SpecError
from outlast.keeper.platforms import Platforms
from outlast.model.quantities import format_duration
from outlast.model.spec import RunSpec
from outlast.platforms.accounts import Accounts
from outlast.platforms.base import Platform
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.store.pack import PackPlan

#: What the words of an account (flavor, engine, image …) tell about the machines behind it.
_DEVICES = {
    "npu": re.compile(r"ascend|\bnpu|mindspore|\bd910|\bsnt9|\b[39]10[ab]?\b", re.IGNORECASE),
    "cuda": re.compile(r"cuda|gpu|nvidia|[vpa]100|\bt4\b|\bmodelarts\.p\d|vnt1|pnt1", re.IGNORECASE),
}
#: A script is not tied to a device that it asks for first.
_ASKS = re.compile(r"is_available|accelerator")
_MODULES = 100
_CHARACTERS = 1 << 20


@dataclass(frozen=True)
class Destination:
    """One platform of the list, as a stint there would find it."""

    name: str
    kind: str
    limit_s: float | None  # of one stint there: the shorter of the user's and the platform's
    store: str  # what a stint there reads and writes
    mirror: str = ""  # the same when it is not the run's own store: both are kept alike

    @property
    def words(self) -> str:
        """`free-v100 (modelarts): 1 h each, mirrored to obs://bucket/outlast`."""
        name = self.name if self.kind in (self.name, "") else f"{self.name} ({self.kind})"
        limit = f"{format_duration(self.limit_s)} each" if self.limit_s is not None else "no limit"
        return f"{name}: {limit}, {f'mirrored to {self.mirror}' if self.mirror else f'works on {self.store}'}"


def find_destinations(spec: RunSpec, platforms: Sequence[Platform], settings: Settings) -> tuple[Destination, ...]:
    """Check a run against every platform of its list; `SpecError` names the one that can never run it."""
    opened = dict(zip(spec.platforms, platforms, strict=True))
    known = Platforms(settings, opened.__getitem__)
    return tuple(_destination(spec, name, opened[name], known, settings) for name in spec.platforms)


def _destination(spec: RunSpec, name: str, platform: Platform, known: Platforms, settings: Settings) -> Destination:
    try:
        platform.check(spec)
    except SpecError as error:
        if len(spec.platforms) == 1:
            raise
        raise SpecError(f"{name}: {error.message}", hint=error.hint) from None
    account = None if name == "local" else Accounts(settings.home).get(name)
    kind = account.kind if account is not None else name
    mirror = known.mirror(name, spec.store)
    if not mirror and not platform.sees(spec.store):
        raise SpecError(
            f"a stint on {name} cannot reach the store {spec.store}",
            hint=f"keep the run elsewhere with --store ADDRESS, or give the account a store of its own: "
            f"outlast login {kind} --profile {name} --set store=ADDRESS",
        )
    return Destination(name, kind, known.limit_s(name, spec.limit_s), mirror or spec.store, mirror)


def device_notices(spec: RunSpec, pack: PackPlan, settings: Settings) -> list[str]:
    """A warning for each platform without the one device that the script is tied to; a look at words only."""
    tied = _tied_to(pack)
    if not tied:
        return []
    found = {name: _devices(spec, name, settings) for name in spec.platforms}
    return [_lacking(spec, name, tied, has) for name, has in found.items() if has is not None and tied not in has]


def _devices(spec: RunSpec, name: str, settings: Settings) -> frozenset[str] | None:
    """What the platform says; where it cannot say, what the words of its account tell, if they tell anything."""
    from outlast.platforms.registry import create

    has = create(name, settings).devices(spec)
    account = Accounts(settings.home).get(name) if has is None else None
    if account is None:
        return has
    words = " ".join(account.values.values())
    return frozenset(device for device, pattern in _DEVICES.items() if pattern.search(words)) or None


def _lacking(spec: RunSpec, name: str, tied: str, has: frozenset[str]) -> str:
    anywhere = f"outlast migrate {spec.script} --to any"
    if has:
        words = f"the script is tied to {tied}, and {name} seems to have only {next(iter(has))}"
        return f"{words}; make it run on both with: {anywhere}"
    flag = {"cuda": "--gpus", "npu": "--npus"}[tied]
    words = f"the script is tied to {tied}, and a stint on {name} would have no such card"
    return f"{words}; ask for one with {flag} 1 if it has any, or make the script run on any device with: {anywhere}"


def _tied_to(pack: PackPlan) -> str:
    """The device that the code names and never asks for; empty when there is none or more than one."""
    from outlast.migrate.direction import Direction

    named: set[str] = set()
    scripts = [file for file in pack.files if file.path.endswith(".py")]
    for file in scripts[:_MODULES]:
        try:
            with (pack.folder / file.path).open(encoding="utf-8", errors="replace") as source:
                text = source.read(_CHARACTERS)
        except OSError:
            continue
        if _ASKS.search(text):
            return ""
        named |= {device for device in _DEVICES if Direction(device).count_sites(text)}
    return named.pop() if len(named) == 1 else ""
