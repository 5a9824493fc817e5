"""The frame around every page: header, navigation, language, look, and who is signed in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement
from starlette.requests import Request

from outlast.errors import NotFoundError, OutlastError
from outlast.server.accounts.people import Actor, Role
from outlast.server.console.access import actor_of, csrf
from outlast.server.console.theme import look_of
from outlast.server.console.words import language, say, say_refusal, say_sentence
from outlast.server.pages import ICON, LANGUAGE_COOKIE, LANGUAGES, LOOK_COOKIE

#: Text, address, icon.
NAVIGATION = (
    ("Runs", "/", "view_list"),
    ("New run", "/new", "add_circle_outline"),
    ("Compare", "/compare", "stacked_line_chart"),
    ("Hub", "/hub", "hub"),
    ("Stores", "/stores", "folder_open"),
    ("Platforms", "/platforms", "dns"),
    ("Settings", "/settings", "settings"),
)
_LOOKS = (("light", "Light", "light_mode"), ("dark", "Dark", "dark_mode"), ("auto", "Automatic", "contrast"))
_YEAR_S = 365 * 24 * 3600


@contextlib.contextmanager
def frame(title_key: str, current: str, actor: Actor, *, heading: bool = True) -> Iterator[ui.element]:
    """Everything but the content, which is put into the element that is given.

    `current` is the address in the navigation that the page belongs to. With `heading` the title stands above the
    content; a page that makes its own heading turns it off.
    """
    request = ui.context.client.request
    if look_of(request) == "auto":  # until the page stands, its ground is the system's
        ui.add_head_html("<style>:root { color-scheme: light dark }</style>")
    title = say(title_key)
    ui.page_title(f"{title} · Outlast")
    ui.colors(primary="#3355dd", secondary="#5b6472", accent="#3355dd", positive="#1a7f4b", negative="#c62f2f",
              info="#3355dd", warning="#9a6700", dark="#14161a", dark_page="#14161a")  # fmt: skip
    drawer = _navigation(current, actor)
    with ui.header(elevated=False).classes("o-header"):
        _link("#content", say("Skip to content"), "o-skip")  # here: the header is what the keyboard comes to first
        toggle = ui.button(icon="menu", on_click=drawer.toggle, color=None).props("flat dense round").classes("o-menu")
        toggle.props(f'aria-label="{say("Menu")}"')
        with ui.element("a").props('href="/"').classes("o-brand"):
            ui.html(ICON, sanitize=False, tag="span").props("aria-hidden=true")
            ui.label("Outlast")
        ui.space()
        _language_menu()
        _look_menu(look_of(request))
        _account_menu(actor, csrf(request))
    with ui.element("div").props("id=content tabindex=-1").classes("o-content") as content:
        if heading:
            TextElement(tag="h1", text=title).classes("o-title")
        yield content


def notify_error(error: OutlastError) -> None:
    """Say what was refused, and what is possible instead."""
    # Without a time limit: whoever looked away, or reads slowly, would never learn why nothing happened.
    ui.notify(say_refusal(error), type="negative", multi_line=True, close_button=say("Close"), timeout=0)


async def refused_page(request: Request, error: OutlastError) -> None:
    """The page in place of one that cannot be shown."""
    missing = isinstance(error, NotFoundError)
    client = ui.context.client
    for part in [each for each in client.layout.default_slot.children if each is not client.page_container]:
        part.delete()  # the frame of the page that failed half-way
    client.content.clear()
    client.status_code = error.http_status
    with frame("Not found" if missing else "Not possible", "", await actor_of(request)):
        ui.label(say_sentence(error.message))
        if error.hint and not missing:
            ui.label(say_sentence(error.hint)).classes("o-quiet")
        _link("/", say("Back to the runs"))


def heading(text: str, level: int = 2, classes: str = "") -> TextElement:
    """A heading that screen readers can jump to."""
    return TextElement(tag=f"h{level}", text=text).classes(f"o-h{level} {classes}")


def link(address: str, text: str, classes: str = "") -> TextElement:
    """A link that is one: it can be copied, and opened in another tab."""
    return _link(address, text, classes)


def _link(address: str, text: str, classes: str = "") -> TextElement:
    element = TextElement(tag="a", text=text).classes(classes)
    element._props["href"] = address  # as it is: `props()` would read quotes in it
    return element


def _navigation(current: str, actor: Actor) -> ui.left_drawer:
    drawer = ui.left_drawer(value=None, elevated=False, bordered=True).classes("o-drawer")
    drawer.props("width=200 breakpoint=900 show-if-above")
    with drawer, ui.element("nav").props(f'aria-label="{say("Main")}"').classes("o-nav"):
        for text, address, icon in NAVIGATION:
            if address == "/new" and not actor.role.reaches(Role.MEMBER):
                continue  # viewers start nothing
            with ui.element("a").classes("o-nav-link") as entry:
                entry._props["href"] = address
                if address == current:
                    entry.props("aria-current=page")
                ui.icon(icon).props("aria-hidden=true")
                ui.label(say(text))
    return drawer


def _language_menu() -> None:
    with _menu_button("translate", say("Language")), ui.menu():
        for code, name in LANGUAGES.items():
            _choice(name, code == language(), f"{LANGUAGE_COOKIE}={code}").props(f"lang={code}")


def _look_menu(look: str) -> None:
    icon = next(icon for name, _, icon in _LOOKS if name == look)
    with _menu_button(icon, say("Appearance")), ui.menu():
        for name, text, _ in _LOOKS:
            _choice(say(text), name == look, f"{LOOK_COOKIE}={name}")


def _menu_button(icon: str, text: str) -> ui.button:
    return ui.button(icon=icon, color=None).props(
        f'flat dense round aria-label="{text}" aria-haspopup=menu title="{text}"'
    )


def _choice(text: str, chosen: bool, cookie: str) -> ui.menu_item:
    """A choice that lives in a cookie: the page is loaded anew with it."""
    script = f"document.cookie='{cookie}; path=/; max-age={_YEAR_S}; samesite=lax'; location.reload()"
    item = ui.menu_item(text).on("click", js_handler=f"() => {{ {script} }}")
    return item.classes("o-chosen") if chosen else item


def _account_menu(actor: Actor, token: str) -> None:
    button = ui.button(color=None).props(f'flat dense no-caps aria-label="{say("Account of {name}", name=actor.name)}"')
    with button.props("aria-haspopup=menu").classes("o-account"):
        ui.label(actor.name[:1].upper()).classes("o-face").props("aria-hidden=true")
        ui.label(actor.name).classes("o-account-name")
        with ui.menu(), ui.element("div").classes("o-account-menu"):
            ui.label(actor.name).classes("o-strong")
            about = say(actor.role.value) + ("" if actor.via != "local" else f" · {say('on this machine')}")
            ui.label(about).classes("o-quiet")
            _link("/api/v1/docs", say("The REST API"))
            if actor.via == "session":
                with ui.element("form").props("method=post action=/sign-out"):
                    ui.element("input").props(f"type=hidden name=csrf value={token}")
                    TextElement(tag="button", text=say("Sign out")).props("type=submit").classes("o-button")
