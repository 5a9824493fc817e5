"""Tables that are read from the network as if they were files: `pd.read_csv("https://…/iris.csv")`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED
from outlast.adapt.placing.fetchers import constant, is_address
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, positional, tail

_READERS = re.compile(r"pandas\.read_\w+|numpy\.(?:loadtxt|genfromtxt)")
_KEYWORDS = ("filepath_or_buffer", "path", "path_or_buf", "io", "fname")
#: files of data and of weights at the end of an address
_DATA = re.compile(
    r"\.(?:csv|tsv|data|txt|jsonl?|parquet|xlsx?|npy|npz|zip|tar|t?gz|tgz|bz2|xz|7z|h5|hdf5|arff|mat)(?:[?#]|$)"
)
_WEIGHTS = re.compile(r"\.(?:pth?|ckpt|safetensors|onnx|weights)(?:[?#]|$)|\.pth\.tar$")
_FILE = re.compile(r"[\w.-]+\.\w+")


def find_addresses(draft: Draft) -> list[cst.CSTNode]:
    """Places of readers that are addresses, each with a file's name of its own."""
    found = [place for call in draft.calls() if (place := _place(draft, call)) is not None]
    texts: dict[str, set[str]] = {}
    for place in found:
        texts.setdefault(_name(draft, place), set()).add(constant(draft, place))
    return [
        place for place in found
        if is_put_together(draft, place) or ((name := _name(draft, place)) and len(texts[name]) == 1)
    ]  # fmt: skip


def address_file(draft: Draft, node: cst.CSTNode) -> str:
    """The name of the file that such a place stands for."""
    parent = draft.parent(node)
    call = draft.parent(parent) if isinstance(parent, cst.Arg) else None
    return _name(draft, node) if isinstance(call, cst.Call) and _place(draft, call) is node else ""


def read_from_address(draft: Draft, call: cst.Call) -> str:
    place = _place(draft, call)
    shown = constant(draft, place) or (_start(draft, place) + "…" if place is not None else "")
    return f"{tail(call.func)} reads from {shown}" if place is not None else ""


def is_put_together(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether the end of an address is known only when the script runs: `"https://…/" + name`."""
    return not constant(draft, node) and is_address(_start(draft, node))


def _start(draft: Draft, node: cst.CSTNode | None) -> str:
    """The text that an expression begins with."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return _start(draft, node.left)
    if isinstance(node, cst.FormattedString):
        first = node.parts[0] if node.parts else None
        if isinstance(first, cst.FormattedStringText):
            return first.value
        return _start(draft, first.expression) if isinstance(first, cst.FormattedStringExpression) else ""
    return constant(draft, node)


def _place(draft: Draft, call: cst.Call) -> cst.BaseExpression | None:
    if not _READERS.fullmatch(draft.resolve(call.func)):
        return None
    named = next((word for each in _KEYWORDS if (word := argument(call, each)) is not None), None)
    place = named.value if named is not None else positional(call, 0)
    return place if place is not None and is_address(_start(draft, place)) else None


def _name(draft: Draft, place: cst.CSTNode) -> str:
    last = re.split(r"[?#]", constant(draft, place))[0].rpartition("/")[2]
    return last if _FILE.fullmatch(last) else ""


def tell_addresses(draft: Draft, stopped: Sequence[cst.CSTNode], *, has_hub: bool) -> None:
    """Addresses of files that lead to no call that is understood."""
    told = " ".join(each.message for each in draft.findings)
    done = {id(node) for each in stopped for node in (each, *draft.below(each))}
    done |= {
        id(node)
        for each in draft.nodes
        if isinstance(each, cst.IfExp | cst.BooleanOperation | cst.If)
        and any(name in draft.source(each.test if isinstance(each, cst.If) else each) for name in PASSED)
        for node in draft.below(each)
    }
    known = {constant(draft, node) for node in draft.nodes if id(node) in done and isinstance(node, cst.Name)}
    for node in draft.nodes:
        text = inner(node) if isinstance(node, cst.SimpleString) else ""
        is_file = bool(_DATA.search(text)) or (bool(_WEIGHTS.search(text)) and not has_hub)
        is_free = id(node) not in done and text not in known and text not in told
        if is_address(text) and is_file and is_free and not isinstance(draft.parent(node), cst.Expr):
            said = f"{text!r} stays as it is: what is fetched from there is not brought by the contract"
            draft.say(Kind.DIFFERS, "downloads", node, said)


def is_told_address(draft: Draft, call: cst.Call, place: cst.BaseExpression) -> bool:
    """`if args.resume.startswith("https"): load_url(args.resume)`: whoever passes an address wants it fetched."""
    if not isinstance(place, cst.Name | cst.Attribute):
        return False
    asked = re.compile(rf"""{re.escape(draft.source(place))}(?:\.lower\(\))?\.startswith\(\(?[rb]?["']https?\b""")
    inside = [each for each in draft.above(call) if isinstance(each, cst.If)]
    return any(
        asked.match(draft.source(each.test)) and any(node is call for node in draft.below(each.body)) for each in inside
    )
