"""Whether a program saves anything, wherever that may be."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.adapt.whole import files_of, roots_of
from outlast.migrate.tree import tail

#: calls that write something somewhere
_WRITES = re.compile(r"save|write|dump|export|checkpoint|store|record|logger|Logger|Live|plot|upload", re.I)
_LOADS = re.compile(r"_*(?:load|restore|read)", re.I)
#: of these, methods of what figures are drawn on
_DRAWS = re.compile(
    r"(?:box|violin)?plot|plot_(?:surface|wireframe|trisurf|date)|(?:add_)?subplots?(?:_adjust|_mosaic)?"
)
#: packages that only bring data
_FETCHES = frozenset({"download", "gdown", "wget", "kagglehub"})


def may_save(draft: Draft) -> bool:
    """Whether anything may be written: by a call that sounds like it, or by code that is not seen."""
    is_open = any(
        not is_library(root) and root.lstrip(".") not in draft.seen and root not in _FETCHES for root in roots_of(draft)
    )
    # What a function of the program does is seen in it.
    files = files_of(draft)
    known = {name for each in files for name in (*each.function_names, *_tuples(each))}
    return is_open or any(
        _sounds(name) and not _only_draws(each, call)
        for each in files for call in each.calls() if (name := tail(call.func)) not in known
    )  # fmt: skip


def _sounds(name: str) -> bool:
    """Whether a call seems to write, by its name alone: what a name stands for takes longer to find out."""
    return bool(_WRITES.search(name)) and not _LOADS.match(name)


def _tuples(draft: Draft) -> Iterator[str]:
    """`SavedAction = namedtuple("SavedAction", …)`: what is kept in one is written nowhere."""
    for node in draft.nodes:
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call) and tail(node.value.func) == "namedtuple":
            yield from (tail(target.target) for target in node.targets)


def _only_draws(draft: Draft, call: cst.Call) -> bool:
    """`plt.subplots()`, `axis.plot(x)`: what is drawn is shown, and nowhere kept."""
    name = tail(call.func)
    full = draft.resolve(call.func)
    is_figure = full.partition(".")[0] in ("matplotlib", "seaborn", "pylab")
    is_printed = full in ("sys.stdout.write", "sys.stderr.write")
    return bool(_DRAWS.fullmatch(name)) or is_printed or (is_figure and "save" not in name)
