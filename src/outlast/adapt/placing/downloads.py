"""What a script fetches from the network, and the input to declare instead."""

from __future__ import annotations

import re
from collections.abc import Collection

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED
from outlast.adapt.placing.addresses import (
    address_file,
    find_addresses,
    is_put_together,
    is_told_address,
    read_from_address,
    tell_addresses,
)
from outlast.adapt.placing.fetched import FETCH, is_left_out
from outlast.adapt.placing.fetchers import BUILDERS, advice_on, fetched_by
from outlast.adapt.placing.hub_files import is_told_folder
from outlast.adapt.placing.keras_archives import file_of, find_archive, is_archive, is_found
from outlast.adapt.placing.keras_sets import find_keras_set, is_keras_set
from outlast.adapt.placing.pretrained import is_keras_model, looks_into_hub
from outlast.adapt.placing.sending import report_sending
from outlast.adapt.placing.sites import enclosed
from outlast.adapt.placing.unpacking import is_left_packed
from outlast.adapt.wrapping import add_argument
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, inner, positional, tail

RULE = "downloads"
#: calls of libraries that look into a folder before they fetch: full name → the folder's keyword, None by default
_LOOKS_INTO = {
    "tensorflow_datasets.load": "data_dir", "tensorflow_datasets.builder": "data_dir",
    "seaborn.load_dataset": "data_home",
}  # fmt: skip
#: for weights that torch fetches where others have the contract's place
_BESIDE_HUB = "other weights take their option; let TORCH_HOME name a folder that holds hub/checkpoints with the file"
_SKLEARN = re.compile(r"sklearn\.datasets\.fetch_(?!file)\w+")


def download_sites(draft: Draft, fed: set[int]) -> list[cst.CSTNode]:
    """Expressions that are to depend on the data folder: `download=True`, and files that Keras fetches.

    A data set that is fetched to a place of its own (not in `fed`) goes on doing so: it would find nothing else.
    """
    found: list[cst.CSTNode] = []
    for call in draft.calls():
        flag = argument(call, "download")
        if flag is not None and _is_asked_for(draft, flag.value):
            found += [flag.value] if id(call) in fed else []
        elif (
            is_keras_set(draft, call)
            or _named_file(draft, call)
            or _folder_of(draft, call)
            or _is_nltk(draft, call)
            or is_archive(draft, call)
        ):
            found.append(call)
    return found + _whole_sets(draft) + find_addresses(draft)


def _is_asked_for(draft: Draft, flag: cst.BaseExpression) -> bool:
    """Whether a data set is told to fetch what is not there, as far as can be seen: `download=DOWNLOAD`."""
    source = draft.source(flag)
    if source in ("False", "None", "0") or any(name in source for name in PASSED):
        return False
    values = {
        draft.source(node.value)
        for node in draft.nodes
        if isinstance(node, cst.Assign) and any(dotted(each.target) == source for each in node.targets)
    }
    return values != {"False"}


def _is_nltk(draft: Draft, call: cst.Call) -> bool:
    """`nltk.download("punkt")`, which only complains where there is no network."""
    is_told = "nltk.data.path" in draft.text or argument(call, "download_dir") is not None
    return draft.resolve(call.func) == "nltk.download" and isinstance(call.func, cst.Attribute) and not is_told


def _folder_of(draft: Draft, call: cst.Call) -> str:
    """The keyword by which a library is told where to look for its data sets."""
    name = draft.resolve(call.func)
    keyword = "data_home" if _SKLEARN.fullmatch(name) else _LOOKS_INTO.get(name, "")
    given = argument(call, keyword) if keyword else None
    # A parameter, which may be None: `def rows(data_dir=None)`.
    is_open = given is None or isinstance(given.value, cst.Name)
    return keyword if is_open and not any(arg.star for arg in call.args) else ""


def _whole_sets(draft: Draft) -> list[cst.CSTNode]:
    """The one data set that is fetched by its name, in whichever parts: its folder can stand for the name."""
    named = [
        place
        for call in draft.calls()
        if (place := positional(call, 0)) is not None and _is_whole_set(draft, call) and not _is_given(draft, call)
    ]
    return list(named) if len({draft.source(place) for place in named}) == 1 else []


def _is_whole_set(draft: Draft, call: cst.Call) -> bool:
    name, kind = draft.resolve(call.func), argument(call, "repo_type")
    if tail(call.func) == "untar_data":
        return len(call.args) == 1 and not isinstance(draft.parent(call), cst.Expr)
    if name == "huggingface_hub.snapshot_download":
        return kind is not None and inner(kind.value) == "dataset" and not isinstance(draft.parent(call), cst.Expr)
    is_named = isinstance(positional(call, 0), cst.SimpleString) and inner(positional(call, 0)) not in BUILDERS
    return is_named and name in ("datasets.load_dataset", "kagglehub.dataset_download")


