"""What a stint takes along into a container without network: a part of the store, and the files that start it."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from outlast.errors import Unavailable
from outlast.inside import layout
from outlast.inside.boot import BOOT, CARRIED, VARIABLES_FILE
from outlast.inside.errors import NotFound
from outlast.inside.records import Manifest, to_bytes
from outlast.inside.stores.file import FileStore
from outlast.model.quantities import format_size
from outlast.platforms.base import Launch
from outlast.platforms.boot import boot_environment
from outlast.platforms.xihe.repository import Content, size_of

#: What one stint can take along, inputs included: it goes up once and into the container every time.
STATE_LIMIT_BYTES = 20 << 30
REQUIREMENTS = "pip-requirements.txt"


def state_files(store: FileStore, launch: Launch, named: Iterable[str]) -> dict[str, Content]:
    """The part of the store that a stint needs; inputs that are `named` come from repositories of Xihe instead."""
    order = launch.order
    spec = json.loads(_bytes(store, layout.spec_key(order.run)))
    files: dict[str, Content] = {layout.spec_key(order.run): to_bytes(_carried_spec(spec))}
    for key in (layout.order_key(order.run, order.stint), layout.control_key(order.run)):
        if store.head(key) is not None:
            files[key] = store.get(key)
    digests = [str(spec["code"]["sha256"])]
    if order.resume_from is not None:
        key = layout.checkpoint_key(order.run, order.resume_from)
        files[key] = _bytes(store, key)
        digests += [str(entry["sha256"]) for entry in Manifest.from_bytes(store.get(key)).files.values()]
    for digest in digests:
        files[layout.blob_key(digest)] = _path(store, layout.blob_key(digest))
    files |= _input_files(store, spec, set(named))
    _check_size(files)
    return files


def project_files(boot: Path, store: FileStore, launch: Launch, arguments: Mapping[str, str]) -> dict[str, Content]:
    """What starts the stint. `arguments`: which option of the instance holds which input."""
    carried = replace(launch, order=replace(launch.order, store=CARRIED), secrets=_of_script(launch))
    variables = boot_environment(carried)
    told = json.loads(variables.open[BOOT]) | {"arguments": dict(arguments)}
    values = {**variables.open, **variables.secret, BOOT: json.dumps(told, sort_keys=True)}
    files: dict[str, Content] = {
        boot.name: boot.read_bytes(),
        VARIABLES_FILE: json.dumps(values, sort_keys=True).encode(),
        "README.md": f"Made by Outlast for run {launch.order.run}; removed with it.\n".encode(),
    }
    lines = requirement_lines(store, launch)
    return files | ({REQUIREMENTS: "".join(f"{line}\n" for line in lines).encode()} if lines else {})


def requirement_lines(store: FileStore, launch: Launch) -> list[str]:
    """The packages that Xihe installs before the boot file starts: afterwards there is no network."""
    spec = launch.spec
    lines = list(spec.environment.requirements) if spec.environment else []
    if spec.requirements:
        with tarfile.open(_path(store, layout.blob_key(spec.code.sha256))) as pack:
            member = pack.extractfile(spec.requirements)
            lines += member.read().decode("utf-8", "replace").splitlines() if member else []
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _carried_spec(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec without what needs a network: Xihe has installed the packages, and results come home by themselves.

    The log goes to the output of the boot file too: of an instance that fails, that is all Xihe keeps.
    """
    outputs = [{**each, "target": ""} for each in spec.get("outputs") or ()]
    left_out: dict[str, Any] = {"requirements": None, "environment": None, "log_folder": None, "maps": {}}
    return {**spec, **left_out, "outputs": outputs, "log_copy": "/dev/stdout"}


def _of_script(launch: Launch) -> dict[str, str]:
    """The script's own secrets. Keys of stores stay here: nothing in the container could use them."""
    return {name: launch.secrets[name] for name in launch.spec.secrets if name in launch.secrets}


def _input_files(store: FileStore, spec: Mapping[str, Any], named: set[str]) -> Iterator[tuple[str, Path]]:
    for each in spec.get("inputs") or ():
        source = str(each["source"])
        if each["name"] in named:
            continue
        if not source.startswith(store.url + "/"):
            raise Unavailable(
                f"input {each['name']} lies at {source}, which no container of xihe can reach", why="refused",
                hint="give it as a file or folder of this machine, or as a repository: model:owner/name",
            )  # fmt: skip
        from outlast.inside.staging import source_path

        top = Path(source_path(source))
        found = sorted(path for path in top.rglob("*") if path.is_file()) if top.is_dir() else [top]
        yield from ((path.relative_to(store.root).as_posix(), path) for path in found)


def _check_size(files: Mapping[str, Content]) -> None:
    size_bytes = sum(size_of(each) for each in files.values())
    if size_bytes > STATE_LIMIT_BYTES:
        raise Unavailable(
            f"the checkpoint and the inputs have {format_size(size_bytes)} together; a stint on xihe takes along "
            f"{format_size(STATE_LIMIT_BYTES)} at most", why="refused",
            hint="put large inputs into repositories there and name them: --data NAME=dataset:owner/name",
        )  # fmt: skip


def _bytes(store: FileStore, key: str) -> bytes:
    try:
        return store.get(key)
    except NotFound:
        raise Unavailable(f"{key} has not reached {store.url} yet", why="down") from None


def _path(store: FileStore, key: str) -> Path:
    if store.head(key) is None:
        raise Unavailable(f"{key} has not reached {store.url} yet", why="down")
    return Path(store.path(key))
