"""Folders that are named only when the script runs: beside the code somebody has made them, elsewhere nobody has.

So each is made right before something is written to it, where the contract's option is given.
"""

from __future__ import annotations

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.placing.sinks import HELPERS
from outlast.adapt.placing.sources import Use
from outlast.adapt.wrapping import add_helpers
from outlast.migrate.engine import Kind
from outlast.migrate.tree import tail

_NAME = "with_folder"
_HELPER = f'''def {_NAME}(path, folder):
    """A path of the output folder; what lies beside the code somebody has made, what lies there nobody."""
    if folder:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    return path
'''


def make_on_the_way(draft: Draft, use: Use, value: Value) -> None:
    """Let the folder of what is written be made; a finding where it is not seen which one that is."""
    node = use.sink.path
    if isinstance(node, cst.Call) and tail(node.func) in HELPERS:
        return
    said = "writes to a folder that is named when the script runs, and nothing here makes it"
    if use.sink.expects or use.sink.is_folder or use.is_many:
        advice = "make it: os.makedirs(os.path.dirname(path), exist_ok=True)"
        draft.say(Kind.DIFFERS, "folders", use.sink.call, said, advice)
        return
    draft.need_import("os")
    draft.once("with_folder", lambda: _add_helper(draft, use.sink.call))
    draft.enclose(node, f"{_NAME}(", f", {value.at(node)})")
    draft.say(Kind.CHANGED, "folders", use.sink.call, f"{said}: it is made below the output folder")


def _add_helper(draft: Draft, user: cst.CSTNode) -> tuple[str]:
    add_helpers(draft, user, ["os"], ["", "", *_HELPER.splitlines(), ""])
    return (_NAME,)
