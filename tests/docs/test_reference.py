"""The reference is what the program says of itself, all of it."""

from __future__ import annotations

import inspect
import re

import pages
import pytest
from tools import reference

import outlast.errors
import outlast.inside.errors
from outlast.cli.verbs import VERBS
from outlast.operations.tomlfile import FREE_TABLES, KEYS
from outlast.settings import SETTINGS

FOLDER = pages.ROOT / "docs" / "reference"


@pytest.fixture(scope="module")
def made():
    return reference.pages()


@pytest.mark.parametrize("name", ["cli.md", "errors.md", "outlast-toml.md", "settings.md"])
def test_generated_page_is_up_to_date(made, name):
    page = FOLDER / name
    assert page.exists() and pages.text_of(page) == made[name], f"docs/reference/{name} is out of date; run make docs"


def test_every_generated_page_is_compared(made):
    assert sorted(made) == ["cli.md", "errors.md", "outlast-toml.md", "settings.md"]
    assert sorted(made) == sorted(page.name for page in FOLDER.glob("*.md"))


@pytest.mark.parametrize("language", ["zh_CN.UTF-8", "de_DE.UTF-8"])
def test_pages_do_not_depend_on_the_terminal(made, monkeypatch, language):
    monkeypatch.setenv("LC_ALL", language)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert reference.pages() == made


def test_every_verb_has_its_help_page(made):
    for verb in VERBS:
        assert f"## outlast {verb}\n\n```text\nUsage: outlast {verb} " in made["cli.md"]


def test_help_pages_fit_their_width(made):
    too_long = [line for line in made["cli.md"].splitlines() if len(line) > 120]
    assert too_long == []


def test_every_verb_is_in_both_readmes():
    for readme in pages.READMES:
        rows = re.findall(r"^\| `outlast (\w+)` \|", pages.text_of(readme), re.MULTILINE)
        assert rows == list(VERBS), pages.name_of(readme)


def test_every_setting_is_documented_with_its_default_and_variable(made):
    for setting in SETTINGS:
        row = next(line for line in made["settings.md"].splitlines() if line.startswith(f"| `{setting.name}` |"))
        assert setting.sentence in row and setting.default in row and f"OUTLAST_{setting.name.upper()}" in row


@pytest.mark.parametrize("module", [outlast.errors, outlast.inside.errors])
def test_every_error_class_is_documented_and_drawn(made, module):
    kinds = [kind for _, kind in inspect.getmembers(module, inspect.isclass) if issubclass(kind, Exception)]
    tree = reference._tree(module)
    assert kinds
    for kind in kinds:
        assert f"| `{kind.__name__}` |" in made["errors.md"]
        assert re.search(rf"\b{kind.__name__}\b", tree), (
            f"{kind.__name__} is missing in the drawing of {module.__name__}"
        )


def test_every_key_of_outlast_toml_is_documented(made):
    sections = dict(re.findall(r"^## \[(\w+)\]\n(.*?)(?=^## )", made["outlast-toml.md"], re.DOTALL | re.MULTILINE))
    for key in KEYS:
        assert f"| `{key.name}` |" in sections[key.table]
    for table, sentence, examples in FREE_TABLES:
        assert sentence in sections[table] and all(example in sections[table] for example in examples)
