"""`openpai`: each stint is a job of one container on an OpenPAI cluster, of the YARN or the Kubernetes generation."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from outlast.errors import SpecError, Unavailable
from outlast.inside import layout
from outlast.inside.move.address import BUCKETS
from outlast.inside.place import ACCESSES, access_for, read_accesses
from outlast.model.quantities import parse_duration, parse_size
from outlast.platforms import trust
from outlast.platforms.base import Field, Job, JobState, Launch, Plan, Platform, Standing
from outlast.platforms.boot import boot_environment, boot_file
from outlast.platforms.openpai import starter
from outlast.platforms.openpai.jobs import Document, Jobs
from outlast.platforms.openpai.logs import read_log
from outlast.platforms.openpai.reading import VirtualCluster, allowed_clusters, read_clusters, read_job, was_restarted
from outlast.platforms.openpai.rest import AUTO, Refusal, Rest
from outlast.platforms.openpai.shelf import HdfsShelf, Shelf, open_shelf
from outlast.platforms.openpai.wire import K8S, YARN, Wanted, pai_name
from outlast.store.registry import outside_errors

if TYPE_CHECKING:
    from outlast.inside.stores.access import Access
    from outlast.model.spec import RunSpec
    from outlast.platforms.accounts import Account
    from outlast.settings import Settings

T = TypeVar("T")

_GENERATIONS = (AUTO, K8S, YARN)
_IMAGE, _MEMORY = "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime", "8G"


class OpenPai(Platform):
    """A cluster as one account sees it. It keeps nothing here: what became of a job is asked of the cluster."""

    fields: ClassVar[tuple[Field, ...]] = (
        Field("endpoint", "Address of the cluster", help="as its web portal has it, like http://pai.lab"),
        Field("user", "User name"),
        Field("password", "Password", required=False, secret=True, help="leave it empty when you have a token"),
        Field("token", "Application token", required=False, secret=True, help="from your profile page in the portal"),
        Field("virtual_cluster", "Virtual cluster", "default", required=False),
        Field("image", "Image of the stints", _IMAGE, required=False, help="with bash and Python 3.7 or later"),
        Field("memory", "Memory of a stint when its run asks for none", _MEMORY, required=False),
        Field("sku", "Kind of machine", required=False, help="a sku type of HiveD, on YARN a GPU type; empty: any"),
        Field("generation", "Generation: auto, yarn or k8s", AUTO, required=False),
        *trust.FIELDS,
    )

    def __init__(self, account: Account, cache: Path, *, pause: Callable[[float], None] = time.sleep) -> None:
        self.name = account.name
        self.store = account["store"]
        self.limit_s = _read(parse_duration, "limit", account["limit"]) if account["limit"] else None
        self._account = account
        self._cache = cache
        self._virtual_cluster = account["virtual_cluster"] or "default"
        self._memory_mb = _megabytes(_read(parse_size, "memory", account["memory"] or _MEMORY))
        generation = account["generation"] or AUTO
        if generation not in _GENERATIONS:
            raise SpecError(f"generation {generation!r} is none of {', '.join(_GENERATIONS)}")
        self._rest = Rest(
            account["endpoint"], account["user"], password=account["password"], token=account["token"],
            generation=generation, trust=trust.read_trust(account), pause=pause,
        )  # fmt: skip
        self._jobs = Jobs(self._rest)
        self._over: dict[str, Job] = {}  # what has ended stays as it is
        self._kept: set[tuple[str, str]] = set()  # boot files that lie in a store for sure
        self._parcels: dict[str, tuple[HdfsShelf, str]] = {}  # on YARN: where those of open jobs lie

    @classmethod
    def from_account(cls, account: Account, settings: Settings) -> OpenPai:
        return cls(account, settings.home / "cache")

    def sees(self, address: str) -> bool:
        """HDFS and buckets; on YARN, where a job has no place for the keys of a bucket, only HDFS."""
        scheme = _scheme(address)
        return scheme == "hdfs" or (scheme in BUCKETS and self._rest.known_generation != YARN)

    def devices(self, spec: RunSpec) -> frozenset[str]:
        """A container has the cards that its job asked for."""
        return frozenset({"cuda"} if spec.resources.gpus else ())

    def check(self, spec: RunSpec) -> None:
        if spec.resources.npus:
            raise SpecError(f"--npus {spec.resources.npus}: OpenPAI has NVIDIA cards only", hint="ask for --gpus")
        if not spec.network:
            raise SpecError("openpai cannot cut a stint off from the network", hint="choose another platform")

    def plan(self, launch: Launch) -> Plan:
        job = self._wanted(launch)
        machine = f"cpus={job.cpus} memory={job.memory_mb}MB gpus={job.gpus}"
        machine += f" nodes={job.nodes}" if job.nodes > 1 else ""
        command = ("openpai", self._account["endpoint"], job.virtual_cluster, job.name, job.image, machine)
        if self._rest.known_generation != YARN or not _has_secrets(launch.spec):
            return Plan(command)
        words = "a YARN cluster has no place for secrets: until a stint starts they lie in HDFS, in a file of mode 600"
        return Plan(command, (words,))

    # ---- start

    def submit(self, launch: Launch) -> None:
        if self._jobs.find(pai_name(launch.job_name)) is None:
            self._jobs.create(self._wanted(launch, *self._pack(launch)))

    def _wanted(
        self, launch: Launch, commands: tuple[str, ...] = (), secrets: Mapping[str, str] | None = None
    ) -> Wanted:
        spec, needs = launch.spec, launch.spec.resources
        image = spec.environment.image if spec.environment else ""
        return Wanted(
            pai_name(launch.job_name), image or self._account["image"] or _IMAGE, self._virtual_cluster, needs.cpus,
            _megabytes(needs.memory_bytes) if needs.memory_bytes else self._memory_mb, needs.gpus, commands,
            needs.nodes, self._account["sku"], secrets or {},
        )  # fmt: skip

    def _pack(self, launch: Launch) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """(commands, secrets): the boot file lies in the store, and what it must be told has a private way to it."""
        path, access = boot_file(self._cache), _access(launch)
        body, verify = path.read_bytes(), access is None or access.verify
        digest = hashlib.sha256(body).hexdigest()
        with outside_errors():
            shelf = open_shelf(launch.store, access)
            if self._jobs.is_k8s:
                parcel = starter.as_secret(self._parcel(launch, shelf, f"boot/{path.name}", body))
                return starter.commands_k8s(digest, verify), {starter.SECRET: parcel}
            if not isinstance(shelf, HdfsShelf) or (access is not None and access.token):
                raise _no_place_for_keys(launch.store)
            place = _parcel_key(launch.order.run, launch.order.stint)
            # A keeper that ended meanwhile may have left the one before, if no container came for it.
            shelf.discard(_parcel_key(launch.order.run, launch.order.stint - 1))
            shelf.keep_private(place, self._parcel(launch, shelf, f"boot/{path.name}", body))
            self._parcels[launch.job_name] = (shelf, place)
            is_shared = launch.spec.resources.nodes > 1
            return starter.commands_yarn(digest, shelf.link(place), verify, is_shared=is_shared), {}

    def _parcel(self, launch: Launch, shelf: Shelf, key: str, body: bytes) -> bytes:
        """What the container has to be given. The boot file is put into each store once."""
        if (launch.store, key) not in self._kept:
            shelf.keep(key, body)
            self._kept.add((launch.store, key))
        told = boot_environment(launch)
        return starter.parcel(shelf.link(key), {**told.open, **told.secret})

    # ---- look

    def poll(self, names: Iterable[str]) -> dict[str, Job]:
        """One call for one job, and one for many; the end of a job costs one more, once."""
        wanted = list(names)
        ahead = [name for name in wanted if name not in self._over]
        listed = self._jobs.list([pai_name(name) for name in ahead]) if len(ahead) > 1 else {}
        looked = {name: self._look(name, listed.get(pai_name(name))) for name in ahead}
        return {name: looked.get(name) or self._over[name] for name in wanted}

    def _look(self, name: str, entry: Document | None) -> Job:
        job = Job(JobState.ABSENT) if entry is None else read_job(entry)
        if job.state in (JobState.ABSENT, JobState.ENDED):
            # A list does not say how a job ended.
            detail = self._jobs.find(pai_name(name))
            entry = None if detail is None else detail.get("jobStatus") or {}
            job = Job(JobState.ABSENT) if entry is None else read_job(entry)
        if job.state is JobState.ENDED and entry is not None:
            self._settle(name, job, entry)
        return job

    def _settle(self, name: str, job: Job, status: Document) -> None:
        """Nothing more happens to that job, and nothing private stays behind."""
        if job.preempted and was_restarted(status):
            # Retries are ours alone. Where the cluster is faster, its second start finds the claim and leaves.
            with contextlib.suppress(Unavailable):
                self._jobs.stop(pai_name(name))
        if name in self._parcels:
            shelf, place = self._parcels.pop(name)
            shelf.discard(place)
        self._over[name] = job

    def logs(self, name: str) -> str:
        try:
            detail = self._jobs.find(pai_name(name))
            return "" if detail is None else read_log(self._rest, detail, self._jobs.is_k8s)
        except Unavailable:
            return ""

    def standing(self) -> Standing:
        try:
            return self._standing()
        except Unavailable as error:
            return Standing("signed-out" if error.why == "refused" else "down", error.message)
        except Refusal as refusal:
            return Standing("signed-out", f"the cluster refuses {self._rest.user}: {refusal}")

    def _standing(self) -> Standing:
        version = "v2" if self._jobs.is_k8s else "v1"
        clusters = read_clusters(self._rest.call("GET", f"{version}/virtual-clusters") or {})
        allowed = self._allowed()
        mine = {name: each for name, each in clusters.items() if allowed is None or name in allowed}
        offers = tuple(each.offer for each in mine.values())
        words = f"{self._rest.cluster.words}; {self._rest.user} may use {', '.join(mine) or 'no virtual cluster'}"
        chosen = mine.get(self._virtual_cluster)
        if chosen is None:
            return Standing("signed-out", f"{words}, not {self._virtual_cluster!r}", offers)
        state = f"{chosen.name} has {chosen.words}" if not chosen.is_full else f"{chosen.name} is full: {chosen.words}"
        return Standing("full" if chosen.is_full else "ready", f"{words}; {state}", offers, self._queue(chosen))

    def _allowed(self) -> tuple[str, ...] | None:
        path = f"v2/users/{self._rest.user}" if self._jobs.is_k8s else f"v1/user/{self._rest.user}"
        try:
            return allowed_clusters(self._rest.call("GET", path) or {})
        except Refusal:  # tokens for applications may not ask
            return None

    def _queue(self, cluster: VirtualCluster) -> str:
        count = cluster.waiting if cluster.waiting is not None else self._jobs.waiting(cluster.name)
        if count is None:
            return ""
        return {0: "no job waits", 1: "1 job waits"}.get(count, f"{count} jobs wait")

    # ---- end

    def cancel(self, name: str) -> None:
        self._jobs.stop(pai_name(name))

    def forget(self, run: str) -> None:
        """On YARN the run's jobs leave the list, when the cluster can be asked; Kubernetes keeps them."""
        with contextlib.suppress(Unavailable):
            self._jobs.delete(run)

    def close(self) -> None:
        self._rest.close()


def _access(launch: Launch) -> Access | None:
    """The keys that open the store the stint works on."""
    return access_for(launch.store, read_accesses(launch.secrets.get(ACCESSES, "{}")))


def _has_secrets(spec: RunSpec) -> bool:
    """Of the script, or keys of the buckets that it reads and writes."""
    places = [*(each.source for each in spec.inputs), *(each.target for each in spec.outputs)]
    return bool(spec.secrets) or any(_scheme(place) in BUCKETS for place in places)


def _scheme(address: str) -> str:
    return address.partition("://")[0].lower()


def _parcel_key(run: str, stint: int) -> str:
    """In the stint's own folder: what nobody took goes with the run."""
    return layout.stint_prefix(run, stint) + "parcel.json"


def _no_place_for_keys(store: str) -> Unavailable:
    return Unavailable(
        f"a YARN cluster has no place for the keys of {store}: everybody can read its jobs",
        why="refused",
        hint="give the account a store in its HDFS: outlast login openpai --set store=hdfs://namenode:50070/outlast",
    )


def _read(parse: Callable[[str], T], name: str, text: str) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise SpecError(f"{name} of the account: {error}") from None


def _megabytes(size_bytes: int) -> int:
    return max(1, -(-size_bytes // (1 << 20)))
