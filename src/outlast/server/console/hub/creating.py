"""The window that makes a repository; its name is checked while it is typed."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from outlast.errors import NotFoundError, UsageError
from outlast.hub import names
from outlast.server.console.access import member_now
from outlast.server.console.calls import calls
from outlast.server.console.hub.repository import api_of, page_of
from outlast.server.console.parts import answered, button, choice, dialog, field, go, send_button, text
from outlast.server.console.words import say, say_refusal

_LICENCES = (
    "",
    "apache-2.0",
    "mit",
    "bsd-3-clause",
    "gpl-3.0",
    "mulan-psl-2.0",
    "cc-by-4.0",
    "cc-by-sa-4.0",
    "cc0-1.0",
)
KINDS = ("project", "model", "dataset")


async def ask_repository(kind: str) -> None:
    """Ask for everything about a new repository, make it, and open its page."""
    actor = await member_now()
    with dialog(say("New repository")) as asked:
        form = _Form([actor.name, *actor.groups], kind)
        with ui.element("div").classes("o-row o-end"):
            button(say("Cancel"), lambda: asked.submit(None))
            send_button(say("Make it"), lambda: _make(form, asked))
    await answered(asked)


async def _make(form: _Form, asked: ui.dialog) -> None:
    made = await calls().post("/repositories", form.body)
    asked.submit(made["path"])
    go(page_of(made["path"]))


class _Form:
    def __init__(self, owners: list[str], kind: str) -> None:
        self._kind = choice(say("Kind"), {each: say(each) for each in KINDS}, kind)
        with ui.element("div").classes("o-fields"):
            self._owner = choice(say("Owner"), owners, owners[0])
            self._name = field(say("Repository name")).props("autofocus maxlength=64 debounce=300")
        self._told = text("", "o-small o-quiet", "p").props("role=status")
        self._words = WordFields({})
        self._name.on_value_change(self._check)
        self._owner.on_value_change(self._check)

    async def _check(self) -> None:
        """Say at once whether the name can be had."""
        name, owner = (self._name.value or "").strip(), self._owner.value
        if not name:
            self._told.set_text("")
            return
        try:
            names.check_repository_name(name)
            found = await calls().get(api_of(owner, name))
            is_taken = found["path"].lower() == f"{owner}/{name}".lower()  # an old name leads elsewhere, and is free
            words = say("{path} is there already") if is_taken else say("{path} is free")
            words = words.format(path=f"{owner}/{name}")
        except NotFoundError:
            words = say("{path} is free", path=f"{owner}/{name}")
        except UsageError as error:
            words = say_refusal(error)
        self._told.set_text(words)

    @property
    def body(self) -> dict[str, Any]:
        named = {"name": (self._name.value or "").strip(), "kind": self._kind.value, "owner": self._owner.value}
        return {**named, **self._words.body}


class WordFields:
    """Visibility, description, tags and licence of a repository, as fields."""

    def __init__(self, about: dict[str, Any]) -> None:
        visible = {"private": say("private: you, your group and admins"), "public": say("public: everybody here")}
        self._visibility = choice(say("Visibility"), visible, about.get("visibility", "private"))
        self._description = field(say("Description"), about.get("description", ""))
        self._description.props(f"maxlength={names.DESCRIPTION_LIMIT}")
        self._tags = field(say("Tags"), ", ".join(about.get("tags", ())), hint=say("commas between: vision, lenet"))
        chosen = about.get("licence", "")
        known = {each: each or say("none") for each in dict.fromkeys((*_LICENCES, chosen))}
        self._licence = choice(say("Licence"), known, chosen, with_input=True, new_value_mode="add-unique")

    @property
    def body(self) -> dict[str, Any]:
        tags = [each.strip() for each in (self._tags.value or "").replace("，", ",").split(",")]
        return {
            "visibility": self._visibility.value, "description": (self._description.value or "").strip(),
            "tags": list(dict.fromkeys(filter(None, tags))), "licence": self._licence.value or "",
        }  # fmt: skip
