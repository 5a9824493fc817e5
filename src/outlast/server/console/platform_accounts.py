"""The server's accounts on platforms: signing in and out, for admins."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from outlast.server.console.calls import calls, part
from outlast.server.console.parts import Table, button, choice, confirmed, field, go, panel, send_button, text
from outlast.server.console.words import say


async def accounts_part(platforms: list[dict[str, Any]]) -> None:
    """What is signed in to, and a form for more."""
    kinds = (await calls().get("/platforms/kinds"))["kinds"]
    about = say("Runs of everybody here may go there; the keys stay with the server.")
    with panel(say("Accounts on platforms"), about):
        _listed([each for each in platforms if each["machine"] is None])
    with panel(say("Sign in to a platform")):
        _SignIn({each["kind"]: each["fields"] for each in kinds}).build()


def _listed(accounts: list[dict[str, Any]]) -> None:
    if not accounts:
        text(say("Nobody is signed in to a platform yet."), "o-empty", "p")
        return
    table = Table([say("Name"), say("Kind"), ""], say("Accounts on platforms"))
    for each in accounts:
        with table.row(each["name"], each["kind"]):
            button(
                say("Sign out"),
                partial(_sign_out, each["name"]),
                "danger",
                say("Sign out of {name}", name=each["name"]),
            )


async def _sign_out(name: str) -> None:
    about = say("Its keys are forgotten; runs that could go there wait or go elsewhere.")
    if await confirmed(say("Sign out of {name}?", name=name), about, say("Sign out")):
        await calls().delete(f"/platforms/{part(name)}")
        go("/platforms")


class _SignIn:
    """The form: a kind, a name, and the fields of that kind."""

    def __init__(self, kinds: dict[str, list[dict[str, Any]]]) -> None:
        self._kinds = kinds
        self._fields: dict[str, ui.input] = {}

    def build(self) -> None:
        first = next(iter(self._kinds))
        with ui.element("div").classes("o-fields"):
            self._kind = choice(say("Kind of platform"), list(self._kinds), first, on_change=lambda _: self._show())
            self._name = field(say("Name of the account"), hint=say("what --on calls it; the kind when left out"))
        self._place = ui.element("div").classes("o-fields")
        self._show()
        send_button(say("Sign in to it"), self._send)
        self._said = text("", "o-note", "p")
        self._said.set_visibility(False)

    def _show(self) -> None:
        self._place.clear()
        with self._place:
            self._fields = {each["name"]: _asked(each) for each in self._kinds[self._kind.value]}

    async def _send(self) -> None:
        values = {name: made.value.strip() for name, made in self._fields.items() if made.value and made.value.strip()}
        body = {"kind": self._kind.value, "name": (self._name.value or "").strip(), "values": values}
        done = await calls().post("/platforms", body)
        self._said.set_text(say("Signed in as {name}: {words}", name=done["name"], words=done["detail"]))
        self._said.set_visibility(True)
        for made in self._fields.values():
            made.set_value("")


def _asked(each: dict[str, Any]) -> ui.input:
    about = say(each["help"]) if each["help"] else ""
    if not each["required"] and not each["default"]:
        about = say("optional: {about}", about=about) if about else say("optional")
    value = "" if each["secret"] else each["default"]
    return field(say(each["question"]), value, hint=about, password=each["secret"])
