"""Small pieces that several pages are made of: tables, buttons, fields, questions, text to copy."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from outlast.errors import OutlastError
from outlast.server.console.shell import heading, notify_error
from outlast.server.console.theme import link_to
from outlast.server.console.words import say, say_refusal
from outlast.server.refusals import NotSignedIn

Act = Callable[[], Awaitable[Any] | Any]
Field = TypeVar("Field", bound=ui.element)


def style_sheet() -> None:
    """The style of these pieces, for the current page."""
    ui.add_head_html(link_to("pages.css"))


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Within this block a refusal stands on the page, in place of what it kept from being shown."""
    try:
        yield
    except NotSignedIn:
        raise
    except OutlastError as error:
        text(say_refusal(error), "o-refusal", "p").props("role=alert")


def text(words: str, classes: str = "", tag: str = "span") -> TextElement:
    return TextElement(tag=tag, text=words).classes(classes)


def button(words: str, act: Act, kind: str = "", label: str = "") -> TextElement:
    """A button that does something here; what is refused is said and changes nothing. `label` is for screen readers."""
    made = TextElement(tag="button", text=words).classes(f"o-button {kind}").props("type=button")
    if label:
        made._props["aria-label"] = label
    return made.on("click", spoken(act))


def send_button(words: str, act: Act) -> TextElement:
    """A button that sends the form it stands below; a refusal stands beside it until the next attempt."""
    made = TextElement(tag="button", text=words).classes("o-button primary").props("type=button")
    refusal = ui.element("div").classes("o-sent")

    async def sent() -> None:
        refusal.clear()
        try:
            await _acted(act)
        except OutlastError as error:
            if refusal.is_deleted:  # what was done so far has rebuilt the form
                notify_error(error)
                return
            with refusal:
                text(say_refusal(error), "o-refusal", "p").props("role=alert")

    return made.on("click", sent)


def spoken(act: Act) -> Callable[[], Awaitable[None]]:
    """`act`, whose refusals are shown to the visitor. It may rebuild the part of the page that its button stands in."""

    async def done() -> None:
        try:
            await _acted(act)
        except OutlastError as error:
            with ui.context.client.content:
                notify_error(error)

    return done


async def _acted(act: Act) -> None:
    with ui.context.client.content:
        outcome = act()
        if asyncio.iscoroutine(outcome):  # a dialog can be awaited too, which would open it again
            await outcome


def field(label: str, value: str = "", *, hint: str = "", password: bool = False, classes: str = "") -> ui.input:
    made = ui.input(label, value=value, password=password).props("outlined dense").classes(f"o-field {classes}")
    if password:
        made.props("autocomplete=new-password")
    return _hinted(made, hint)


def number(label: str, value: float | None, *, hint: str = "", least: float = 0) -> ui.number:
    made = ui.number(label, value=value, min=least).props("outlined dense clearable").classes("o-field")
    return _hinted(made, hint)


def choice(label: str, options: Mapping[Any, str] | Sequence[str], value: Any, **words: Any) -> ui.select:
    given = dict(options) if isinstance(options, Mapping) else list(options)
    return ui.select(given, label=label, value=value, **words).props("outlined dense options-dense").classes("o-field")


def _hinted(made: Field, hint: str) -> Field:
    if hint:
        made._props["hint"] = hint
    return made


@contextlib.contextmanager
def panel(title: str = "", about: str = "") -> Iterator[ui.element]:
    with ui.element("section").classes("o-panel o-stack") as made:
        if title:
            heading(title)
        if about:
            text(about, "o-quiet", "p")
        yield made


#: What the first letter of a column's name says of its cells.
_KINDS = {"#": "o-number", "@": "o-nowrap"}


