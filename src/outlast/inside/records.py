"""The JSON documents of a run folder, as both halves read and write them.

One class per file. Reading ignores fields it does not know, so that an older half can follow a newer one; a
document whose `format` is newer than ours is refused by name. Times are ISO 8601 in UTC and only for people:
nothing is ever decided by comparing the clocks of two machines.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
from typing import Any, ClassVar, Dict, List, Optional, Type, TypeVar

from .errors import Damaged, RequestError

FORMAT = 1

R = TypeVar("R", bound="Record")


def now_text() -> str:
    """The current time as records carry it: `2026-11-15T10:00:00.123Z`."""
    moment = datetime.datetime.now(datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (moment.microsecond // 1000)


def to_bytes(value: Any) -> bytes:
    """JSON in the one spelling that records use: sorted keys, UTF-8, a newline at the end."""
    return (json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


@dataclasses.dataclass
class Record:
    """A JSON document with a format number."""

    NAME: ClassVar[str] = "record"

    def to_bytes(self) -> bytes:
        body = dataclasses.asdict(self)
        body["format"] = FORMAT
        return to_bytes(body)

    @classmethod
    def from_bytes(cls: Type[R], data: bytes) -> R:
        """Read a document; `Damaged` when it is not one, `RequestError` when a newer version wrote it."""
        try:
            body = json.loads(data.decode("utf-8"))
        except ValueError as error:
            raise Damaged("%s is not JSON: %s" % (cls.NAME, error)) from None
        if not isinstance(body, dict):
            raise Damaged("%s is not a JSON object" % cls.NAME)
        if not isinstance(body.get("format", FORMAT), int):
            raise Damaged("%s has the format %r, which is not a number" % (cls.NAME, body["format"]))
        if body.get("format", FORMAT) > FORMAT:
            raise RequestError(
                "%s has format %s, this version of outlast reads up to %d; upgrade outlast"
                % (cls.NAME, body["format"], FORMAT)
            )
        names = {field.name for field in dataclasses.fields(cls)}
        try:
            return cls(**{key: value for key, value in body.items() if key in names})
        except TypeError as error:
            raise Damaged("%s lacks a field: %s" % (cls.NAME, error)) from None


@dataclasses.dataclass
class Control(Record):
    """`control.json`: what the user wants now. The only file that the outside half rewrites."""

    NAME: ClassVar[str] = "control.json"

    want: str = "go"  # "go" or "stop"
    since_stint: int = 1  # ends of earlier stints are forgiven: a resumed run starts counting here
    resume_from: Optional[str] = None  # a checkpoint the user chose, until a stint >= since_stint commits one
    limit_s: Optional[float] = None  # replaces the spec's limit for stints planned from now on
    why: str = ""  # for "stop": the reason, when it was not the user who asked
    at: str = ""
    by: str = ""


@dataclasses.dataclass
class Order(Record):
    """`order.json`: what one stint shall do. Written once, before the platform is asked."""

    NAME: ClassVar[str] = "order.json"

    run: str
    stint: int
    token: str  # names this order; the claim repeats it
    platform: str
    why: str = ""  # why it goes to that platform, in words for the user; empty: there was no choice
    store: str = ""  # where the stint finds its run folder when it cannot reach the run's own store: a mirror of it
    limit_s: Optional[float] = None  # time on the machine, from the runner's start; None: no deadline
    grace_s: float = 10.0  # from SIGTERM to the end of the process group
    resume_from: Optional[str] = None
    created_at: str = ""


@dataclasses.dataclass
class Claim(Record):
    """`claim.json`: put-if-absent by the runner; a second runner for the same stint finds it and leaves."""

    NAME: ClassVar[str] = "claim.json"

    token: str
    host: str
    pid: int
    claimed_at: str = ""
    seat: str = ""  # of a further node: the boot and the pid namespace in which `pid` means something
    ticks: Optional[int] = None  # and when that process began there


@dataclasses.dataclass
class Ready(Record):
    """`nodes/0001/ready.json`: put once by a further node when everything is in place for its script."""

    NAME: ClassVar[str] = "ready.json"

    address: str  # how the other nodes reach it
    npus: List[str] = dataclasses.field(default_factory=list)  # its Ascend cards, for the rank table


@dataclasses.dataclass
class Meeting(Record):
    """`nodes/meeting.json`: put once by node 0 when all are ready; every node starts its script then."""

    NAME: ClassVar[str] = "meeting.json"

    port: int  # free on node 0 a moment ago: where the script's processes may meet
    addresses: List[str]  # of every node, node 0 first
    npus: List[List[str]] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Beat(Record):
    """`beat.json`: where a stint is. Rewritten by its runner every second or so, never fsynced."""

    NAME: ClassVar[str] = "beat.json"

    count: int  # grows with every beat; the keeper watches this, not the time
    phase: str  # claimed, fetching, environment, staging, restoring, starting, running, handing-over, committing
    elapsed_s: float = 0.0  # since the runner started
    time_left_s: Optional[float] = None  # to the deadline
    epoch: Optional[float] = None  # finished epochs, or the epoch the script printed
    epochs: Optional[float] = None  # how many there will be, when known
    step: Optional[int] = None
    steps: Optional[int] = None
    rate: Optional[float] = None  # epochs (or steps) per second, whichever `rate_of` says
    rate_of: str = ""
    eta_s: Optional[float] = None  # to the end of the training at this rate, not counting hand-overs
    metrics: Dict[str, float] = dataclasses.field(default_factory=dict)  # last value of each
    best: Dict[str, float] = dataclasses.field(default_factory=dict)  # of this stint and what it continues
    device: Dict[str, Any] = dataclasses.field(default_factory=dict)  # see inside/sampling.py
    last_checkpoint: Optional[str] = None
    notice: str = ""  # one sentence for the user, e.g. why a commit has to wait
    tasks: Dict[str, Any] = dataclasses.field(default_factory=dict)  # see inside/contracts/openpai/standing.py
    phases: Dict[str, float] = dataclasses.field(default_factory=dict)  # seconds so far, as in end.json
    at: str = ""


@dataclasses.dataclass
class End(Record):
    """`end.json`: written once, by the runner, or by the keeper for a runner that is gone.

    Its presence fences the stint: a runner that finds the end of its own stint stops the script and commits nothing.
    """

    NAME: ClassVar[str] = "end.json"

    reason: str  # finished, hand-over, time-limit, preempted, lost, script-error, setup-error, stopped, refused
    message: str = ""  # one sentence for the user
    cause: str = ""  # for setup-error: "request" (retrying cannot help) or "place" (it may)
    exit_code: Optional[int] = None  # negative: ended by that signal
    last_checkpoint: Optional[str] = None  # last one committed in this stint
    checkpoints: int = 0  # how many this stint committed
    phases: Dict[str, float] = dataclasses.field(default_factory=dict)  # seconds; see inside/ledger.py
    epoch: Optional[float] = None
    step: Optional[int] = None
    metrics: Dict[str, float] = dataclasses.field(default_factory=dict)
    best: Dict[str, float] = dataclasses.field(default_factory=dict)
    tail: List[str] = dataclasses.field(default_factory=list)  # last lines of output when the script failed
    tasks: Dict[str, Any] = dataclasses.field(default_factory=dict)  # see inside/contracts/openpai/standing.py
    fingerprint: str = ""  # digest of the last error, numbers and addresses removed, to recognise a repeat
    by: str = "runner"  # or "keeper"
    at: str = ""


@dataclasses.dataclass
class Manifest(Record):
    """`checkpoints/0001-000003.json` and `outputs.json`: files by digest. Its put-if-absent is the commit."""

    NAME: ClassVar[str] = "manifest"

    run: str
    stint: int
    number: int
    files: Dict[str, Dict[str, Any]]  # path relative to the script's folder -> {"sha256", "size", "mode"}
    parent: Optional[str] = None  # the checkpoint this one continues: its predecessor, or what the stint restored
    progress: Dict[str, Any] = dataclasses.field(default_factory=dict)  # epoch, step, next_epoch, as far as known
    metrics: Dict[str, float] = dataclasses.field(default_factory=dict)
    best: Dict[str, float] = dataclasses.field(default_factory=dict)
    elapsed_s: float = 0.0  # of the stint, when the snapshot was taken
    running_s: float = 0.0  # how long the script had been running then
    created_at: str = ""
