"""The first steps of a stint in a container that knows nothing of us: what the boot file calls once it is unpacked."""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import sys
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .accelerators import read_cards
from .errors import InsideError, PlaceError, RequestError
from .place import SECRET_PREFIX, Place
from .runner import run_place

#: Names the variable that tells a stint about itself, as JSON; see `docs/design/boot-file.md`.
BOOT = "OUTLAST_BOOT"
#: A file of this name beside the boot file is read where a platform passes neither variables nor arguments.
VARIABLES_FILE = "vars.json"
#: An option that names that file, or the folder that holds it.
VARIABLES_OPTION = "outlast_vars"
#: The address of a store that came as an input and leaves as an output; see `carried.py`.
CARRIED = "carried:"


def boot(base: str, argv: Sequence[str], beside: str) -> int:
    """Do one stint and return the exit code: 0 when its end is recorded.

    `base` is a private folder to work in, `argv` what the platform said, `beside` the folder of the boot file.
    """
    try:
        options = read_options(argv)
        os.environ.update(_variables(argv, options, beside))
        told = _told(os.environ)
        place = make_place(told, base)
        if place.store == CARRIED:
            from .carried import Carried

            carried = Carried.take(told, options)
            place.store = carried.url
            try:
                return _run(place)
            finally:
                carried.leave()
        return _run(place)
    except InsideError as error:
        sys.stderr.write("outlast: %s\n" % error)
        return 1
    except OSError as error:
        sys.stderr.write("outlast: %s: %s\n" % (error.filename or base, error.strerror))
        return 1


def _run(place: Place) -> int:
    try:
        return run_place(place)
    finally:
        # A container is thrown away with it; a machine of the lab is not.
        shutil.rmtree(place.work, ignore_errors=True)


def read_options(argv: Sequence[str]) -> Dict[str, str]:
    """`--name=value` and `--name value` by name; whatever else there is does not concern us."""
    found: Dict[str, str] = {}
    for here, following in zip(argv, [*argv[1:], ""]):
        name, equals, value = here.lstrip("-").partition("=")
        if here.startswith("--") and name:
            found[name] = value if equals else "" if following.startswith("-") else following
    return found


def _variables(argv: Sequence[str], options: Mapping[str, str], beside: str) -> Dict[str, str]:
    """Variables from a file, which is removed; none when the environment has them."""
    named = [each for each in argv[:1] if each.endswith(".json")] + [options.get(VARIABLES_OPTION, "")]
    path = next(filter(None, named), "" if BOOT in os.environ else os.path.join(beside, VARIABLES_FILE))
    if not path:
        return {}
    if os.path.isdir(path):
        path = os.path.join(path, VARIABLES_FILE)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        values = {str(name): str(value) for name, value in found.items()}
    except OSError as error:
        raise PlaceError("%s is not set, and %s cannot be read: %s" % (BOOT, path, error.strerror)) from None
    except (ValueError, AttributeError):  # not the parser's words: they could quote a secret
        raise RequestError("%s does not hold the variables of a stint" % path) from None
    try:
        os.unlink(path)
    except OSError:
        pass  # a read-only folder goes away with the container
    return values


def _told(environ: Mapping[str, str]) -> Dict[str, Any]:
    try:
        told = json.loads(environ.get(BOOT, ""))
        missing = [name for name in ("store", "run", "stint", "token") if name not in told]
    except (ValueError, TypeError):
        raise RequestError("%s cannot be read; it holds what the keeper says of this stint" % BOOT) from None
    if missing:
        raise RequestError("%s lacks %s" % (BOOT, ", ".join(missing)))
    return dict(told)


def make_place(told: Mapping[str, Any], base: str) -> Place:
    """The place of a stint in this container, with folders of its own below `base`.

    What nobody asked for in numbers is taken whole: the container was made for this stint.
    """
    run, stint = str(told["run"]), int(told["stint"])
    shared = os.path.join(base, "runs", run)
    os.makedirs(shared, mode=0o700, exist_ok=True)
    place = Place(
        store=str(told["store"]),
        run=run,
        stint=stint,
        token=str(told["token"]),
        work=tempfile.mkdtemp(prefix="%04d-" % stint, dir=shared),
        shared=shared,
        cache=os.path.join(base, "cache"),
        cpus=_cpus(int(told.get("cpus") or 0)),
        memory_bytes=told.get("memory_bytes"),
        gpus=_cards("gpu", int(told.get("gpus") or 0)),
        npus=_cards("npu", int(told.get("npus") or 0)),
        network=bool(told.get("network", True)),
        node=_node(int(told.get("nodes") or 1)),
        nodes=int(told.get("nodes") or 1),
        address=next(filter(None, (os.environ.get(name) for name in _ADDRESSES)), ""),
        notices=_notices(told),
        secret_names=[name[len(SECRET_PREFIX) :] for name in os.environ if name.startswith(SECRET_PREFIX)],
        python=own_python(),
    )
    _settle_home(place.home)
    return place


