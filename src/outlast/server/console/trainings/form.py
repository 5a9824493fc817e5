"""The form of a new training, filled with what the last one was asked for."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui
from starlette.requests import Request

from outlast.hub.repository import Repository
from outlast.server.console.access import actor_of
from outlast.server.console.aside import aside
from outlast.server.console.hub.head import repository_frame
from outlast.server.console.hub.repository import open_repository
from outlast.server.console.newrun.pairs import Pairs
from outlast.server.console.newrun.wanted import Rows
from outlast.server.console.parts import button, choice, field, go, panel, send_button, text
from outlast.server.console.trainings.choosing import choose_input, choose_path
from outlast.server.console.trainings.desks import address, desk_now, desk_of, head
from outlast.server.console.words import say
from outlast.server.hub.trainings.computes import COMPUTES, Compute


async def new_training_page(request: Request, owner: str, name: str) -> None:
    """The form; `?from=ID` fills it from that training instead of the last one."""
    desk = desk_of(await actor_of(request))
    project = await aside(lambda: desk.project_at(owner, name, to_change=True))
    earlier = request.query_params.get("from", "")
    book = desk.book(project)
    known = await aside(lambda: book.find(earlier).body if earlier else book.last_config())
    with repository_frame(await open_repository(request, owner, name), "trainings"):
        head(project, say("New training"))
        with ui.element("div").classes("o-stack"):
            if known:
                words = say("This is what {name} was asked for.", name=known["name"])
                text(words, "o-note", "div")
            _Form(project).fill(known)


class _Form:
    def __init__(self, project: Repository) -> None:
        self._project = project
        with panel(say("Training")), ui.element("div").classes("o-fields"):
            self._name = field(say("Name"), hint=say("5 to 50 letters, digits, _ and -"))
            self._desc = field(say("Description"))
        with panel(say("Code"), say("The newest commit of the project is trained.")):
            self._code_dir = self._place(say("Code folder"), say("empty: the whole repository"), self._choose_folder)
            self._boot_file = self._place(say("Boot file"), say("relative to the code folder"), self._choose_script)
            options = {each: f"{each.version} · {each.hardware}" for each in COMPUTES}
            self._compute = choice(say("Version"), options, COMPUTES[0])
        about = say("Each is passed as an option of its name. The script has no network.")
        with panel(say("Inputs"), about):
            self._models = _inputs(say("Model"), say("model"), "model")
            self._datasets = _inputs(say("Data set"), say("data set"), "dataset")
        with panel(say("Hyper-parameters")):
            self._params = Pairs(say("Name"), say("Value"), say("hyper-parameter"), _nothing)
        with panel(say("Variables")):
            self._env = Pairs(say("Name"), say("Value"), say("variable"), _nothing)
        with panel(say("Results")):
            self._output = ui.switch(say("The script takes --output_path; its files are kept"), value=True)
            self._aim = ui.switch(say("The script takes --aim_repo, for an evaluation of its own"))
        with ui.element("div").classes("o-row"):
            send_button(say("Start the training"), self._start)

    def _place(self, label: str, hint: str, choose: Any) -> ui.input:
        with ui.element("div").classes("o-line"):
            made = field(label, hint=hint, classes="o-grow")
            button(say("Browse"), choose, label=say("Browse: {what}", what=label))
        return made

    def fill(self, known: dict[str, Any]) -> None:
        """What an earlier training was asked for, but for its name."""
        if not known:
            return
        self._desc.set_value(known["desc"])
        self._code_dir.set_value(known["code_dir"])
        self._boot_file.set_value(known["boot_file"])
        self._compute.set_value(Compute(**known["compute"]))
        self._params.fill(_rows(known["hyperparameter"]))
        self._env.fill(_rows(known["env"]))
        self._models.fill(_references(known["models"]))
        self._datasets.fill(_references(known["datasets"]))
        self._output.set_value(known["enable_output"])
        self._aim.set_value(known["enable_aim"])

    async def _choose_folder(self) -> None:
        path = await choose_path(self._project, say("Code folder"), folders=True, files=False)
        if path is not None:
            self._code_dir.set_value(f"{path}/" if path else "")

    async def _choose_script(self) -> None:
        """A script outside of the code folder takes that folder with it."""
        folder = (self._code_dir.value or "").strip("/")
        path = await choose_path(self._project, say("Boot file"), folders=False, files=True, start=folder)
        if path is None:
            return
        if folder and not path.startswith(f"{folder}/"):
            folder = path.rpartition("/")[0]
            self._code_dir.set_value(f"{folder}/" if folder else "")
        self._boot_file.set_value(path[len(folder) + 1 :] if folder else path)

    async def _start(self) -> None:
        compute: Compute = self._compute.value
        body = {
            "name": (self._name.value or "").strip(), "desc": self._desc.value or "",
            "code_dir": self._code_dir.value or "", "boot_file": self._boot_file.value or "",
            "compute": compute._asdict(), "hyperparameter": _pairs(self._params.rows), "env": _pairs(self._env.rows),
            "models": _named(self._models.rows), "datasets": _named(self._datasets.rows),
            "enable_output": bool(self._output.value), "enable_aim": bool(self._aim.value),
        }  # fmt: skip
        desk, project = await desk_now(), self._project
        made = await aside(lambda: desk.create(desk.project_at(project.owner, project.name, to_change=True), body))
        go(address(project, made.id))


def _inputs(words: str, add: str, kind: str) -> Pairs:
    return Pairs(say("Option"), words, add, _nothing, partial(choose_input, kind))


def _rows(pairs: list[dict[str, str]]) -> Rows:
    return tuple((each["key"], each["value"]) for each in pairs)


def _references(found: list[dict[str, str]]) -> Rows:
    return tuple((each["key"], "/".join(filter(None, (each["owner"], each["name"], each["File"])))) for each in found)


def _pairs(rows: Rows) -> list[dict[str, str]]:
    return [{"key": key.strip(), "value": value} for key, value in rows]


def _named(rows: Rows) -> list[dict[str, str]]:
    """`owner/name/path` as a body names it."""
    found = []
    for key, words in rows:
        owner, _, rest = words.strip().partition("/")
        name, _, file = rest.partition("/")
        found.append({"key": key.strip(), "owner": owner, "name": name, "File": file})
    return found


def _nothing() -> None:
    """The form is checked when it is sent."""
