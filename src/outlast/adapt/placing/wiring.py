"""Tying the contract's options to those that a script has."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import libcst as cst

from outlast.adapt.arguments.setup import Option, Setup, Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role, old_variable
from outlast.adapt.placing.company import is_apart
from outlast.adapt.placing.sites import declaring
from outlast.adapt.placing.tails import Tails
from outlast.adapt.placing.travelling import may_stay_option
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, tail

#: what makes an object of a path, of the standard library or of another one
_PATH_TYPES = frozenset({"Path", "PurePath", "PosixPath"})
#: stands for the old place in the expression of the new one
_EACH = "\0"


def relax(draft: Draft, setup: Setup, option: Option, name: str) -> bool:
    """Let a required option of argparse be left out when the contract's is given; `wire_options` then asks for it."""
    asked = argument(option.call, "required") if option.call is not None else None
    if asked is None:
        return setup.let_out(option, name)
    if setup.kind in ("created", "environment"):
        draft.replace(asked.value, f"not {setup.value(name)}")
    elif setup.missing(option):
        draft.replace(asked.value, "False")
        never = argument(option.call, "default") if option.call is not None else None
        if never is not None and draft.source(never.value) != "None":
            draft.replace(never.value, "None")  # as it must be given, nobody has ever got it
    else:
        return False
    return True


def wire_options(
    draft: Draft,
    setup: Setup,
    role: Role,
    name: str,
    given: Value,
    options: dict[str, bool],
    written: Sequence[str] = (),
    kept: Collection[str] = (),
    stems: Collection[str] = (),
    named: Collection[str] = (),
) -> list[str]:
    """Lines that give the contract's option to the options the script has for the same thing.

    `written`: folders that stand in the script; `kept`: options whose old place something is still looked for in;
    `stems`: options that the script puts names right behind; `named`: options whose old value names are made of.
    """
    lines: list[str] = []
    endings: list[str] = []
    value = given.first
    if role is Role.WEIGHTS and len(options) > 1:
        names = ", ".join(setup.options[own].shown for own in options)
        said = f"{names} each take weights, and --{name} is one place"
        draft.say(Kind.DIFFERS, "options", draft.first, said, "pass them yourself: outlast run … -- --NAME=PATH")
        return lines
    parents = _parents(setup, options)
    options = {own: is_folder and not setup.options[own].is_many for own, is_folder in options.items()}
    beside = [own for own in options if own not in parents and setup.options.get(name) is not setup.options[own]]
    # Several values of one option are places whose names are not known here.
    known = [[""] * 2 if setup.options[own].is_many else [setup.options[own].default] for own in beside]
    folders = [setup.options[own].default for own in beside if role is Role.DATA and options[own]]
    files = [own for own in beside if folders and not options[own] and not setup.options[own].is_many]
    loose = [own for own in files if may_stay_option(setup.options[own].default, folders)]
    known = [places for own, places in zip(beside, known, strict=True) if own not in loose]
    tails = Tails(draft, role, [*(place for places in known for place in places), *written])
    # A folder is replaced behind what lies in it, which is told by where it lay.
    for own, is_folder in sorted(options.items(), key=lambda item: item[0] in parents.values()):
        option, target = setup.options[own], setup.own_value(own)
        if own == name or setup.options.get(name) is option:
            continue
        where = option.call or draft.first
        shown = option.shown
        others = [each for each in options if each not in (own, *loose) and option.may_meet(setup.options[each])]
        whole = role is Role.WEIGHTS or (is_folder and all(parents.get(each) == own for each in others))
        if whole and role is not Role.WEIGHTS and option.default.strip("./"):
            whole = not any(is_apart(place, option.default) for place in written)
        if whole and own not in kept and not _let_out(draft, setup, option, value):
            advice = f"pass it yourself: outlast run … -- {own.upper()}"
            draft.say(Kind.HAND, "options", where, f"{own} must be given, and --{name} cannot stand for it", advice)
            continue
        new = value if whole else tails.of(value, _EACH)
        if own in loose:
            new = Tails(draft, role, [""] * 2, is_many=True).of(value, _EACH)
        if own in parents:
            new = f"os.path.join({value}, os.path.relpath({_EACH}, {setup.own_value(parents[own])}))"
        if is_folder and (option.default.endswith("/") or (own in stems and not option.default)):
            # The script may go on with a name right behind it.
            is_plain = not whole and new.startswith("os.path.join(")
            new = new.removesuffix(")") + ', "")' if is_plain else f'os.path.join({new}, "")'
        kind = argument(option.call, "type") if option.call is not None else None
        if kind is not None and _makes_paths(draft, kind.value):
            new = f"{draft.source(kind.value)}({new})"  # the script may divide it
        one = new.replace(_EACH, target)
        new = f"[{new.replace(_EACH, 'each')} for each in {target}]" if option.is_many else one
        if option.is_many and _is_one_by_default(option):
            new += f" if isinstance({target}, list) else {one}"
        is_open = not whole and not option.default and not option.is_required and not option.is_positional
        asked = option.asked(target, is_set=not whole) or (target if is_open else "")
        changes = [f"{target} = {new}"]
        if own in kept:
            old = target if whole else tails.above(target)
            old = setup.own_value(parents[own]) if own in parents else old
            changes.insert(0, f'os.environ["{old_variable(own)}"] = str({old} or "")  # for what lies there')
        if own in named:
            old = f"{target} or os.path.basename(os.path.normpath({value}))"
            changes.insert(0, f'os.environ["{old_variable(own)}"] = str({old})  # for names that are made of it')
        lines += [f"    if {asked}:"] if asked else []
        lines += [f"{'        ' if asked else '    '}{change}" for change in changes]
        is_insisted = option.is_positional or option.is_required
        if whole and is_insisted and own not in kept and setup.missing(option):
            endings += [f"elif {target} is None:", *setup.missing(option)]
        endings += setup.ask_later(option, target)
        said = f"{shown} follows --{name}{'' if whole or own in parents else f' {tails.said}'}"
        said = f"{shown} is looked for in --{name}, then where it was" if own in loose else said
        said += "; names that are made of it stay" if own in named else ""
        if whole and is_insisted and own in kept:
            said += ", and must still be given, as the script also reads what lies in that folder"
            words = option.name.upper() if option.is_positional else f"{shown}=FOLDER"
            draft.say(Kind.DIFFERS, "options", where, said, f"pass it as before: outlast run … -- {words}")
            continue
        if whole or option.default or option.is_set:
            # Of an option that is known by its name alone, no default tells what it holds.
            is_sure = role is Role.WEIGHTS and (not is_folder or bool(option.default) or "dir" in own)
            advice = declaring(name, is_folder=is_folder) if is_sure else ""
            draft.say(Kind.CHANGED, "options", where, said, advice)
            continue
        words = "NAME" if option.is_positional else f"{shown}=NAME"
        must = ", and must still be given" if option.is_required or option.is_positional else ""
        advice = f"pass the name that it has there: outlast run … -- {words}"
        draft.say(Kind.DIFFERS if must else Kind.CHANGED, "options", where, said + must, advice)
    if any("os." in line for line in (*lines, *endings)):
        draft.need_import("os")
    return [f"if {value}:", *lines, *endings] if lines else []


