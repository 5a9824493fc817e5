"""`modelarts`: a stint is a training job of Huawei Cloud's ModelArts, or of a server that speaks its protocol.

The job's name is made of run and stint, so a reply that got lost is found again by searching; the service refuses a
second job of that name, and a second runner of a stint finds its claim and leaves. `docs/guides/modelarts.md` tells
users what happens to their keys.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from outlast.errors import OutlastError, SpecError, Unavailable
from outlast.inside.move.address import parse
from outlast.inside.place import ACCESSES
from outlast.model.hearsay import Happening, Hearsay
from outlast.model.quantities import format_duration, parse_duration
from outlast.modelarts.flavors import Flavor, find_flavor
from outlast.platforms.base import Field, Job, JobState, Launch, Offer, Plan, Platform, Standing, Tells
from outlast.platforms.boot import boot_environment, boot_file
from outlast.platforms.modelarts import wire
from outlast.platforms.modelarts.account import (
    ENGINE,
    FIELDS,
    FLAVOR,
    REGION,
    open_session,
    own_access,
    read_store,
    require_store,
    store_access,
)
from outlast.platforms.modelarts.depot import Depot
from outlast.platforms.modelarts.faults import DUPLICATE, Said, Unheard, told
from outlast.platforms.modelarts.generations import First, Generation, Second
from outlast.platforms.modelarts.session import Session
from outlast.store.profiles import find_access
from outlast.store.registry import outside_errors

if TYPE_CHECKING:
    from outlast.inside.stores.access import Access
    from outlast.model.spec import RunSpec
    from outlast.platforms.accounts import Account
    from outlast.settings import Settings

_LOG_TAIL = 64 << 10
#: The platform's hour begins before the runner's: the container and the code have to come first.
_START_S = 120.0
#: How often a job that may or may not exist is looked for and asked for again.
_CREATIONS = 3


class ModelArts(Platform, Tells):
    """One account. Keeps nothing on disk: what it must know again it finds by name."""

    name = "modelarts"
    fields: ClassVar[tuple[Field, ...]] = FIELDS

    def __init__(self, account: Account, home: Path, session: Session | None = None) -> None:
        """`session` stands in for the one that the account describes."""
        self.name = account.name
        self.store = account["store"]
        self._account = account
        self._home = home
        self._flavor = account["flavor"] or FLAVOR
        self._session = session or open_session(account)
        self._generation: Generation | None = None
        self._depot: Depot | None = None
        self._lacks_bucket = False  # as far as anybody has looked
        self._ids: dict[str, str] = {}  # of jobs that were seen or made here, by name
        self._endings: dict[str, list[Happening]] = {}  # events of jobs that did not end well, by id
        self.limit_s = parse_duration(account["limit"]) if account["limit"] else self._usual_limit_s()

    @classmethod
    def from_account(cls, account: Account, settings: Settings) -> ModelArts:
        return cls(account, settings.home)

    # ---- what it is like

    def sees(self, address: str) -> bool:
        """OBS from anywhere; `s3://` where that means the same server."""
        scheme = address.partition("://")[0]
        if scheme != "s3":
            return scheme == "obs"
        try:
            with outside_errors():
                access = find_access("s3", parse(address).profile, os.environ, self._home)
            return access.endpoint == store_access(self._account, self._home).endpoint
        except OutlastError:  # no keys, or no address
            return False

    def store_access(self) -> Access | None:
        return own_access(self._account)

    def standing(self) -> Standing:
        try:
            with told(self.name):
                offers = tuple(self._api().offers())
                mine = next((each for each in offers if each.name == self._flavor), None)
                if mine is None and not self._account["pool"]:
                    return Standing("down", _not_offered(self._flavor, offers), offers)
                self._lacks_bucket = not self._storage().exists()
                if self._lacks_bucket:
                    words = (
                        f"its store {self.store} has no bucket; outlast login modelarts --profile {self.name} makes it"
                    )
                    return Standing("down", words, offers)
                waiting = self._api().waiting()
                return Standing("ready", self._words(mine), offers, f"{waiting} of our jobs wait" if waiting else "")
        except Unavailable as error:
            return Standing("signed-out" if error.why == "refused" else "down", str(error))

    def make_store(self) -> str:
        """Make the bucket that `standing` missed; folders need no making, objects bring theirs along."""
        if not self._lacks_bucket:
            return ""
        with told(self.name):
            self._storage().make()
        self._lacks_bucket = False
        return f"made the bucket of {self.store}"

    def devices(self, spec: RunSpec) -> frozenset[str] | None:
        """Those of the flavor: a container sees all of its cards."""
        flavor = find_flavor(self._flavor)
        if flavor is None or not flavor.cpus:
            return None  # its name says how long it lasts, and no more
        return frozenset(name for name, count in (("cuda", flavor.gpus), ("npu", flavor.npus)) if count)

    def check(self, spec: RunSpec) -> None:
        require_store(self._account)
        if spec.sandbox == "on":
            raise SpecError(f"--sandbox on is not possible on {self.name}: its container is the sandbox there is")
        if not spec.network:
            raise SpecError(f"--no-network is not possible on {self.name}: the container reaches its store over it")
        if spec.resources.nodes > 1 and wire.is_free(self._flavor):
            raise SpecError(
                f"--nodes {spec.resources.nodes}: the free flavor {self._flavor} is given once",
                hint=f"sign in with another flavor: outlast login modelarts --profile {self.name} --set flavor=…",
            )
        has = find_flavor(self._flavor) or Flavor()
        for flag, wanted, there in (
            ("--cpus", spec.resources.cpus, has.cpus),
            ("--gpus", spec.resources.gpus, has.gpus),
            ("--npus", spec.resources.npus, has.npus),
        ):
            if has.cpus and wanted > there:
                raise SpecError(
                    f"{flag} {wanted} is more than {self._flavor} has ({has.sentence})",
                    hint=f"sign in with another flavor: outlast login modelarts --profile {self.name} --set flavor=…",
                )

    def plan(self, launch: Launch) -> Plan:
        notices = [f"training job {wire.name_of(launch.job_name)} on {self._flavor}, started from {self.store}/boot"]
        if self._account["user"] and not self._account["key"]:
            notices.append("the keys of the store come from: outlast login obs")
        return Plan(("python", "outlast_start.py"), tuple(notices))

    # ---- jobs

    def submit(self, launch: Launch) -> None:
        name = wire.name_of(launch.job_name)
        with told(self.name):
            require_store(self._account)
            if self._look_up(name) is None:
                self._create(name, self._wish(name, launch))

    def poll(self, names: Iterable[str]) -> dict[str, Job]:
        asked = {each: wire.name_of(each) for each in names}
        if not asked:
            return {}
        with told(self.name):
            found = self._api().find(asked.values())
            for name in asked.values():
                if name not in found and name in self._ids:  # a list may be behind the jobs themselves
                    shown = self._api().show(self._ids[name])
                    found.update({name: shown} if shown is not None else {})
        self._ids.update((name, each.id) for name, each in found.items())
        return {
            each: self._explained(found[name]) if name in found else Job(JobState.ABSENT)
            for each, name in asked.items()
        }

    def logs(self, name: str) -> str:
        with told(self.name):
            job = self._id_of(name)
            return self._api().log(job)[-_LOG_TAIL:] if job else ""

    def hearsay(self, name: str) -> Hearsay:
        with told(self.name):
            job = self._id_of(name)
            return Hearsay(tuple(self._api().events(job)), self._api().use(job)) if job else Hearsay()

    def cancel(self, name: str) -> None:
        with told(self.name):
            job = self._id_of(name)
            if job:
                self._api().stop(job)

    def clean_work(self, run: str, keep: Collection[int] = ()) -> int:
        """Remove the folders that ended jobs were started from."""
        with told(self.name):
            there = self._storage().jobs_of(run)
            states = self.poll(there)
            over = [
                each
                for each, job in states.items()
                if job.state in (JobState.ENDED, JobState.ABSENT) and int(each.rpartition(".")[2]) not in keep
            ]
            for each in over:
                self._storage().remove(there[each])
        return len(over)

    def forget(self, run: str) -> None:
        """Delete the records of a run's jobs in ModelArts, and their folders."""
        with told(self.name):
            mine = [
                each
                for page in self._api().pages(wire.name_of(f"{run}."))
                for each in page
                if wire.stint_of(each.name).rpartition(".")[0] == run
            ]
            for each in mine:
                if not each.is_over:
                    self._api().stop(each.id)
                self._api().delete(each.id)
                self._ids.pop(each.name, None)
            for keys in self._storage().jobs_of(run).values():
                self._storage().remove(keys)

    def close(self) -> None:
        self._session.close()
        if self._depot is not None:
            self._depot.close()

    # ---- creating

    def _create(self, name: str, wish: wire.Wish) -> None:
        """Create a job, or find out that there is one: an answer that got lost is looked for by name."""
        for attempt in range(_CREATIONS):
            try:
                self._ids[name] = self._api().create(wish)
                return
            except Said as said:
                is_final = not said.is_busy or said.is_throttling
                if is_final and attempt == 0:  # later ones may be about a job of ours that starts from this folder
                    self._storage().discard(wish.folder)
                if said.code in DUPLICATE:
                    return
                if is_final:
                    raise
                trouble: Said | Unheard = said
            except Unheard as error:
                trouble = error
            if self._look_up(name) is not None:
                return
        raise trouble

    def _wish(self, name: str, launch: Launch) -> wire.Wish:
        told_to_boot = boot_environment(self._with_keys(launch))
        # The first generation has no variables: the open ones travel with the private ones.
        variables = told_to_boot.open if self._api().name == Second.name else {}
        private = told_to_boot.secret if variables else {**told_to_boot.open, **told_to_boot.secret}
        nodes = launch.spec.resources.nodes
        folder = self._storage().place(launch.job_name, boot_file(self._home / "cache"), private, is_shared=nodes > 1)
        words = f"stint {launch.order.stint} of run {launch.order.run} by {launch.spec.user} (outlast)"
        limit_s = launch.order.limit_s
        return wire.Wish(
            name, words[:256], folder.path, folder.boot, self._account["engine"] or ENGINE, self._flavor,
            self._account["pool"], variables, None if limit_s is None else limit_s + launch.order.grace_s + _START_S,
            nodes,
        )  # fmt: skip

    def _with_keys(self, launch: Launch) -> Launch:
        """The stint opens the account's store with the account's own keys, or with those that the keeper knows."""
        kept = json.loads(launch.secrets.get(ACCESSES, "{}"))
        root, own = read_store(self._account).root, self.store_access()
        if not (launch.store + "/").startswith(root + "/") or (root in kept and own is None):
            return launch
        kept[root] = (own or store_access(self._account, self._home))._asdict()
        return dataclasses.replace(launch, secrets={**launch.secrets, ACCESSES: json.dumps(kept)})

    def _explained(self, found: wire.Found) -> Job:
        """A job as it is; one that did not end well with its last events, which are asked for once."""
        if not found.is_over or found.job.exit_code == 0:
            return found.job
        if found.id not in self._endings:
            try:
                self._endings[found.id] = self._api().events(found.id)
            except (Said, Unheard):  # the state alone will do, until the next look
                return found.job
        return wire.explained(found.job, self._endings[found.id])

    def _look_up(self, name: str) -> wire.Found | None:
        found = self._api().find([name]).get(name)
        if found is not None:
            self._ids[name] = found.id
        return found

    def _id_of(self, name: str) -> str:
        full = wire.name_of(name)
        if full not in self._ids:
            self._look_up(full)
        return self._ids.get(full, "")

    # ---- doors

    def _api(self) -> Generation:
        """The generation that the service has: the second, unless it does not know its paths."""
        if self._generation is None:
            second = Second(self._session)
            if self._account["api"] == First.name:
                self._generation = First(self._session)
            else:
                try:
                    second.waiting()
                    self._generation = second
                except Said as said:
                    if not said.means_no_such_path or self._account["api"]:
                        raise
                    self._generation = First(self._session)
        return self._generation

    def _storage(self) -> Depot:
        if self._depot is None:
            require_store(self._account)
            self._depot = Depot(self.store, store_access(self._account, self._home))
        return self._depot

    def _usual_limit_s(self) -> float | None:
        return wire.FREE_LIMIT_S - _START_S if wire.is_free(self._flavor) else None

    def _words(self, mine: Offer | None) -> str:
        parts = [f"{self._account['region'] or REGION}, project {self._session.project}", self._api().usage()]
        if mine is not None:
            limit = f", {format_duration(mine.limit_s)} at a time" if mine.limit_s else ""
            parts.append(f"{mine.name}: {mine.words}{', free' if mine.is_free else ''}{limit}")
        if abs(self._session.offset_s) >= 1:
            parts.append(f"this machine's clock is {format_duration(abs(self._session.offset_s))} off")
        return "; ".join(part for part in parts if part)


def _not_offered(flavor: str, offers: tuple[Offer, ...]) -> str:
    names = ", ".join(each.name for each in offers[:8]) or "nothing"
    return f"the flavor {flavor!r} is not offered here; offered: {names}{', …' if len(offers) > 8 else ''}"