class Table:
    """A plain table: its head now, rows as they are added.

    A column whose name begins with `#` holds numbers, one with `@` times, which stay on one line. On a phone each row
    is a card with the names beside the values, unless `cards` is turned off.
    """

    def __init__(self, columns: Sequence[str], caption: str, *, cards: bool = True) -> None:
        self._kinds = [_KINDS.get(each[:1], "") for each in columns]
        self._names = [each[1:] if each[:1] in _KINDS else each for each in columns]
        self._last = "o-cell" if not columns[-1] else ""
        with (
            ui.element("div").classes("o-scroll"),
            ui.element("table").classes("o-table o-cards" if cards else "o-table"),
        ):
            text(caption, "o-hidden", "caption")
            with ui.element("thead"), ui.element("tr"):
                for name, kind in zip(self._names, self._kinds, strict=True):
                    head = text(name, kind, "th").props("scope=col")
                    if not name:
                        head._props["aria-label"] = say("Actions")
            self._body = ui.element("tbody")

    @contextlib.contextmanager
    def row(self, *cells: str) -> Iterator[None]:
        """Add a row of texts; what is made within the block goes into one more cell."""
        with self._body, ui.element("tr"):
            self._cells(cells)
            with self._filled_cell(len(cells)):
                yield

    @contextlib.contextmanager
    def opened_row(self, first: Callable[[], None], *cells: str) -> Iterator[None]:
        """As `row`, with a first cell that `first` fills."""
        with self._body, ui.element("tr"):
            with ui.element("td"):
                first()
            self._cells(cells, 1)
            with self._filled_cell(len(cells) + 1):
                yield

    def add(self, *cells: str) -> None:
        with self._body, ui.element("tr"):
            self._cells(cells)

    def _cells(self, cells: Sequence[str], at: int = 0) -> None:
        for words, kind, name in zip(cells, self._kinds[at:], self._names[at:], strict=False):
            text(words, kind, "td")._props["data-label"] = name

    def _filled_cell(self, at: int) -> ui.element:
        cell = ui.element("td").classes(self._last)
        if self._names[at]:
            cell._props["data-label"] = self._names[at]
        return cell


@contextlib.contextmanager
def dialog(title: str) -> Iterator[ui.dialog]:
    """A window in front of the page with a title; it closes with Escape, too, and is gone then."""
    with ui.dialog() as made, ui.element("div").classes("o-dialog o-stack").props("role=document"):
        heading(title)
        yield made
    made.on("hide", lambda: None if made.is_deleted else made.delete())


async def answered(asked: ui.dialog) -> Any:
    """What the visitor chose in a dialog, which is gone at once; None when they left it."""
    answer = await asked
    if not asked.is_deleted:
        asked.delete()
    return answer


async def confirmed(title: str, about: str, action: str) -> bool:
    """Whether the visitor really wants it."""
    with dialog(title) as asked:
        text(about, "o-wrap", "p")
        with ui.element("div").classes("o-row o-end"):
            button(say("Cancel"), lambda: asked.submit(False))
            button(action, lambda: asked.submit(True), "danger")
    return await answered(asked) is True


def copyable(words: str, label: str) -> None:
    """Text in a box, selected with one click and copied with one button."""
    with ui.element("div").classes("o-copy"):
        code = text(words, "o-copy-text", "code").props("tabindex=0")
        code._props["aria-label"] = label
        copied = TextElement(tag="button", text=say("Copy")).classes("o-button").props("type=button")
        copied.on("click", js_handler="(e) => navigator.clipboard?.writeText("
                  "e.currentTarget.previousElementSibling.textContent)")  # fmt: skip


def files(count: int) -> str:
    return say("1 file") if count == 1 else say("{count} files", count=count)


def when(moment: str | float | None) -> str:
    """A time as it is read: the day and the minute, UTC."""
    if moment is None or moment == "":
        return ""
    if isinstance(moment, str):
        found = datetime.datetime.fromisoformat(moment)
    else:
        found = datetime.datetime.fromtimestamp(moment, datetime.UTC)
    return found.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M")


def go(address: str) -> None:
    """Open another page."""
    ui.navigate.to(address)
