"""Tying the contract's options to those that a script has."""

from __future__ import annotations

from outlast.adapt.arguments.setup import Option, Setup, Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, tail


def relax(draft: Draft, setup: Setup, option: Option, name: str) -> bool:
    """Let a required option of argparse be left out when the contract's is given; `wire_options` then asks for it."""
    asked = argument(option.call, "required") if option.call is not None else None
    if asked is None:
        return False
    if setup.kind == "created":
        draft.replace(asked.value, f"not {setup.value(name)}")
    elif setup.missing(option):
        draft.replace(asked.value, "False")
    else:
        return False
    return True


def wire_options(
    draft: Draft, setup: Setup, role: Role, name: str, given: Value, options: dict[str, bool]
) -> list[str]:
    """Lines that give the contract's option to the options the script has for the same thing."""
    lines: list[str] = []
    endings: list[str] = []
    value = given.first
    if role is Role.WEIGHTS and len(options) > 1:
        names = ", ".join(setup.options[own].shown for own in options)
        said = f"{names} each take weights, and --{name} is one place"
        draft.say(Kind.DIFFERS, "options", draft.first, said, "pass them yourself: outlast run … -- --NAME=PATH")
        return lines
    parents = _parents(setup, options)
    # A folder is replaced behind what lies in it, which is told by where it lay.
    for own, is_folder in sorted(options.items(), key=lambda item: item[0] in parents.values()):
        option, target = setup.options[own], setup.own_value(own)
        if own == name or setup.options.get(name) is option:
            continue
        where = option.call or draft.first
        shown = option.shown
        whole = role is Role.WEIGHTS or (is_folder and all(parents.get(each) == own for each in options if each != own))
        if whole and not _let_out(draft, setup, option, value):
            advice = f"pass it yourself: outlast run … -- {own.upper()}"
            draft.say(Kind.HAND, "options", where, f"{own} must be given, and --{name} cannot stand for it", advice)
            continue
        below = f"os.path.basename(os.path.normpath({target}))"
        if own in parents:
            below = f"os.path.relpath({target}, {setup.own_value(parents[own])})"
        new = value if whole else f"os.path.join({value}, {below})"
        if is_folder and option.default.endswith("/"):
            # The script may go on with a name right behind it.
            new = f'os.path.join({new}, "")' if whole else new.removesuffix(")") + ', "")'
        kind = argument(option.call, "type") if option.call is not None else None
        if kind is not None and tail(kind.value) == "Path":
            new = f"{draft.source(kind.value)}({new})"  # the script may divide it
        is_open = not whole and not option.default and not option.is_required and not option.is_positional
        lines += [f"    if {target}:", f"        {target} = {new}"] if is_open else [f"    {target} = {new}"]
        if whole and (option.is_positional or option.is_required) and setup.missing(option):
            endings += [f"elif {target} is None:", *setup.missing(option)]
        said = f"{shown} follows --{name}{'' if whole or own in parents else ' by its last name'}"
        if whole or option.default or option.is_set:
            draft.say(Kind.CHANGED, "options", where, said)
            continue
        words = "NAME" if option.is_positional else f"{shown}=NAME"
        must = ", and must still be given" if option.is_required or option.is_positional else ""
        advice = f"pass the name that it has there: outlast run … -- {words}"
        draft.say(Kind.DIFFERS if must else Kind.CHANGED, "options", where, said + must, advice)
    if any("os." in line for line in lines):
        draft.need_import("os")
    return [f"if {value}:", *lines, *endings] if lines else []


def _parents(setup: Setup, options: dict[str, bool]) -> dict[str, str]:
    """Option → option of the folder in which it lies by default: `data/words.txt` in `data`."""
    places = {own: setup.options[own].default.removeprefix("./").rstrip("/") for own in options}
    return {
        own: other
        for own, place in places.items()
        for other, folder in places.items()
        if options[other] and folder and place.startswith(folder + "/")
    }


def _let_out(draft: Draft, setup: Setup, option: Option, value: str) -> bool:
    """Let a positional argument be left out; False where the script could not end as it does without it."""
    if not option.is_positional or option.call is None or argument(option.call, "nargs") is not None:
        return True
    if setup.kind != "created" and not setup.missing(option):
        return False
    end = draft.span(option.call)[1] - 1
    comma = "" if draft.data[:end].rstrip().endswith(b",") else ", "
    draft.insert(end, comma + (f'nargs="?" if {value} else None' if setup.kind == "created" else 'nargs="?"'))
    return True
