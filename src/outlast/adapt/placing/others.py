"""Paths that come from a configuration elsewhere: they give way to the contract's option where they are used."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeGuard

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.given_settings import is_get
from outlast.adapt.placing.same_settings import settings_name
from outlast.adapt.placing.shapes import is_argument
from outlast.adapt.placing.sites import declaring, enclosed, is_text, text_of
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.spelling import SAME
from outlast.adapt.placing.tails import Tails
from outlast.adapt.whole import roots_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import tail


def replace_others(
    draft: Draft, role: Role, uses: Sequence[Use], given: Value, name: str, beside: Sequence[str] = ()
) -> None:
    """One folder is the option's; a file, or one of several folders, is what has its name there.

    `beside`: folders that are written in the script.
    """
    # What the script reads from an option of the contract's name lies there already; in settings, `output_path` is a
    # name as any other one where the contract does not have it.
    known = PASSED - ({"output_path"} - {name})
    nodes = {id(use.other): use.other for use in uses if use.other is not None and tail(use.other) not in known}
    folders = {id(use.other) for use in uses if use.is_folder}
    filled = {id(use.other) for use in uses if is_filled(use)}
    spelled = {draft.source(node) for node in nodes.values()}
    if role is Role.WEIGHTS and len(spelled) > 1:
        first = next(iter(nodes.values()))
        said = f"{', '.join(sorted(spelled))} each take weights, and --{name} is one place"
        draft.say(Kind.DIFFERS, "paths", first, said, "set them in the configuration")
        return
    # Values of another file are not known here: each is one of several that may have the same last name.
    unknown = {settings_name(draft, node) for node in nodes.values() if not _has_last(nodes, draft, draft.source(node))}
    places = {_folder(draft, node, key in folders) for key, node in nodes.items()}
    is_one = len(places) == 1 and not beside
    is_many = any(use.is_many for use in uses)
    is_whole = len(places) == 1 and set(nodes) <= folders
    defaults = [*[""] * (len(unknown) + is_many), *beside]
    is_spread = len({_folder(draft, node, False) for node in nodes.values() if _last(node) is not None}) > 1
    tails = Tails(draft, role, defaults, is_whole=is_whole, is_many=is_many, is_spread=is_spread)
    made: list[tuple[cst.CSTNode, str]] = []
    every = {_folder(draft, node, True) for node in nodes.values() if not _is_open(node)}
    for key, node in nodes.items():
        value = given.at(node)
        if _is_open(node):
            _replace_folder(draft, node, value, is_one=is_one)
            how = "lies in"
        else:
            whole = role is Role.WEIGHTS or (key in folders and is_one)
            is_read = role is Role.DATA
            new = _instead(draft, node, value, None if whole else tails, every, is_read=is_read)
            draft.replace(node, enclosed(draft, node, new))
            end = "the end of its path" if tails.is_found else "its last name"
            how = "can be replaced by" if whole else f"is looked for by {end} in"
            how = "goes to" if role is Role.OUTPUT and not whole else how
            place = draft.scope(node), draft.source(node)
            if role is Role.OUTPUT and not whole and key in filled and place not in made:
                made.append(place)
                _make(draft, node, value, tails)
        advice = declaring(name, is_folder=key in folders) if role is Role.WEIGHTS else ""
        draft.say(Kind.CHANGED, "paths", node, f"{_short(draft.source(node))} {how} --{name}", advice)


def is_filled(use: Use) -> bool:
    """Whether something is written below a place: it is a folder beyond doubt."""
    return use.role is Role.OUTPUT and use.after.startswith("/")


def _make(draft: Draft, node: cst.CSTNode, value: str, tails: Tails) -> None:
    """Make a folder of results that gets a name: the one of the configuration may have been there, this one is not."""
    line = draft.statement(node)
    if not isinstance(line, cst.SimpleStatementLine) or not draft.stands_alone(line):
        return
    named = line.body[0] if len(line.body) == 1 else None
    if is_made(draft, draft.source(node)):
        return
    if isinstance(named, cst.Assign) and named.value is node and isinstance(named.targets[0].target, cst.Name):
        draft.add_after(line, [f"if {value}:", f"    os.makedirs({named.targets[0].target.value}, exist_ok=True)"])
    elif isinstance(node, cst.Attribute | cst.Subscript | cst.Name):
        source = draft.source(node)
        lines = [f"if {value} and {source}:", f"    os.makedirs({tails.of(value, source)}, exist_ok=True)"]
        draft.add_before(line, lines)


def is_made(draft: Draft, source: str) -> bool:
    """Whether the program makes a folder that is spelled so, or by the name that it is given."""
    files = (draft, *draft.others)
    named = {
        each.source(target.target)
        for each in files
        for node in each.nodes if isinstance(node, cst.Assign) and each.source(node.value) == source
        for target in node.targets
    }  # fmt: skip
    made = (call for each in files for call in each.calls() if tail(call.func) in ("makedirs", "mkdir"))
    return any(name in draft.home(call).source(call) for call in made for name in {source, *named})


def is_cut(draft: Draft, node: cst.CSTNode | None) -> bool:
    """`os.getcwd() + "/data/"`: a folder as a text that ends with a slash, or with a name for such a text."""
    last = node.right if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add) else None
    last = node.args[-1].value if _is_joined(node) else last
    last = _value(draft, last) if isinstance(last, cst.Name | cst.Attribute) else last
    return is_text(last) and (text_of(last).endswith("/") or (not text_of(last) and _is_joined(node)))


def _is_added_to(draft: Draft, node: cst.CSTNode) -> bool:
    """`config.ROWS + name`, where a folder is read: its own value ends with the slash that is not written here."""
    line = draft.parent(node)
    if not isinstance(line, cst.BinaryOperation) or not isinstance(line.operator, cst.Add) or line.left is not node:
        return False
    is_plain = isinstance(node, cst.Attribute | cst.Subscript) and not draft.source(line.right).startswith("os.")
    return is_plain and not (is_text(line.right) and text_of(line.right)[:1] in ("/", ".", "_", "-"))


def _value(draft: Draft, node: cst.Name | cst.Attribute) -> cst.BaseExpression | None:
    """What a name is given in its file, if that is one thing."""
    home, name = draft.home(node), draft.source(node)
    given = [
        each.value for each in home.nodes
        if isinstance(each, cst.Assign) and any(home.source(target.target) == name for target in each.targets)
    ]  # fmt: skip
    return given[0] if len(given) == 1 else None


def _is_open(node: cst.CSTNode) -> bool:
    """`os.path.join(HERE, "data", name)`: whatever the last part is, it lies in the folder that the others make."""
    return _is_joined(node) and not is_text(node.args[-1].value)


def _is_joined(node: cst.CSTNode | None) -> TypeGuard[cst.Call]:
    """Whether the arguments of a call are parts of a path; those of `cfg.get("out", "runs")` are not."""
    return isinstance(node, cst.Call) and len(node.args) > 1 and not is_get(node)


def _replace_folder(draft: Draft, node: cst.CSTNode, value: str, *, is_one: bool) -> None:
    assert isinstance(node, cst.Call)
    start, last = draft.start(node.args[0]), node.args[-2].value
    is_joined = len(node.args) > 2
    new = f"{value} or "
    if not is_one and isinstance(last, cst.SimpleString):
        new = f"os.path.join({value}, {draft.source(last)}) if {value} else "
    draft.insert(start, new + ("os.path.join(" if is_joined else ""))
    draft.insert(draft.span(last)[1], ")" if is_joined else "")
    draft.need_import("os")


def _folder(draft: Draft, node: cst.CSTNode, is_folder: bool) -> tuple[str, ...]:
    """The folder of a place by its parts."""
    parts: list[str] = []
    at = node
    while isinstance(at, cst.BinaryOperation):
        parts.insert(0, draft.source(at.right))
        at = at.left
    first = [draft.source(arg.value) for arg in at.args] if _is_joined(at) else [settings_name(draft, at)]
    parts = [*first, *parts]
    return tuple(parts if is_folder and not _is_open(node) else parts[:-1] or parts)


def _has_last(nodes: dict[int, cst.BaseExpression], draft: Draft, source: str) -> bool:
    return any(_last(node) is not None for node in nodes.values() if draft.source(node) == source)


def _instead(
    draft: Draft, node: cst.CSTNode, value: str, tails: Tails | None, every: Collection[tuple[str, ...]], *,
    is_read: bool,
) -> str:  # fmt: skip
    """The expression that stands for a place; without `tails` the option's folder itself does."""
    source, made = draft.source(node), _maker(draft, node)
    if is_cut(draft, node) or (is_read and _is_added_to(draft, node)):
        draft.need_import("os")
        folder = value if tails is None else tails.of(value, source)
        return f'os.path.join({folder}, "") if {value} else {source}'  # a name follows right behind it
    if tails is None and not made:
        return f"{value} or {source}"
    new, condition = value, value
    if tails is not None:
        draft.need_import("os")
        last = _last(node)
        is_found = last is None or tails.is_found
        new = tails.of(value, source) if is_found else f"os.path.join({value}, {_end(draft, node, every)})"
        may_be_none = isinstance(node, cst.Attribute | cst.Subscript | cst.Name) and not is_argument(draft, node)
        condition = f"{value} and {source}" if may_be_none else value
    return f"{f'{made}({new})' if made else new} if {condition} else {source}"


