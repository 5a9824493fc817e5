"""What the documents say can be followed: links, commands, code."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
import tomllib

import pages
import pytest
import typer.main

from outlast.cli.verbs import GLOBAL_OPTIONS, VERBS
from outlast.inside.stores import OPENERS
from outlast.platforms.registry import kinds

EVERY_PAGE = pytest.mark.parametrize("page", pages.DOCUMENTS, ids=pages.name_of)
FIRST_COMMAND = "pip install . && outlast run examples/digits --limit 15s"
TEST_COMMAND = "make test"


def broken_links(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", pages.prose(page)):
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = (page.parent / path).resolve() if path else page
        is_ours = target.is_relative_to(pages.ROOT) and target.exists()
        if not is_ours or (anchor and anchor not in pages.anchors(target)):
            yield link


@EVERY_PAGE
def test_every_relative_link_leads_somewhere(page):
    assert list(broken_links(page)) == []


def test_a_broken_link_and_a_broken_anchor_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("# A heading!\n[a](#a-heading) [b](#other) [c](none.md) [d](../..) [e](page.md#a-heading)\n")
    assert list(broken_links(page)) == ["#other", "none.md", "../.."]


def test_every_document_can_be_reached_from_the_readmes():
    reached, waiting = set(), list(pages.READMES)
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        links = re.findall(r"\]\(([^)\s#]+)", pages.prose(page))
        waiting += [(page.parent / link).resolve() for link in links if "://" not in link]
    assert [pages.name_of(page) for page in pages.DOCUMENTS if page not in reached] == []


@EVERY_PAGE
def test_code_blocks_can_be_read(page):
    for block in pages.blocks(page):
        if block.language == "python":
            ast.parse(block.text, f"{pages.name_of(page)}:{block.line}")
        elif block.language == "toml":
            tomllib.loads(block.text)


@EVERY_PAGE
def test_names_of_the_module_exist(page):
    import outlast

    code = " ".join([*re.findall(r"`([^`\n]+)`", pages.prose(page)), *(block.text for block in pages.blocks(page))])
    for name in re.findall(r"\boutlast\.([a-z_]+)\(", code):
        assert name in outlast.__all__, f"outlast.{name}() is not exported"


def complaint(line):
    """What is wrong with a command line, or nothing. A missing argument is fine: `outlast stop` may be a mention."""
    words = shlex.split(re.split(r" [<>] ", line)[0])[1:]
    if words[0].startswith("-"):
        flags = [flag for names in GLOBAL_OPTIONS for flag in re.split(r"[, ]+", names)]
        return None if words[0] in flags else f"unknown option {words[0]}"
    if words[0] not in VERBS:
        return f"unknown verb {words[0]}"
    command = typer.main.get_command(importlib.import_module(VERBS[words[0]][0]).app)
    arguments = [word for word in words[1:] if word not in ("--help", "-h")]
    below = getattr(command, "commands", {})
    if below:
        if not arguments:
            return None
        if command.default_takes_words and arguments[0] not in below:
            arguments.insert(0, command.default)
        command = below.get(arguments.pop(0))
        if command is None:
            return f"unknown sub-command of {words[0]}"
    try:
        command.make_context(f"outlast {words[0]}", arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what a reader would get
        return None if type(error).__name__ == "MissingParameter" else f"{type(error).__name__}: {error}"
    return None


@EVERY_PAGE
def test_every_command_line_parses(page):
    wrong = {line: complaint(line) for line in pages.command_lines(page)}
    assert {line: why for line, why in wrong.items() if why} == {}


@pytest.mark.parametrize(
    "line",
    [
        "outlast fly",
        "outlast run train.py --limits 1h",
        "outlast store fly",
        "outlast store sign x --until 1h",
        "outlast --halp",
        "outlast gc --keep-last many",
    ],
)
def test_a_wrong_command_line_is_noticed(line):
    assert complaint(line)


def test_command_lines_are_found_where_readers_see_them():
    found = list(pages.command_lines(pages.ROOT / "README.md"))
    assert "outlast run examples/digits --limit 15s" in found and "outlast rehearse" in found
    assert len(list(pages.command_lines(pages.ROOT / "docs" / "reference" / "cli.md"))) >= 2 * len(VERBS)


@pytest.mark.parametrize("readme", pages.READMES, ids=pages.name_of)
def test_readme_has_the_two_commands_and_the_picture(readme):
    commands = [block.text.strip() for block in pages.blocks(readme) if block.language == "sh"]
    assert commands[:2] == [FIRST_COMMAND, TEST_COMMAND]
    assert "](docs/picture.svg)" in pages.text_of(readme)


def test_readmes_link_each_other_and_share_their_code():
    english, chinese = pages.READMES
    assert f"({chinese.name})" in pages.text_of(english) and f"({english.name})" in pages.text_of(chinese)
    assert [block.text for block in pages.blocks(english)] == [block.text for block in pages.blocks(chinese)]


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("quickstart.md", "zh/quickstart.md"),
        ("concepts.md", "zh/concepts.md"),
        ("guides/stores.md", "zh/stores.md"),
    ],
)
def test_translation_shares_code_and_sections(english, chinese):
    ours, theirs = pages.ROOT / "docs" / english, pages.ROOT / "docs" / chinese
    assert [block.text for block in pages.blocks(ours)] == [block.text for block in pages.blocks(theirs)]
    assert pages.prose(ours).count("\n## ") == pages.prose(theirs).count("\n## ")


@pytest.mark.parametrize(
    ("readme", "ready"), [(pages.READMES[0], "ready"), (pages.READMES[1], "可用")], ids=["en", "zh"]
)
def test_readme_calls_ready_what_is_there_and_nothing_else(readme, ready):
    rows = re.findall(r"^\| `([\w:/]+)` \| .* \| (\S+) \|$", pages.text_of(readme), re.MULTILINE)
    there = {*kinds(), *(f"{scheme}://" for scheme in OPENERS)}
    assert len(rows) == 11
    assert {name for name, state in rows if state == ready} == {name for name, _ in rows if name in there} == there


def test_architecture_names_every_room_and_only_what_exists():
    source = pages.ROOT / "src" / "outlast"
    page = pages.text_of(pages.ROOT / "docs" / "design" / "architecture.md")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([\w/]+(?:/|\.py))`", row[1])]
    assert [name for name in named if not (source / name).exists()] == []
    rooms = {f"{path.name}/" if path.is_dir() else path.name for path in source.iterdir() if path.name[:2] != "__"}
    assert {room for room in rooms if f"`{room}" not in page} - {"py.typed"} == set()
    for row in rows:
        for name in re.findall(r"`(\w+)`", row[3]):
            homes = [source / home for home in re.findall(r"`([\w/.]+)`", row[1])]
            files = [file for home in homes for file in ([home] if home.is_file() else home.rglob("*.py"))]
            text = "".join(file.read_text(encoding="utf-8") for file in files)
            assert re.search(rf"^(?:class|def) {name}\b", text, re.MULTILINE), f"{name} is not defined in {row[1]}"


def test_ci_and_makefile_run_the_command_of_the_readme():
    ci = (pages.ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert ci[-1] == TEST_COMMAND
    assert re.search(r"^test:", (pages.ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_picture_shows_the_first_command_and_loads_nothing():
    from tools import picture

    drawn = (pages.ROOT / "docs" / "picture.svg").read_text(encoding="utf-8")
    assert FIRST_COMMAND.endswith(picture.COMMAND)
    assert f"$ {picture.COMMAND}" in drawn and "succeeded" in drawn and "stint 3" in drawn
    assert re.findall(r"https?://[^\"' ]+", drawn) == ["http://www.w3.org/2000/svg"]
    assert "href" not in drawn and "@font-face" not in drawn
