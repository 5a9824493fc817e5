"""The page: complete, self-contained, in two languages, and harmless whatever a run is called or prints."""

from __future__ import annotations

import dataclasses
import html.parser
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.model.states import EndReason, RunState, StintState
from outlast.model.view import LEDGER_COLUMNS, CheckpointView, RunView, StintView
from outlast.track.drawing.plot import Subject, plot
from outlast.track.report.page import Report, build_page
from outlast.track.report.words import CHINESE, Words
from outlast.track.series import Series, SeriesPoint

LOSS = Series("loss", [SeriesPoint(1 + at // 4, float(at), float(at), None, 1 / (at + 1)) for at in range(8)])


def stint(number, reason=EndReason.HAND_OVER, message="", **ledger):
    return StintView(
        number=number, state=StintState.ENDED, platform="local", reason=reason, message=message,
        ledger=dict.fromkeys(LEDGER_COLUMNS, 0.0) | ({"useful": 60.0, "replayed": 5.0, "queued": 10.0} | ledger),
    )  # fmt: skip


def report(text="digits", stints=2):
    failed = stint(stints, EndReason.SCRIPT_ERROR, f"it failed: {text}")
    stint_list = (*(stint(number) for number in range(1, stints)), failed)
    view = RunView(
        id="1115-quiet-otter-7kx", name=text, state=RunState.FAILED, platform="local", message=text,
        created_at="2026-11-15T10:00:00.000Z", user=text, stints=stints, epoch=8.0, epochs=10.0,
        useful_fraction=0.9, stint_list=stint_list,
        ledger={"useful": 60.0 * stints, "replayed": 5.0 * stints, "queued": 10.0 * stints},
        checkpoints=tuple(
            CheckpointView(f"0001-{n:06d}", 1, "2026-11-15T10:00:00.000Z", 2048, 1, {"epoch": n}) for n in range(20)
        ),
        outputs={f"out/{text}": {"size": 12}},
    )  # fmt: skip
    figure = plot([Subject(text, {text: LOSS})], [text])
    return Report(
        view=view, figure=figure, best={text: (0.125, 7.0)}, final={text: 0.125}, params={text: text},
        conditions={"script": text}, environment={"python": text}, command=f"outlast run {text}", log_tail=text,
        version="0.1.0", written_at="2026-11-15 11:00 UTC", requirements=text, hosts={1: text},
    )  # fmt: skip


class Reader(html.parser.HTMLParser):
    """Collects tags, attributes and text; knows which tags need no end."""

    VOID = ("meta", "br", "circle", "path", "rect")

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], set(), [], []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def test_everything_is_on_the_page():
    text = " ".join(read(build_page(report())).text)
    for word in ("Curves", "Metrics", "Where the time went", "Parameters", "Environment", "Checkpoints", "Results",
                 "End of the output", "Do it again", "8 / 10", "90.0%", "script-error", "stint 2", "0.125",
                 "5 older ones not shown", "outlast run digits"):  # fmt: skip
        assert word in text, word


def test_nothing_outside_is_referred_to():
    page = build_page(report())
    assert not re.findall(r"https?:|//\w|url\(|@import|<script|<link|<img|src=", page)
    assert "default-src 'none'" in page


HOSTILE = [
    "<script>alert(1)</script>", "</pre></main><h1>x", '" onload="x', "' style='x", "]]>-->",
    "\x00\x1b[31m\u202e", "{{7*7}}",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_logs_stay_text(text):
    reader = read(build_page(report(text)))
    assert reader.tags <= {
        "html", "head", "meta", "title", "style", "body", "main", "header", "section", "footer", "h1", "h2", "p", "div",
        "span", "b", "i", "ul", "li", "dl", "dt", "dd", "pre", "table", "thead", "tbody", "tr", "th", "td",
        "svg", "g", "path", "text", "tspan", "circle",
    }  # fmt: skip
    assert not [name for name, _ in reader.attributes if name.startswith("on") or name in ("src", "href")]


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=60))
def test_any_text_gives_a_page_whose_tags_match(text):
    build_page(report(text or "x"), "zh").encode()
    read(build_page(report(text or "x")))


def test_chinese_pages_speak_chinese():
    page = build_page(report(), "zh")
    assert 'lang="zh-CN"' in page
    for word in ("曲线", "时间账", "参数", "检查点", "失败", "第 19 轮", "脚本出错", "段 2", "2 分 10 秒"):
        assert word in page, word


def test_every_word_of_the_page_has_a_translation():
    said = set()

    class Listening(Words):
        def __call__(self, text):
            said.add(text)
            return super().__call__(text)

    from outlast.track.report import page as module

    original, module.Words = module.Words, Listening
    try:
        build_page(report())
    finally:
        module.Words = original
    own_names = {"digits"}
    assert {word for word in said if word not in CHINESE} <= own_names


def test_a_chain_of_hundreds_of_stints_and_long_texts_stays_mailable():
    large = dataclasses.replace(
        report("x" * 5000, stints=600),
        params={f"p{n}": "y" * 10_000 for n in range(500)},
        log_tail="z" * 60_000,
    )
    page = build_page(large)
    assert len(page.encode()) < 1_000_000
    assert "550 not shown" in page and "380 not shown" in page


def test_a_run_that_has_not_begun_has_a_page_too():
    view = RunView("1115-a-b-c", "new", RunState.QUEUED, "local", "2026-11-15T10:00:00.000Z")
    empty = Report(view, None, {}, {}, {}, {}, {}, "outlast run x", "", "0.1.0", "now")
    assert "Curves" not in " ".join(read(build_page(empty)).text)
