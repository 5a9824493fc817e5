"""Drawing a terminal screen."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from tools.svg import CELL_HEIGHT, CELL_WIDTH, MARGIN, draw_screens

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*screens, columns=20):
    return ET.fromstring(draw_screens(screens, columns, "a <title>"))


def texts(picture):
    return {text.text: text for text in picture.iter(f"{SVG}text")}


def test_words_stand_at_their_columns():
    found = texts(drawn("a  bc d\n   e"))
    assert set(found) == {"a", "bc d", "e"}
    assert float(found["bc d"].get("x")) == round(MARGIN + 3 * CELL_WIDTH, 1)
    assert float(found["e"].get("y")) - float(found["a"].get("y")) == CELL_HEIGHT


def test_a_style_holds_over_the_end_of_a_line():
    found = texts(drawn("\x1b[1;31mone\ntwo\x1b[0m\nthree"))
    assert found["one"].get("font-weight") == found["two"].get("font-weight") == "bold"
    assert found["one"].get("fill") == found["two"].get("fill") == "#ff7b72"
    assert found["three"].get("font-weight") is None


def test_lines_and_dots_are_shapes_not_letters():
    picture = drawn("━━╸─ x ⡇⠀⣿│")
    assert set(texts(picture)) == {"x"}
    shapes = [path.get("d").count("z") for path in picture.iter(f"{SVG}path")]
    assert shapes == [4, 4 + 0 + 8 + 1]


def test_wide_characters_take_two_columns_and_marks_are_escaped():
    found = texts(drawn("段  <b> & c"))
    assert float(found["<b> & c"].get("x")) == round(MARGIN + 4 * CELL_WIDTH, 1)


def test_screens_are_stacked_with_a_line_between():
    picture = drawn("one\ntwo", "three")
    found = texts(picture)
    assert float(found["three"].get("y")) - float(found["two"].get("y")) == 2 * CELL_HEIGHT
    assert len([path for path in picture.iter(f"{SVG}path") if path.get("stroke")]) == 1
