"""Names that a start makes of the clock: `best = f"runs/{stamp}/best.pt"`, where `stamp = time.strftime("%m%d-%H%M")`.

The next stint would look for the best weights under a name of its own. So the first one's name holds for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.firsts import saved_path
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.state import ENVIRON, RULE
from outlast.migrate.engine import Kind
from outlast.migrate.tree import dotted, tail

_CLOCKS = frozenset(
    {
        "time.time", "time.localtime", "time.gmtime", "time.strftime", "time.ctime", "time.asctime",
        "datetime.datetime.now", "datetime.datetime.today", "datetime.datetime.utcnow", "datetime.date.today",
    }
)  # fmt: skip
Bound = dict[str, list[cst.BaseExpression]]
_TEXTS = frozenset({"strftime", "isoformat", "ctime", "asctime"})


def find_stamps(draft: Draft, values: Values) -> list[cst.Call]:
    """Texts of the time in the paths that a loop saves to, which are made before it and once in each start."""
    here = values.scope
    waiting = [path for call in draft.calls(values.loop.node) if (path := saved_path(draft, call)) is not None]
    bound = _bound(draft, values)
    found: dict[int, cst.Call] = {}
    seen: set[str] = set()
    while waiting:
        value = waiting.pop()
        for node in _outermost(draft, value, bound):
            is_before = draft.start(node) < draft.start(values.loop.top)
            if is_before and (draft.scope(node) is here or draft.scope(node) is draft.module):
                found[id(node)] = node
        names = {each.value for each in (value, *draft.below(value)) if isinstance(each, cst.Name)} - seen
        seen |= names
        waiting += [each for name in names - values.bound for each in bound.get(name, [])]
    return sorted(found.values(), key=draft.start)


def keep_stamps(draft: Draft, stamps: Sequence[cst.Call], scope: cst.CSTNode, value: str) -> None:
    """Let all stints have the first one's. `value`: the contract's output folder, as the loop in `scope` reads it."""
    for at, stamp in enumerate(stamps):
        # Elsewhere that folder may have another name; one that is the module's is the same everywhere.
        is_read = not value or value.startswith("contract") or draft.scope(stamp) is scope
        folder = f"{ENVIRON} or {value}" if value and is_read else ENVIRON
        (helper,) = draft.once("stamps", lambda: _add_helper(draft))
        draft.enclose(stamp, f"{helper}(", f', {folder}, "resume{at or ""}.name")')
        said = f"{draft.source(stamp)} is another one in each start: all stints have the first one's"
        draft.say(Kind.CHANGED, RULE, stamp, said)


def _add_helper(draft: Draft) -> tuple[str]:
    name = draft.free("first_name")
    draft.need_import("os")
    draft.add_on_top([
        f"def {name}(name, folder, file):",
        '    """What the first stint made of the clock, so that the next ones find its results."""',
        "    path = os.path.join(folder, file) if folder else None",
        "    if path and not os.path.exists(path):",
        "        os.makedirs(folder, exist_ok=True)",
        '        with open(path + ".part", "w") as part:',
        "            part.write(name)",
        '        os.replace(path + ".part", path)',
        "    return open(path).read() if path else name",
    ])  # fmt: skip
    return (name,)


def _bound(draft: Draft, values: Values) -> Bound:
    """What the names of the loop's function are bound to before it, and those of the module that it does not hide."""
    found: Bound = {
        name: [value for _, value in bindings if value is not None] for name, bindings in values.bindings.items()
    }
    hidden = set(found) | set(values.origins)
    for node in draft.nodes:
        if isinstance(node, cst.Assign) and draft.scope(node) is draft.module:
            for target in node.targets:
                if isinstance(target.target, cst.Name) and target.target.value not in hidden:
                    found.setdefault(target.target.value, []).append(node.value)
    return found


def _outermost(draft: Draft, node: cst.CSTNode, bound: Bound) -> Iterator[cst.Call]:
    if isinstance(node, cst.Call) and _is_stamp(draft, node, bound):
        yield node
        return
    for each in node.children:
        yield from _outermost(draft, each, bound)


def _is_stamp(draft: Draft, call: cst.Call, bound: Bound) -> bool:
    if draft.resolve(call.func) == "str":
        return _has_clock(draft, call)
    if tail(call.func) == "format" and call.args:
        return all(isinstance(arg.value, cst.Attribute) and _is_clock(draft, arg.value, bound) for arg in call.args)
    is_named = isinstance(call.func, cst.Attribute) and _is_clock(draft, call.func.value, bound)
    return tail(call.func) in _TEXTS and (_has_clock(draft, call) or is_named)


def _has_clock(draft: Draft, node: cst.CSTNode) -> bool:
    calls = [*([node] if isinstance(node, cst.Call) else []), *draft.calls(node)]
    return any(draft.resolve(call.func) in _CLOCKS for call in calls)


def _is_clock(draft: Draft, node: cst.CSTNode, bound: Bound) -> bool:
    """`now`, `now.year`, where `now = datetime.now()`."""
    values = bound.get(dotted(node).partition(".")[0], [])
    return bool(values) and all(isinstance(each, cst.Call) and _has_clock(draft, each) for each in values)
