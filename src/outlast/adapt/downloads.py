"""What a script fetches from the network, and the input to declare instead."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, positional, tail

RULE = "downloads"
_FETCHES = frozenset(
    "urllib.request.urlretrieve urllib.request.urlopen requests.get wget.download gdown.download torch.hub.load "
    "torch.hub.load_state_dict_from_url torch.hub.download_url_to_file nltk.download datasets.load_dataset "
    "huggingface_hub.snapshot_download huggingface_hub.hf_hub_download sklearn.datasets.fetch_openml "
    "sklearn.datasets.fetch_20newsgroups sklearn.datasets.fetch_california_housing".split()
)
_TOOL = re.compile(r"\b(?:wget|curl|git clone|pip3? install)\b")
#: Keras data sets whose file can be named; the others are always fetched.
_KERAS_FILES = {
    "mnist": "mnist.npz",
    "imdb": "imdb.npz",
    "reuters": "reuters.npz",
    "boston_housing": "boston_housing.npz",
}
_KERAS = re.compile(r"(?:tensorflow\.)?(?:python\.)?keras\.datasets\.(\w+)\.load_data$")


def download_sites(draft: Draft) -> list[cst.CSTNode]:
    """Expressions that are to depend on the data folder: `download=True`, and files of Keras' data sets."""
    found: list[cst.CSTNode] = []
    for call in draft.calls():
        flag = argument(call, "download")
        if flag is not None and draft.source(flag.value) == "True":
            found.append(flag.value)
        elif _keras_file(draft, call):
            found.append(call)
    return found


def stop_downloads(draft: Draft, sites: list[cst.CSTNode], value: str, name: str) -> None:
    """Leave out downloads as soon as the data is given."""
    for site in sites:
        if isinstance(site, cst.Call):
            file = _keras_file(draft, site)
            given = f'os.path.abspath(os.path.join({value}, "{file}"))'
            draft.insert(draft.span(site)[1] - 1, f'{given} if {value} else "{file}"')
            draft.need_import("os")
            what, holds = file, f"the file {file}"
        else:
            call = next(each for each in draft.above(site) if isinstance(each, cst.Call))
            draft.replace(site, f"not {value}")
            what, holds = tail(call.func), "what it downloads here"
        advice = f"declare the data: outlast run … --data {name}=FOLDER, a folder with {holds}"
        draft.say(Kind.CHANGED, RULE, site, f"{what} is not downloaded when --{name} is given", advice)


def report_downloads(draft: Draft, *, has_network: bool) -> None:
    """Name every other fetch; without a network each one must be decided by hand."""
    for call in draft.calls():
        what = _fetched(draft, call)
        if not what:
            continue
        guarded = any(isinstance(each, cst.If) and "exists" in draft.source(each.test) for each in draft.above(call))
        kind = Kind.DIFFERS if has_network or guarded else Kind.HAND
        there = "this platform may not reach the network" if has_network else "there is no network on this platform"
        draft.say(kind, RULE, call, f"{what}; {there}", "fetch it once and declare it: outlast run … --data NAME=FILE")


def _fetched(draft: Draft, call: cst.Call) -> str:
    name = draft.resolve(call.func)
    if name in _FETCHES or tail(call.func) in ("urlretrieve", "get_file", "load_state_dict_from_url"):
        return f"{tail(call.func)} fetches {inner(positional(call, 0)) or 'something'}"
    if name in ("os.system", "subprocess.run", "subprocess.call", "subprocess.check_call") and _TOOL.search(
        draft.source(call)
    ):
        return f"{draft.source(call)[:60]} fetches something"
    pretrained, weights = argument(call, "pretrained"), argument(call, "weights")
    if pretrained is not None and draft.source(pretrained.value) == "True":
        return f"{tail(call.func)}(pretrained=True) fetches weights"
    if weights is not None and re.match(r"imagenet|IMAGENET|DEFAULT", inner(weights.value)):
        return f"{tail(call.func)} fetches weights"
    found = _KERAS.search(name)
    return (
        f"keras.datasets.{found.group(1)} is downloaded"
        if found and not _keras_file(draft, call) and not call.args
        else ""
    )


def _keras_file(draft: Draft, call: cst.Call) -> str:
    found = _KERAS.search(draft.resolve(call.func))
    return _KERAS_FILES.get(found.group(1), "") if found and not call.args else ""
