"""Jobs as both generations of OpenPAI take them. Pure: what a stint wants, to the bodies of requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: The generations: job config v1 (JSON) on YARN, protocol v2 (YAML) on Kubernetes.
YARN, K8S = "yarn", "k8s"
#: The one task role. Lower case and no signs: such names are spelled alike everywhere in the Kubernetes generation.
ROLE = "main"

Document = dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """One stint's job, before either generation has put it into its words."""

    name: str
    image: str
    virtual_cluster: str
    cpus: int
    memory_mb: int
    gpus: int
    commands: tuple[str, ...]
    nodes: int = 1
    sku: str = ""  # HiveD's sku type on Kubernetes, a node label on YARN
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)  # Kubernetes only

    @property
    def shm_mb(self) -> int:
        """Half of the memory: with the default of 64 MB every data loader that has workers fails."""
        return max(64, self.memory_mb // 2)


def pai_name(name: str) -> str:
    """A job's name as both generations allow it: protocol v2 has no dots, and ids of runs have no underscores."""
    return name.replace(".", "_")


def run_of(name: str) -> str:
    """The run that a job is of."""
    return name.rpartition("_")[0]


def framework(user: str, name: str) -> str:
    """How a cluster calls a user's job."""
    return f"{user}~{name}"


def job_v1(wanted: Wanted) -> Document:
    """Job config v1. `retryCount` 0: whether a stint is tried again is decided by its run alone."""
    role = {
        "name": ROLE, "taskNumber": wanted.nodes, "cpuNumber": wanted.cpus, "memoryMB": wanted.memory_mb,
        "shmMB": wanted.shm_mb, "gpuNumber": wanted.gpus, "command": " && ".join(wanted.commands),
        "minFailedTaskCount": 1, "minSucceededTaskCount": wanted.nodes,
    }  # fmt: skip
    label = {"gpuType": wanted.sku} if wanted.sku else {}
    return {
        "jobName": wanted.name, "image": wanted.image, "virtualCluster": wanted.virtual_cluster, **label,
        "retryCount": 0, "taskRoles": [role],
    }  # fmt: skip


def job_v2(wanted: Wanted) -> Document:
    """Protocol v2, to be sent as `yaml_text`."""
    role = {
        "instances": wanted.nodes,
        "completion": {"minFailedInstances": 1, "minSucceededInstances": wanted.nodes},
        "taskRetryCount": 0,
        "dockerImage": "image",
        "extraContainerOptions": {"shmMB": wanted.shm_mb},
        "resourcePerInstance": {"cpu": wanted.cpus, "memoryMB": wanted.memory_mb, "gpu": wanted.gpus},
        "commands": list(wanted.commands),
    }
    extras: Document = {"submitFrom": "outlast"}
    if wanted.sku:
        # How many follows from the resources; the two spellings of that number are not understood everywhere.
        extras["hivedScheduler"] = {"taskRoles": {ROLE: {"skuType": wanted.sku}}}
    return {
        "protocolVersion": 2,
        "name": wanted.name,
        "type": "job",
        "prerequisites": [{"name": "image", "type": "dockerimage", "uri": wanted.image}],
        **({"secrets": dict(wanted.secrets)} if wanted.secrets else {}),  # an empty block is refused
        "jobRetryCount": 0,
        "taskRoles": {ROLE: role},
        "defaults": {"virtualCluster": wanted.virtual_cluster},
        "extras": extras,
    }


def yaml_text(document: Document) -> str:
    """A document as YAML: one line for each key, `secrets` as an indented block.

    That block matters: clusters find what they must not show by looking for it in the text.
    """
    lines = []
    for key, value in document.items():
        if key == "secrets":
            lines += ["secrets:", *(f"  {name}: {json.dumps(text)}" for name, text in value.items())]
        else:
            lines.append(f"{key}: {json.dumps(value)}")
    return "\n".join(lines) + "\n"
