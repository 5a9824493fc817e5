"""Logs that a start opens anew and the rounds write to: `log = open("log.txt", "w")`, `with open(path, "w") as log:`.

A later stint opens them to add to them, and takes off what the last whole round did not see: those lines come again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.begun import cut_lines, is_asked, mode_of, path_of, size_pairs
from outlast.adapt.resuming.loops import Values
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, positional, tail

_RULE = "resume"
_WRITES = frozenset({"w", "wt", "w+"})
#: methods after which a file is not written to as before
_ENDS = frozenset({"close", "detach", "seek", "truncate"})


@dataclass(frozen=True)
class Log:
    """A file that stays open through the rounds: its name, the call that opens it, and where that says for what."""

    name: str
    call: cst.Call
    mode: cst.SimpleString

    def go_on(self, draft: Draft, folder: str, path: str) -> list[str]:
        """Let it be emptied by the first stint alone, by lines behind its opening.

        Each stint opens it to add to it: a file that is open to be written anew may be a checkpoint that is not whole
        yet, and nothing beside it would be kept as long as it is open.
        """
        written = self.mode.value
        draft.replace(self.mode, f"{written.replace('w', 'a')} if {folder} else {written}")
        said = f"{draft.source(self.call)} empties the file no more after a stop: the rounds have written to it since"
        draft.say(Kind.CHANGED, _RULE, self.call, said)
        return [
            f"if {folder} and not os.path.exists({path}):",
            f"    {self.name}.seek(0)",
            f"    {self.name}.truncate()",
        ]


def find_logs(draft: Draft, values: Values) -> tuple[Log, ...]:
    """Those that the function of a loop opens before it."""
    used = _used(draft, values)
    return tuple(
        Log(name, call, mode)
        for call in draft.calls(values.scope)
        if mode_of(draft, call) in _WRITES and draft.scope(call) is values.scope
        and draft.start(call) < draft.start(values.loop.top) and not is_asked(draft, call)
        and isinstance(mode := _mode(draft, call), cst.SimpleString)
        and (name := _name(draft, call, values)) in used and not _is_ended(draft, values, name)
    )  # fmt: skip


def length_pairs(files: Sequence[str], logs: Sequence[Log]) -> list[str]:
    """How long the files are that the rounds write to, as parts of a checkpoint."""
    # To tell it, a log that is open writes out what it has gathered.
    return [*size_pairs(files), *(f'"{log.name}_length": {log.name}.tell()' for log in logs)]


def shorten_lines(files: Sequence[str], logs: Sequence[Log], state: str, here: str = "") -> list[str]:
    """Lines that take off what was written behind the last whole round, also in this start before the loop."""
    lines = [f'    {log.name}.truncate(min({log.name}.tell(), {state}["{log.name}_length"]))' for log in logs]
    if here and lines:
        lines = [f"    if {here}:", *("    " + line for line in lines)]
    return [*cut_lines(files, state), *lines]


def _mode(draft: Draft, call: cst.Call) -> cst.BaseExpression | None:
    given = argument(call, "mode")
    is_of_path = isinstance(call.func, cst.Attribute) and path_of(draft, call) is call.func.value
    return given.value if given is not None else positional(call, 0 if is_of_path else 1)


def _name(draft: Draft, call: cst.Call, values: Values) -> str:
    """The one name under which the rounds know an open file; empty where it has none, or that may mean another."""
    parent = draft.parent(call)
    if isinstance(parent, cst.WithItem) and parent.asname is not None and isinstance(parent.asname.name, cst.Name):
        around = draft.parent(parent)
        is_around = any(each is around for each in draft.above(values.loop.node))
        return parent.asname.name.value if is_around else ""
    if not isinstance(parent, cst.Assign) or len(parent.targets) != 1:
        return ""
    name = dotted(parent.targets[0].target)
    is_one = len(values.bindings.get(name, [])) == 1 and name not in values.bound
    return name if is_one and values.is_sure(draft.statement(call)) else ""


def _used(draft: Draft, values: Values) -> set[str]:
    """Names in the lines and functions of the rounds; with `rows = csv.writer(log)`, `log` too."""
    blocks = [values.loop.node.body, *(function.body for function in values.run_functions())]
    names = {node.value for block in blocks for node in draft.below(block) if isinstance(node, cst.Name)}
    made = (value for name, value in values.origins.items() if name in names and isinstance(value, cst.Call))
    return (names | {tail(arg.value) for call in made for arg in call.args}) - {""}


def _is_ended(draft: Draft, values: Values, name: str) -> bool:
    """Whether a file is closed before the rounds are over, or written to in another way."""
    return any(
        dotted(call.func).partition(".")[2] in _ENDS and dotted(call.func).partition(".")[0] == name
        for call in _before_the_end(draft, values)
    )


def _before_the_end(draft: Draft, values: Values) -> Iterator[cst.Call]:
    end = draft.span(values.loop.node)[1]
    return (call for call in draft.calls(values.scope) if draft.start(call) < end)
