"""Process trees by /proc: who descends from whom, is it still the same process, and how all of them end."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Set

_PR_SET_PDEATHSIG = 1

# Loaded at import: between fork and exec only calls that take no lock are safe, and loading a library takes one.
# Looking a function up takes one too.
_PRCTL = ctypes.CDLL(None, use_errno=True).prctl


class Stat(NamedTuple):
    """The fields of /proc/<pid>/stat that we use."""

    state: str
    parent: int
    group: int
    session: int
    cpu_ticks: int  # user and system time of all threads
    start_ticks: int  # since boot; with the pid it names a process for good
    rss_pages: int


def read_stat(pid: int) -> Optional[Stat]:
    """One process, or None when there is none of that pid."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            text = file.read()
    except OSError:
        return None
    # The command name may hold spaces and brackets; the fields start after its last bracket.
    fields = text[text.rfind(b")") + 2 :].split()
    if len(fields) < 22:
        return None
    return Stat(
        state=fields[0].decode("ascii"),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        cpu_ticks=int(fields[11]) + int(fields[12]),
        start_ticks=int(fields[19]),
        rss_pages=int(fields[21]),
    )


def start_ticks(pid: int) -> Optional[int]:
    stat = read_stat(pid)
    return None if stat is None else stat.start_ticks


def is_same_process(pid: int, ticks: int) -> bool:
    """Is the process that had this pid and start time still running? A zombie counts as ended."""
    stat = read_stat(pid)
    return stat is not None and stat.start_ticks == ticks and stat.state not in "ZX"


def every_process() -> Dict[int, Stat]:
    """All processes that can be seen now. About 15 µs each: for ending things, not for sampling."""
    found: Dict[int, Stat] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = read_stat(int(name))
            if stat is not None:
                found[int(name)] = stat
    return found


def descendants(pid: int) -> List[int]:
    """Children, their children and so on, without `pid` itself.

    Cheap: asks the kernel for each process's children instead of reading all of /proc. A child may be missed in
    the very moment in which a sibling ends; `kill_tree` therefore reads all of /proc.
    """
    if not os.path.exists("/proc/self/task/%d/children" % os.getpid()):
        return _descendants_among(every_process(), {pid})
    found: List[int] = []
    waiting = [pid]
    while waiting:
        children = _children(waiting.pop())
        found.extend(children)
        waiting.extend(children)
    return found


def _children(pid: int) -> List[int]:
    """Children of all threads of one process: each thread lists those it started itself."""
    found: List[int] = []
    try:
        threads = os.listdir("/proc/%d/task" % pid)
    except OSError:
        return found
    for thread in threads:
        try:
            with open("/proc/%d/task/%s/children" % (pid, thread), "rb") as file:
                found.extend(int(child) for child in file.read().split())
        except OSError:
            continue
    return found


def _descendants_among(processes: Dict[int, Stat], roots: Set[int]) -> List[int]:
    by_parent: Dict[int, List[int]] = {}
    for pid, stat in processes.items():
        by_parent.setdefault(stat.parent, []).append(pid)
    found: List[int] = []
    waiting = list(roots)
    while waiting:
        for child in by_parent.get(waiting.pop(), ()):
            found.append(child)
            waiting.append(child)
    return found


def kill_tree(pid: int, wait_s: float = 5.0) -> List[int]:
    """End a process, its descendants, and all of its process group and session; return what still lives.

    Everything is stopped before anything is killed, so that nobody can fork on while the tree is being read. The
    calling process itself is never touched.
    """
    return kill_trees({pid}, wait_s)


def kill_trees(roots: Set[int], wait_s: float = 5.0) -> List[int]:
    """`kill_tree` for several roots at once."""
    doomed: Dict[int, int] = {}
    deadline = time.monotonic() + wait_s
    # Against a tree that forks faster than we read, killing what is known is all there is.
    while time.monotonic() < deadline:
        fresh = _members(roots, every_process(), doomed)
        if not fresh:
            break
        for pid, ticks in fresh.items():
            doomed[pid] = ticks
            _send(pid, ticks, signal.SIGSTOP)
    for pid, ticks in doomed.items():
        _send(pid, ticks, signal.SIGKILL)
    return _wait_gone(doomed, wait_s)


