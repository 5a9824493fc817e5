"""When a job is over and when it is tried again: completion policy and retries. Pure: codes in, steps out."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional

from .exits import ALWAYS, BACK_OFF, NEVER, explain
from .job import Job, Role

GO_ON, RETRY_TASK, RETRY_JOB, FINISH = "go on", "retry task", "retry job", "finish"

#: Pauses before a retry that is not counted: the cluster needs this long to find another place, and a command that
#: always dies the same way must not keep the machine busy.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_BACK_OFF_S, _LONGEST_BACK_OFF_S = 60.0, 900.0
#: The cluster goes on for ever, because the next machine may be a better one; here it is always the same.
_MOST_UNCOUNTED = 10


class Step(NamedTuple):
    """What to do after an instance has ended."""

    what: str
    code: int = 0  # of the attempt, when it is over
    pause_s: float = 0.0
    why: str = ""


class Retries(NamedTuple):
    """How often something was tried again, by who was to blame."""

    user: int = 0
    platform: int = 0
    resource: int = 0


class Course:
    """One job from its first start to its end; tells what each ending means. Every method is pure but for counting."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._roles: Dict[str, Role] = {role.name: role for role in job.roles}
        self._task_retries: Dict[str, Retries] = {}
        self._codes: Dict[str, List[int]] = {}
        self.retries = Retries()
        self._begin()

    def _begin(self) -> None:
        self._codes = {name: [] for name in self._roles}
        self._task_retries = {}

    def ended(self, role: str, index: int, code: int) -> Step:
        """An instance has ended with that reported code; each instance of an attempt ends once, or after a retry."""
        job, task = self._job, "%s/%d" % (role, index)
        if not job.gang:
            step = _retry(job.generation, self._roles[role].task_retries, code, self._task_retries.get(task, Retries()))
            if step is not None:
                self._task_retries[task], pause_s, why = step
                return Step(RETRY_TASK, code, pause_s, why)
        self._codes[role].append(code)
        over = self._completed(role, code)
        if over is None:
            return Step(GO_ON)
        step = _retry(job.generation, job.retries, over, self.retries)
        if step is None:
            return Step(FINISH, over)
        self._begin()
        self.retries, pause_s, why = step
        return Step(RETRY_JOB, over, pause_s, why)

    def _completed(self, name: str, code: int) -> Optional[int]:
        """The attempt's code if it is over now."""
        role, codes = self._roles[name], self._codes[name]
        failed = sum(1 for each in codes if each)
        if code and role.min_failed is not None and failed >= role.min_failed:
            return code
        if not code and role.min_succeeded is not None and len(codes) - failed >= role.min_succeeded:
            return 0
        all_done = all(len(self._codes[each]) == self._roles[each].instances for each in self._roles)
        return 0 if all_done else None


class _Again(NamedTuple):
    retries: Retries
    pause_s: float
    why: str


def _retry(generation: str, most: int, code: int, so_far: Retries) -> Optional[_Again]:
    """The next try, or None when there is none."""
    user, platform, resource = so_far
    entry = explain(generation, code)
    if most == -2:
        return _Again(Retries(user + 1, platform, resource), _grown(_FIRST_PAUSE_S, user, _LONGEST_PAUSE_S), "always")
    if code == 0 or entry.reaction == NEVER:
        return None
    if platform + resource >= _MOST_UNCOUNTED and entry.reaction in (ALWAYS, BACK_OFF):
        return None
    if entry.reaction == ALWAYS:
        pause_s = _grown(_FIRST_PAUSE_S, platform, _LONGEST_PAUSE_S)
        return _Again(Retries(user, platform + 1, resource), pause_s, entry.meaning)
    if entry.reaction == BACK_OFF:
        pause_s = _grown(_BACK_OFF_S, resource, _LONGEST_BACK_OFF_S)
        return _Again(Retries(user, platform, resource + 1), pause_s, entry.meaning)
    if most == -1:
        pause_s = _grown(_FIRST_PAUSE_S, user, _LONGEST_PAUSE_S)
        return _Again(Retries(user + 1, platform, resource), pause_s, entry.meaning)
    if user < most:
        return _Again(Retries(user + 1, platform, resource), 0.0, entry.meaning)
    return None


def _grown(first_s: float, times: int, longest_s: float) -> float:
    return min(longest_s, first_s * (1 << min(times, 20)))
