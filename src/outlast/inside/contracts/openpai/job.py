"""A job as it is run: one form for both generations, small enough to travel in the run's specification."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional

#: The two generations: Hadoop YARN (job config v1, up to v0.17) and Kubernetes (protocol v2).
YARN, K8S = "yarn", "k8s"


class Role(NamedTuple):
    """A task role: the same command, some number of times."""

    name: str
    command: str  # for bash; secrets are still templates
    instances: int = 1
    image: str = ""
    engine: str = ""  # the container engine that has the image here; empty: no container
    cpu: int = 1
    memory_mb: int = 100
    gpu: int = 0
    shm_mb: int = 0
    ports: Dict[str, int] = {}  # label -> count  # noqa: RUF012
    port_starts: Dict[str, int] = {}  # label -> first port; those not named are chosen  # noqa: RUF012
    min_failed: Optional[int] = 1  # None: failures of this role never end the job
    min_succeeded: Optional[int] = None  # None: the job waits for all
    task_retries: int = 0


class Job(NamedTuple):
    """A job of one user."""

    generation: str
    name: str  # without the user
    user: str
    roles: List[Role]
    retries: int = 0  # -1: whenever it fails, -2: always
    gang: bool = True  # all instances or none: then a single task is never retried
    virtual_cluster: str = "default"
    fs_uri: str = ""
    data_dir: str = ""
    output_dir: str = ""
    code_dir: str = ""
    code_name: str = ""  # the folder of the code in an instance's working folder; empty: that folder itself
    code_from: str = ""  # where the code lies, seen from the stint's code folder; empty: there is none
    env: Dict[str, str] = {}  # noqa: RUF012
    secrets: Dict[str, str] = {}  # dotted name -> the variable that brings its value  # noqa: RUF012

    @property
    def framework(self) -> str:
        """The name under which the cluster knows the job."""
        return "%s~%s" % (self.user, self.name)

    @property
    def task_count(self) -> int:
        return sum(role.instances for role in self.roles)

    def to_json(self) -> Dict[str, Any]:
        return dict(self._asdict(), roles=[dict(role._asdict()) for role in self.roles])

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Job:
        return cls(**dict(body, roles=[Role(**role) for role in body["roles"]]))


def folder_name(job: Job, role: str, index: int) -> str:
    """An instance's working folder below the stint's code folder; a lone instance works in that folder itself."""
    return "" if job.task_count == 1 else "%s-%d" % (role, index)
