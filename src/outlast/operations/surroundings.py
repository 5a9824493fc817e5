"""What is passed to the script: parameters, variables, and the names of secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from outlast.errors import SpecError
from outlast.operations.said import Said, Sayings, pairs

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def find_env(said: Sayings) -> dict[str, str]:
    """Variables by name; one that is named without a value is taken from here."""
    found = dict(said.toml.env) if said.toml else {}
    for name in found:
        _require_variable(name, f"env.{name} in {said.toml.path.name}" if said.toml else name)
    for name, value in pairs(said.request.env, "--env", "OMP_NUM_THREADS=1").items():
        _require_variable(name, f"--env {name}")
        if value is None and name not in os.environ:
            raise SpecError(
                f"--env {name}: not set here, so there is no value to take", hint=f"write --env {name}=VALUE"
            )
        found[name] = os.environ[name] if value is None else value
    return found


def find_secrets(said: Sayings, env: Mapping[str, str]) -> tuple[str, ...]:
    """Names of secrets, of the command line and of the file together. Their values are the caller's concern."""
    names: list[str] = []
    for name in said.request.secrets:
        if "=" in name:
            # Whatever stands behind the equals sign must not be repeated anywhere.
            raise SpecError(
                f"--secret {name.partition('=')[0]} must be a name alone; its value would be seen by everybody here",
                hint="set the variable and give its name",
            )
        if name in names:
            raise SpecError(f"--secret {name} is given twice", hint="keep one of them")
        names.append(name)
    listed = said.toml.values.get(("run", "secrets"), ()) if said.toml else ()
    names += [name for name in listed if name not in names]
    for name in names:
        _require_variable(name, f"--secret {name}")
        if name in env:
            raise SpecError(f"{name} is both a variable (--env) and a secret (--secret)", hint="keep one of them")
    return tuple(names)


def find_params(said: Sayings) -> dict[str, str]:
    """Parameters by name. The command line wins over the file, also when it says `-- --lr=0.2`."""
    given: dict[str, str] = {}
    for name, value in pairs(said.request.params, "--param", "lr=0.1").items():
        if value is None:
            raise SpecError(f"--param {name} has no value", hint=f"write --param {name}=VALUE")
        given[name] = value
    for name, value in _running_parameters(said.request.running_parameters):
        if name in given:
            raise SpecError(f"the parameter {name} is given twice", hint="keep one of them, in --params or in --param")
        given[name] = value
    args = said.get("args")
    options = _options(args.value) if args else set()
    clash = sorted(options & set(given))
    if clash and args is not None:
        raise SpecError(
            f"{clash[0]} is given twice: with --param and as --{clash[0]} {_place_of(args)}", hint="keep one of them"
        )
    listed = dict(said.toml.params) if said.toml else {}
    if said.request.args:
        listed = {name: value for name, value in listed.items() if name not in options}
    elif said.toml and options & set(listed):
        twice = sorted(options & set(listed))[0]
        raise SpecError(
            f"{said.toml.path.name} gives {twice} twice: in params and in run.args", hint="keep one of them"
        )
    found = {**listed, **given}
    for name in found:
        if not _PARAMETER.fullmatch(name):
            raise SpecError(
                f"parameter {name!r} cannot be passed as --{name}=…", hint="use letters, digits, '_' and '-'"
            )
    return found


def _running_parameters(text: str | None) -> list[tuple[str, str]]:
    """`a=1;b=2`, as the forms of ModelArts take them."""
    from outlast.inside.contracts.modelarts import pairs_of

    for part in (text or "").split(";"):
        if part.strip() and (not part.partition("=")[0].strip() or "=" not in part):
            raise SpecError(
                f"--params: {part.strip()!r} is not NAME=VALUE", hint='write it like --params "lr=0.1;batch=4"'
            )
    return pairs_of(text or "")


def _place_of(args: Said) -> str:
    return "among the script's arguments" if args.where == "--args" else f"in {args.where}"


def _options(args: Iterable[str]) -> set[str]:
    return {arg[2:].partition("=")[0] for arg in args if arg.startswith("--") and len(arg) > 2}


def _require_variable(name: str, where: str) -> None:
    if not _VARIABLE.fullmatch(name):
        raise SpecError(f"{where}: not the name of a variable", hint="use letters, digits and '_', like HTTP_PROXY")
