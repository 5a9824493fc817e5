"""READMEs and changes as HTML: what strangers wrote must never become more than text, links and pictures."""

import re
from html.parser import HTMLParser

import pytest

from outlast.server.console.hub.diffs import changes_html
from outlast.server.console.hub.markdown import render

_TAGS = {"p", "a", "img", "span", "em", "strong", "s", "code", "pre", "ul", "ol", "li", "hr", "br", "blockquote",
         "table", "thead", "tbody", "tr", "th", "td", *(f"h{level}" for level in range(2, 7))}  # fmt: skip
_ATTRIBUTES = {"href", "src", "alt", "title", "class", "id", "target", "rel", "loading", "style", "start"}


class _Reader(HTMLParser):
    """Everything that a browser would make of it."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, name, attrs):
        self.found.append((name, dict(attrs)))


def made(text, folder=""):
    return str(render(text, folder, lambda path: f"/page/{path}", lambda path: f"/picture/{path}"))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))", "[a](&#106;avascript:alert(1))", "[a](vbscript:x)", "[a](data:text/html,<b>x)",
        "![a](javascript:alert(1))", "![a](https://spy.example/x.png)", "![a](//spy.example/x.png)",
        "![a](data:image/svg+xml;base64,PHN2Zz4=)", "![a\" onerror=\"alert(1)](x.png)",
        "[a](x \"t\\\" onclick=\\\"x\")",
        "<a href='javascript:x'>a</a>", "<svg/onload=alert(1)>", "# <img src=x onerror=y>",
        "| <script> |\n|---|\n| x |",
        "```<script>\n</pre><script>alert(1)</script>\n```", "[a]: javascript:alert(1)\n\n[a]", "<javascript:alert(1)>",
        "[a](file:///etc/passwd)", "[a](http://[bad)", "![x](\\0)", "[x](../../../../etc/passwd)", "[x](http:/\\evil)",
    ],
)  # fmt: skip
def test_nothing_of_a_readme_runs_or_asks_another_site(text):
    for name, attributes in _Reader(made(text)).found:
        assert name in _TAGS and set(attributes) <= _ATTRIBUTES, (name, attributes)
        if name == "img":
            assert attributes["src"].startswith("/picture/")
        href = attributes.get("href", "#")
        assert re.match(r"(#|/page/|https?://|mailto:)", href), href
        assert not attributes.get("style") or attributes["style"].startswith("text-align:")


def test_links_and_pictures_lead_into_the_repository_from_where_the_file_lies():
    html = made("[a](../b.py) ![c](img/d.png) [e](/top.md#x) [up](../../../x)", "docs/guide")
    assert 'href="/page/docs/b.py"' in html and 'src="/picture/docs/guide/img/d.png"' in html
    assert 'href="/page/top.md"' in html and "<a>up</a>" in html


def test_facts_for_machines_are_left_out_and_headings_can_be_linked():
    html = made("---\nlicense: mit\n---\n# A b\n\n[there](#a-b)\n\n# A b\n")
    assert "license" not in html and '<h2 id="readme-a-b">' in html and '<h2 id="readme-a-b-1">' in html
    assert 'href="#readme-a-b"' in html


def test_deep_nesting_ends():
    assert made("> " * 5000 + "x") and made("[" * 5000) and made("*" * 5000)


def change(**words):
    usual = {"path": "a.txt", "old_path": "a.txt", "status": "changed", "kind": "text", "added": 0, "removed": 0,
             "lines": [], "size_bytes": None, "old_size_bytes": None}  # fmt: skip
    return {**usual, **words}


def test_changed_lines_are_counted_on_both_sides():
    html = str(
        changes_html([change(lines=["@@ -3,2 +3,3 @@ def f():", " a", "-b", "+c<b>", "+d"], added=2, removed=1)])
    )
    cells = re.findall(r"<tr(?: class=\"([^\"]+)\")?><td class=\"o-line-number\">(\d*)</td>"
                       r"<td class=\"o-line-number\">(\d*)</td><td>([^<]*)</td>", html)  # fmt: skip
    assert cells == [("", "3", "3", " a"), ("o-minus", "4", "", "-b"), ("o-plus", "", "4", "+c&lt;b&gt;"),
                     ("o-plus", "", "5", "+d")]  # fmt: skip


def test_large_changes_are_folded_and_others_are_open():
    html = str(
        changes_html([change(lines=["@@ -1 +1 @@", *["+x"] * 500]), change(path="b", lines=["@@ -1 +1 @@", "+y"])])
    )
    assert [("open" in each) for each in re.findall(r"<details[^>]*>", html)] == [False, True]


def test_files_without_lines_say_why():
    files = [change(kind="binary"), change(kind="large"), change(kind="lfs", size_bytes=2048, old_size_bytes=1024),
             change(status="renamed", old_path="<old>")]  # fmt: skip
    html = str(changes_html(files))
    for words in ("No text", "Too large", "1 KB → 2 KB", "&lt;old&gt; → a.txt", "The content is the same."):
        assert words in html or words.replace("1 KB → 2 KB", "1.0 KB → 2.0 KB") in html, words
