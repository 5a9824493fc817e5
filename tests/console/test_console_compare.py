"""Comparing runs, sweeps and platforms in a real browser; and every page around the runs in Chinese, on a phone."""

import pytest
from console_lab import find_barriers
from playwright.sync_api import expect

from outlast.client import Client
from outlast.model.request import RunRequest
from outlast.settings import Settings


@pytest.fixture(scope="session")
def grid(console):
    """A sweep of mia's that is over."""
    client = Client(settings=Settings.load({**console.environ, "OUTLAST_USER": "mia"}))
    request = RunRequest(
        str(console.folder / "code" / "train.py"), params=("lr=0.1,0.5",), name="grid", checkpoint="ckpt", output="out"
    )
    record = client.sweeps.start(request)
    for run in record.runs:
        console.finished(run)
    return record


def test_runs_are_laid_over_each_other_and_told_apart(console, context, page, trained, grid):
    console.enter(context)
    page.goto(f"{console.url}/compare?runs={trained},{grid.runs[1]}")
    charts = page.get_by_role("img", name="Curves of")
    expect(charts.first.locator("svg path").first).to_be_attached()
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="lr", exact=True))
    expect(row.get_by_role("cell")).to_have_text(["0.1", "0.5"])
    page.get_by_role("combobox", name="Axis").click()
    page.get_by_role("option", name="step").click()
    page.wait_for_url("**x=step**")
    page.get_by_role("link", name=f"Take {trained} out").click()
    expect(page.get_by_role("link", name=f"Take {trained} out")).to_have_count(0)


def test_a_sweep_shows_the_best_first_and_how_parameters_lead_to_it(console, context, page, grid):
    console.enter(context)
    page.goto(f"{console.url}/compare")
    page.get_by_role("link", name="grid").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("grid")
    expect(page.get_by_role("img", name="From parameters to").locator("svg path").first).to_be_attached()
    expect(page.get_by_role("row")).to_have_count(3)
    page.get_by_role("link", name="Compare the best").click()
    page.wait_for_url("**/compare?runs=**")
    context.clear_cookies()
    context.expected.add(404)
    console.enter(context, "zoe")
    page.goto(f"{console.url}/sweeps/grid")
    expect(page.get_by_text("no sweep 'grid'")).to_be_visible()


@pytest.mark.parametrize("look", ["light", "dark"])
def test_pages_around_the_runs_speak_chinese_and_fit_a_phone(console, context, page, trained, grid, look):
    console.enter(context, "ada", language="zh", look=look)
    page.set_viewport_size({"width": 390, "height": 800})
    titles = {"new": "新建训练", f"compare?runs={trained}": "比较", "sweeps/grid": "grid", "stores": "存储",
              "platforms": "平台"}  # fmt: skip
    titles |= {
        f"settings?show={part}": "设置" for part in ("profile", "tokens", "notices", "groups", "users", "history")
    }
    for path, title in titles.items() if look == "light" else list(titles.items())[:4]:
        page.goto(f"{console.url}/{path}")
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
        assert find_barriers(page) == [], path
