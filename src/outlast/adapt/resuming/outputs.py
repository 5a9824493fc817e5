"""Results beside the weights: folders that a path object makes, and pictures, tables and arrays that are saved."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import keyword_or_place, tail

#: last name → (keyword, place) of the file
_FILES = {
    "save_image": ("fp", 1), "savefig": ("fname", 0), "imsave": ("fname", 0), "imwrite": ("filename", 0),
    "mimsave": ("uri", 0), "to_csv": ("path_or_buf", 0), "savetxt": ("fname", 0),
}  # fmt: skip
_ARRAYS = frozenset({"numpy.save", "numpy.savez", "numpy.savez_compressed"})


def made_path(draft: Draft, call: cst.Call) -> cst.BaseExpression | None:
    """The folder of `folder.mkdir(parents=True)`, a method of the path itself."""
    is_method = isinstance(call.func, cst.Attribute) and tail(call.func) == "mkdir"
    is_told = any(arg.keyword is None for arg in call.args)  # a path that another object makes: `client.mkdir(path)`
    if not is_method or is_told or draft.resolve(call.func).startswith("os."):
        return None
    return call.func.value if isinstance(call.func, cst.Attribute) else None


def drawn_path(draft: Draft, call: cst.Call) -> cst.BaseExpression | None:
    """Where a picture, a table or an array is saved."""
    place = ("file", 0) if draft.resolve(call.func) in _ARRAYS else _FILES.get(tail(call.func))
    return keyword_or_place(call, *place) if place is not None else None
