"""What a platform must do to take part in a run: five methods and a check.

A platform gives one machine for one stint and says what became of it. It knows nothing of checkpoints, metrics or
other stints: those are read from the run folder. `docs/design/writing-a-platform.md` walks through one.
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from outlast.inside.records import Order

if TYPE_CHECKING:  # pydantic costs a tenth of a second, which listing runs need not pay
    from outlast.inside.stores.access import Access
    from outlast.model.hearsay import Hearsay
    from outlast.model.spec import RunSpec
    from outlast.platforms.accounts import Account
    from outlast.settings import Settings
    from outlast.store.assets import Asset


class JobState(enum.StrEnum):
    """A stint's job as its platform sees it."""

    ABSENT = "absent"  # no job of that name: never submitted, or forgotten
    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"


@dataclass(frozen=True)
class Job:
    """What `poll` found out about one job."""

    state: JobState
    detail: str = ""  # one phrase for the user: "waits for 1 cpu", "killed by signal 9"
    exit_code: int | None = None
    preempted: bool = False  # the platform itself took the machine
    is_silent: bool = False  # nothing of its stint can be heard before it has ended: silence is no sign of death
    heard_s: float = 0.0  # how old this answer is; the keeper keeps the last one of platforms that it asks aside
    unheard: str = ""  # why nothing newer could be learned, in words that follow the platform's name


@dataclass(frozen=True)
class Launch:
    """One stint, ready to be started."""

    spec: RunSpec
    order: Order
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def job_name(self) -> str:
        return job_name(self.order.run, self.order.stint)

    @property
    def store(self) -> str:
        """Address of the store where the stint finds its run folder: the run's own, or a mirror of it."""
        return self.order.store or self.spec.store


def job_name(run: str, stint: int) -> str:
    """The name a stint's job carries on every platform; launching twice under one name starts one job."""
    return f"{run}.{stint:04d}"


@dataclass(frozen=True)
class Plan:
    """What `submit` would do, for `--dry-run` and the log."""

    command: tuple[str, ...]
    notices: tuple[str, ...] = ()  # sentences the user should read, e.g. "bubblewrap is not installed: …"


class Field(NamedTuple):
    """One thing that an account on a platform consists of; `outlast login` asks for it."""

    name: str
    question: str  # "Project id"
    default: str = ""
    required: bool = True
    secret: bool = False  # asked for without showing it, kept in the keyring, never printed
    help: str = ""  # where one finds it


class Offer(NamedTuple):
    """One kind of machine that a platform gives."""

    name: str  # "modelarts.p3.large.public.free"
    words: str  # "1 V100, 8 cpus, 64 GiB"
    limit_s: float | None = None
    is_free: bool = False


@dataclass(frozen=True)
class Standing:
    """What a platform says of itself and of the account, after a real call."""

    state: Literal["ready", "full", "down", "signed-out"]
    detail: str = ""  # one sentence: what the account may do, or why not
    offers: tuple[Offer, ...] = ()
    queue: str = ""  # "3 jobs wait", as far as the platform says


class Platform(abc.ABC):
    """Somewhere that gives machines."""

    name: str
    #: What an account consists of; empty: the platform needs none.
    fields: ClassVar[tuple[Field, ...]] = ()
    #: The platform ends a job after so long whatever was asked for; None: it does not.
    limit_s: float | None = None
    #: Address of a store that its stints can reach; empty: they reach what the keeper reaches.
    store: str = ""

    @classmethod
    def from_settings(cls, settings: Settings) -> Platform:
        """Set one up for a home; the registry calls this for platforms without accounts. Touches nothing."""
        return cls()

    @classmethod
    def from_account(cls, account: Account, settings: Settings) -> Platform:
        """Set one up for an account; the registry calls this for platforms with `fields`. Touches nothing."""
        raise NotImplementedError(f"{cls.__name__} has no accounts")

    def sees(self, address: str) -> bool:
        """Whether a stint there can reach the store of an address, given its keys. Touches nothing."""
        return True

    def store_access(self) -> Access | None:
        """The keys that open `store`, where the account has them; None: those that this home knows for its address."""
        return None

    def make_store(self) -> str:
        """Make what `standing` found missing of `store`, and say so in one phrase; empty when nothing was made."""
        return ""

    def standing(self) -> Standing:
        """Ask the platform how it is. Never raises for a platform that is away or does not know us: that is told."""
        return Standing("ready")

    def devices(self, spec: RunSpec) -> frozenset[str] | None:
        """The kinds of cards that such a stint finds, of `cuda` and `npu`; None: nobody can say. Touches nothing."""
        return None

    @abc.abstractmethod
    def check(self, spec: RunSpec) -> None:
        """Raise `SpecError` if this platform can never run such a stint (more cpus than the machine has)."""

    @abc.abstractmethod
    def plan(self, launch: Launch) -> Plan:
        """What `submit` would start. Touches nothing."""

    @abc.abstractmethod
    def submit(self, launch: Launch) -> None:
        """Start one stint and return at once. Never waits for scheduling; `poll` reports that. Idempotent by name.

        `Unavailable` when the platform takes no job now; nothing was started then.
        """

    @abc.abstractmethod
    def poll(self, names: Iterable[str]) -> dict[str, Job]:
        """The state of many jobs in one go; every name asked for is in the answer."""

    @abc.abstractmethod
    def logs(self, name: str) -> str:
        """What the platform itself recorded of a job (start-up errors), newest last; may be empty."""

    @abc.abstractmethod
    def cancel(self, name: str) -> None:
        """End a job and everything it started, now. Cancelling what has ended is not an error."""

    def wake_fds(self) -> list[int]:
        """File descriptors that become readable when a job may have ended, so that a keeper need not poll fast."""
        return []

    def clean_work(self, run: str, keep: Collection[int] = ()) -> int:
        """Remove what ended stints of a run left behind, except those in `keep`; returns how many went."""
        return 0

    def forget(self, run: str) -> None:
        """Remove everything kept about a run whose stints have ended."""
        return

    def close(self) -> None:
        """Close what `wake_fds` handed out. Jobs go on."""
        return


class Tells(abc.ABC):
    """For platforms that write down themselves what happened to a job and how busy it was."""

    @abc.abstractmethod
    def hearsay(self, name: str) -> Hearsay:
        """What is written down of a job by now. Asked only while its stint cannot be heard, and rarely."""


class Hosts(abc.ABC):
    """For platforms that keep repositories themselves: runs there name what is in them as inputs."""

    @abc.abstractmethod
    def find_commit(self, asset: Asset) -> str | None:
        """The commit that a name means now; None when there is no such repository, or none that may be seen.

        `NotFoundError` when the repository does not have that revision.
        """

    @abc.abstractmethod
    def fetch_commit(self, asset: Asset, commit: str, folder: Path) -> None:
        """Bring one commit as a bare git repository, which `folder` becomes; without its LFS objects."""

    @abc.abstractmethod
    def fetch_objects(self, asset: Asset, commit: str, folder: Path) -> None:
        """Bring the LFS objects of what is named into that repository, where git-lfs keeps them."""


class Signals(abc.ABC):
    """For platforms whose runners can be told that their machine is about to be taken."""

    @abc.abstractmethod
    def interrupt(self, name: str) -> bool:
        """Ask a running job to hand over within its grace. False when it is not running."""
