"""What the form of a new run says, and the same as a request to the API and as a command line. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from outlast.model.parameters import shown_value
from outlast.model.quantities import format_duration
from outlast.model.spec import DEFAULT_CHECKPOINT, RunSpec
from outlast.operations.tomlfile import TomlFile

Rows = tuple[tuple[str, str], ...]
UPLOAD = "upload:"


@dataclass(frozen=True)
class Code:
    """What was uploaded, or a project of the hub: what it is called here, and the files in it."""

    sha256: str
    name: str
    paths: tuple[str, ...] = ()
    project: str = ""  # owner/name@commit; then nothing was uploaded

    @property
    def scripts(self) -> list[str]:
        """Files that can be started, those first that usually are."""
        kinds = (".py", ".sh", ".toml", ".yaml", ".yml", ".json")
        found = [path for path in self.paths if path.endswith(kinds) and not path.rpartition("/")[2].startswith(".")]
        first = ("outlast.toml", "train.py", "main.py")
        return sorted(found, key=lambda path: (path not in first, kinds.index("." + path.rpartition(".")[2]), path))


@dataclass(frozen=True)
class Wanted:
    """The fields of the form. Empty means: not said, so `outlast.toml` and then the settings decide."""

    name: str = ""
    target: str = ""
    code: Code | None = None
    platforms: tuple[str, ...] = ()
    environment: str = ""
    contract: str = ""
    data: Rows = ()
    checkpoint: str = ""
    outputs: tuple[str, ...] = ()
    params: Rows = ()
    args: str = ""
    requirements: str = ""
    env: Rows = ()
    cpus: int | None = None
    memory: str = ""
    gpus: int | None = None
    npus: int | None = None
    nodes: int | None = None
    network: bool | None = None
    limit: str = ""
    stints: str = ""
    until: str = ""
    grace: str = ""
    retries: int | None = None

    def body(self) -> dict[str, Any]:
        """The body of `POST /runs`; `ValueError` when the arguments cannot be told apart."""
        said: dict[str, Any] = {"target": self.target.strip() or "."}
        if self.code is not None and self.code.project:
            said["project"] = self.code.project
        elif self.code is not None:
            said["code"] = self.code.sha256
        said["args"] = shlex.split(self.args)
        said["data"] = [f"{name}={source}" if name else source for name, source in self.data if source]
        said["output"] = list(self.outputs) or None
        said["params"] = _joined(self.params)
        said["env"] = _joined(self.env)
        said["platform"] = ",".join(self.platforms) or None
        for each in ("name", "environment", "contract", "checkpoint", "requirements", "memory", "limit", "stints",
                     "until", "grace"):  # fmt: skip
            said[each] = getattr(self, each).strip() or None
        for each in ("cpus", "gpus", "npus", "nodes", "retries", "network"):
            said[each] = getattr(self, each)
        return {name: value for name, value in said.items() if value not in (None, [])}

    def command(self, server: str = "") -> str:
        """The command line that asks `server` for the same; values that look like secrets stay out of it."""
        asked = f"outlast --server {shlex.quote(server)}" if server else "outlast"
        words = [asked, "run", shlex.quote(self.target.strip() or ".")]

        def add(flag: str, value: object) -> None:
            if value not in ("", None):
                words.append(f"{flag} {shlex.quote(str(value))}")

        add("--name", self.name.strip())
        for name, source in self.data:
            shown = f"./{name or 'data'}" if source.startswith(UPLOAD) else source
            add("--data", f"{name}={shown}" if name and source else shown)
        add("--checkpoint", self.checkpoint.strip())
        for output in self.outputs:
            add("--output", output)
        for flag, rows in (("--param", self.params), ("--env", self.env)):
            for name, value in rows:
                add(flag, f"{name}={shown_value(name, value)}" if name else "")
        for flag in ("contract", "environment", "requirements", "limit", "stints", "until", "grace", "retries", "cpus",
                     "memory", "gpus", "npus", "nodes"):  # fmt: skip
            add(f"--{flag}", getattr(self, flag))
        add("--platform", ",".join(self.platforms))
        if self.network is not None:
            words.append("--network" if self.network else "--no-network")
        lines = self._place() + " \\\n  ".join(_packed(words))
        return f"{lines} \\\n  -- {self.args.strip()}" if self.args.strip() else lines

    def _place(self) -> str:
        """Where the command is typed, when that is not where the script already lies."""
        path, _, commit = (self.code.project if self.code is not None else "").partition("@")
        return f"# in a clone of {path} at {commit[:10]}\n" if path else ""


def _packed(words: list[str]) -> list[str]:
    """Words as lines of a readable length."""
    lines = [" ".join(words[:3])]
    for word in words[3:]:
        if len(lines[-1]) + len(word) < 44:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _joined(rows: Rows) -> list[str]:
    return [f"{name.strip()}={value}" for name, value in rows if name.strip()]


def rows_of_text(text: str) -> Rows:
    """`a=1;b=2` as rows; what has no equals sign is a name without a value."""
    pairs = (part.partition("=") for part in text.split(";") if part.strip())
    return tuple((name.strip(), value) for name, _, value in pairs)


def text_of_rows(rows: Rows) -> str:
    return ";".join(f"{name}={value}" for name, value in rows if name)


def from_spec(spec: Mapping[str, Any], code: Code | None) -> Wanted:
    """The form of a run like an earlier one. Variables whose names say that they are secret come without values."""
    need = spec.get("resources") or {}
    environment = spec.get("environment") or {}
    checkpoint = str(spec.get("checkpoint") or "")
    outputs = [str(spec["output"])] if spec.get("output") else []
    outputs += [f"{each['name']}={each['target']}" for each in spec.get("outputs") or ()]
    hidden = [(name, "" if shown_value(name, "x") != "x" else str(value)) for name, value in spec["env"].items()]
    return Wanted(
        name="",  # a name that is taken would be refused
        target=str(spec["script"]),
        code=code,
        platforms=tuple(spec.get("platforms") or ()),
        environment=str(environment.get("name") or ""),
        contract="" if spec.get("contract") in (None, "plain", "openpai") else str(spec["contract"]),
        data=tuple((str(each["name"]), str(each["source"])) for each in spec.get("inputs") or ()),
        checkpoint="" if checkpoint == DEFAULT_CHECKPOINT else checkpoint,
        outputs=tuple(outputs),
        params=tuple((str(name), str(value)) for name, value in (spec.get("params") or {}).items()),
        args=shlex.join(spec.get("args") or ()),
        requirements=str(spec.get("requirements") or ""),
        env=tuple(hidden),
        cpus=need.get("cpus"),
        memory=str(need.get("memory_bytes") or ""),
        gpus=need.get("gpus") or None,
        npus=need.get("npus") or None,
        nodes=need.get("nodes") if (need.get("nodes") or 1) > 1 else None,
        network=None if spec.get("network", True) else False,
        limit=_time(spec.get("limit_s")),
        stints=str(spec.get("max_stints") or ""),
        until=str(spec.get("until") or ""),
        grace="" if spec.get("grace_s") == RunSpec.grace_s else _time(spec.get("grace_s")),
        retries=spec.get("script_retries"),
    )


def from_toml(toml: TomlFile, before: Wanted) -> Wanted:
    """The form with what an `outlast.toml` says in place of what it said before."""
    said = {name: value for (table, name), value in toml.values.items() if table in ("run", "resources")}
    known = {each.name for each in fields(Wanted)} - {"args", "code", "params", "env", "data"}
    plain = {name: value for name, value in said.items() if name in known}
    texts = {name: value if isinstance(value, int) and name in _COUNTS else str(value) for name, value in plain.items()}
    outputs = [str(said["output"])] if "output" in said else []
    return replace(
        before,
        **texts,  # type: ignore[arg-type]
        target=str(said.get("script", before.target)),
        args=shlex.join(said.get("args", ())),
        platforms=tuple(filter(None, str(said.get("platform", "")).split(","))) or before.platforms,
        params=tuple(toml.params.items()),
        env=tuple(toml.env.items()),
        data=tuple((each.name, each.source) for each in toml.data),
        outputs=(*outputs, *(f"{name}={target}" for name, target in toml.outputs.items())),
    )


_COUNTS = ("cpus", "gpus", "npus", "nodes", "retries", "network")


def _time(seconds: float | None) -> str:
    """As `--limit` reads it."""
    if seconds is None or seconds < 10:
        return "" if seconds is None else f"{seconds:g}s"
    return format_duration(seconds).replace(" ", "").replace("min", "m")
