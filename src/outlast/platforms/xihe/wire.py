"""What travels between Xihe and us: names, bodies, statuses. Pure; Xihe's own words stay in this file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from outlast.platforms.base import Job, JobState

#: Where the state of the run lies, and where the results go: options of the boot file.
STATE_KEY, OUTPUT_KEY = "run_url", "output_path"
#: Xihe keeps so many records of instances per project, and ends an instance after so long.
MOST_RECORDS = 5
LIMIT_S = 24 * 3600.0
#: Of these, what a stint leaves for copying inputs and installing packages before it, and for packing after it:
#: an instance that is still going at the limit loses all its work.
MARGIN_S = 1800.0
#: Keys of inputs and files in repositories have so many characters at most.
KEY_CHARS = 20
FILE_CHARS = 50
#: Files of any repository above this size must be in LFS, which a project must not have.
PLAIN_LIMIT_BYTES = 200 * 1024
#: The deployed service takes names up to this, its code up to 50.
_NAME_CHARS = 35
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]|--|__")

_WAITING = {"": "is scheduled", "scheduling": "is scheduled", "pending": "waits for a machine",
            "creating": "its machine is made ready"}  # fmt: skip
_RUNNING = {"running": "runs; its log and results come when it has completed", "terminating": "is being ended"}
_ENDED = {
    "failed": "failed on Xihe; what it wrote since the last instance is lost",
    "abnormal": "failed on Xihe (abnormal); what it wrote since the last instance is lost",
    "unknown": "failed on Xihe (unknown); what it wrote since the last instance is lost",
    "schedule_failed": "could not be scheduled",
    "timeout": "reached the time limit of Xihe; what it wrote since the last instance is lost",
    "terminated": "was ended on Xihe; what it wrote since the last instance is lost",
}
#: Ends that are the platform's doing, or somebody's at its page.
_TAKEN = ("timeout", "terminated")
COMPLETED = "completed"


class Machine(NamedTuple):
    """What one node of a flavor has."""

    words: str
    cpus: int
    gpus: int = 0
    npus: int = 0


class Compute(NamedTuple):
    """A machine of Xihe with what is installed on it; only the combinations that Xihe lists are taken."""

    type: str
    flavor: str
    version: str

    @property
    def hardware(self) -> str:
        known = MACHINES.get(self.flavor)
        return known.words if known is not None else self.flavor


_ASCEND = "Ascend-Powered-Engine", "modelarts.kat1.xlarge.public"
_V100 = "MPI", "modelarts.p3.large.public"
MACHINES = {
    _ASCEND[1]: Machine("1 Ascend 910 32 GB, 24 cpus, 96 GiB", 24, npus=1),
    _V100[1]: Machine("1 V100 32 GB, 8 cpus, 64 GiB", 8, gpus=1),
}
#: What Xihe offers, the newest first.
COMPUTES = (
    Compute(*_ASCEND, "mindspore_2.2.10-cann_7.0.RC1-py_3.9-euler_2.8.3"),
    Compute(*_ASCEND, "mindspore_1.9.0-cann_6.0.RC1-py_3.9-ubuntu_18.04-amd64"),
    Compute(*_ASCEND, "mindspore_1.9.0-cann_6.0.RC1-py_3.7-ubuntu_18.04-amd64"),
    Compute(*_ASCEND, "mindspore_1.7.0-cann_5.1.0-py_3.7-euler_2.8.3-aarch64"),
    Compute(*_V100, "mindspore_1.3.0-cuda_10.1-py_3.7-ubuntu_1804-x86_64"),
)


def find_compute(version: str, flavor: str = "", type: str = "") -> Compute:
    """The machine that an account names; one that is not in our list needs its flavor and type too."""
    known = next((each for each in COMPUTES if each.version == version), COMPUTES[0])
    return Compute(type or known.type, flavor or known.flavor, version or known.version)


class Instance(NamedTuple):
    """One record in the list of a project's training instances."""

    id: str
    name: str
    status: str  # as it is written on the wire
    error: str = ""
    is_done: bool = False

    @property
    def word(self) -> str:
        return self.status.lower()

    @property
    def is_over(self) -> bool:
        return self.word == COMPLETED or self.word in _ENDED


