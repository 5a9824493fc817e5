"""The boot file: the inside half as one Python file that a platform can start in any container."""

from __future__ import annotations

import base64
import bz2
import hashlib
import json
import os
import re
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

from outlast.inside.boot import BOOT
from outlast.inside.place import ACCESSES, SECRET_PREFIX, access_for, read_accesses
from outlast.platforms.base import Launch
from outlast.platforms.boot.packing import blank
from outlast.platforms.bundle import inside_files

_HEAD = "outlast/inside/boothead.py"
#: Python 3.11 fails now and then when several threads parse at once ("recursion depth mismatch").
_making = threading.Lock()


class BootEnvironment(NamedTuple):
    """The variables that a job must start its boot file with."""

    open: dict[str, str]  # anybody may see these
    secret: dict[str, str]  # keys of stores, the script's own secrets


def boot_file(cache: Path) -> Path:
    """`outlast-boot-<digest>.py`: one file for Python 3.7 and later that does a whole stint. Made once.

    The same sources give the same bytes everywhere, and the digest names them, so it is uploaded once per version.
    """
    files = {name: content.decode() for name, content in inside_files().items() if name.endswith(".py")}
    head = files.pop(_HEAD)
    digest = hashlib.sha256(json.dumps([head, files], sort_keys=True).encode()).hexdigest()[:16]
    target = cache / "boot" / f"outlast-boot-{digest}.py"
    with _making:
        if not target.exists():
            _write(target, _assemble(head, files, digest))
    return target


def _write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=target.parent, suffix=".tmp", delete=False, encoding="utf-8") as file:
        file.write(text)
    aside = Path(file.name)
    aside.chmod(0o644)
    aside.replace(target)


def _assemble(head: str, files: dict[str, str], digest: str) -> str:
    # bzip2: its blocks of 900 KB see all sources at once, which makes it a fifth smaller than zlib here; and its
    # output has not changed in twenty years, where that of zlib depends on who built it.
    pressed = bz2.compress(json.dumps({name: blank(text) for name, text in sorted(files.items())}).encode(), 9)
    text = base64.b85encode(pressed).decode()
    return head.replace('DIGEST = ""', f'DIGEST = "{digest}"', 1).replace('FILES = ""', f'FILES = "{text}"', 1)


def boot_environment(launch: Launch) -> BootEnvironment:
    """What the boot file must be told to do this stint.

    Of the keys only those go along that open the stint's own store, its inputs and its outputs.
    """
    spec, order = launch.spec, launch.order
    secrets = dict(launch.secrets)
    if ACCESSES in secrets:
        secrets[ACCESSES] = _needed(secrets[ACCESSES], launch)
    told = {
        "store": launch.store,
        "run": order.run,
        "stint": order.stint,
        "token": order.token,
        "cpus": spec.resources.cpus,
        "memory_bytes": spec.resources.memory_bytes,
        "gpus": spec.resources.gpus,
        "npus": spec.resources.npus,
        "nodes": spec.resources.nodes,
        "network": spec.network,
        "python": _python_version(spec.python),
        "secrets": sorted(secrets),
    }
    return BootEnvironment(
        {BOOT: json.dumps(told, sort_keys=True)}, {SECRET_PREFIX + name: value for name, value in secrets.items()}
    )


def _needed(accesses: str, launch: Launch) -> str:
    """Those accesses that open what the stint works on, and the usual ones of a whole kind of store."""
    spec = launch.spec
    addresses = [launch.store, *(each.source for each in spec.inputs), *(each.target for each in spec.outputs)]
    known = read_accesses(accesses)
    needed = [
        root
        for root, access in known.items()
        if root.endswith("://") or any(access_for(url, {root: access}) for url in addresses)
    ]
    return json.dumps({root: known[root]._asdict() for root in needed})


def _python_version(python: str) -> str:
    """Major and minor number of the interpreter that the user has, as far as its name tells."""
    match = re.search(r"python(\d+\.\d+)$", str(Path(python).resolve()) if os.path.isabs(python) else python)  # noqa: PTH117
    return match.group(1) if match else ""
