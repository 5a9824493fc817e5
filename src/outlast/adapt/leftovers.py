"""What looks like a place and was not wired: named, so that silence means that nothing is left."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.own import is_resume
from outlast.adapt.paths import Paths, is_place
from outlast.adapt.setup import CODE_FILE, Option
from outlast.migrate.context import is_prose_call
from outlast.migrate.engine import Kind
from outlast.migrate.tree import inner, tail

#: A place of this machine, beyond doubt; `/tmp` and devices are the same everywhere.
_PLACE = re.compile(r"(?:\.{1,2}/|~/|/(?!tmp|dev|proc|sys|usr|bin|cache)[A-Za-z])[\w./~-]*\w[\w./~-]*")
_FILE = re.compile(
    r"(?:[\w.-]+/)+[\w.-]+\.(?:csv|tsv|txt|json|npy|npz|h5|hdf5|pkl|mat|parquet|lmdb|pth?|ckpt|jpe?g|png)"
)
_NOT_PLACES = frozenset(
    "append insert replace split join startswith endswith add_argument add_option rstrip lstrip strip DEFINE_string "
    "option Option run system call Popen check_call check_output compile sub match search chdir".split()
)
_SETTINGS = re.compile(r"conf|cfg|yaml|json|param|setting|script|code|name|cache|tmp|temp|url|addr|host", re.I)


def tell_leftovers(draft: Draft, paths: Paths, options: dict[str, Option]) -> bool:
    """Name every place and option that nothing was done with; False where there is none."""
    literals = [node for node in draft.nodes if _is_left(draft, node, paths.known)]
    for node in literals:
        said = f"{inner(node)!r} stays as it is: what is done with it is not certain"
        draft.say(Kind.DIFFERS, "paths", node, said)
    wired = {name for names in paths.options.values() for name in names}
    left = {
        option.name: option
        for name, option in options.items()
        if option.is_text and name not in wired and option.name not in wired and option.name not in PASSED
        and is_place(option) and not _is_aside(option)
    }  # fmt: skip
    for option in left.values():
        shown = option.name if option.is_positional else f"--{option.name}"
        must = " and must be given" if option.is_required or option.is_positional else ""
        said = f"{shown} stays as it is{must}: what is done with it is not certain"
        words = "PATH" if option.is_positional else f"{shown}=PATH"
        draft.say(
            Kind.DIFFERS, "options", option.call or draft.first, said, f"pass it yourself: outlast run … -- {words}"
        )
    return bool(literals or left)


def _is_aside(option: Option) -> bool:
    """Settings travel with the code, and what a script goes on from is spoken of elsewhere."""
    return bool(is_resume(option.name) or _SETTINGS.search(option.name) or CODE_FILE.search(option.default))


def _is_left(draft: Draft, node: cst.CSTNode, known: set[int]) -> bool:
    if not isinstance(node, cst.SimpleString) or id(node) in known:
        return False
    text = inner(node)
    if not (_PLACE.fullmatch(text) or _FILE.fullmatch(text)) or CODE_FILE.search(text):
        return False
    calls = [each for each in draft.above(node) if isinstance(each, cst.Call)]
    parent = draft.parent(node)
    is_aside = bool(calls) and (is_prose_call(tail(calls[0].func)) or tail(calls[0].func) in _NOT_PLACES)
    is_right = isinstance(parent, cst.BinaryOperation) and parent.right is node
    return not (is_aside or is_right or isinstance(parent, cst.Expr | cst.ComparisonTarget | cst.Comparison))


def say_nothing_wired(draft: Draft, role: Role, name: str, *, is_left: bool, is_saving: bool) -> None:
    """An option of the contract that nothing follows: what is left over may be its place, or nothing is visible."""
    said = f"nothing {'reads' if role is Role.DATA else 'is written to'} --{name}"
    if is_left:
        said += " for certain: see the places that stay"
    elif role is Role.DATA:
        said += ": where the data comes from is not visible in this file"
    else:
        said += f": {'where the results go is not visible here' if is_saving else 'the script saves nothing'}"
    draft.say(Kind.DIFFERS, "paths", draft.first, said)