def _members(roots: Set[int], processes: Dict[int, Stat], known: Dict[int, int]) -> Dict[int, int]:
    """Processes of these trees that are not known yet, with their start times."""
    members = set(roots) | set(_descendants_among(processes, roots | set(known)))
    for pid, stat in processes.items():
        if stat.group in roots or stat.session in roots:
            members.add(pid)
    members.discard(os.getpid())
    return {
        pid: processes[pid].start_ticks
        for pid in members
        if pid in processes and pid not in known and processes[pid].state not in "ZX"
    }


def _send(pid: int, ticks: int, number: int) -> None:
    if not is_same_process(pid, ticks):
        return
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _wait_gone(doomed: Dict[int, int], wait_s: float) -> List[int]:
    deadline = time.monotonic() + wait_s
    while True:
        alive = [pid for pid, ticks in doomed.items() if is_same_process(pid, ticks)]
        if not alive or time.monotonic() > deadline:
            return alive
        time.sleep(0.005)


def with_file_open(path: str) -> List[int]:
    """Processes other than ours that have a file open, as far as we may look into them."""
    try:
        wanted = os.stat(path)
    except OSError:
        return []
    return [pid for pid in _others() if _has_open(pid, wanted)]


def _has_open(pid: int, wanted: os.stat_result) -> bool:
    try:
        names = os.listdir("/proc/%d/fd" % pid)
    except OSError:
        return False
    for name in names:
        try:
            if os.path.samestat(os.stat("/proc/%d/fd/%s" % (pid, name)), wanted):
                return True
        except OSError:
            continue
    return False


def with_environment(values: Dict[str, str]) -> List[int]:
    """Processes other than ours that were started with these variables, as far as we may look into them."""
    wanted = {os.fsencode("%s=%s" % pair) for pair in values.items()}
    found: List[int] = []
    for pid in _others():
        try:
            with open("/proc/%d/environ" % pid, "rb") as file:
                if wanted <= set(file.read().split(b"\0")):
                    found.append(pid)
        except OSError:
            continue
    return found


def _others() -> List[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def die_with_parent(parent: Optional[int] = None) -> None:
    """Ask the kernel to kill this process when its parent ends. For `preexec_fn`.

    The kernel watches the thread that forked, so start children from a thread that lives as long as the runner.
    With `parent` (the runner's pid) a parent that is gone already ends this process at once.
    """
    _PRCTL(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def set_limits(cpu_list: Sequence[int], memory_bytes: Optional[int]) -> None:
    """Bind this process to its processors and cap its private memory. For `preexec_fn`.

    The cap is RLIMIT_DATA: each process alone, address space that it may write to. Leave `memory_bytes` out when
    an accelerator is used: drivers reserve many times the memory that they touch.
    """
    if cpu_list:
        try:
            os.sched_setaffinity(0, cpu_list)
        except OSError:
            pass  # a processor was taken away since it was assigned; running anywhere beats not running
    if memory_bytes is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        cap = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (cap, hard))


def preexec(cpu_list: Sequence[int], memory_bytes: Optional[int]) -> Callable[[], None]:
    """A ready `preexec_fn`: `die_with_parent` and `set_limits`. Make it in the process that forks."""
    parent = os.getpid()

    def between_fork_and_exec() -> None:
        die_with_parent(parent)
        set_limits(cpu_list, memory_bytes)

    return between_fork_and_exec


def thread_environment(cpus: int) -> Dict[str, str]:
    """Variables that keep numeric libraries from starting one thread per processor of the machine."""
    names = (
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    )  # fmt: skip
    return {name: str(cpus) for name in names}


def boot_id() -> str:
    """Names the time since the machine started: start times of two boots must not be compared."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return sys.platform
