"""Weights that torch fetches into a folder that the script names: `load_state_dict_from_url(url, model_dir="nets")`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED, variable
from outlast.adapt.wrapping import add_helpers
from outlast.migrate.tree import argument, inner, positional, tail

_FETCHES = re.compile(
    r"torch\.hub\.load_state_dict_from_url|torch\.utils\.model_zoo\.load_url|torchvision\.[\w.]+\.load_state_dict_from_url"
)
_HELPER = '''def weights_folder(place):
    """The folder of weights that were brought: as torch keeps them, right there, or that of the one file."""
    place = os.path.dirname(place) or "." if os.path.isfile(place) else place
    kept = os.path.join(place, "checkpoints")
    return kept if os.path.isdir(kept) else place
'''


def is_told_folder(call: cst.Call) -> bool:
    """Whether a call that fetches weights says where they are kept."""
    return tail(call.func) in ("load_state_dict_from_url", "load_url") and _folder(call) is not None


def told_text(call: cst.Call) -> str:
    """The folder that is named, where that is a text."""
    folder = _folder(call)
    return inner(folder) if isinstance(folder, cst.SimpleString) else ""


def folder_told(draft: Draft, call: cst.Call) -> cst.BaseExpression | None:
    """The folder that is named, unless it gives way already."""
    if not is_told_folder(call) or not _FETCHES.fullmatch(draft.resolve(call.func)):
        return None
    folder = _folder(call)
    is_done = folder is not None and any(name in draft.source(folder) for name in (*PASSED, *map(variable, PASSED)))
    return None if is_done else folder


def take_folders(draft: Draft, calls: Sequence[cst.Call], given: Value) -> None:
    """Let the contract's weights be found there instead."""
    for call in calls:
        folder, value = _folder(call), given.at(call)
        assert folder is not None
        draft.enclose(folder, f"weights_folder({value}) if {value} else ", "")
    if calls:
        draft.need_import("os")
        add_helpers(draft, calls[0], ["os"], ["", "", *_HELPER.splitlines(), ""])


def _folder(call: cst.Call) -> cst.BaseExpression | None:
    named = argument(call, "model_dir")
    folder = named.value if named is not None else positional(call, 1)
    return None if folder is None or tail(folder) == "None" else folder
