"""The console in two languages: nothing that is said lacks its Chinese."""

import ast
import importlib
import pkgutil
import string
from pathlib import Path

import outlast.server.console
from outlast.model.states import EndReason, RunState, StintState
from outlast.model.view import LEDGER_COLUMNS
from outlast.operations.signin import fields_of, platform_kinds
from outlast.platforms.questions_zh import CHINESE
from outlast.server.accounts.people import Role
from outlast.server.console import addresses, zh
from outlast.server.console.pages import PAGES
from outlast.server.console.run.page import VIEWS
from outlast.server.console.shell import NAVIGATION
from outlast.server.console.words import chinese, say

_FOLDER = Path(outlast.server.console.__file__).parent
_SPEAKERS = {"say", "frame"}


def _said() -> dict[str, str]:
    """Every text in the code that is said as it stands, and where."""
    found = {}
    for file in sorted(_FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _SPEAKERS and node.args:
                found |= dict.fromkeys(_texts(node.args[0]), f"{file.name}:{node.lineno}")
    return found


def _texts(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return _texts(node.body) + _texts(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value else []


def test_every_text_of_the_pages_has_its_chinese():
    said = _said()
    assert len(said) > 100
    assert {text: place for text, place in said.items() if text not in chinese()} == {}


def test_words_that_come_from_the_model_have_their_chinese_too():
    columns = {"queue", "lost time", *LEDGER_COLUMNS} - {"queued", "lost"}
    words = {*RunState, *EndReason, *StintState, *Role, *columns, *(text for text, *_ in NAVIGATION)}
    words |= {text for text, _ in VIEWS.values()}
    assert {str(word) for word in words} - chinese().keys() == set()


def test_every_question_of_every_platform_has_its_chinese():
    fields = [field for kind in platform_kinds() for field in fields_of(kind)]
    assert len(fields) > 20
    asked = {text for field in fields for text in (field.question, field.help) if text}
    assert asked - chinese().keys() == set()
    assert CHINESE.keys() - asked == set()  # nothing is kept for a question that is gone


def test_no_text_has_two_translations():
    tables = [importlib.import_module(f"{zh.__name__}.{each.name}") for each in pkgutil.iter_modules(zh.__path__)]
    found: dict[str, set[str]] = {}
    for table in tables:
        for english, text in table.TEXTS.items():
            found.setdefault(english, set()).add(text)
    assert {english: texts for english, texts in found.items() if len(texts) > 1} == {}


def test_the_addresses_that_are_known_without_loading_the_console_are_those_of_its_pages():
    assert {path.split("/")[1] for path, _ in PAGES} == addresses.PAGES


def test_a_translation_takes_the_same_values():
    def fields(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    assert {english for english, text in chinese().items() if fields(text) != fields(english)} == set()


def test_outside_of_a_page_english_is_spoken():
    assert say("Stint {number}", number=3) == "Stint 3"
