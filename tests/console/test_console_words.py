"""The console in two languages: nothing that is said lacks its Chinese."""

import ast
import importlib
import math
import pkgutil
import re
import string
from pathlib import Path

import pytest
from starlette.requests import Request

import outlast.server.console
from outlast import errors
from outlast.errors import NotFoundError, UsageError
from outlast.model.states import EndReason, RunState, StintState
from outlast.model.view import LEDGER_COLUMNS
from outlast.operations.signin import fields_of, platform_kinds
from outlast.platforms.questions_zh import CHINESE
from outlast.server.accounts.people import Role
from outlast.server.console import addresses, zh
from outlast.server.console.mounting import _BUG
from outlast.server.console.pages import PAGES
from outlast.server.console.run.page import VIEWS
from outlast.server.console.shell import NAVIGATION
from outlast.server.console.words import REQUEST, chinese, say, say_refusal, say_sentence
from outlast.server.console.zh import refusals
from outlast.track.evaluation.curve import Curve, Spot
from outlast.track.evaluation.signs import find_signs

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


@pytest.fixture
def chinese_reader():
    before = REQUEST.set(Request({"type": "http", "headers": [(b"accept-language", b"zh-CN")]}))
    yield
    REQUEST.reset(before)


_SOURCE = _FOLDER.parents[1]
_REFUSING = {name for name, each in vars(errors).items() if isinstance(each, type) and issubclass(each, Exception)}
_REFUSING |= {"Conflict", "NotAllowed", "NotSignedIn", "QuotaExceeded", "TooLarge", "TooManyAttempts", "Refusal"}


def _refusals(*rooms: str) -> dict[str, str]:
    """Messages and hints of the errors that these parts of the code make, `{}` for each value, and where."""
    found = {}
    for room in rooms:
        for file in sorted((_SOURCE / room).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _REFUSING:
                    parts = [*node.args, *(each.value for each in node.keywords if each.arg == "hint")]
                    found |= dict.fromkeys(filter(None, map(_template, parts)), f"{file.name}:{node.lineno}")
    return found


def _template(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_what_accounts_pages_and_the_hub_refuse_has_its_chinese(chinese_reader):
    said = _refusals("server/accounts", "server/console", "server/api", "hub")
    assert len(said) > 120
    missing = {
        text: place
        for text, place in said.items()
        # Some are values and little else, and some are for programs, with an address of the API in them.
        if text.strip("{} ") not in ("", "no", "see")
        and "GET /" not in text
        and say_sentence(text.replace("{}", "token")) == text.replace("{}", "token")
    }
    assert missing == {}


def test_no_refusal_is_translated_that_is_never_said():
    said = [text for text in _refusals("") if text.replace("{}", "").strip()]
    forms = re.compile("|".join(re.escape(text).replace(re.escape("{}"), ".+") for text in said))
    known = {english for english in refusals.TEXTS if not forms.fullmatch(english)}
    assert known == {_BUG}  # which has a name


def test_a_refusal_is_said_with_its_values_and_unknown_ones_stay_english(chinese_reader):
    known = NotFoundError("no user 'eve'", hint="see them with: outlast user list")
    assert say_refusal(known) == "没有用户 'eve'。查看全部：outlast user list"
    half = UsageError("the moon is in the way", hint="choose another name")
    assert say_refusal(half) == "the moon is in the way。请换一个名字"
    assert say_refusal(UsageError("the moon is in the way")) == "the moon is in the way"


def test_a_refusal_in_english_is_as_it_was_said():
    refused = UsageError("no user 'eve'", hint="see them with: outlast user list")
    assert say_refusal(refused) == str(refused)


def _curve(name: str, values: list[float]) -> Curve:
    return Curve(name, -1, [Spot(value, float(at), at, float(at), 1) for at, value in enumerate(values)])


_SHAPES = {
    "unfinished": [2.0 * 0.9**at for at in range(20)],
    "plateau": [2.0 * 0.3**at for at in range(40)],
    "no-gain": [1.0 + 0.01 * (at % 2) for at in range(20)],
    "explosion": [1.0 / (at + 1) for at in range(10)] + [10.0**at for at in range(1, 12)],
    "divergence": [2.0 - 0.1 * at for at in range(15)] + [0.6 + 0.05 * at for at in range(15)],
    "spike": [2.0 * 0.97**at if at != 10 else 30.0 for at in range(30)],
    "not-finite": [1.0, 0.9, math.nan, 0.8],
    "noisy": [2.0 - 0.01 * at + 0.5 * (-1) ** at for at in range(40)],
}


@pytest.mark.parametrize("kind", _SHAPES)
def test_what_curves_show_is_said_in_chinese(chinese_reader, kind):
    findings = find_signs({"val_loss": _curve("val_loss", _SHAPES[kind])})
    assert kind in {each.kind for each in findings}
    for words in (text for each in findings for text in (each.sentence, each.advice)):
        assert say_sentence(words) != words and "{" not in say_sentence(words)


def test_overfitting_is_said_in_chinese(chinese_reader):
    curves = {"loss": _curve("loss", [2.0 * 0.9**at for at in range(30)]),
              "val_loss": _curve("val_loss", _SHAPES["divergence"])}  # fmt: skip
    found = next(each for each in find_signs(curves) if each.kind == "overfitting")
    assert "过拟合" in say_sentence(found.sentence) and "正则化" in say_sentence(found.advice)


def test_how_a_run_goes_is_said_in_chinese_and_what_is_not_known_stays(chinese_reader):
    assert say_sentence("stint 3 is handing-over") == "第 3 段：交接中"
    assert say_sentence("stint 3 handed over at 0003-000004") == "第 3 段已在 0003-000004 交接"
    assert say_sentence("something that nobody knows") == "something that nobody knows"


def test_sentences_stay_english_for_english_readers():
    assert say_sentence("stint 3 is running") == "stint 3 is running"
