"""Archives that `get_file` of Keras fetches and unpacks: they are found in the contract's folder instead.

Where it unpacks, and which path it returns, is another in each version of Keras. So it is still `get_file` that does
it, with the address of the file that was brought.
"""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.placing.fetchers import constant
from outlast.adapt.wrapping import add_helpers, wrap_method
from outlast.migrate.tree import argument, dotted, inner, positional, tail

#: what somebody must unpack; a single `rows.gz` may be read as it is
_PACKED = re.compile(r"\.(?:zip|tgz|tbz2?|tar(?:\.\w+)?)$", re.I)
_FUNCTION = "get_delivered"
_HELPER = '''def get_delivered(get_file, folder):
    """Let get_file of Keras take an archive from this folder and unpack it as ever; without one it is fetched."""

    def get(fname=None, origin="", *given, **words):
        names = [os.path.basename(origin.partition("?")[0]), fname]
        for root, _, files in os.walk(folder):
            for each in sorted(set(files).intersection(names)):
                there = pathlib.Path(os.path.abspath(os.path.join(root, each))).as_uri()
                return get_file(fname, there, *given, **{"cache_dir": tempfile.mkdtemp(), **words})
        inside = os.path.join(folder, fname or names[0])  # the folder is where it would be unpacked
        is_around = words.get("untar") and not words.get("extract") and not os.path.exists(inside)
        return folder if is_around else inside

    return get if folder else get_file
'''


def is_archive(draft: Draft, call: cst.Call) -> bool:
    """`get_file("facades.tar.gz", origin=URL, extract=True)`, unless the script says itself where it is put.

    With `extract=False`, or without a word of it, it is the script that unpacks it, beside what it has got.
    """
    if tail(call.func) != "get_file":
        return False
    is_unpacked = any(argument(call, each) is not None for each in ("untar", "extract"))
    is_unpacked = is_unpacked or _PACKED.search(file_of(draft, call)) is not None
    is_placed = any(argument(call, each) is not None for each in ("cache_dir", "cache_subdir"))
    return is_unpacked and not is_placed and not is_found(draft, call)


def file_of(draft: Draft, call: cst.Call) -> str:
    """What the file is called that `get_file` leaves: by its first argument, else by the end of the address."""
    named, origin = argument(call, "fname"), argument(call, "origin")
    given = inner(named.value if named is not None else positional(call, 0))
    address = constant(draft, origin.value if origin is not None else positional(call, 1))
    return given or re.split(r"[?#]", address)[0].rpartition("/")[2]


def is_found(draft: Draft, call: cst.Call) -> bool:
    """Whether it takes the archive from a folder already, or is the call by which that is done."""
    if isinstance(call.func, cst.Call) and tail(call.func.func) == _FUNCTION:
        return True
    return any(isinstance(each, cst.FunctionDef) and each.name.value == _FUNCTION for each in draft.above(call))


def find_archive(draft: Draft, call: cst.Call, value: str) -> tuple[str, str]:
    """Let it be found in a folder; what it is called, and what the folder must hold."""
    wrap_method(draft, call, _FUNCTION, [value])
    draft.need_import("os", "pathlib", "tempfile")
    draft.once(_FUNCTION, lambda: _add(draft, call))
    origin = argument(call, "origin")
    address = constant(draft, origin.value if origin is not None else positional(call, 1))
    name = re.split(r"[?#]", address)[0].rpartition("/")[2]
    name = name if _PACKED.search(name) else file_of(draft, call) or name
    return name or "the archive", f"the archive {name}".rstrip()


def _add(draft: Draft, call: cst.Call) -> tuple[str, ...]:
    if _FUNCTION not in draft.function_names:
        add_helpers(draft, call, ("os",), ("", *_HELPER.splitlines(), ""))
    return ()


def is_unpacked_there(draft: Draft, path: cst.CSTNode, depth: int = 5) -> bool:
    """Whether a path begins with what such a call returns: `os.path.dirname(packed) + "/rows.txt"`."""
    nodes = [path, *draft.below(path)]
    if any(isinstance(node, cst.Call) and is_archive(draft, node) for node in nodes):
        return True
    names = {node.value for node in nodes if isinstance(node, cst.Name)}
    values = [
        node.value for node in draft.all_assigns if any(dotted(target.target) in names for target in node.targets)
    ]
    return depth > 0 and any(is_unpacked_there(draft, value, depth - 1) for value in values if value is not path)
