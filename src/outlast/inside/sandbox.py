"""The sandbox: bubblewrap's command line, and whether bubblewrap works on this machine.

The script sees the system read-only, its own /tmp and /dev/shm, none of the folders that `place.hide` names, and
writes only where the stint owns the folder.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from typing import Iterable, List, Optional, Sequence, Tuple

from .place import Place
from .processes import descendants

HOW_TO_GET = "install it with: apt install bubblewrap (or dnf install bubblewrap)"

# Sockets below /run give whoever reaches them the rest of the machine (docker, the user's session bus); these few
# entries are needed for names on the network and for drivers.
_OWN_TMP = ("/tmp", "/var/tmp")
_COVERED = (*_OWN_TMP, "/run")
_KEPT_OF_RUN = (
    "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/nscd", "/run/nvidia-persistenced",
    "/run/nvidia-topologyd", "/run/current-system",
)  # fmt: skip
_DEVICES = (
    "/dev/nvidia*", "/dev/davinci*", "/dev/devmm_svm", "/dev/hisi_hdc", "/dev/dri", "/dev/kfd", "/dev/infiniband",
)  # fmt: skip


_BASE = ("--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc")
# Started by root, bubblewrap leaves its content every capability, and one remount would undo the sandbox. Root's
# right to open any file stays: a script started by root expects to read data that somebody else owns.
_AS_ROOT = (
    "--cap-drop", "ALL", "--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_FOWNER", "--cap-add", "CAP_CHOWN",
)  # fmt: skip


def find_bwrap() -> Optional[str]:
    """Where bubblewrap is, or None."""
    return shutil.which("bwrap")


def usable(bwrap: Optional[str]) -> Tuple[bool, str]:
    """Does bubblewrap work here? Runs a trivial sandbox; when it does not work the second value says why."""
    if bwrap is None:
        return False, "bubblewrap is not installed"
    trial = [
        bwrap,
        *_base_options(),
        "--unshare-net",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--",
        "true",
    ]
    try:
        done = subprocess.run(
            trial, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, "bubblewrap cannot be started: %s" % error
    if done.returncode == 0:
        return True, ""
    words = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["exit code %d" % done.returncode]
    return False, "bubblewrap is installed but this system does not let it work (%s)" % words[-1]


def bwrap_command(
    place: Place,
    argv: Sequence[str],
    *,
    code_dir: str,
    writable: Sequence[str],
    readonly: Sequence[str],
    binds: Sequence[Tuple[str, str]],
    writable_binds: Sequence[Tuple[str, str]] = (),
    network: bool,
    bwrap: Optional[str] = None,
) -> List[str]:
    """The command that runs `argv` in the sandbox, starting in `code_dir`.

    `writable` and `readonly` are folders that keep their path, also below a hidden one; `binds` are pairs of a
    source and a path. /tmp is the folder `tmp` of the stint's work folder, which is made here.
    """
    own_tmp = os.path.join(place.work, "tmp")
    os.makedirs(own_tmp, exist_ok=True)
    hidden = _hidden_roots(place.hide)
    command = [bwrap or find_bwrap() or "bwrap", *_base_options()]
    if not network:
        command.append("--unshare-net")
    system = _root_options([target for _, target in (*binds, *writable_binds)])
    command += system
    command += ["--dev", "/dev", *_device_options(), "--proc", "/proc", *_proc_options()]
    covered = [root for root in _COVERED if os.path.isdir(root) and not os.path.islink(root)] + hidden
    for root in covered:
        command += ["--bind", own_tmp, root] if root in _OWN_TMP else ["--tmpfs", root]
    command += _show("--ro-bind", _existing(_KEPT_OF_RUN), covered)
    command += _show("--ro-bind", readonly, covered)
    command += _bind_all("--bind", writable, covered)
    for option, pairs in (("--ro-bind", binds), ("--bind", writable_binds)):
        for source, target in pairs:
            for shown in _targets(target, covered) or [os.path.realpath(target)]:
                command += [option, source, shown]
    # Last, because mount points are still made in them up to here: what is written there would only vanish.
    for root in covered:
        if root not in _OWN_TMP:
            command += ["--remount-ro", root]
    if "/" not in system:
        command += ["--remount-ro", "/"]
    command += ["--setenv", "TMPDIR", "/tmp", "--chdir", code_dir, "--"]
    return command + list(argv)


def _root_options(targets: Sequence[str]) -> List[str]:
    """The system, read-only. A mount point such as /cache that it does not have needs a root made of its parts.

    Nothing can be made in a root that is bound as a whole, and the machine's own root is not ours to change.
    """
    tops = {"/" + os.path.abspath(target).split("/")[1] for target in targets}
    if all(os.path.lexists(top) for top in tops):
        return ["--ro-bind", "/", "/"]
    options: List[str] = []
    for name in sorted(os.listdir("/")):
        path = "/" + name
        if name in ("dev", "proc"):
            continue
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        else:
            options += ["--ro-bind-try", path, path]
    return options


def _base_options() -> List[str]:
    return [*_BASE, *(_AS_ROOT if os.geteuid() == 0 else ())]


def _proc_options() -> List[str]:
    """Switches of the kernel that belong to root by ownership alone: one of them names a program to run on a crash."""
    options: List[str] = []
    if os.geteuid() == 0:
        for path in _existing(("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs")):
            options += ["--ro-bind", path, path]
    return options


def _hidden_roots(hide: Iterable[str]) -> List[str]:
    """Folders to cover with emptiness: real paths, outermost only, without those that are covered anyway."""
    real = sorted({os.path.realpath(path) for path in hide if path and os.path.isdir(path)} - {"/"})
    roots: List[str] = []
    for path in real:
        if not any(_is_below(path, root) for root in (*_COVERED, *roots)):
            roots.append(path)
    return roots


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _existing(paths: Iterable[str]) -> List[str]:
    return [path for path in paths if os.path.exists(path)]


def _device_options() -> List[str]:
    options: List[str] = []
    for pattern in _DEVICES:
        for path in sorted(glob.glob(pattern)):
            options += ["--dev-bind", path, path]
    return options


def _targets(path: str, covered: Sequence[str]) -> List[str]:
    """Names under which a path must be shown again because a covered folder lies above: as given, and its real one.

    Both are needed: an interpreter started as ~/env/bin/python finds its files by that name, its links by the other.
    """
    given = os.path.abspath(path)
    found: List[str] = []
    for target in (_by_given_name(given, covered), os.path.realpath(given)):
        if target and target not in found and any(_is_below(target, root) for root in covered):
            found.append(target)
    return found


def _by_given_name(path: str, covered: Sequence[str]) -> Optional[str]:
    """A path below a covered folder with the links above that folder resolved, those below it kept as folders.

    bubblewrap cannot make a mount point through a link, and links below a covered folder do not exist any more.
    """
    head, rest = path, ""
    while head != "/":
        if os.path.realpath(head) in covered:
            return os.path.join(os.path.realpath(head), rest)
        head, name = os.path.split(head)
        rest = os.path.join(name, rest) if rest else name
    return None


def _show(option: str, paths: Sequence[str], covered: Sequence[str]) -> List[str]:
    """Options that bring paths back from below covered folders; the rest of the system is visible anyway."""
    options: List[str] = []
    for path in _outermost(paths):
        for target in _targets(path, covered):
            # Showing a covered folder itself again would undo the cover.
            if target not in covered:
                options += [option, os.path.realpath(path), target]
    return options


def _bind_all(option: str, paths: Sequence[str], covered: Sequence[str]) -> List[str]:
    options: List[str] = []
    for path in _outermost(paths):
        real = os.path.realpath(path)
        for target in _targets(path, covered) or [real]:
            options += [option, real, target]
    return options


def _outermost(paths: Sequence[str]) -> List[str]:
    """Existing paths, each once, outer before inner: a later mount of an outer folder would cover the inner one."""
    return sorted({os.path.abspath(path) for path in paths if os.path.exists(path)})


def script_pid(bwrap_pid: int) -> Optional[int]:
    """The sandboxed command's pid as seen from outside, or None while bubblewrap is still setting up.

    bubblewrap keeps two processes of its own: the one we started, and the first of the new pid namespace. The
    command is the one whose innermost pid is 2.
    """
    for pid in descendants(bwrap_pid):
        if _innermost_pid(pid) == 2:
            return pid
    return None


def _innermost_pid(pid: int) -> Optional[int]:
    try:
        with open("/proc/%d/status" % pid) as file:
            for line in file:
                if line.startswith("NSpid:"):
                    return int(line.split()[-1])
    except (OSError, ValueError):
        pass
    return None
