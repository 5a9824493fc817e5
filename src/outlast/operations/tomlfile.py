"""`outlast.toml`: the file beside a script that says what its command line would say every time.

One table lists every key; reading, checking and the commented template that `outlast init` writes come from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from outlast.errors import SpecError
from outlast.operations.problems import Problems, guess

FILE_NAME = "outlast.toml"


class Key(NamedTuple):
    """One key of the file. `example` is TOML."""

    table: str
    name: str
    kind: str  # text, amount (text or number), count, switch, texts, names (one or several)
    example: str
    comment: str


KEYS: tuple[Key, ...] = (
    Key("run", "script", "text", '"train.py"', "the script, relative to this folder"),
    Key("run", "args", "texts", '["--epochs", "10"]', "the script's own arguments; those after -- replace them"),
    Key("run", "name", "text", '"mnist-a1"', "name of the run; default: the script's or the folder's"),
    Key("run", "checkpoint", "text", '"ckpt"', "where the script saves checkpoints, relative to this folder"),
    Key("run", "output", "text", '"out"', "what to bring home at the end, relative to this folder"),
    Key("run", "limit", "amount", '"1h"', "time limit of one stint; default: none"),
    Key("run", "stints", "amount", '"auto"', "stop after so many stints; auto: as many as it takes"),
    Key("run", "until", "text", '"epoch>=100"', "finish when this holds; default: when the script ends"),
    Key("run", "grace", "amount", '"10s"', "time to save between the request to stop and the end"),
    Key("run", "retries", "count", "1", "how often a failing script is started again after progress"),
    Key("run", "requirements", "text", '"requirements.txt"', "packages to install first; default: none"),
    Key("run", "environment", "text", '"torch-cpu"', "a named environment to start from; see outlast environments"),
    Key("run", "python", "text", '"python3"', "interpreter of the script; default: the active environment's"),
    Key("run", "secrets", "texts", '["WANDB_API_KEY"]', "variables to pass on without ever writing them down"),
    Key("run", "platform", "names", '"local"', "where to run; a list is an order of preference"),
    Key("run", "store", "text", '"obs://bucket/prefix"', "where the run folder is kept; default: the setting store"),
    Key("run", "network", "switch", "true", "whether the script may reach the network"),
    Key("run", "sandbox", "text", '"auto"', "shut the script off from the machine: auto, on or off"),
    Key("run", "contract", "text", '"modelarts"', "what the script was written for; default: plain"),
    Key("run", "drop_unknown", "switch", "false", "leave out options of the contract that the script would refuse"),
    Key("run", "ma_log", "switch", "false", "show the log in the folder MA_LOG beside the script too"),
    Key("resources", "cpus", "count", "1", "processor cores"),
    Key("resources", "memory", "amount", '"8G"', "a stint that uses more is ended; default: no limit"),
    Key("resources", "gpus", "count", "0", "NVIDIA cards"),
    Key("resources", "npus", "count", "0", "Ascend cards"),
    Key("resources", "nodes", "count", "1", "machines that run the script together, each with all of the above"),
    Key("metrics", "patterns", "texts", "['my loss (?P<loss>[0-9.]+)']", "regular expressions for lines of your own"),
    Key("pack", "include", "texts", '["weights/*.pt"]', "files to pack even if .gitignore names them"),
    Key("pack", "exclude", "texts", '["notebooks/"]', "files to leave out of the pack"),
    Key("pack", "allow_secret_files", "switch", "false", "pack files that look like keys or passwords"),
)

#: Tables whose keys are the user's own names: what they hold, and examples.
FREE_TABLES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("params", "passed to the script as --name=value", ("lr = 0.1",)),
    ("env", "variables of the script; never put a secret here, name it in run.secrets", ('OMP_NUM_THREADS = "1"',)),
    (
        "data",
        "inputs: a path is found by the script where it lies now; with a table, at another path",
        (
            'mnist = "./mnist"',
            'cifar = "s3://bucket/cifar"',
            'labels = { source = "/data/labels.csv", path = "labels.csv", writable = false }',
        ),
    ),
    (
        "outputs",
        "results that are brought to a folder or an address while the script writes them",
        ('train_url = "./out"', 'aim_repo = "obs://bucket/aim"'),
    ),
)

_TABLES = ("run", "params", "env", "data", "outputs", "resources", "metrics", "pack")
_DATA_KEYS = ("source", "path", "writable")
_KINDS = {
    "text": "text in quotes",
    "amount": "text in quotes or a number",
    "count": "a whole number",
    "switch": "true or false",
    "texts": "a list of texts",
    "names": "a name, or a list of names",
}


@dataclass(frozen=True)
class TomlInput:
    """One entry of `[data]`. `path` None: where it lies now."""

    name: str
    source: str
    path: str | None = None
    writable: bool = False


@dataclass(frozen=True)
class TomlFile:
    """What an `outlast.toml` says, checked for form."""

    path: Path
    values: Mapping[tuple[str, str], Any] = field(default_factory=dict)  # (table, key) -> value
    params: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    data: tuple[TomlInput, ...] = ()
    outputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.path.parent


def read_toml(path: Path) -> TomlFile:
    """Read the file. Raises one `SpecError` that names every unknown key and every value of a wrong form."""
    problems = Problems()
    body = _load(path)
    values: dict[tuple[str, str], Any] = {}
    for table, content in body.items():
        if table not in _TABLES:
            problems.add(_unknown_table(path, table))
        elif not isinstance(content, dict):
            problems.add(f"{path.name}: {table} = {_short(content)} must be a table: write [{table}] above its keys")
        elif table in ("run", "resources", "metrics", "pack"):
            for name, value in content.items():
                with problems.collecting():
                    values[table, name] = _checked(path, table, name, value)
    tables = {name: _table(body, name) for name in ("params", "env", "data", "outputs")}
    params, env, data, outputs = {}, {}, [], {}
    for name, value in tables["params"].items():
        with problems.collecting():
            params[name] = _scalar(path, "params", name, value)
    for name, value in tables["env"].items():
        with problems.collecting():
            env[name] = _scalar(path, "env", name, value)
    for name, value in tables["data"].items():
        with problems.collecting():
            data.append(_input(path, name, value))
    for name, value in tables["outputs"].items():
        with problems.collecting():
            outputs[name] = _target(path, name, value)
    problems.raise_all()
    return TomlFile(path, values, params, env, tuple(data), outputs)


def _load(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise SpecError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{path} is not TOML: {error}", hint="compare it with a fresh one from: outlast init") from None


def _table(body: dict[str, Any], name: str) -> dict[str, Any]:
    found = body.get(name, {})
    return found if isinstance(found, dict) else {}


def _unknown_table(path: Path, table: str) -> str:
    homes = [key.table for key in KEYS if key.name == table]
    if homes:
        return f"{path.name}: key {table!r} stands outside its table; move it under [{homes[0]}]"
    return f"{path.name}: unknown table [{table}]{guess(table, _TABLES) or ';'} known: {', '.join(_TABLES)}"


def _checked(path: Path, table: str, name: str, value: Any) -> Any:
    key = next((key for key in KEYS if (key.table, key.name) == (table, name)), None)
    if key is None:
        raise SpecError(f"{path.name}: unknown key {table}.{name}{_elsewhere(table, name)}")
    accepted = _accept(key.kind, value)
    if accepted is None:
        raise SpecError(
            f"{path.name}: {table}.{name} = {_short(value)} must be {_KINDS[key.kind]}, like {name} = {key.example}"
        )
    return accepted


def _elsewhere(table: str, name: str) -> str:
    for key in KEYS:
        if key.name == name:
            return f"; it belongs under [{key.table}]"
    if name in ("params", "env", "data", "outputs"):
        return f"; write it as a table of its own, [{name}]"
    names = [key.name for key in KEYS if key.table == table]
    return guess(name, names) or f"; known there: {', '.join(names)}"


def _accept(kind: str, value: Any) -> Any:
    """The value in the form that resolving wants, or None when it has another form."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "names" and isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return ",".join(value)
    if kind in ("text", "names"):
        return value if isinstance(value, str) else None
    if kind == "amount":
        return value if isinstance(value, str) else (_number_text(value) if number else None)
    if kind == "count":
        return value if number and isinstance(value, int) else None
    if kind == "switch":
        return value if isinstance(value, bool) else None
    if isinstance(value, list) and all(isinstance(part, str | int | float) for part in value):
        return tuple(part if isinstance(part, str) else _number_text(part) for part in value)
    return None