class Wanted(NamedTuple):
    """An input of an instance: a repository of Xihe, or one file of it, behind an option."""

    key: str
    kind: str  # model or dataset
    owner: str
    name: str
    file: str = ""


def run_of(job: str) -> str:
    return job.rpartition(".")[0]


def stint_of(job: str) -> int:
    return int(job.rpartition(".")[2])


def is_ours(project: str) -> bool:
    """Whether a project was made for a run."""
    return project.startswith("outlast-")


def project_name(run: str) -> str:
    """The repository that holds what starts the stints of a run."""
    return _fitting("outlast-", run)


def state_name(run: str) -> str:
    """The repository that holds what the next stint of a run begins with."""
    return _fitting("state-", run)


def instance_name(job: str) -> str:
    """A job's name as Xihe takes it: the same for the same job, so that a lost answer is found in the list."""
    run, _, stint = job.rpartition(".")
    return f"{_fitting('', run)}-{stint}"


def _fitting(prefix: str, run: str) -> str:
    """Ids made by us fit as they are; of any other, what does not fit gives way to a digest."""
    text = prefix + run
    if len(text) <= _NAME_CHARS and not _FOREIGN.search(text):
        return text
    digest = hashlib.sha256(run.encode()).hexdigest()[:8]
    return f"{re.sub('[^A-Za-z0-9]+', '-', text)[: _NAME_CHARS - 9].strip('-')}-{digest}"


def repository_body(kind: str, owner: str, name: str, run: str) -> dict[str, Any]:
    """What makes a private repository."""
    body: dict[str, Any] = {
        "owner": owner, "name": name, "title": name, "desc": f"made by Outlast for run {run}"[:200],
        "protocol": "apache-2.0", "repo_type": "private", "tags": [],
    }  # fmt: skip
    return body | ({"type": "Gradio", "cover_id": "1", "training": "ModelArts"} if kind == "project" else {})


def training_body(name: str, boot_file: str, compute: Compute, inputs: Iterable[Wanted], words: str) -> dict[str, Any]:
    """What makes a training instance."""
    by_kind: dict[str, list[dict[str, str]]] = {"model": [], "dataset": []}
    for each in inputs:
        by_kind[each.kind].append({"key": each.key, "owner": each.owner, "name": each.name, "File": each.file})
    return {
        "name": name, "desc": words[:100], "code_dir": "", "boot_file": boot_file, "compute": compute._asdict(),
        "hyperparameter": [], "env": [], "models": by_kind["model"], "datasets": by_kind["dataset"],
        "enable_output": True, "enable_aim": False,
    }  # fmt: skip


def read_instances(data: Any) -> list[Instance]:
    """The instances of a list answer, as it stands or wrapped once more."""
    rows = data if isinstance(data, list) else next(iter(data.values()), []) if isinstance(data, dict) else []
    return [_instance(row) for row in rows or () if isinstance(row, Mapping) and row.get("id")]


def _instance(row: Mapping[str, Any]) -> Instance:
    words = {name: str(row.get(name) or "") for name in ("id", "name", "status", "error")}
    return Instance(**words, is_done=bool(row.get("is_done")))


def job_of(instance: Instance) -> Job:
    """What a status means for a stint. `Completed` is the end of the machine; the caller still has to bring results."""
    word = instance.word
    if word in _WAITING:
        return Job(JobState.QUEUED, _WAITING[word])
    if word in _ENDED or instance.is_done:
        said = _ENDED.get(word, f"ended as {instance.status}")
        detail = f"{said}: {instance.error}" if instance.error else said
        code = 0 if word == COMPLETED else None if word in (*_TAKEN, "schedule_failed") else 1
        return Job(JobState.ENDED, "" if code == 0 else detail, code, preempted=word in _TAKEN)
    if word == COMPLETED:
        return Job(JobState.ENDED, "", 0)
    return Job(JobState.RUNNING, _RUNNING.get(word, f"is {instance.status}"), is_silent=True)


def outdated(instances: Iterable[Instance], name: str) -> list[Instance]:
    """Records that must go before an instance called `name` can be made: the oldest, since names count stints."""
    others = sorted((each for each in instances if each.name != name), key=lambda each: each.name)
    done = [each for each in others if each.is_over]
    return done[: max(0, len(others) - (MOST_RECORDS - 1))]