def _makes_paths(draft: Draft, kind: cst.BaseExpression) -> bool:
    """Whether an option's type makes an object of a path; what click calls so only checks a text."""
    is_class = isinstance(kind, cst.Name | cst.Attribute) and tail(kind) in _PATH_TYPES
    return is_class and not draft.resolve(kind).startswith("click.")


def _is_one_by_default(option: Option) -> bool:
    """Whether there is one text where words of the command line make a list: argparse takes a default as it is."""
    default = argument(option.call, "default") if option.call is not None else None
    return default is not None and isinstance(default.value, cst.BaseString)


def _parents(setup: Setup, options: dict[str, bool]) -> dict[str, str]:
    """Option → option of the folder in which it lies by default: `data/words.txt` in `data`."""
    places = {own: setup.options[own].default.removeprefix("./").rstrip("/") for own in options}
    return {
        own: other
        for own, place in places.items()
        for other, folder in places.items()
        if options[other] and folder and place.startswith(folder + "/")
        and setup.options[other].commands <= setup.options[own].commands
    }  # fmt: skip


def _let_out(draft: Draft, setup: Setup, option: Option, value: str) -> bool:
    """Let a positional argument be left out; False where the script could not end as it does without it."""
    if not option.is_positional or option.call is None or argument(option.call, "nargs") is not None:
        return True
    if setup.kind != "created" and not setup.missing(option):
        return False
    if setup.kind == "click":
        draft.insert(draft.span(option.call)[1] - 1, ", required=False")
        return True
    end = draft.span(option.call)[1] - 1
    comma = "" if draft.data[:end].rstrip().endswith(b",") else ", "
    draft.insert(end, comma + (f'nargs="?" if {value} else None' if setup.kind == "created" else 'nargs="?"'))
    return True
