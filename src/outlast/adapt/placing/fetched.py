"""Files that are fetched to a place of their own: left out when the contract brings what the script reads there.

`download(url, "./", kind="zip")` of the package `download` returns that place, so the contract's folder can take its
place in the same expression; of others only those that stand alone are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.fetchers import constant, is_address
from outlast.adapt.placing.paths import Paths
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, positional, tail

RULE = "downloads"
FETCH = "download.download"
#: full name → (place, keyword) of where a file, or what is unpacked, will lie
_PLACED = {
    "urllib.request.urlretrieve": (1, "filename"), "urllib.urlretrieve": (1, "filename"), "wget.download": (1, "out"),
    "gdown.download": (1, "output"), "gdown.cached_download": (1, "path"), "gdown.download_folder": (99, "output"),
    "torch.hub.download_url_to_file": (1, "dst"), "opendatasets.download": (1, "data_dir"),
    "huggingface_hub.snapshot_download": (99, "local_dir"), "modelscope.snapshot_download": (99, "local_dir"),
}  # fmt: skip
#: likewise, of an API's object
_METHODS = {"dataset_download_files": (99, "path"), "competition_download_files": (99, "path")}
#: calls that run a command
RUNS = frozenset({"os.system", "subprocess.run", "subprocess.call", "subprocess.check_call"})
_TOOL = re.compile(r"(?:wget|curl|gdown|kaggle)\s")
_WEIGHTS = re.compile(r"\.(?:ckpt|pth?|safetensors|h5|pkl|onnx|mindir)$")


@dataclass(frozen=True)
class Fetch:
    """One call, what it fetches, and the file that it leaves; empty for a folder that it unpacks to."""

    call: cst.Call
    role: Role
    file: str
    is_alone: bool = False  # nothing asks what it returns


def find_fetches(draft: Draft, paths: Paths) -> list[Fetch]:
    """Those that fetch what the script will read from where the contract says."""
    found = []
    for call in draft.calls():
        if draft.resolve(call.func) != FETCH:
            found += _alone(draft, call, paths)
            continue
        if is_left_out(draft, call):
            paths.known.update(_literals(draft, call))
            continue
        named, kind = argument(call, "path"), argument(call, "kind")
        place = constant(draft, named.value if named is not None else positional(call, 1))
        unpacks = kind is not None and inner(kind.value) != "file"
        is_weights = any(_WEIGHTS.search(each) for each in (place, constant(draft, positional(call, 0))))
        role = Role.WEIGHTS if is_weights and not unpacks else Role.DATA
        file = "" if unpacks else place.rstrip("/").rpartition("/")[2]
        if paths.has(role) and (unpacks or file):
            found.append(Fetch(call, role, file))
            paths.known.update(_literals(draft, call))
    return found


def _alone(draft: Draft, call: cst.Call, paths: Paths) -> list[Fetch]:
    """A statement that fetches what is read from the contract's folder afterwards."""
    if not isinstance(draft.parent(call), cst.Expr) or any(isinstance(each, cst.If) for each in draft.above(call)):
        return []  # behind a question it is the script's own business
    places = [each.removeprefix("./").rstrip("/") for each in _targets(draft, call)]
    for role in (Role.DATA, Role.WEIGHTS):
        for text in (site.text.removeprefix("./").rstrip("/") for site in paths.sites.get(role, ())):
            place = next((each for each in places if each and (text == each or text.startswith(f"{each}/"))), "")
            if place:
                paths.known.update(_literals(draft, call))
                return [Fetch(call, role, place, is_alone=True)]
    return []


def _targets(draft: Draft, call: cst.Call) -> list[str]:
    """Where a call leaves what it fetches, as far as it says so."""
    name = draft.resolve(call.func)
    if name in RUNS:
        told = positional(call, 0)
        command = draft.source(told) if told is not None else ""
        words = re.findall(r"[^\s\"'\[\],;&|]+", command)
        has_tool = bool(_TOOL.match(" ".join(words) + " "))
        is_one = not re.search(r"[;&|]|\{", command)  # nothing else is done with it
        files = [word.rpartition("/")[2] if is_address(word) else word for word in words[1:]]
        return files if has_tool and is_one else []
    where = _PLACED.get(name) or _METHODS.get(tail(call.func))
    if where is None:
        return []
    named = argument(call, where[1])
    place = named.value if named is not None else positional(call, where[0])
    if place is not None:
        return [constant(draft, place)]
    return [constant(draft, positional(call, 0)).rpartition("/")[2]] if name == "wget.download" else []


def _literals(draft: Draft, call: cst.Call) -> set[int]:
    return {id(node) for node in draft.below(call) if isinstance(node, cst.SimpleString)}


def is_left_out(draft: Draft, call: cst.Call) -> bool:
    """Whether it is so already: `args.data_url or download(…)`."""
    around = draft.parent(call)
    asked = around.left if isinstance(around, cst.BooleanOperation) else getattr(around, "test", None)
    return isinstance(asked, cst.BaseExpression) and any(name in draft.source(asked) for name in PASSED)


def leave_out(draft: Draft, fetches: list[Fetch], values: dict[Role, Value], options: dict[Role, str]) -> None:
    """Fetch nothing that the contract brings."""
    for fetch in fetches:
        if fetch.role not in values:
            continue
        given, name = values[fetch.role].at(fetch.call), options[fetch.role]
        is_file = bool(fetch.file) and fetch.role is Role.DATA and not fetch.is_alone
        start, end = draft.span(fetch.call)
        bare = isinstance(draft.parent(fetch.call), cst.Expr | cst.Assign)
        head = f'os.path.join({given}, "{fetch.file}") if {given} else ' if is_file else f"{given} or "
        draft.insert(start, head if bare else f"({head}")
        if not bare:
            draft.insert(end, ")")
        if is_file:
            draft.need_import("os")
        what = fetch.file or "the data"
        holds = f"FOLDER, a folder with {fetch.file or 'what it unpacks'}"
        if fetch.role is Role.WEIGHTS:
            holds = "FILE"
        elif fetch.is_alone:
            holds = f"FOLDER, with what the script reads from {fetch.file!r} as the diff shows it"
        said = f"{what} is not downloaded when --{name} is given"
        draft.say(Kind.CHANGED, RULE, fetch.call, said, f"declare it: outlast run … --data {name}={holds}")
