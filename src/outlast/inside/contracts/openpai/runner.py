"""The job itself: starts every instance, passes their output on, and follows the policies until the job is over.

One thread. The selector wakes it for output, for an ended child and for a signal.
"""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import socket
import sys
import time
from typing import Dict, List, Mapping, NamedTuple, Optional, Tuple

from ...processes import thread_environment
from ...verdict import COME_BACK, describe_exit
from .containers import Mounts, container_command, has_image
from .exits import error_block, reported
from .folders import copy_code, link_inputs, make_fresh
from .instance import Instance
from .job import K8S, Job, Role, folder_name
from .policy import FINISH, RETRY_JOB, RETRY_TASK, Course, Step
from .ports import choose_ports
from .standing import Standing
from .templates import render
from .variables import variables

#: How long instances may take to leave once the job is over; the cluster's containers have ten seconds.
LEAVE_S = 10.0
#: Where each instance's outputs are kept, below the stint's code folder.
LOGS = "pai-log"
IMAGE_MISSING = 254
_ASKED_CODE = 128 + signal.SIGTERM
_PASSED = ("PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONHASHSEED", *thread_environment(1))


class Plan(NamedTuple):
    """A job and where it runs."""

    job: Job
    root: str  # the stint's code folder
    scratch: str  # a folder of our own, which the containers see too
    python: str  # what `python` means
    keep: List[str] = []  # places of `root` that survive a retry: checkpoints, outputs, inputs  # noqa: RUF012
    inputs: List[str] = []  # relative places of inputs; every instance finds them below its own folder  # noqa: RUF012
    passed: List[str] = []  # variables that containers get, beside those of the job and ours  # noqa: RUF012
    masked: List[str] = []  # variables whose values stand in no log file  # noqa: RUF012
    mounts: Mounts = Mounts()
    hosts: List[str] = []  # names that mean this machine; a sandbox has them in its hosts file  # noqa: RUF012
    label: str = ""  # names containers, so that two stints never meet

    @classmethod
    def from_json(cls, body: Mapping[str, object]) -> Plan:
        return cls(**dict(body, job=Job.from_json(body["job"]), mounts=Mounts(*body["mounts"])))  # type: ignore

    def to_json(self) -> Dict[str, object]:
        return dict(self._asdict(), job=self.job.to_json(), mounts=list(self.mounts))


