"""What the contract promises a script, put in place: folders, files, and what `import moxing` needs."""

from __future__ import annotations

import json
import os
import shutil
from typing import Dict, List, Mapping, NamedTuple

from .contracts.base import Facts, Rendered, Spec, render
from .staging import Input
from .stint import Stint
from .stores.access import Access

#: Contracts whose scripts copy with MoXing.
_MOXING = ("modelarts", "modelarts-v1")


class Folders(NamedTuple):
    """Folders of this machine that play buckets, as the script may use them."""

    writable: List[str]
    readonly: List[str]


def staged_inputs(spec: Spec) -> List[Input]:
    """The inputs that are put beside the script; the first generation of ModelArts is only told their addresses."""
    return [] if spec.get("contract") == "modelarts-v1" else list(spec.get("inputs", ()))


def render_for(stint: Stint, python: str, bundle: str) -> Rendered:
    """What the contract makes of this stint. Nothing is made yet."""
    place, meeting = stint.place, stint.meeting
    return render(
        stint.spec,
        Facts(
            run=stint.run,
            stint=stint.number,
            code_dir=stint.code_dir,
            work=place.work,
            bundle=bundle,
            python=python,
            cpus=place.cpus,
            gpus=tuple(place.gpus),
            npus=tuple(place.npus),
            sandboxed=place.sandbox,
            node=place.node,
            hosts=tuple(meeting.addresses) if meeting else ("127.0.0.1",),
            cards=tuple(map(tuple, meeting.npus)) if meeting else (tuple(place.npus),),
        ),
    )


def lay_out(rendered: Rendered, folders: Folders) -> List[str]:
    """Make what the contract promises; returns the folders that the script must be able to write to."""
    made = [*rendered.folders, *sorted({os.path.dirname(path) for path in rendered.files})]
    for folder in made:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    for path, text in rendered.files.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    for folder in folders.writable:
        os.makedirs(folder, exist_ok=True)
    return [*made, *folders.writable]


def played_maps(spec: Spec, work: str) -> Dict[str, str]:
    """Bucket -> the folder that plays it for this script; a single file gets a folder of its own, in the stint's."""
    if spec.get("contract") not in _MOXING:
        return {}
    maps = {str(root): str(path) for root, path in spec.get("maps", {}).items()}
    for root, path in maps.items():
        if os.path.isfile(path):
            maps[root] = os.path.join(work, "buckets", root.partition("://")[2])
            os.makedirs(maps[root], mode=0o700, exist_ok=True)
            _share(path, os.path.join(maps[root], os.path.basename(path)))
    return maps


def _share(path: str, target: str) -> None:
    """The same file under another name, without a copy where the file system can do that."""
    if os.path.lexists(target):
        os.unlink(target)
    try:
        os.link(os.path.realpath(path), target)
    except OSError:
        shutil.copy2(path, target)


def played_folders(spec: Spec, maps: Mapping[str, str]) -> Folders:
    """Which folders the script sees. A bucket that is nothing but an input of the user's is only read."""
    if not maps:
        return Folders([], [])
    from .contracts.modelarts import is_own_bucket

    sources = [str(each["source"]) for each in spec.get("inputs", ())]
    only_read = {
        folder
        for root, folder in maps.items()
        if is_own_bucket(root) and any(source.startswith(root + "/") for source in sources)
    }
    return Folders(sorted(set(maps.values()) - only_read), sorted(only_read))


def moxing_variables(spec: Spec, maps: Mapping[str, str], accesses: Mapping[str, Access]) -> Dict[str, str]:
    """How `import moxing` reaches buckets: folders that play them, and the user's keys for the others.

    `maps` are those of `played_maps`. The keys are among the secrets that are masked in the output, see `Stint`.
    """
    if spec.get("contract") not in _MOXING:
        return {}
    from .move.address import parse
    from .move.mapped import VARIABLE

    found = {VARIABLE: json.dumps(maps, sort_keys=True)}
    named = [each["source"] for each in spec.get("inputs", ())] + [each["target"] for each in spec.get("outputs", ())]
    for kind in ("obs", "s3"):
        roots = [parse(url).root for url in named if url.startswith(kind + "://")] + [kind + "://"]
        access = next((accesses[root] for root in roots if root in accesses), None)
        if access is not None:
            found["OUTLAST_%s_ACCESS" % kind.upper()] = access.to_json()
    return found
