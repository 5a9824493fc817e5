"""Data sets that Keras knows by a name: their files are found in the contract's folder instead of being fetched.

Only some of them take a path, and newer versions of Keras refuse one with a folder in it. All of them ask `get_file` of
their own module where the files are, in every version: so that is answered for the time of the call.
"""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.wrapping import add_helpers, wrap_method
from outlast.migrate.tree import argument, inner, positional

_NAME = re.compile(r"(?:tensorflow\.)?(?:python\.)?(?:tf_)?keras\.datasets\.(\w+)\.(load_data|get_word_index)$")
#: what the folder must hold, where that is not a file of the set's own name
_FILES = {
    "cifar10": "cifar-10-batches-py, or cifar-10-python.tar.gz",
    "cifar100": "cifar-100-python, or cifar-100-python.tar.gz",
    "fashion_mnist": "its four files (train-images-idx3-ubyte.gz and so on)",
}
_FUNCTION = "load_delivered"
_HELPER = '''def load_delivered(load, folder):
    """Let Keras find the files of a data set in this folder, wherever in it; without one they are fetched as ever."""
    names = load.__globals__  # the function asks its own module for get_file

    def find(fname="", origin="", *given, **words):
        name = os.path.basename(fname or origin)
        inside = name[: -len("-target")] if name.endswith("-target") else name  # Keras 3 asks for the folder around it
        around, archive = None, None
        for root, folders, files in os.walk(folder):
            around = root if inside in folders + files else around
            packed = [each for each in files if each in (os.path.basename(origin), name + "_archive")]
            archive = os.path.join(root, packed[0]) if packed else archive
            if around:
                break
        is_packed = words.get("untar") or words.get("extract")
        if is_packed and around is None:
            around = tempfile.mkdtemp()
            if archive:
                shutil.unpack_archive(archive, around, "gztar")
            else:  # the folder is what would be unpacked
                os.symlink(os.path.abspath(folder), os.path.join(around, inside))
        return around if inside != name else os.path.join(around or folder, name)

    def load_found(*args, **words):
        fetch, names["get_file"] = names["get_file"], find
        try:
            return load(*args, **words)
        finally:
            names["get_file"] = fetch

    return load_found if folder else load
'''


def is_keras_set(draft: Draft, call: cst.Call) -> bool:
    """`mnist.load_data()`, unless the script says itself where the file is: a bare name is fetched, too."""
    named = argument(call, "path")
    place = named.value if named is not None else positional(call, 0)
    is_told = place is not None and (not inner(place) or "/" in inner(place))
    return bool(_NAME.search(draft.resolve(call.func))) and not is_told


def find_keras_set(draft: Draft, call: cst.Call, value: str) -> tuple[str, str]:
    """Let it be found in a folder; what it is called, and what the folder must hold."""
    found = _NAME.search(draft.resolve(call.func))
    name, asked = found.groups() if found else ("", "")
    wrap_method(draft, call, _FUNCTION, [value])
    draft.need_import("os", "shutil", "tempfile")
    draft.once(_FUNCTION, lambda: _add(draft, call))
    file = f"{name}_word_index.json" if asked == "get_word_index" else f"{name}.npz"
    is_file = asked == "get_word_index" or name not in _FILES
    return (file, f"the file {file}") if is_file else (name, _FILES[name])


def _add(draft: Draft, call: cst.Call) -> tuple[str, ...]:
    if _FUNCTION not in draft.function_names:
        add_helpers(draft, call, ("os",), ("", *_HELPER.splitlines(), ""))
    return ()
