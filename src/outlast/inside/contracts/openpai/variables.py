"""The variables that an instance finds, as each generation of OpenPAI sets them. Pure."""

from __future__ import annotations

import re
from typing import Dict, Mapping, NamedTuple, Sequence, Tuple

from .job import K8S, Job, Role


class Endpoint(NamedTuple):
    """Where one instance can be reached."""

    host: str
    ports: Mapping[str, Sequence[object]]  # label -> ports; words where one is still to be chosen


Endpoints = Mapping[Tuple[str, int], Endpoint]  # (role, index) -> where


def k8s_role_name(name: str) -> str:
    """A role's name as Kubernetes objects carry it: `ps_server` becomes `psserver`."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def variables(
    job: Job, role: Role, index: int, endpoints: Endpoints, work_dir: str, attempt: int = 0
) -> Dict[str, str]:
    """Everything that instance `index` of `role` finds in its environment because of the job."""
    found = _everywhere(job, work_dir)
    found.update(_roles(job))
    found.update(_current(role, index))
    found.update(_peers(job, endpoints))
    found.update(_own_ports(endpoints[role.name, index]))
    found.update(_of_k8s(job, role, index, attempt) if job.generation == K8S else _of_yarn(job, role, index))
    found.update(job.env)
    return found


def _everywhere(job: Job, work_dir: str) -> Dict[str, str]:
    return {
        "PAI_JOB_NAME": job.framework,
        "PAI_USER_NAME": job.user,
        "PAI_USERNAME": job.user,
        "PAI_DEFAULT_FS_URI": job.fs_uri,
        "PAI_WORK_DIR": work_dir,
    }


def _roles(job: Job) -> Dict[str, str]:
    names = ",".join(role.name for role in job.roles)
    found = {"PAI_TASK_ROLE_LIST": names, "PAI_JOB_TASK_ROLE_LIST": names}
    for name in ("PAI_TASK_ROLE_COUNT", "PAI_TASK_ROLES_NUM", "PAI_JOB_TASK_ROLE_COUNT"):
        found[name] = str(len(job.roles))
    for name in ("PAI_TASKS_NUM", "PAI_JOB_TASK_COUNT"):
        found[name] = str(job.task_count)
    for role in job.roles:
        found["PAI_TASK_ROLE_TASK_COUNT_" + role.name] = str(role.instances)
    return found


def _current(role: Role, index: int) -> Dict[str, str]:
    return {
        "PAI_CURRENT_TASK_ROLE_NAME": role.name,
        "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX": str(index),
        "PAI_TASK_INDEX": str(index),
    }


def _peers(job: Job, endpoints: Endpoints) -> Dict[str, str]:
    found: Dict[str, str] = {}
    for role in job.roles:
        name = k8s_role_name(role.name) if job.generation == K8S else role.name
        hosts = []
        for index in range(role.instances):
            host, ports = endpoints[role.name, index]
            found["PAI_HOST_IP_%s_%d" % (name, index)] = host
            for label, numbers in ports.items():
                found["PAI_PORT_LIST_%s_%d_%s" % (name, index, label)] = _commas(numbers)
                found["PAI_%s_%d_%s_PORT" % (name, index, label)] = _commas(numbers)
            hosts.append("%s:%s" % (host, ports["http"][0]))
        found["PAI_TASK_ROLE_%s_HOST_LIST" % name] = ",".join(hosts)
    return found


def _own_ports(own: Endpoint) -> Dict[str, str]:
    http, ssh = str(own.ports["http"][0]), str(own.ports["ssh"][0])
    found = {
        "PAI_CONTAINER_HOST_IP": own.host,
        "PAI_CURRENT_CONTAINER_IP": own.host,
        "PAI_CONTAINER_HOST_PORT": http,
        "PAI_CURRENT_CONTAINER_PORT": http,
        "PAI_CONTAINER_SSH_PORT": ssh,
        "PAI_CONTAINER_HOST_PORT_LIST": "".join(
            "%s:%s;" % (label, _commas(numbers)) for label, numbers in own.ports.items()
        ),
    }
    for label, numbers in own.ports.items():
        found["PAI_CONTAINER_HOST_%s_PORT_LIST" % label] = _commas(numbers)
    return found


def _of_yarn(job: Job, role: Role, index: int) -> Dict[str, str]:
    count, cpu, gpu = str(role.instances), str(role.cpu), str(role.gpu)
    memory, shm = str(role.memory_mb), str(role.shm_mb)
    return {
        "FRAMEWORK_NAME": job.framework,
        "HADOOP_USER_NAME": job.user,
        "APP_ID": "application_0_0001",
        "PAI_CONTAINER_ID": "container_0_0001_01_%06d" % (_number(job, role, index) + 2),  # 1 is the master's
        "PAI_DATA_DIR": job.data_dir,
        "PAI_OUTPUT_DIR": job.output_dir,
        "PAI_CODE_DIR": job.code_dir,
        "PAI_TASK_ROLE_NAME": role.name,
        "PAI_TASK_ROLE_INDEX": str(index),
        "PAI_TASK_ROLE_NUM": count,
        "PAI_TASK_CPU_NUM": cpu,
        "PAI_TASK_MEM_MB": memory,
        "PAI_TASK_GPU_NUM": gpu,
        "PAI_RESOURCE": ",".join((gpu, cpu, memory, shm)),
        "PAI_MIN_FAILED_TASK_COUNT_" + role.name: _count(role.min_failed),
        "PAI_MIN_SUCCEEDED_TASK_COUNT_" + role.name: _count(role.min_succeeded),
        "PAI_CURRENT_TASK_ROLE_TASK_COUNT": count,
        "PAI_CURRENT_TASK_ROLE_CPU_COUNT": cpu,
        "PAI_CURRENT_TASK_ROLE_MEM_MB": memory,
        "PAI_CURRENT_TASK_ROLE_GPU_COUNT": gpu,
        "PAI_CURRENT_TASK_ROLE_SHM_MB": shm,
        "PAI_CURRENT_TASK_ROLE_MIN_FAILED_TASK_COUNT": _count(role.min_failed),
        "PAI_CURRENT_TASK_ROLE_MIN_SUCCEEDED_TASK_COUNT": _count(role.min_succeeded),
        "NVIDIA_VISIBLE_DEVICES": "all",
    }


def _of_k8s(job: Job, role: Role, index: int, attempt: int) -> Dict[str, str]:
    found = {
        "PAI_FRAMEWORK_NAME": job.framework,
        "PAI_VIRTUAL_CLUSTER": job.virtual_cluster,
        "PAI_TASK_ROLE_INSTANCES": ",".join(
            "%s:%d" % (each.name, number) for each in job.roles for number in range(each.instances)
        ),
        "FC_FRAMEWORK_NAME": job.framework,
        "FC_FRAMEWORK_ATTEMPT_ID": str(attempt),
        "FC_TASKROLE_NAME": k8s_role_name(role.name),
        "FC_TASK_INDEX": str(index),
    }
    for each in job.roles:
        resources = (each.gpu, each.cpu, each.memory_mb, each.shm_mb)
        found["PAI_RESOURCE_" + each.name] = ",".join(map(str, resources))
        found["PAI_MIN_FAILED_TASK_COUNT_" + each.name] = _count(each.min_failed, "-1")
        found["PAI_MIN_SUCCEEDED_TASK_COUNT_" + each.name] = _count(each.min_succeeded, "-1")
    if not role.gpu:
        found["NVIDIA_VISIBLE_DEVICES"] = "none"
    return found


def _number(job: Job, role: Role, index: int) -> int:
    """The position of an instance among all of the job."""
    before = job.roles[: job.roles.index(role)]
    return sum(each.instances for each in before) + index


def _count(value: object, missing: str = "") -> str:
    return missing if value is None else str(value)


def _commas(numbers: Sequence[object]) -> str:
    return ",".join(map(str, numbers))
