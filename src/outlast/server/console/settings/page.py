"""The page: one part at a time, each at its own address."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui
from starlette.requests import Request

from outlast.server.accounts.people import Actor, Role
from outlast.server.console.access import actor_of
from outlast.server.console.parts import style_sheet, told
from outlast.server.console.settings.groups import groups_part
from outlast.server.console.settings.history import history_part
from outlast.server.console.settings.notices import notices_part
from outlast.server.console.settings.profile import profile_part
from outlast.server.console.settings.tokens import tokens_part
from outlast.server.console.settings.users import users_part
from outlast.server.console.shell import frame, link
from outlast.server.console.words import say

#: Word in the address, title, what builds it, and whom it is for.
_PARTS: tuple[tuple[str, str, Callable[[Actor], Awaitable[None]], Role], ...] = (
    ("profile", "Profile", profile_part, Role.VIEWER),
    ("tokens", "Tokens", tokens_part, Role.VIEWER),
    ("notices", "Notifications", notices_part, Role.VIEWER),
    ("groups", "Groups and queues", groups_part, Role.VIEWER),
    ("users", "Users", users_part, Role.ADMIN),
    ("history", "History", history_part, Role.ADMIN),
)


async def settings_page(request: Request, show: str = "profile") -> None:
    """`show` names the part; one that is not for this visitor is as good as none."""
    actor = await actor_of(request)
    parts = [each for each in _PARTS if actor.role.reaches(each[3])]
    chosen = next((each for each in parts if each[0] == show), parts[0])
    with frame("Settings", "/settings", actor), ui.element("div").classes("o-stack"), told():
        style_sheet()
        with ui.element("nav").classes("o-tabs").props(f'aria-label="{say("Parts of the settings")}"'):
            for word, title, _, _ in parts:
                tab = link(f"/settings?show={word}", say(title), "o-tab")
                if word == chosen[0]:
                    tab.props("aria-current=page")
        await chosen[2](actor)