def stop_downloads(draft: Draft, sites: list[cst.CSTNode], given: Value, name: str) -> None:
    """Leave out downloads as soon as the data is given."""
    looked: set[int] = set()
    for site in sites:
        value = given.at(site)
        if isinstance(site, cst.Call) and _is_nltk(draft, site):
            if id(draft.scope(site)) not in looked:
                looked.add(id(draft.scope(site)))
                nltk = draft.source(site.func).removesuffix(".download")
                lines = [f"if {value}:", f"    {nltk}.data.path.append({value})"]
                draft.add_before(draft.statement(site), lines)
            holds = f"FOLDER, in it {inner(positional(site, 0)) or 'what is fetched'} as it lies in ~/nltk_data"
            advice = f"declare the data: outlast run … --data {name}={holds}"
            draft.say(Kind.CHANGED, RULE, site, f"nltk also looks into --{name}; fetching goes on where it can", advice)
            continue
        if isinstance(site, cst.Call) and (file := _named_file(draft, site)):
            start, end = draft.span(site)
            draft.insert(start, f'(os.path.join({value}, "{file}") if {value} else ')
            draft.insert(end, ")")
            draft.need_import("os")
            what, holds = file, f"the file {file}"
        elif isinstance(site, cst.Call) and (keyword := _folder_of(draft, site)):
            told = argument(site, keyword)
            if told is None:
                add_argument(draft, site, f"{keyword}={value}")
            else:
                draft.insert(draft.start(told.value), f"{value} or ")
            advice = f"declare the data: outlast run … --data {name}=FOLDER, filled by one call with {keyword}=FOLDER"
            said = f"{draft.source(site.func)} fetches nothing that it finds in --{name}"
            draft.say(Kind.CHANGED, RULE, site, said, advice)
            continue
        elif file := address_file(draft, site):
            start, end = draft.span(site)
            draft.insert(start, f'os.path.join({value}, "{file}") if {value} else ')
            draft.need_import("os")
            what, holds = file, f"the file {file}"
        elif not isinstance(site, cst.Call) and is_put_together(draft, site):
            _insert_name(draft, site, value)
            what, holds = read_from_address(draft, _around(draft, site)), "these files, each by its last name"
            said = f"{what}: not when --{name} is given"
            draft.say(Kind.CHANGED, RULE, site, said, _declare(name, holds))
            continue
        elif not isinstance(site, cst.Call) and _is_whole_set(draft, call := _around(draft, site)):
            what, holds = _replace_set(draft, call, site, value)
        elif isinstance(site, cst.Call):
            find = find_archive if is_archive(draft, site) else find_keras_set
            what, holds = find(draft, site, value)
        else:
            call = _around(draft, site)
            asked = draft.source(site)
            asked = f"({asked})" if isinstance(site, cst.BooleanOperation | cst.IfExp) else asked
            draft.replace(site, f"not {value}" if asked == "True" else f"not {value} and {asked}")
            what, holds = tail(call.func), "what it downloads here"
        said = f"{what} is not downloaded when --{name} is given"
        draft.say(Kind.CHANGED, RULE, site, said, _declare(name, holds))


def _declare(name: str, holds: str) -> str:
    return f"declare the data: outlast run … --data {name}=FOLDER, a folder with {holds}"


def _insert_name(draft: Draft, place: cst.CSTNode, value: str) -> None:
    """The file by the last name of an address that is put together."""
    draft.insert(draft.start(place), f"os.path.join({value}, os.path.basename({draft.source(place)})) if {value} else ")
    draft.need_import("os")


def _around(draft: Draft, node: cst.CSTNode) -> cst.Call:
    return next(each for each in draft.above(node) if isinstance(each, cst.Call))


def _replace_set(draft: Draft, call: cst.Call, place: cst.CSTNode, value: str) -> tuple[str, str]:
    """Let a folder stand for a data set; what that is called, and what the folder must hold."""
    what, source = inner(place) or draft.source(place), draft.source(call)
    if tail(call.func) == "load_dataset":
        draft.replace(place, f"{value} or {draft.source(place)}")
        return what, "the files of its repository on the Hub, or its tables"
    if tail(call.func) == "untar_data":
        draft.replace(call, f"(pathlib.Path({value}) if {value} else {source})")
        draft.need_import("pathlib")
        return what, "what it unpacks: a copy of the folder that untar_data returns"
    draft.replace(call, enclosed(draft, call, f"{value} or {source}"))
    return what, "a copy of the data set"