def _number_text(value: float) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _scalar(path: Path, table: str, name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return _number_text(value)
    # The value is not shown: what stands under [env] may be somebody's password after all.
    raise SpecError(f"{path.name}: {table}.{name} must be a text, a number, true or false")


def _input(path: Path, name: str, value: Any) -> TomlInput:
    if isinstance(value, str):
        return TomlInput(name, value)
    where = f"{path.name}: data.{name}"
    if not isinstance(value, dict):
        raise SpecError(f'{where} = {_short(value)} must be a path, or a table like {{ source = "/data/mnist" }}')
    for key in value:
        if key not in _DATA_KEYS:
            raise SpecError(
                f"{where}: unknown key {key!r}{guess(key, _DATA_KEYS) or ';'} known: {', '.join(_DATA_KEYS)}"
            )
    source, target, writable = value.get("source"), value.get("path"), value.get("writable", False)
    if not isinstance(source, str):
        raise SpecError(f'{where} needs a source, like {{ source = "/data/mnist" }}')
    if not isinstance(target, str | None):
        raise SpecError(f"{where}.path = {_short(target)} must be text in quotes")
    if not isinstance(writable, bool):
        raise SpecError(f"{where}.writable = {_short(writable)} must be true or false")
    return TomlInput(name, source, target, writable)


def _target(path: Path, name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise SpecError(f'{path.name}: outputs.{name} = {_short(value)} must be a folder or an address, like "./out"')
    return value


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:37] + "…"


# ---- the template


def render_template(script: str | None = None, **run_values: str) -> str:
    """The text that `outlast init` writes: every key explained, commented out unless a value is given.

    Explanations begin with `# `, keys that are commented out with `#` alone, so that removing a `#` sets the key.
    """
    given = {**({"script": script} if script else {}), **run_values}
    lines = [
        f"# {FILE_NAME}: what `outlast run` would otherwise be told every time. The command line wins over this file.",
        "# Remove the # before a key to set it; the values shown are examples.",
    ]
    for table in _TABLES:
        free = next((entry for entry in FREE_TABLES if entry[0] == table), None)
        lines += ["", *([f"# {free[1]}"] if free else []), f"[{table}]"]
        lines += [f"#{example}" for example in (free[2] if free else ())]
        for key in KEYS:
            if key.table == table:
                chosen = given.get(key.name) if table == "run" else None
                value = key.example if chosen is None else json.dumps(chosen, ensure_ascii=False)
                lines += [f"# {key.comment}", f"{'#' if chosen is None else ''}{key.name} = {value}"]
    return "\n".join(lines) + "\n"


#: The template without any value set.
TEMPLATE = render_template()
