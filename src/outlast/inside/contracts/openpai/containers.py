"""Running an instance in its image: the command line of podman or docker, and a container that never outlives us."""

from __future__ import annotations

import os
import resource
import subprocess
from typing import Collection, List, NamedTuple, Sequence

from ...namenodes import LOOPBACK

#: Asked of an engine that may hang: an image that is not known soon is not there.
_PATIENCE_S = 30.0
_PROCESSES = 4096

# The first process of the container. A request to leave is a line of its standard input, as an engine that has just
# started a container does not pass on signals yet; SIGTERM is one, too. It goes to what the command has started,
# because bash itself would only wait. When our end of that input closes, because we are gone or want it to be,
# everything in it ends.
_INIT = """
exec 3<&0
leave() { for each in $(cat /proc/$child/task/$child/children); do kill -TERM $each; done; }
trap leave TERM
"$@" </dev/null 3<&- & child=$!
(while read -r -u 3 _; do leave; done; kill -KILL -1) >/dev/null 2>&1 &
while :; do wait $child; code=$?; kill -0 $child 2>/dev/null || exit $code; done
"""


class Mounts(NamedTuple):
    """Folders of this machine that the container sees under the same path."""

    writable: Sequence[str] = ()
    readonly: Sequence[str] = ()


def has_image(engine: str, image: str) -> bool:
    """Whether an engine works here and has the image; never pulls."""
    try:
        done = subprocess.run(
            [engine, "image", "inspect", image], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=_PATIENCE_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def container_command(
    engine: str, image: str, name: str, argv: Sequence[str], *, folder: str, mounts: Mounts, names: Collection[str],
    shm_mb: int, hosts: Sequence[str] = (),
) -> List[str]:  # fmt: skip
    """The command that runs `argv` in the image, in `folder`.

    Variables are only named: their values must not stand in a list of processes.
    """
    command = [engine, "run", "--rm", "--interactive", "--name", name, "--network", "host", "--entrypoint", ""]
    if os.path.basename(engine) == "podman":
        command += ["--pull", "never", *_own_limits()]
    if shm_mb:
        command += ["--shm-size", "%dm" % shm_mb]
    for option, paths in (("rw", mounts.writable), ("ro", mounts.readonly)):
        for path in paths:
            command += ["--volume", "%s:%s:%s" % (path, path, option)]
    for host in hosts:
        command += ["--add-host", "%s:%s" % (host, LOOPBACK)]
    for each in sorted(names):
        command += ["--env", each]
    return [*command, "--workdir", folder, image, "bash", "-c", _INIT, "init", *argv]


def _own_limits() -> List[str]:
    """Limits that may be set: podman would raise them, which root itself may not do on every machine.

    Open files are as many as we may have. Processes are fewer: podman's own monitor holds less than we do.
    """
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    processes = _PROCESSES if most == resource.RLIM_INFINITY else min(most, _PROCESSES)
    return ["--ulimit", "nofile=%d:%d" % files, "--ulimit", "nproc=%d:%d" % (processes, processes)]


def remove_container(engine: str, name: str) -> None:
    """Remove a container that did not go by itself; nothing happens when there is none."""
    try:
        subprocess.run(
            [engine, "rm", "--force", name], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=_PATIENCE_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        pass  # the engine hangs: nothing here can end the container
