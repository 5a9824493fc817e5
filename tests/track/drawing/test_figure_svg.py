"""Pictures: well-formed whatever the names are, self-contained, and the same in light and dark."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.track.drawing.colours import DARK, LIGHT
from outlast.track.drawing.plot import Subject, plot
from outlast.track.drawing.svg import draw_inline, draw_svg, escape, spread, style_sheet
from outlast.track.series import Series, SeriesPoint

SVG = "{http://www.w3.org/2000/svg}"


def subject(label="a", metrics=("loss",), count=12, stints=3):
    points = [
        SeriesPoint(1 + at * stints // count, float(at), float(at), None, 1 / (at + 1), at == 5) for at in range(count)
    ]
    return Subject(label, {name: Series(name, points) for name in metrics})


def texts(svg):
    return ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")]


def test_a_picture_of_one_run_has_axes_seams_and_the_last_value():
    svg = draw_svg(plot([subject()], ["loss"]))
    found = texts(svg)
    assert {"stint 2", "stint 3", "epoch", "0.08333"} <= set(found) and found[0] == "lossbest 0.08333"
    assert svg.count("ol-pale") == 2, "one rule and one replayed part"
    assert 'class="ol-seam"' in svg


def test_several_runs_are_named_beside_their_curves_and_seams_become_rings():
    svg = draw_svg(plot([subject("lr=0.1"), subject("lr=0.01", count=9)], ["loss"]))
    assert {"lr=0.1", "lr=0.01"} <= set(texts(svg)) and "stint 2" not in texts(svg)
    assert svg.count('class="ol-ring') == 4


def test_panels_stand_side_by_side_and_nothing_is_referred_to():
    svg = draw_svg(plot([subject(metrics=("loss", "acc", "lr"))], ["loss", "acc", "lr"]))
    assert re.findall(r"https?://[^\"' ]+", svg) == ["http://www.w3.org/2000/svg"]
    assert "href" not in svg and "url(" not in svg
    assert [group.get("transform") for group in ET.fromstring(svg).iter(f"{SVG}g") if group.get("transform")] == [
        "translate(20 20)", "translate(500 20)", "translate(20 304)",
    ]  # fmt: skip


def test_the_theme_follows_the_reader_unless_it_is_chosen():
    assert DARK.paper in style_sheet() and "prefers-color-scheme" in style_sheet()
    for name, mine, other in (("light", LIGHT, DARK), ("dark", DARK, LIGHT)):
        assert mine.lines[0] in style_sheet(name) and other.lines[0] not in style_sheet(name)
        assert "@media" not in style_sheet(name), "what turns SVG into PNG reads no queries"


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_no_name_breaks_the_picture(metric, label):
    figure = plot([subject(label, (metric,)), subject("b", (metric,))], [metric])
    ET.fromstring(draw_svg(figure))
    ET.fromstring(draw_inline(figure.panels[0], figure))


def test_tags_control_characters_and_turned_text_are_made_harmless():
    assert escape("<b>\x00\x1b\u202e&\ud800\"'") == "&lt;b&gt;\ufffd\ufffd\ufffd&amp;\ufffd&quot;&#x27;"
    assert escape("损失 é\n\t") == "损失 é\n\t"


@pytest.mark.parametrize("values", [[1.0], [1.0, math.nan, 2.0], [1e308, -1e308], [0.0, 0.0]])
def test_strange_values_are_drawn_within_the_picture(values):
    points = [SeriesPoint(1, float(at), None, at, value) for at, value in enumerate(values)]
    svg = draw_svg(plot([Subject("a", {"m": Series("m", points)})], ["m"]))
    numbers = [float(n) for d in re.findall(r' d="([^"]*)"', svg) for n in re.findall(r"-?[\d.]+", d)]
    assert all(-1 <= number <= 800 for number in numbers) and "nan" not in svg.replace("dominant", "")


@given(st.lists(st.floats(0, 200), max_size=12).map(sorted))
def test_labels_do_not_lie_on_each_other(wanted):
    places = spread(wanted, 0, 200)
    assert all(later - earlier >= 12.9 for earlier, later in itertools.pairwise(places))
    assert all(place <= 200 for place in places)


def test_a_hundred_stints_do_not_become_a_grey_carpet():
    svg = draw_svg(plot([subject(count=400, stints=200)], ["loss"]))
    assert svg.count("stint ") < 20 and svg.count("V224") < 140


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_line_stands_out_from_its_paper(theme):
    for colour in (*theme.lines, theme.soft, theme.ink):
        light, dark = sorted([luminance(colour), luminance(theme.paper)], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, colour


def test_a_png_is_drawn_from_the_same_svg():
    pytest.importorskip("resvg_py")
    from outlast.track.drawing.png import to_png

    data = to_png(draw_svg(plot([subject()], ["loss"]), theme="light"))
    assert data.startswith(b"\x89PNG") and len(data) > 5000
