"""Oneself: who one is, what one's groups may use, language, password."""

from __future__ import annotations

from nicegui import ui

from outlast.errors import UsageError
from outlast.model.quantities import format_size
from outlast.server.accounts.people import Actor
from outlast.server.console.calls import calls
from outlast.server.console.newrun.plan import show_facts
from outlast.server.console.parts import Table, choice, field, go, panel, send_button, text
from outlast.server.console.words import language, say
from outlast.server.pages import LANGUAGE_COOKIE, LANGUAGES

_YEAR_S = 365 * 24 * 3600
#: Only the codes that the choice offers; a page loads anew in its language.
_SET_LANGUAGE = "document.cookie = '{cookie}={code}; path=/; max-age={year}; samesite=lax'; location.reload()"


async def profile_part(actor: Actor) -> None:
    groups = (await calls().get("/groups"))["items"]
    with panel(say("Profile")):
        show_facts(
            {
                say("Name"): actor.name,
                say("Role"): say(actor.role.value),
                say("Groups"): ", ".join(actor.groups) or say("none"),
            }
        )
        chosen = choice(say("Language"), LANGUAGES, language()).classes("o-short")
        chosen.on_value_change(lambda: _speak(str(chosen.value)))
    mine = [group for group in groups if group["name"] in actor.groups]
    if mine:
        with panel(say("What your groups may use at once")):
            table = Table([say("Group"), "#" + say("Stints"), "#" + say("Accelerators"), "#" + say("Stored")],
                          say("What your groups may use at once"))  # fmt: skip
            for group in mine:
                table.add(group["name"], *limits_of(group))
    if actor.via == "session":
        _password()
    elif actor.via == "local":
        text(say("No account is needed on this machine until the first one is made."), "o-note", "p")


def limits_of(group: dict[str, int | None]) -> list[str]:
    """The quota of a group as three texts."""
    stored = group["max_stored_bytes"]
    counts = [str(group[name]) if group[name] is not None else "–" for name in ("max_stints", "max_accelerators")]
    return [*counts, format_size(stored) if stored is not None else "–"]


def _speak(code: str) -> None:
    if code in LANGUAGES:
        ui.run_javascript(_SET_LANGUAGE.format(cookie=LANGUAGE_COOKIE, code=code, year=_YEAR_S))


def _password() -> None:
    with panel(say("Password"), say("Every session ends with a new password, this one too.")):
        with ui.element("div").classes("o-fields"):
            old = field(say("Password until now"), password=True).props("autocomplete=current-password")
            new = field(say("New password"), password=True, hint=say("At least 8 characters"))
            again = field(say("New password again"), password=True)

        async def change() -> None:
            if new.value != again.value:
                raise UsageError("the two new passwords differ", hint="type them again")
            await calls().post("/me/password", {"old": old.value or "", "new": new.value or ""})
            go("/sign-in")

        send_button(say("Change the password"), change)
