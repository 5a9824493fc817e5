"""What a script fetches from the network, and the input to declare instead."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED
from outlast.adapt.placing.fetched import FETCH, is_left_out
from outlast.adapt.placing.sites import enclosed
from outlast.adapt.wrapping import add_argument
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, positional, tail

RULE = "downloads"
_FETCHES = frozenset(
    "urllib.request.urlretrieve urllib.request.urlopen requests.get wget.download gdown.download torch.hub.load "
    "torch.hub.load_state_dict_from_url torch.hub.download_url_to_file nltk.download datasets.load_dataset "
    "huggingface_hub.snapshot_download huggingface_hub.hf_hub_download kagglehub.dataset_download "
    "kagglehub.model_download tensorflow_datasets.load tensorflow_datasets.builder opendatasets.download".split()
)
#: calls of libraries that look into a folder before they fetch: full name → the folder's keyword, None by default
_LOOKS_INTO = {"tensorflow_datasets.load": "data_dir", "tensorflow_datasets.builder": "data_dir"}
_SKLEARN = re.compile(r"sklearn\.datasets\.fetch_(?!file)\w+")
#: readers of files, which `load_dataset` takes in place of a data set's name
_BUILDERS = frozenset("csv json parquet arrow text xml imagefolder audiofolder videofolder webdataset pandas".split())
#: by their last name, whoever has them
_FETCHING = frozenset({"urlretrieve", "get_file", "load_state_dict_from_url", "download_and_extract_archive"})
_TOOL = re.compile(r"\b(?:wget|curl|git clone|pip3? install)\b")
_IMAGENET = re.compile(r"imagenet|IMAGENET|DEFAULT|[\w.]+_Weights\.")
#: Keras data sets whose file can be named; the others are always fetched.
_KERAS_FILES = {
    "mnist": "mnist.npz",
    "imdb": "imdb.npz",
    "reuters": "reuters.npz",
    "boston_housing": "boston_housing.npz",
}
_KERAS = re.compile(r"(?:tensorflow\.)?(?:python\.)?keras\.datasets\.(\w+)\.load_data$")


def download_sites(draft: Draft, fed: set[int]) -> list[cst.CSTNode]:
    """Expressions that are to depend on the data folder: `download=True`, and files that Keras fetches.

    A data set that is fetched to a place of its own (not in `fed`) goes on doing so: it would find nothing else.
    """
    found: list[cst.CSTNode] = []
    for call in draft.calls():
        flag = argument(call, "download")
        if flag is not None and draft.source(flag.value) == "True":
            found += [flag.value] if id(call) in fed else []
        elif _keras_file(draft, call) or _named_file(draft, call) or _folder_of(draft, call):
            found.append(call)
    return found + _whole_sets(draft)


def _folder_of(draft: Draft, call: cst.Call) -> str:
    """The keyword by which a library is told where to look for its data sets."""
    name = draft.resolve(call.func)
    keyword = "data_home" if _SKLEARN.fullmatch(name) else _LOOKS_INTO.get(name, "")
    is_open = keyword and argument(call, keyword) is None and not any(arg.star for arg in call.args)
    return keyword if is_open else ""


def _whole_sets(draft: Draft) -> list[cst.CSTNode]:
    """The one data set that is fetched by its name, in whichever parts: its folder can stand for the name."""
    named = [
        place
        for call in draft.calls()
        if draft.resolve(call.func) in ("datasets.load_dataset", "kagglehub.dataset_download")
        and isinstance(place := positional(call, 0), cst.SimpleString) and inner(place) not in _BUILDERS
        and not _is_given(draft, call)
    ]  # fmt: skip
    return list(named) if len({inner(place) for place in named}) == 1 else []


def stop_downloads(draft: Draft, sites: list[cst.CSTNode], given: Value, name: str) -> None:
    """Leave out downloads as soon as the data is given."""
    for site in sites:
        value = given.at(site)
        if isinstance(site, cst.Call) and (file := _named_file(draft, site)):
            start, end = draft.span(site)
            draft.insert(start, f'(os.path.join({value}, "{file}") if {value} else ')
            draft.insert(end, ")")
            draft.need_import("os")
            what, holds = file, f"the file {file}"
        elif isinstance(site, cst.Call) and (keyword := _folder_of(draft, site)):
            add_argument(draft, site, f"{keyword}={value}")
            advice = f"declare the data: outlast run … --data {name}=FOLDER, filled by one call with {keyword}=FOLDER"
            said = f"{draft.source(site.func)} fetches nothing that it finds in --{name}"
            draft.say(Kind.CHANGED, RULE, site, said, advice)
            continue
        elif isinstance(site, cst.SimpleString):
            call = next(each for each in draft.above(site) if isinstance(each, cst.Call))
            what, holds = inner(site), "a copy of the data set"
            if tail(call.func) == "load_dataset":
                draft.replace(site, f"{value} or {draft.source(site)}")
            else:
                draft.replace(call, enclosed(draft, call, f"{value} or {draft.source(call)}"))
        elif isinstance(site, cst.Call):
            file = _keras_file(draft, site)
            path = f'os.path.abspath(os.path.join({value}, "{file}")) if {value} else "{file}"'
            more = f"path={path}, " if site.args else path
            draft.insert(draft.start(site.args[0]) if site.args else draft.span(site)[1] - 1, more)
            draft.need_import("os")
            what, holds = file, f"the file {file}"
        else:
            call = next(each for each in draft.above(site) if isinstance(each, cst.Call))
            draft.replace(site, f"not {value}")
            what, holds = tail(call.func), "what it downloads here"
        advice = f"declare the data: outlast run … --data {name}=FOLDER, a folder with {holds}"
        draft.say(Kind.CHANGED, RULE, site, f"{what} is not downloaded when --{name} is given", advice)


def report_downloads(draft: Draft, stopped: list[cst.CSTNode], *, has_network: bool) -> None:
    """Name every other fetch; without a network each one must be decided by hand."""
    done = {id(site) for site in stopped}
    for call in draft.calls():
        place = positional(call, 0)
        if place is not None and id(place) in done:
            continue
        flag = argument(call, "download")
        what = _fetched(draft, call)
        if flag is not None and draft.source(flag.value) == "True" and id(flag.value) not in done:
            own = next((tail(arg.value) for arg in call.args if tail(arg.value) in PASSED), "")
            if own:
                draft.say(
                    Kind.KEPT, RULE, call, f"{tail(call.func)} downloads only what is not there: it looks at --{own}"
                )
                continue
            what = f"{tail(call.func)} downloads its data, and where it keeps it is not visible"
        if not what or id(call) in done:
            continue
        guarded = any(isinstance(each, cst.If) and "exists" in draft.source(each.test) for each in draft.above(call))
        kind = Kind.DIFFERS if has_network or guarded else Kind.HAND
        there = "this platform may not reach the network" if has_network else "there is no network on this platform"
        draft.say(kind, RULE, call, f"{what}; {there}", "fetch it once and declare it: outlast run … --data NAME=FILE")


def _fetched(draft: Draft, call: cst.Call) -> str:
    name = draft.resolve(call.func)
    if name == FETCH:
        return "" if is_left_out(draft, call) else f"download fetches {inner(positional(call, 0)) or 'something'}"
    is_told = _is_given(draft, call) or any(tail(node) in PASSED for node in draft.below(call))
    if is_told or inner(positional(call, 0)) in _BUILDERS:
        return ""  # it looks where the platform says, or reads files
    if name in _FETCHES or _SKLEARN.fullmatch(name) or tail(call.func) in _FETCHING:
        return f"{tail(call.func)} fetches {inner(positional(call, 0)) or 'something'}"
    if name in ("os.system", "subprocess.run", "subprocess.call", "subprocess.check_call") and _TOOL.search(
        draft.source(call)
    ):
        return f"{draft.source(call)[:60]} fetches something"
    pretrained, weights = argument(call, "pretrained"), argument(call, "weights")
    if "set_dir" in draft.words and draft.resolve(call.func).startswith("torchvision."):
        return ""  # the script says itself where torch finds them
    if pretrained is not None and draft.source(pretrained.value) == "True":
        return f"{tail(call.func)}(pretrained=True) fetches weights"
    if weights is not None and _IMAGENET.match(inner(weights.value) or draft.source(weights.value)):
        return f"{tail(call.func)} fetches weights"
    found = _KERAS.search(name)
    return (
        f"keras.datasets.{found.group(1)} is downloaded"
        if found and not _keras_file(draft, call) and not (positional(call, 0) or argument(call, "path"))
        else ""
    )


def _is_given(draft: Draft, call: cst.Call) -> bool:
    """`args.data_url or fetch(…)`: done before."""
    parent = draft.parent(call)
    return isinstance(parent, cst.BooleanOperation) and tail(parent.left) in PASSED


def _keras_file(draft: Draft, call: cst.Call) -> str:
    found = _KERAS.search(draft.resolve(call.func))
    is_named = positional(call, 0) is not None or argument(call, "path") is not None
    return _KERAS_FILES.get(found.group(1), "") if found and not is_named else ""


def _named_file(draft: Draft, call: cst.Call) -> str:
    """`get_file("x.txt", origin=…)`: the file it leaves. What it unpacks lies elsewhere in each version of Keras."""
    if isinstance(draft.parent(call), cst.IfExp):
        return ""  # done before
    if tail(call.func) != "get_file" or any(argument(call, each) for each in ("untar", "extract", "cache_dir")):
        return ""
    named = argument(call, "fname")
    origin = argument(call, "origin")
    has_origin = origin is not None or positional(call, 1) is not None
    name = inner(named.value if named else positional(call, 0))
    return name if has_origin and name and "/" not in name else ""
