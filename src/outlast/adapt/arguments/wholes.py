"""Whether a script takes its parsed arguments all together: `Net(**vars(args))`, `for name in vars(args)`.

Whoever does so would meet options that it does not know: as arguments of a constructor, in the name of a run or a
folder, in what it saves or prints (`print(args)`), which stays the same without the options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.arguments.commands import FlagsSetup, FunctionSetup
from outlast.adapt.arguments.namespaces import Namespaces
from outlast.adapt.arguments.parsers import ArgparseSetup
from outlast.adapt.arguments.setup import Setup
from outlast.adapt.draft import Draft
from outlast.migrate.context import is_prose_call
from outlast.migrate.tree import argument, dotted, tail

#: what parsed arguments are called in files that are handed them
_HANDED = re.compile(r"args?|opts?|options?|flags|h?params|cfg|config|conf|settings|ns|namespace", re.I)
#: methods of a dictionary that ask for one entry
_ONE = frozenset({"get", "pop", "setdefault", "update"})
#: methods of absl's flags that give all of them
_FLAGS = frozenset({"flag_values_dict", "flags_into_string", "get_key_flags_for_module", "append_flags_into_file"})
_TEXT = frozenset({"str", "repr"})


def is_taken_whole(draft: Draft, setup: Setup) -> bool:
    """Whether anything gets all options of a set-up at once."""
    return any(not _is_one(file, view) for file, view in _views(draft, setup))


def _views(draft: Draft, setup: Setup) -> Iterator[tuple[Draft, cst.CSTNode]]:
    """Expressions that hold all options, with their files."""
    if isinstance(setup, FunctionSetup):
        # Its parameters are what `locals()` gives.
        calls = draft.calls(setup.function) if setup.function is not None else ()
        yield from ((draft, call) for call in calls if tail(call.func) in ("locals", "vars") and not call.args)
        return
    if isinstance(setup, FlagsSetup):
        yield from ((draft, call) for call in draft.calls() if tail(call.func) in _FLAGS)
        return
    if not isinstance(setup, ArgparseSetup):
        return
    spaces = setup.spaces
    for node in draft.nodes:
        if isinstance(node, cst.Name | cst.Attribute) and spaces.is_dict and _is_entire(draft, node, spaces):
            yield draft, node
        view = _of_namespace(node) or _shown(draft, node)
        # `args = vars(parser.parse_args())`: it is asked of that name.
        is_handed = node is setup.parsed and isinstance(draft.parent(node), cst.Arg)
        if view is not None and (is_handed or view is setup.parsed or _is_it(view, spaces)):
            yield draft, node
    for other in draft.others:
        for node in other.nodes:
            view = _of_namespace(node) or _shown(other, node)
            if view is not None and _HANDED.fullmatch(tail(view)):
                yield other, node


def _is_it(node: cst.CSTNode, spaces: Namespaces) -> bool:
    return bool(dotted(node)) and dotted(node) == spaces.at(node)


def _of_namespace(node: cst.CSTNode) -> cst.CSTNode | None:
    """What all entries are asked of: `args` of `vars(args)`, `args.__dict__`, `args._get_kwargs()`, `str(args)`."""
    if isinstance(node, cst.Attribute):
        return node.value if node.attr.value in ("__dict__", "_get_kwargs") else None
    if not isinstance(node, cst.Call) or not node.args:
        return None
    name, first = tail(node.func), node.args[0].value
    is_named = isinstance(node.func, cst.Name)
    if is_named and (name == "vars" or name in _TEXT):
        return first
    given = argument(node, "config")
    if name == "init" and given is not None:
        return given.value  # of a tracker, which gives it back as its own configuration
    is_taker = name == "update" and not is_named and len(node.args) == 1 and node.args[0].keyword is None
    return first if is_taker else None


def _is_entire(draft: Draft, node: cst.Name | cst.Attribute, spaces: Namespaces) -> bool:
    """Whether a dictionary of arguments is used as a whole: its items, `**args`, or as an argument of another file."""
    if not _is_it(node, spaces):
        return False
    parent = draft.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.value is node and parent.attr.value not in _ONE
    if isinstance(parent, cst.Arg):
        call = draft.parent(parent)
        own = {each.name.value for each in draft.functions()}
        return isinstance(call, cst.Call) and (parent.star == "**" or tail(call.func) not in own)
    return isinstance(parent, cst.For | cst.CompFor | cst.StarredDictElement)


def _is_one(draft: Draft, view: cst.CSTNode) -> bool:
    """Whether it is only asked for one entry: `vars(args)["lr"]`."""
    parent = draft.parent(view)
    if isinstance(parent, cst.Subscript) and parent.value is view:
        return True
    return isinstance(parent, cst.Attribute) and parent.attr.value in _ONE


def _shown(draft: Draft, node: cst.CSTNode) -> cst.CSTNode | None:
    """A name that is printed as a whole: `print(args)`, `log.info("%s", args)`, `f"{args}"`."""
    if not isinstance(node, cst.Name | cst.Attribute):
        return None
    parent = draft.parent(node)
    if isinstance(parent, cst.FormattedStringExpression):
        return node
    call = draft.parent(parent) if isinstance(parent, cst.Arg) else None
    is_told = isinstance(call, cst.Call) and (is_prose_call(tail(call.func)) or tail(call.func) == "format")
    return node if is_told else None
