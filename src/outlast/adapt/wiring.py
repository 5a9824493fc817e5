"""Tying the contract's options to those that a script has, and to the folders that it makes."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.flow import Literal
from outlast.adapt.needs import Role
from outlast.adapt.setup import Setup
from outlast.adapt.sinks import Sink
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, tail


def keep_made(draft: Draft, made: Iterable[tuple[Sink, Literal]], value: str) -> None:
    """A results folder that the platform made must not end the script that makes it itself."""
    for sink, _ in made:
        guarded = any(isinstance(each, cst.If | cst.Try) for each in draft.above(sink.call))
        if guarded or argument(sink.call, "exist_ok") or tail(sink.call.func) not in ("makedirs", "mkdir"):
            continue
        if draft.resolve(sink.call.func) == "os.mkdir":
            assert isinstance(sink.call.func, cst.Attribute)
            draft.replace(sink.call.func.attr, "makedirs")
        comma = ", " if sink.call.args else ""
        draft.insert(draft.span(sink.call)[1] - 1, f"{comma}exist_ok=bool({value})")


def wire_options(draft: Draft, setup: Setup, role: Role, name: str, value: str, options: dict[str, bool]) -> list[str]:
    """Lines that give the contract's option to the options the script has for the same thing."""
    lines: list[str] = []
    if role is Role.WEIGHTS and len(options) > 1:
        names = ", ".join(f"--{own}" for own in options)
        said = f"{names} each take weights, and --{name} is one place"
        draft.say(Kind.DIFFERS, "options", draft.first, said, "pass them yourself: outlast run … -- --NAME=PATH")
        return lines
    for own, is_folder in options.items():
        option, target = setup.options[own], setup.own_value(own)
        if own == name or setup.options.get(name) is option:
            continue
        where = option.call or draft.first
        if option.is_positional and option.call is not None and argument(option.call, "nargs") is None:
            draft.insert(draft.span(option.call)[1] - 1, ', nargs="?"')
        whole = role is Role.WEIGHTS or (is_folder and len(options) == 1)
        if not whole and not option.default and option.is_set:
            said = f"--{own} stays as it is: it names one file or one of several folders, and its default is computed"
            draft.say(Kind.DIFFERS, "options", where, said, f"pass it yourself: outlast run … -- --{own}=PATH")
            continue
        if not whole and not option.default:
            advice = f"pass it yourself: outlast run … -- --{own}=PATH"
            draft.say(
                Kind.HAND,
                "options",
                where,
                f"--{own} names one file or one of several folders and has no default",
                advice,
            )
            continue
        new = value if whole else f"os.path.join({value}, os.path.basename(os.path.normpath({target})))"
        kind = argument(option.call, "type") if option.call is not None else None
        if kind is not None and tail(kind.value) == "Path":
            new = f"{draft.source(kind.value)}({new})"  # the script may divide it
        lines.append(f"    {target} = {new}")
        draft.say(Kind.CHANGED, "options", where, f"--{own} follows --{name}")
    if any("os." in line for line in lines):
        draft.need_import("os")
    return [f"if {value}:", *lines] if lines else []