def _maker(draft: Draft, node: cst.CSTNode) -> str:
    """What makes a path of a text, where the expression is one that may be divided."""
    if "pathlib" not in roots_of(draft) or (isinstance(node, cst.Call) and tail(node.func) == "join"):
        return ""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return ""  # text
    if is_argument(draft, node) or (isinstance(node, cst.Call) and draft.resolve(node.func) == "os.getcwd"):
        return ""  # likewise
    if isinstance(node, cst.Call) and tail(node.func) == "Path":
        return draft.source(node.func)
    if isinstance(node, cst.BinaryOperation):
        module = draft.names.name_for("pathlib", [draft.module])
        known = draft.names.name_for("pathlib.Path", [draft.module]) or (f"{module}.Path" if module else "")
        if known:
            return known
    parent = draft.parent(node)
    around = draft.parent(parent) if isinstance(parent, cst.Arg) else None
    if isinstance(around, cst.Call) and draft.resolve(around.func) in SAME | {"os.path.join", "open"}:
        return ""  # text will do there
    return f'type({draft.source(node)} or "")'  # it may be None


def _last(node: cst.CSTNode) -> cst.BaseExpression | None:
    """The last part of a joined path, where it is one name."""
    if isinstance(node, cst.BinaryOperation):
        # `folder + "/" + name + ".pth"` has no part of a path at its end.
        is_end = isinstance(node.operator, cst.Add) and isinstance(node.left, cst.BinaryOperation)
        last: cst.BaseExpression | None = None if is_end else node.right
    else:
        last = node.args[-1].value if _is_joined(node) else None
    return last if is_text(last) and "/" not in text_of(last) else None


def _end(draft: Draft, node: cst.CSTNode, every: Collection[tuple[str, ...]]) -> str:
    """The last parts of a joined path that tell it from the others: of `ROOT / "models" / "bert"` both, beside one."""
    parts = _folder(draft, node, True)
    for count in range(1, len(parts)):
        end = parts[-count:]
        if not all(part[:1] in ("'", '"') for part in end):
            break
        if sum(each[-count:] == end for each in every) == 1:
            return ", ".join(end)
    return parts[-1]


def _short(source: str) -> str:
    return source if len(source) < 60 else source[:57] + "…"
