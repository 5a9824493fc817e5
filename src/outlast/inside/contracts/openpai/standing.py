"""How each instance of a job stands, in a small file that the stint's runner passes on with its beats and its end.

The job writes it where its own scripts could write too. So whoever reads it takes nothing but the few words that it may
hold, and only of instances that the job has.
"""

from __future__ import annotations

import json
import os
import stat
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ...records import now_text
from .job import Job
from .variables import Endpoint

WAITING, RUNNING, SUCCEEDED, FAILED, STOPPED = "waiting", "running", "succeeded", "failed", "stopped"
_NAME = "tasks.json"
_MOST_BYTES = 1 << 20
_STATES = (WAITING, RUNNING, SUCCEEDED, FAILED, STOPPED)


def task_name(role: str, index: int) -> str:
    return "%s/%d" % (role, index)


class Standing:
    """The file, as the job writes it: in one go, and only when something has changed."""

    def __init__(self, folder: str, endpoints: Mapping[Tuple[str, int], Endpoint]) -> None:
        self._path = os.path.join(folder, _NAME)
        self._tasks: Dict[str, Dict[str, Any]] = {
            task_name(*task): {"state": WAITING, "ports": endpoint.ports, "tries": 0}
            for task, endpoint in endpoints.items()
        }
        self._is_new = True

    def started(self, role: str, index: int) -> None:
        task = self._tasks[task_name(role, index)]
        self._change(role, index, {"state": RUNNING, "tries": task["tries"] + 1, "started_at": now_text()})

    def ended(self, role: str, index: int, code: int, is_decisive: bool = False) -> None:
        """By itself, with the code that the cluster reports; a decisive end is that of the whole job."""
        more = {"decisive": True} if is_decisive else {}
        self._change(
            role, index, {"state": FAILED if code else SUCCEEDED, "code": code, "ended_at": now_text(), **more}
        )

    def stopped(self, role: str, index: int) -> None:
        """Because the others have decided, or somebody wants the machine back."""
        self._change(role, index, {"state": STOPPED, "ended_at": now_text()})

    def _change(self, role: str, index: int, facts: Dict[str, Any]) -> None:
        task = self._tasks[task_name(role, index)]
        self._tasks[task_name(role, index)] = {"ports": task["ports"], "tries": task["tries"], **_begun(task, facts)}
        self._is_new = True

    def write(self) -> None:
        if not self._is_new:
            return
        aside = self._path + ".new"
        try:
            with open(aside, "w", encoding="utf-8") as file:
                json.dump(self._tasks, file)
            os.replace(aside, self._path)
        except OSError:
            return  # a full disk: the job is worth more than what is told of it
        self._is_new = False


def _begun(task: Mapping[str, Any], facts: Dict[str, Any]) -> Dict[str, Any]:
    """An end keeps when it began; a new beginning forgets the end before."""
    return facts if "started_at" in facts else {"started_at": task.get("started_at", ""), **facts}


def read_standing(folder: str, job: Job) -> Dict[str, Dict[str, Any]]:
    """What the file says of the instances of a job; empty when it is not there, or says something else."""
    data = _read(os.path.join(folder, _NAME))
    try:
        body = json.loads(data.decode("utf-8")) if data else {}
    except (ValueError, RecursionError):
        return {}
    if not isinstance(body, dict):
        return {}
    names = [task_name(role.name, index) for role in job.roles for index in range(role.instances)]
    return {name: _plain(body[name]) for name in names if isinstance(body.get(name), dict)}


def _read(path: str) -> Optional[bytes]:
    """Neither a link is followed nor a pipe waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = file.read(_MOST_BYTES + 1)
    return data if len(data) <= _MOST_BYTES else None


def _plain(body: Mapping[str, Any]) -> Dict[str, Any]:
    """A few numbers, times and known words, whatever else is there."""
    found: Dict[str, Any] = {"state": body.get("state") if body.get("state") in _STATES else WAITING}
    for name in ("code", "tries"):
        if type(body.get(name)) is int and abs(body[name]) < 1 << 31:
            found[name] = body[name]
    for name in ("started_at", "ended_at"):
        if isinstance(body.get(name), str) and len(body[name]) == len(now_text()) and body[name].endswith("Z"):
            found[name] = body[name]
    if body.get("decisive") is True:
        found["decisive"] = True
    found["ports"] = _ports(body.get("ports"))
    return found


def _ports(body: Any) -> Dict[str, List[int]]:
    given = body if isinstance(body, dict) else {}
    return {
        label[:80]: [port for port in ports if type(port) is int and 0 < port < 1 << 16]
        for label, ports in list(given.items())[:80]
        if isinstance(ports, list)
    }
