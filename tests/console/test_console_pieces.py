"""What the pages are made of, without a browser."""

import asyncio
import dataclasses
import math
import re
import threading

import pytest
from console_lab import PATIENCE_S
from starlette.requests import Request

from outlast.errors import UsageError
from outlast.server.console import shell
from outlast.server.console.aside import aside
from outlast.server.console.html import Html, joined, table, tag
from outlast.server.console.previewing import preview_html
from outlast.server.console.run.log import find_offsets
from outlast.server.console.runs_filter import RunsFilter
from outlast.server.console.sparks import spark_path
from outlast.server.previews import preview


def _filter(query: str) -> RunsFilter:
    return RunsFilter.of(Request({"type": "http", "query_string": query.encode(), "headers": []}))


def test_an_address_says_which_runs_are_wanted_and_is_made_again_from_that():
    wanted = _filter("q=res%20net%20lr%3D0.1&state=failed&state=running&state=failed&sort=-name&cursor=abc")
    query = wanted.query()
    assert query.name == "*res*net*" and query.sort == "-name"
    assert {condition.name for condition in query.where} == {"lr"} and query.states == {"failed", "running"}
    assert _filter(wanted.address(cursor="abc").removeprefix("/?")) == wanted
    assert "cursor" not in wanted.toggled("failed") and "state=running" in wanted.toggled("failed")
    assert RunsFilter().address() == "/" and _filter("q=a*b").query().name == "a*b"


def test_what_was_refused_does_not_vanish_by_itself(monkeypatch):
    said = []
    monkeypatch.setattr(shell.ui, "notify", lambda words, **options: said.append((words, options["timeout"])))
    shell.notify_error(UsageError("no such run", hint="see: outlast ps"))
    assert said == [("no such run. see: outlast ps", 0)]


@pytest.mark.parametrize("query", ["state=nonsense", "q=lr%3Eten", "sort=-"])
def test_what_cannot_be_understood_is_refused_with_words(query):
    with pytest.raises(UsageError):
        _filter(query).query()


def test_text_in_html_stays_text():
    nasty = "<script>alert(1)</script>"
    assert "<script" not in joined(tag("b", nasty, title='"><i>'), table(nasty, ["#a"], [[nasty]]))
    assert tag("p", tag("b", "x"), None_=None, class_="c") == '<p class="c"><b>x</b></p>'
    assert isinstance(tag("p"), Html)


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.html", "a.txt"])
def test_previews_of_any_content_hold_no_script_of_its(name):
    data = b'<script>alert("1")</script>,b\n1,2,3\n'
    assert "<script" not in preview_html(preview(name, data, len(data)), name)


def test_only_what_is_shown_can_be_shown_in_part():
    assert "only the beginning" not in preview_html(preview("w.bin", bytes(99), 1000), "w.bin")
    assert "only the beginning" in preview_html(preview("w.txt", b"words", 1000), "w.txt")


def test_a_small_curve_has_gaps_where_there_is_no_number():
    assert spark_path([1.0]) == "" and spark_path([math.nan, math.inf, 1.0]) == ""
    path = spark_path([0.0, math.nan, 1.0, 2.0])
    assert path.startswith("M0.0 23.0") and path.count("M") == 2 and path.endswith("L100.0 1.0")


@dataclasses.dataclass
class _Text:
    """A log in pieces as short as segments can be."""

    data: bytes
    piece: int

    @property
    def size_bytes(self) -> int:
        return len(self.data)

    def get(self, start: int, length: int) -> bytes:
        end = (start // self.piece + 1) * self.piece
        return self.data[start : min(end, start + length)]


@pytest.mark.parametrize("piece", [1, 7, 10_000])
def test_lines_are_found_wherever_segments_are_cut(piece):
    data = b"one\nan Error here, error again\n\xe8\xae\xad\n[outlast] script-error: it ended\nlast error"
    text = _Text(data, piece)
    both = find_offsets(text, re.compile(b"error", re.IGNORECASE))
    assert [data[at : at + 5] for at in both] == [b"an Er", b"[outl", b"last "]
    assert find_offsets(text, re.compile(b"error"), last=True) == [data.index(b"last error")]
    assert find_offsets(_Text(data[:-10], piece), re.compile(b"rror"), last=True) == [4]
    assert find_offsets(text, re.compile("训".encode())) == [data.index("训".encode())]
    assert find_offsets(_Text(b"", piece), re.compile(b"x")) == []


def test_what_a_visitor_left_behind_goes_no_further():
    reading, leave = threading.Event(), threading.Event()

    def read() -> None:
        reading.set()
        leave.wait(PATIENCE_S)

    async def visit() -> None:
        page = asyncio.create_task(aside(read))
        await asyncio.to_thread(reading.wait, PATIENCE_S)
        page.cancel()
        with pytest.raises(asyncio.CancelledError):
            await page
        leave.set()

    asyncio.run(visit())


def test_nothing_is_an_outcome_too():
    assert asyncio.run(aside(lambda: None)) is None
