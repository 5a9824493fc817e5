"""What a run that is only planned will take: stints, end, hours of each allowance; or how to find out.

Speed is known from the newest of two sources: an earlier run of the same script, and a probe of it. Nothing is
measured here, and nothing that goes wrong here keeps a plan from being made.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from outlast.errors import OutlastError
from outlast.inside.errors import InsideError
from outlast.inside.until import Until
from outlast.keeper.home import Home
from outlast.keeper.observe import read_spec
from outlast.model.quantities import format_duration
from outlast.model.spec import RunSpec
from outlast.operations.forecast import Forecast, Measured, forecast
from outlast.operations.locate import open_index, open_run_store
from outlast.operations.outlook import measure_run
from outlast.operations.probes import Probes, arguments_of
from outlast.platforms.accounts import Accounts
from outlast.platforms.allowance import Allowance, used_s
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.operations.destinations import Destination

#: So many of a user's newest runs are looked at for one of the same script, a file each, and none that is older.
_LATEST, _OLDEST = 30, datetime.timedelta(days=90)


@dataclass(frozen=True)
class Share:
    """What a run will take of one platform."""

    platform: str
    takes_s: float
    left_s: float | None = None  # of its allowance; None: there is no allowance
    allowed_s: float | None = None
    per: str = ""
    then: str = ""  # who takes over when that is used up; empty: nobody

    @property
    def is_enough(self) -> bool:
        return self.left_s is None or self.takes_s <= self.left_s

    @property
    def words(self) -> str:
        """`free-v100: 6 h of the 7 h that are left of 10 h per week`."""
        takes = format_duration(self.takes_s)
        if self.left_s is None or self.allowed_s is None:
            return f"{self.platform}: {takes}"
        per = f" per {self.per}" if self.per else ""
        left = f"{format_duration(self.left_s)} left of {self.allowed_s / 3600:g} h{per}"
        if self.is_enough:
            return f"{self.platform}: {takes} of the {left}"
        if self.then:
            return f"{self.platform}: the {left}, then {self.then}"
        goes_on = f"it waits for the next {self.per} then" if self.per else "name one to go on with: --on NAME"
        return f"{self.platform}: needs {takes}, but has {left}; {goes_on}"


@dataclass(frozen=True)
class Prospect:
    """What to expect of a planned run. Numbers are None while nothing tells; the sentence then says what helps."""

    sentence: str
    basis: str = ""  # how that is known: "as 1115-quiet-otter-7kx went"
    run: str = ""  # the earlier run that tells
    possible: bool = True
    stints: int | None = None
    total_s: float | None = None
    done_at: str = ""
    lost_fraction: float | None = None
    shares: tuple[Share, ...] = ()

    @property
    def lines(self) -> list[str]:
        """Everything in sentences."""
        told = f"{self.sentence} ({self.basis})" if self.basis else self.sentence
        return [told, *(share.words for share in self.shares)]


class _Known(NamedTuple):
    measured: Measured
    total: float | None
    at: str
    basis: str
    run: str = ""


def foresee(
    spec: RunSpec, destinations: Sequence[Destination], settings: Settings, now: datetime.datetime | None = None
) -> Prospect:
    """The prospect of a run with this spec on these platforms, the first one first."""
    try:
        known = [each for each in (_earlier(spec, settings), _probed(spec, settings)) if each is not None]
        if not known:
            return _unknown(spec)
        best = max(known, key=lambda each: each.at)
        bound = Until.parse(spec.until).bound(best.measured.unit) if spec.until else None
        limit_s = destinations[0].limit_s if destinations else spec.limit_s
        found = forecast(best.measured, limit_s=limit_s, total=bound or best.total, now=now)
        shares = _shares(_machine_s(found, best.measured), destinations, settings)
    except (OutlastError, InsideError, OSError):
        return _unknown(spec)
    return Prospect(
        found.sentence, best.basis, best.run, found.possible, found.stints, found.total_s,
        found.done_at.isoformat(timespec="minutes") if found.done_at else "", found.lost_fraction, shares,
    )  # fmt: skip


def _unknown(spec: RunSpec) -> Prospect:
    probe = f"outlast probe {spec.script}".rstrip()  # jobs with commands of their own have no script
    return Prospect(f"how long it will take is not known yet; measure it with: {probe}")


# ---- how fast the script is


def _probed(spec: RunSpec, settings: Settings) -> _Known | None:
    probe = Probes(Home(settings.home)).find(spec)
    if probe is None or probe.measured.unit_s is None:
        return None
    other = "" if probe.arguments == arguments_of(spec) else ", with other arguments"
    return _Known(probe.measured, probe.total, probe.at, f"as outlast probe measured{other}")


def _earlier(spec: RunSpec, settings: Settings) -> _Known | None:
    from outlast.operations.runs import show_run

    since = (datetime.datetime.now(datetime.UTC) - _OLDEST).strftime("%Y-%m-%dT%H:%M:%S")
    index = open_index(settings)
    try:
        mine = index.changed_since(since, [spec.user])
    finally:
        index.close()
    rows = [row for row in mine if row.view.get("epoch") or row.view.get("step")]
    home = Home(settings.home)
    for row in sorted(rows, key=lambda row: row.view.get("created_at") or "", reverse=True)[:_LATEST]:
        try:
            told = read_spec(open_run_store(home, row.store, row.id), row.id)
            shown = measure_run(show_run(settings, row.id)) if _is_same(spec, told) else None
        except (OutlastError, InsideError):
            continue  # its store is away, or it was removed just now
        if shown is not None and shown.measured.unit_s:
            other = "" if _arguments(told) == arguments_of(spec) else ", with other arguments"
            return _Known(shown.measured, shown.total, told["created_at"], f"as {row.id} went{other}", row.id)
    return None


def _is_same(spec: RunSpec, other: Mapping[str, Any]) -> bool:
    """Whether another run had the same script: from the same folder, with the same code, or under the same name."""
    code = other.get("code") or {}
    return other.get("script") == spec.script and (
        other.get("code_folder") == spec.code_folder
        or code.get("sha256") == spec.code.sha256
        or other.get("name") == spec.name
    )


def _arguments(told: Mapping[str, Any]) -> tuple[str, ...]:
    return (*(f"--{name}={value}" for name, value in (told.get("params") or {}).items()), *(told.get("args") or ()))


# ---- what it takes of each platform


def _machine_s(found: Forecast, measured: Measured) -> float | None:
    """Waiting in queues uses nothing up."""
    if found.total_s is None or found.stints is None:
        return None
    return found.total_s - found.stints * measured.queued_s


def _shares(machine_s: float | None, destinations: Sequence[Destination], settings: Settings) -> tuple[Share, ...]:
    """Platforms in the order of preference, each up to its allowance; those without one matter only after others."""
    from outlast.operations.platforms import read_uses

    allowances = {each.name: _allowance(each.name, settings) for each in destinations}
    if machine_s is None or not any(allowances.values()):
        return ()
    uses, today = read_uses(settings), datetime.datetime.now(datetime.UTC).date()
    shares, rest_s = [], machine_s
    for place, after in zip(destinations, [*destinations[1:], None], strict=True):
        allowance = allowances[place.name]
        left_s = None
        if allowance is not None:
            left_s = max(0.0, allowance.limit_s - used_s(uses, place.name, allowance.begins(today)))
        then = after.name if after is not None else ""
        share = Share(
            place.name, rest_s, left_s, allowance.limit_s if allowance else None, allowance.per if allowance else "",
            then,
        )  # fmt: skip
        shares.append(share)
        if share.is_enough:
            break
        rest_s -= left_s or 0.0
    return tuple(shares)


def _allowance(name: str, settings: Settings) -> Allowance | None:
    account = None if name == "local" else Accounts(settings.home).get(name)
    return Allowance.of(account.values) if account is not None else None