def report_downloads(
    draft: Draft, stopped: list[cst.CSTNode], *, has_network: bool, wired: Collection[str] = ()
) -> None:  # fmt: skip
    """Name every other fetch; without a network each one must be decided by hand.

    `wired`: options of the script that follow the contract's data, and so hold a folder instead of a name.
    """
    done = {id(site) for site in stopped}
    done |= {id(node) for site in stopped if isinstance(site, cst.BaseStatement) for node in draft.below(site)}
    if not has_network:
        report_sending(draft)
    for call in draft.calls():
        place = positional(call, 0)
        if place is not None and id(place) in done:
            continue
        flag = argument(call, "download")
        what = "" if place is not None and tail(place) in wired else _fetched(draft, call)
        if flag is not None and draft.source(flag.value) == "True" and id(flag.value) not in done:
            own = next((tail(arg.value) for arg in call.args if tail(arg.value) in PASSED), "")
            if own:
                draft.say(
                    Kind.KEPT, RULE, call, f"{tail(call.func)} downloads only what is not there: it looks at --{own}"
                )
                continue
            root = argument(call, "root")
            given = root.value if root is not None else place
            if draft.others and _is_parameter(draft, given):
                shown = draft.source(given) if given is not None else ""
                said = f"{tail(call.func)} downloads what it does not find in {shown}, which its caller gives"
                draft.say(Kind.DIFFERS, RULE, call, said, "let what it downloads lie there already")
                continue
            what = f"{tail(call.func)} downloads its data, and where it keeps it is not visible"
        if not what or id(call) in done:
            continue
        if place is not None and is_told_address(draft, call, place):
            said = f"{tail(call.func)} fetches only where {draft.source(place)} is an address"
            draft.say(Kind.KEPT, RULE, call, said)
            continue
        guarded = any(isinstance(each, cst.If) and "exists" in draft.source(each.test) for each in draft.above(call))
        may_be_there = guarded or draft.resolve(call.func) == "spacy.load"  # installed with the libraries
        kind = Kind.DIFFERS if has_network or may_be_there else Kind.HAND
        there = "this platform may not reach the network" if has_network else "there is no network on this platform"
        advice = _BESIDE_HUB if looks_into_hub(draft, call) else advice_on(draft, call)
        where = " where it is not there yet" if guarded else ""
        draft.say(kind, RULE, call, f"{what}{where}; {there}", advice)
    has_hub = "set_dir" in draft.words or any(
        looks_into_hub(draft, call) or is_told_folder(call) for call in draft.calls()
    )
    found = [call for call in draft.calls() if is_found(draft, call)]
    tell_addresses(draft, [*stopped, *found], has_hub=has_hub)


def _is_parameter(draft: Draft, node: cst.CSTNode | None) -> bool:
    """Whether a function, or the making of an object that keeps it as a field, is given a value."""
    if isinstance(node, cst.Attribute) and tail(node.value) == "self":
        home = next((each for each in draft.above(node) if isinstance(each, cst.ClassDef)), None)
        kept = [
            each.value for each in (draft.below(home) if home is not None else ())
            if isinstance(each, cst.Assign) and any(dotted(one.target) == dotted(node) for one in each.targets)
        ]  # fmt: skip
        return bool(kept) and all(isinstance(each, cst.Name) and _is_parameter(draft, each) for each in kept)
    function = draft.scope(node) if isinstance(node, cst.Name) else None
    params = (*function.params.params, *function.params.kwonly_params) if isinstance(function, cst.FunctionDef) else ()
    return any(each.name.value == tail(node) for each in params)


def _fetched(draft: Draft, call: cst.Call) -> str:
    name = draft.resolve(call.func)
    if name == FETCH:
        return "" if is_left_out(draft, call) else f"download fetches {inner(positional(call, 0)) or 'something'}"
    is_told = _is_given(draft, call) or any(name in draft.source(call) for name in PASSED)
    is_told = is_told or is_left_packed(draft, call) or is_found(draft, call)
    if is_told or inner(positional(call, 0)) in BUILDERS:
        return ""  # it looks where the platform says, or reads files
    if name == "nltk.download" and "nltk.data.path" in draft.text:
        return ""
    if "set_dir" in draft.words and looks_into_hub(draft, call):
        return ""  # the script says itself where torch finds them
    what = fetched_by(draft, call) or read_from_address(draft, call)
    if what:
        return what
    if looks_into_hub(draft, call) or is_keras_model(draft, call):
        return f"{tail(call.func) or 'the model'} fetches weights"
    return ""


def _is_given(draft: Draft, call: cst.Call) -> bool:
    """`args.data_url or fetch(…)`: done before."""
    parent = draft.parent(call)
    asked = parent.left if isinstance(parent, cst.BooleanOperation) else getattr(parent, "test", None)
    return isinstance(asked, cst.BaseExpression) and any(name in draft.source(asked) for name in PASSED)


def _named_file(draft: Draft, call: cst.Call) -> str:
    """`get_file("x.txt", origin=…)`: the file it leaves."""
    if isinstance(draft.parent(call), cst.IfExp):
        return ""  # done before
    if tail(call.func) != "get_file" or any(argument(call, each) for each in ("untar", "extract", "cache_dir")):
        return ""
    has_origin = argument(call, "origin") is not None or positional(call, 1) is not None
    name = file_of(draft, call)
    return name if has_origin and name and "/" not in name and not is_archive(draft, call) else ""