#: How the platforms number the machines of one job, and what they call the address of each.
_NODES = ("VC_TASK_INDEX", "DLS_TASK_INDEX", "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX", "PAI_TASK_INDEX")
_ADDRESSES = ("MA_CURRENT_IP", "BATCH_TASK_CURRENT_HOST_IP", "PAI_CURRENT_CONTAINER_IP")


def _node(nodes: int) -> int:
    """Which node of its stint this container is, as its platform says."""
    if nodes == 1:
        return 0
    told = next((os.environ[name] for name in _NODES if os.environ.get(name, "").isdigit()), "")
    if not told or int(told) >= nodes:
        raise RequestError(
            "this container does not say which of %d nodes it is; looked in %s" % (nodes, ", ".join(_NODES))
        )
    return int(told)


def own_python() -> str:
    """The interpreter that the platform started us with: what its image was made for."""
    found = sys.executable or shutil.which("python3") or shutil.which("python")
    if not found:
        raise PlaceError("this container has no interpreter with a name")
    return found


def _notices(told: Mapping[str, Any]) -> List[str]:
    notices = []
    here, there = "%d.%d" % sys.version_info[:2], str(told.get("python") or "")
    if there and there != here:
        notices.append(
            "the script runs with Python %s of this container, %s; at home it is %s" % (here, own_python(), there)
        )
    if not told.get("network", True):
        notices.append("--no-network is up to this container: there is no sandbox in it")
    return notices


def _settle_home(home: str) -> None:
    """Give the script a home it can write to; many tools fail without one."""
    given = os.environ.get("HOME", "")
    if not (given and os.path.isdir(given) and os.access(given, os.W_OK | os.X_OK)):
        os.makedirs(home, mode=0o700, exist_ok=True)
        os.environ["HOME"] = home


def _cpus(asked: int) -> int:
    """Processors for this stint. One is what a request says that names no number; then all there are."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _cpu_quota()
    there = max(1, min(usable, quota) if quota else usable)
    return min(asked, there) if asked > 1 else there


def _cpu_quota() -> Optional[int]:
    """Whole processors that the container's share of time amounts to; None without a limit."""
    for path in ("/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"):
        try:
            with open(path) as file:
                words = file.read().split()
            if path.endswith("_us"):
                with open(path.replace("quota", "period")) as file:
                    words.append(file.read().strip())
            quota, period = int(words[0]), int(words[1])
        except (OSError, ValueError, IndexError):
            continue
        if quota > 0 and period > 0:
            return max(1, quota // period)
    return None


_VISIBLE = {
    "gpu": ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"),
    "npu": ("ASCEND_RT_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES", "ASCEND_DEVICE_ID", "DEVICE_ID"),
}
_DEVICES = {"gpu": "/dev/nvidia[0-9]*", "npu": "/dev/davinci[0-9]*"}


def _cards(kind: str, asked: int) -> List[str]:
    """Cards for this stint as CUDA or CANN names them; all that are there when no number was asked for."""
    variable, *others = _VISIBLE[kind]
    if variable in os.environ:
        found = _listed(os.environ[variable])
    else:
        found = [str(card["index"]) for card in read_cards() if card["kind"] == kind]
        found = found or [re.sub(r"\D", "", path) for path in sorted(glob.glob(_DEVICES[kind]))]
        found = found or next(filter(None, (_listed(os.environ.get(name, "")) for name in others)), [])
    return found[:asked] if asked else found


def _listed(text: str) -> List[str]:
    """`0,1,3` and `0-3`, as container runtimes write them; words such as `all` or `void` name no card."""
    found: List[str] = []
    for word in text.replace(" ", "").split(","):
        first, dash, last = word.partition("-")
        if dash and first.isdigit() and last.isdigit():
            found += [str(number) for number in range(int(first), int(last) + 1)]
        elif word.isdigit() or word.startswith(("GPU-", "MIG-")):
            found.append(word)
    return found
