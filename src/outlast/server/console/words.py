"""What the console says, in English and Chinese.

The English text is the key, so that pages read naturally and a missing translation falls back to English. Each page
has its Chinese in `zh/<page>.py`. Names, logs and messages of errors stay as they are: they are searched for.
"""

from __future__ import annotations

import contextvars
import functools
import importlib
import pkgutil

from nicegui import context
from starlette.requests import Request

from outlast.server.console import zh
from outlast.server.pages import wants_chinese

LANGUAGES = {"en": "English", "zh": "中文"}
#: The request that is being answered, where there is no page yet or no longer.
REQUEST: contextvars.ContextVar[Request | None] = contextvars.ContextVar("request", default=None)


def say(text: str, **values: object) -> str:
    """`text` in the language of the page that is being built or acted on, its `{names}` filled in."""
    found = chinese().get(text, text) if language() == "zh" else text
    return found.format(**values) if values else found


def language() -> str:
    """`en` or `zh`; English outside of a page."""
    request = current_request()
    return "zh" if request is not None and wants_chinese(request) else "en"


def current_request() -> Request | None:
    """The request of the page that is being built or acted on."""
    try:
        return context.client.request
    except RuntimeError:  # not within a page
        return REQUEST.get()


@functools.cache
def chinese() -> dict[str, str]:
    """All tables as one."""
    tables = (importlib.import_module(f"{zh.__name__}.{each.name}") for each in pkgutil.iter_modules(zh.__path__))
    return {english: text for table in tables for english, text in table.TEXTS.items()}
