"""The fields of the form, in sections; what they hold is a `Wanted` at any moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from outlast.server.console.hub.choosing import choose_input, choose_project
from outlast.server.console.newrun.bringing import code_of_project
from outlast.server.console.newrun.pairs import Pairs
from outlast.server.console.newrun.wanted import UPLOAD, Code, Wanted, rows_of_text, text_of_rows
from outlast.server.console.parts import button, choice, field, files, number, panel, text
from outlast.server.console.store_choice import choose_place
from outlast.server.console.uploader import Uploader
from outlast.server.console.words import say

#: What the API takes besides `plain`, which is what nothing means; a job file brings its own.
_CONTRACTS = ("modelarts", "modelarts-v1", "xihe")
_NETWORK = {None: "", True: "on", False: "off"}


class Form:
    """Everything that can be said about a new run."""

    def __init__(self, platforms: Sequence[str], environments: Sequence[str], *, is_admin: bool) -> None:
        self._texts: dict[str, ui.input] = {}
        self._counts: dict[str, ui.number] = {}
        self._code: Code | None = None
        with panel(say("Basics")), _fields():
            self._text("name", say("Name"), say("default: the script's"))
            self._platforms = choice(say("Platforms, in order of preference"), platforms, [], multiple=True)
            self._platforms.props("use-chips")
            self._environment = choice(say("Environment"), {"": say("as it is"), **{e: e for e in environments}}, "")
            self._contract = choice(say("Written for"), {"": say("plain"), **{c: c for c in _CONTRACTS}}, "")
        with panel(say("Code")):
            self._code_section(is_admin)
        with panel(say("Inputs"), say("Data that the script finds at the path it uses.")):
            in_hub = {say("Hub"): choose_input}
            self._data = Pairs(say("Name"), say("Address"), say("Add an input"), _nothing, choose_place, in_hub)
            Uploader("data", self._data_came)
        with panel(
            say("Parameters"), say("Passed to the script as --name=value; the table and the line are the same.")
        ):
            self._params = Pairs(say("Name"), say("Value"), say("Add a parameter"), self._table_changed)
            self._line = field(say("As one line"), hint=_like("lr=0.1;batch=4"))
            self._line.on_value_change(self._line_changed)
            self._text("args", say("Further arguments"), _like("--epochs 10"))
        self._time_section()
        self._results_section()
        with panel(say("Machine")), _fields():
            for name, label in (("cpus", say("Processor cores")), ("gpus", "GPU"), ("npus", "NPU")):
                self._counts[name] = number(label, None, least=1 if name == "cpus" else 0)
            self._counts["nodes"] = number(say("Nodes"), None, least=1)
            self._text("memory", say("Memory, at most"), _like("8G"))
            names = {value: say(word) if word else say("as usual") for value, word in _NETWORK.items()}
            self._network = choice(say("Network"), names, None)

    # ---- sections

    def _code_section(self, is_admin: bool) -> None:
        Uploader("code", self._code_came)
        button(say("Code from a project of the hub"), self._ask_project)
        self._code_line = text(say("No code yet."), "o-quiet", "p").props("role=status")
        with _fields():
            self._target = choice(
                say("Boot file"), [], None, with_input=True, new_value_mode="add-unique", clearable=True
            )
            self._text("requirements", say("Requirements file"), _like("requirements.txt"))
        if is_admin:
            about = say("Admins may also name a script or folder of the server's machine as boot file.")
            text(about, "o-quiet o-small", "p")

    def _time_section(self) -> None:
        with panel(say("Time")), _fields():
            self._text("limit", say("Limit of each stint"), _like("1h", "30m"))
            self._text("stints", say("Stints, at most"), say("default: as many as it takes"))
            self._text("until", say("Finish when"), _like("epoch>=100", "val_acc>0.9"))
            self._text("grace", say("Time to save at the end"), _like("10s"))
            self._counts["retries"] = number(say("Retries after an error"), None)

    def _results_section(self) -> None:
        with panel(say("Results and variables")):
            with _fields():
                self._text("checkpoint", say("Checkpoints"), say("folder that the script saves to"))
                self._text("outputs", say("Outputs"), say("folder, or name=address; commas between"))
            self._env = Pairs(say("Variable"), say("Value"), say("Add a variable"), _nothing)

    def _text(self, name: str, label: str, hint: str = "") -> None:
        self._texts[name] = field(label, hint=hint)

    # ---- keeping things in step

    def _table_changed(self) -> None:
        line = text_of_rows(self._params.rows)
        if rows_of_text(self._line.value or "") != rows_of_text(line):
            self._line.set_value(line)

    def _line_changed(self) -> None:
        rows = rows_of_text(self._line.value or "")
        if rows != rows_of_text(text_of_rows(self._params.rows)):
            self._params.fill(rows)

    async def _code_came(self, told: dict[str, Any]) -> None:
        paths = tuple(str(path) for path in told.get("paths", ()))
        self._set_code(Code(str(told.get("sha256", "")), str(told.get("name", "")), paths), int(told.get("count", 0)))
        self._choose_script()

    def _choose_script(self) -> None:
        if self._code is not None and self._target.value not in self._code.paths:
            scripts = self._code.scripts
            self._set_target("." if "outlast.toml" in scripts else scripts[0] if scripts else "")

    async def _ask_project(self) -> None:
        chosen = await choose_project()
        if chosen:
            await self.take_project(chosen)

    async def take_project(self, project: str) -> None:
        """Let a project of the hub, `owner/name@revision`, be the code."""
        self._set_code(await code_of_project(project))
        self._choose_script()

    def add_input(self, asset: str) -> None:
        """Let something of the hub be one more input."""
        self._data.add(asset)

    async def _data_came(self, told: dict[str, Any]) -> None:
        name = str(told.get("name", "")).partition(".")[0]
        self._data.fill((*self._data.rows, (name, f"{UPLOAD}{told.get('sha256', '')}")))

    def _set_code(self, code: Code | None, count: int = 0) -> None:
        self._code = code
        if code is None:
            self._code_line.set_text(say("No code yet."))
            return
        self._code_line.set_text(f"{code.name}: {files(count or len(code.paths))}")
        self._target.set_options(list(dict.fromkeys([".", *code.scripts[:500]])))

    def _set_target(self, target: str) -> None:
        if target and target not in self._target.options:
            self._target.set_options([*self._target.options, target])
        self._target.set_value(target or None)

    # ---- the whole

    @property
    def wanted(self) -> Wanted:
        """What the form says now."""
        texts = {name: (each.value or "").strip() for name, each in self._texts.items()}
        outputs = tuple(filter(None, (word.strip() for word in texts.pop("outputs").split(","))))
        counts = {name: None if each.value is None else int(each.value) for name, each in self._counts.items()}
        return Wanted(
            **texts,  # type: ignore[arg-type]
            **counts,  # type: ignore[arg-type]
            outputs=outputs,
            target=self._target.value or "",
            code=self._code,
            platforms=tuple(self._platforms.value or ()),
            environment=self._environment.value or "",
            contract=self._contract.value or "",
            data=self._data.rows,
            params=self._params.rows,
            env=self._env.rows,
            network=self._network.value,
        )

    def fill(self, wanted: Wanted) -> None:
        """Let the form say this."""
        self._set_code(wanted.code)
        self._set_target(wanted.target)
        for name, each in self._texts.items():
            each.set_value(", ".join(wanted.outputs) if name == "outputs" else getattr(wanted, name))
        for name, count in self._counts.items():
            count.set_value(getattr(wanted, name))
        self._platforms.set_value([each for each in wanted.platforms if each in self._platforms.options])
        for select, value in ((self._environment, wanted.environment), (self._contract, wanted.contract)):
            select.set_value(value if value in select.options else "")
        self._network.set_value(wanted.network)
        self._data.fill(wanted.data)
        self._params.fill(wanted.params)
        self._env.fill(wanted.env)
        self._table_changed()


def _like(*examples: str) -> str:
    """A hint that shows how it is written."""
    return say("like {example}", example=f" {say('or')} ".join(examples))


def _fields() -> ui.element:
    return ui.element("div").classes("o-fields")


def _nothing() -> None:
    """Rows that nothing else follows."""
