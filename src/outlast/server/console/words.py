"""What the console says, in English and Chinese.

The English text is the key, so that pages read naturally and a missing translation falls back to English. Each page
has its Chinese in `zh/<page>.py`. What the server refuses comes in English, values and all, and is recognised by its
sentence (`zh/refusals.py`). Names and logs stay as they are: they are searched for.
"""

from __future__ import annotations

import contextvars
import functools
import importlib
import pkgutil
import re

from nicegui import context
from starlette.requests import Request

from outlast.errors import OutlastError
from outlast.server.console import zh
from outlast.server.console.zh import refusals, sentences
from outlast.server.pages import wants_chinese

_VALUE = re.compile(r"\{(\w+)\}")
#: The request that is being answered, where there is no page yet or no longer.
REQUEST: contextvars.ContextVar[Request | None] = contextvars.ContextVar("request", default=None)


def say(text: str, **values: object) -> str:
    """`text` in the language of the page that is being built or acted on, its `{names}` filled in."""
    found = chinese().get(text, text) if language() == "zh" else text
    return found.format(**values) if values else found


def say_sentence(text: str) -> str:
    """A sentence that was made elsewhere, values and all, in the language of the page; one that is not known stays."""
    if language() != "zh":
        return text
    for pattern, translated in _sentences():
        if found := pattern.fullmatch(text):
            return translated.format(**{name: chinese().get(value, value) for name, value in found.groupdict().items()})
    return text


def say_refusal(error: OutlastError) -> str:
    """What was refused and what is possible instead, in the language of the page; what is not known stays English."""
    if language() != "zh":
        return str(error)
    message, hint = say_sentence(error.message), say_sentence(error.hint)
    return f"{message}。{hint}" if hint else message


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
def _sentences() -> list[tuple[re.Pattern[str], str]]:
    """Each known sentence as a pattern, the one that says the most beside its values first."""
    known = sorted({**sentences.TEXTS, **refusals.TEXTS}.items(), key=lambda each: -len(_VALUE.sub("", each[0])))
    return [(re.compile(_pattern_of(english)), text) for english, text in known]


def _pattern_of(english: str) -> str:
    """What finds the values of a sentence's `{names}`."""
    parts = _VALUE.split(english)  # texts and names in turn
    return "".join(f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts))


@functools.cache
def chinese() -> dict[str, str]:
    """All tables as one."""
    tables = (importlib.import_module(f"{zh.__name__}.{each.name}") for each in pkgutil.iter_modules(zh.__path__))
    return {english: text for table in tables for english, text in table.TEXTS.items()}
