"""Device use: the charts' options, and the charts on the page of a run."""

import re

from console_lab import find_barriers
from playwright.sync_api import expect

from outlast.server.console.run.usage import busy_lines, memory_lines, options, seams

STINTS = [
    {"stint": 1, "span_s": 2.0, "at_s": [0, 2],
     "columns": {"cpu_percent": [None, 50.0], "memory_bytes": [1 << 30, 3 << 29]}},
    {"stint": 3, "span_s": 1.0, "at_s": [0, 1], "columns": {"cpu_percent": [10.0, 20.0], "gpu0_percent": [90.0, 80.0],
                                                           "gpu0_memory_bytes": [1 << 31, None]}},
]  # fmt: skip


def test_stints_are_laid_end_to_end():
    assert seams(STINTS) == [4.0]
    assert busy_lines(STINTS) == [
        ("CPU", [(0.0, None), (2.0, 50.0), (4.0, 10.0), (5.0, 20.0)]),
        ("GPU0", [(0.0, None), (2.0, None), (4.0, 90.0), (5.0, 80.0)]),
    ]
    assert memory_lines(STINTS) == [
        ("RAM", [(0.0, 1.0), (2.0, 1.5), (4.0, None), (5.0, None)]),
        ("GPU0", [(0.0, None), (2.0, None), (4.0, 2.0), (5.0, None)]),
    ]
    drawn = options("Busy, %", busy_lines(STINTS), seams(STINTS), "seconds", 100.0)
    assert drawn["yAxis"]["max"] == 100.0 and drawn["series"][0]["markLine"]["data"] == [{"xAxis": 4.0}]
    assert "markLine" not in drawn["series"][1]
    assert busy_lines([]) == [] and seams([]) == []


def test_the_page_of_curves_shows_how_busy_the_machine_was(console, context, page):
    console.enter(context)
    # A stint may be over before anybody looked at its machine; this one goes on until its use is told.
    run = console.submit(name="measured", params=("wait=1",))
    page.goto(f"{console.url}/runs/{run}")
    expect(page.get_by_text(re.compile("processors [0-9]+"))).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(page.locator(".o-run-name .o-state")).to_have_text("stopped")
    page.goto(f"{console.url}/runs/{run}/curves")
    expect(page.get_by_role("img", name="Device use: Memory, GiB")).to_be_visible()
    assert find_barriers(page) == []