class JobRunner:
    """One job from start to end. `run` returns its exit code."""

    def __init__(self, plan: Plan, environ: Mapping[str, str]) -> None:
        self._plan = plan
        self._job = plan.job
        self._secrets = {name: environ.get(variable, "") for name, variable in plan.job.secrets.items()}
        hidden = set(plan.job.secrets.values())
        names = [name for name in (*sorted(hidden), *plan.masked) if name in environ]
        self._masked = [environ[name].encode("utf-8", "surrogateescape") for name in names]
        self._environ = {name: value for name, value in environ.items() if name not in hidden}
        self._course = Course(plan.job)
        self._live: Dict[Tuple[str, int], Instance] = {}
        self._due: List[Tuple[float, Role, int]] = []  # retries: when, what
        self._attempt = 0
        self._asked = False  # somebody wants the machine back, or a script said that it saved and leaves
        self._told = False  # ... and every instance knows
        self._left: List[int] = []  # exit codes since then
        self._selector = selectors.DefaultSelector()
        self._ears, self._mouth = socket.socketpair()

    def run(self) -> int:
        """Until the job is over and nothing of it is left."""
        self._listen()
        try:
            for role in self._job.roles:
                if role.engine and not has_image(role.engine, role.image):
                    self._say("the image %s of role %s is not on this machine any more" % (role.image, role.name))
                    return IMAGE_MISSING
            self._endpoints = choose_ports(self._job)
            self._standing = Standing(self._plan.scratch, self._endpoints)
            self._environ["PATH"] = self._path()
            self._start_all(0.0)
            while True:
                code = self._turn()
                self._standing.write()
                if code is not None:
                    return code
        finally:
            self._end_all()
            signal.set_wakeup_fd(-1)
            self._ears.close()
            self._mouth.close()
            self._selector.close()

    def _listen(self) -> None:
        for end in (self._ears, self._mouth):
            end.setblocking(False)
        self._selector.register(self._ears, selectors.EVENT_READ)
        signal.set_wakeup_fd(self._mouth.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._on_term)

    def _on_term(self, *_: object) -> None:
        self._asked = True

    # ---- one turn

    def _turn(self) -> Optional[int]:
        """Wait for something to happen and act on it; the job's code when that was the end."""
        self._wait(min([max(0.0, each[0] - time.monotonic()) for each in self._due] or [1.0]))
        if self._asked and not self._told:
            self._told = True
            self._ask_to_leave()
        for when, role, index in list(self._due):
            if when <= time.monotonic():
                self._due.remove((when, role, index))
                self._start(role, index)
        for instance in [each for each in self._live.values() if each.poll() is not None]:
            code = self._ended(instance)
            if code is not None:
                return code
        if self._asked and not self._live:
            return self._code_of_leaving()
        return None

    def _wait(self, timeout_s: float) -> None:
        for key, _ in self._selector.select(timeout_s):
            if key.data is None:
                self._ears.recv(4096)
            elif not key.data.read(key.fd):
                self._selector.unregister(key.fd)

    def _ask_to_leave(self) -> None:
        self._due.clear()
        for instance in self._live.values():
            instance.ask_to_leave()

    def _code_of_leaving(self) -> int:
        """`COME_BACK` if a script said so; otherwise the first that did not end well."""
        if not self._left:
            return _ASKED_CODE  # nothing was running: it waited to try again
        return COME_BACK if COME_BACK in self._left else _shell_code(next((code for code in self._left if code), 0))

    # ---- starting

    def _start_all(self, pause_s: float) -> None:
        when = time.monotonic() + pause_s
        self._due = [(when, role, index) for role in self._job.roles for index in range(role.instances)]

    def _start(self, role: Role, index: int) -> None:
        plan, job = self._plan, self._job
        name = "%s-%d" % (role.name, index)
        folder = os.path.normpath(os.path.join(plan.root, folder_name(job, role.name, index)))
        make_fresh(folder, plan.root, [*plan.keep, LOGS])
        if job.code_from:
            copy_code(os.path.join(plan.root, job.code_from), os.path.join(folder, job.code_name))
        link_inputs(folder, plan.root, plan.inputs)
        env = variables(job, role, index, self._endpoints, folder, self._attempt)
        argv = self._command(role, name)
        container = "%s-%s-%d" % (plan.label, name, self._attempt) if role.engine else ""
        if container:
            argv = container_command(
                role.engine, role.image, container, argv, folder=folder, mounts=self._mounts(),
                names={*env, *filter(self._is_passed, self._environ)}, shm_mb=role.shm_mb, hosts=plan.hosts,
            )  # fmt: skip
        prefix = b"" if job.task_count == 1 else ("[%s/%d] " % (role.name, index)).encode()
        instance = Instance(
            role.name, index, argv, folder, {**self._environ, **env}, os.path.join(plan.root, LOGS, name), prefix,
            _emit, self._masked, role.engine, container,
        )  # fmt: skip
        self._live[role.name, index] = instance
        self._standing.started(role.name, index)
        for fd in instance.streams:
            self._selector.register(fd, selectors.EVENT_READ, instance)

    def _path(self) -> str:
        """A path on which `python` and `python3` are the run's interpreter, whatever this machine calls so."""
        python, folder = self._plan.python, os.path.join(self._plan.scratch, "bin")
        os.makedirs(folder, exist_ok=True)
        for name in ("python", "python3"):
            path = os.path.join(folder, name)
            # A script, not a link: an environment is found by the folder that its interpreter is started from.
            with open(path, "w", encoding="utf-8") as file:
                file.write('#!/bin/sh\nexec %s "$@"\n' % shlex.quote(python))
            os.chmod(path, 0o755)
        return os.pathsep.join([folder, os.path.dirname(python), self._environ.get("PATH", os.defpath)])

    def _is_passed(self, name: str) -> bool:
        """Whether a container gets a variable of ours; the rest describes this machine, not the image."""
        return name in _PASSED or name in self._plan.passed or name.startswith("OUTLAST_")

    def _mounts(self) -> Mounts:
        """Inputs outside the sandbox are links to the originals, which a container must see too."""
        places = [os.path.join(self._plan.root, path) for path in self._plan.inputs]
        originals = [os.path.realpath(place) for place in places if os.path.islink(place)]
        return self._plan.mounts._replace(readonly=[*self._plan.mounts.readonly, *originals])

    def _command(self, role: Role, name: str) -> List[str]:
        """What bash runs, from a file: a secret must not stand in a list of processes."""
        path = os.path.join(self._plan.scratch, name + ".sh")
        text = render(role.command, {"$secrets": _nested(self._secrets)})
        v2 = self._job.generation == K8S
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text if v2 else "eval %s\n" % shlex.quote(text))
        return ["bash", *(("-e", "-u", "-o", "pipefail") if v2 else ()), path]

    # ---- ending

    def _ended(self, instance: Instance) -> Optional[int]:
        """Take an instance off the list and do what follows; the job's code when it is over."""
        original = instance.poll()
        assert original is not None
        self._forget(instance)
        if self._asked or original == COME_BACK:
            self._left.append(original)
            self._standing.stopped(instance.role, instance.index)
            if not self._told:
                self._asked = self._told = True
                self._ask_to_leave()
            return None
        code = reported(self._job.generation, original, instance.log)
        if code:
            self._tell_failure(instance, original, code)
        step = self._course.ended(instance.role, instance.index, code)
        self._standing.ended(instance.role, instance.index, code, is_decisive=step.what == FINISH)
        if step.what == RETRY_TASK:
            self._retry_task(instance, step)
        elif step.what == RETRY_JOB:
            self._stop_others()
            self._attempt += 1
            self._say("trying the job again, for the %s time (%s)" % (_ordinal(self._attempt), step.why))
            self._start_all(step.pause_s)
        elif step.what == FINISH:
            self._stop_others()
            return min(step.code, 255)
        return None

    def _forget(self, instance: Instance) -> None:
        for fd in instance.streams:
            try:
                self._selector.unregister(fd)
            except KeyError:
                continue  # it had come to its end
        instance.end()
        instance.close()
        del self._live[instance.role, instance.index]

    def _tell_failure(self, instance: Instance, original: int, code: int) -> None:
        if self._job.task_count > 1:
            self._say("%s ended with %s" % (instance.task, describe_exit(original)))
        lines = [line.rstrip() for line in instance.log.splitlines() if line.strip()]
        _emit(error_block(self._job.generation, code, _shell_code(original), lines).encode("utf-8", "replace"))

    def _retry_task(self, instance: Instance, step: Step) -> None:
        role = next(role for role in self._job.roles if role.name == instance.role)
        self._say("starting %s again (%s)" % (instance.task, step.why))
        self._due.append((time.monotonic() + step.pause_s, role, instance.index))

    def _stop_others(self) -> None:
        """The attempt is over: ask the rest to leave, listen to them meanwhile, then end them."""
        self._ask_to_leave()
        deadline = time.monotonic() + LEAVE_S
        while time.monotonic() < deadline and any(each.poll() is None for each in self._live.values()):
            self._wait(0.2)
        self._end_all()

    def _end_all(self) -> None:
        for instance in list(self._live.values()):
            self._forget(instance)
            self._standing.stopped(instance.role, instance.index)

    def _say(self, sentence: str) -> None:
        _emit(("[outlast] %s\n" % sentence).encode("utf-8", "replace"))


def _emit(chunk: bytes) -> None:
    sys.stdout.flush()
    view = memoryview(chunk)
    while view:
        view = view[os.write(1, view) :]


def _shell_code(code: int) -> int:
    """A code as a shell tells it: 128 and the number of the signal."""
    return 128 - code if code < 0 else code


def _nested(values: Mapping[str, str]) -> Dict[str, object]:
    """`{"db.password": x}` as `{"db": {"password": x}}`."""
    found: Dict[str, object] = {}
    for name, value in values.items():
        *steps, last = name.split(".")
        inner = found
        for step in steps:
            inner = inner.setdefault(step, {})  # type: ignore[assignment]
        inner[last] = value
    return found


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, "%dth" % number)
