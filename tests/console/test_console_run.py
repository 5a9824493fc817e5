"""The page of one run in a real browser."""

import json
import re

from console_lab import find_barriers
from playwright.sync_api import expect

from outlast.inside import layout


def test_a_run_at_a_glance_shows_its_stints_curves_and_events(console, context, page, trained):
    console.enter(context)
    page.goto(f"{console.url}/runs/trained")
    page.wait_for_url(f"{console.url}/runs/{trained}")
    lanes = page.locator(".o-timeline > li")
    expect(lanes).to_have_count(3)
    expect(lanes.nth(0)).to_contain_text("hand-over")
    expect(lanes.nth(2)).to_contain_text("finished")
    expect(page.locator(".o-canvas canvas").first).to_be_visible()
    expect(page.get_by_text("stint 3 ended: finished")).to_be_visible()
    assert find_barriers(page) == []


def test_curves_keep_what_is_shown_in_the_address(console, context, page, trained):
    console.enter(context, look="dark")
    page.goto(f"{console.url}/runs/{trained}/curves?m=loss&smooth=0.5")
    figures = page.locator("figure")
    expect(figures).to_have_count(1)
    page.get_by_role("button", name="val_acc").click()
    expect(figures).to_have_count(2)
    page.get_by_label("In one chart").check()
    expect(figures).to_have_count(1)
    page.reload()
    expect(page.get_by_role("img", name=re.compile("^loss, val_acc"))).to_be_visible()
    assert "smooth=0.5" in page.url and "together=1" in page.url
    assert find_barriers(page) == []


def test_the_log_is_coloured_searched_and_never_becomes_a_page(console, context, page, trained, broken):
    console.enter(context)
    page.goto(f"{console.url}/runs/{trained}/log")
    log = page.get_by_role("log")
    expect(log).to_contain_text("epoch 5 of 6 <b>&amp; not a tag</b>")
    expect(log.locator("span.a-c2", has_text="epoch 5")).to_be_visible()
    page.get_by_label("Search the log").fill("EPOCH 3")
    page.get_by_role("button", name="Next").click()
    expect(log.locator(".hit")).to_contain_text("epoch 3")
    page.get_by_role("link", name="2", exact=True).click()
    expect(log).to_contain_text("epoch 3")
    expect(log).not_to_contain_text("epoch 5")
    assert find_barriers(page) == []
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download", exact=True).click()
    assert saved.value.suggested_filename == f"{trained}-0002.log"

    page.goto(f"{console.url}/runs/{broken}/log")
    page.get_by_role("button", name="Last error").click()
    expect(log.locator(".hit")).to_contain_text("RuntimeError")


def test_a_log_that_is_written_is_followed_to_its_end(console, context, page):
    console.enter(context)
    run = console.submit(name="followed", params=("wait=1",))
    page.goto(f"{console.url}/runs/{run}/log")
    expect(page.get_by_role("log")).to_contain_text("epoch 1 of 6")
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(page.locator(".o-run-name .o-state")).to_have_text("stopped")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_of_a_huge_log_only_a_window_reaches_the_browser(console, context, page, broken):
    lines = b"".join(b"line %07d of a long training\n" % number for number in range(300_000))
    piece = 3 << 20
    for place in range(0, len(lines), piece):
        console.put(layout.log_key(broken, 1, 1000 + place // piece), lines[place : place + piece])
    received = []
    page.on("response", lambda answer: received.append(int(answer.headers.get("content-length", 0)))
            if "/logs" in answer.url else None)  # fmt: skip
    console.enter(context)
    page.goto(f"{console.url}/runs/{broken}/log?stint=1")
    log = page.get_by_role("log")
    expect(log).to_contain_text("line 0299999")
    page.get_by_label("Search the log").fill("line 0150000")
    page.get_by_role("button", name="Next").click()
    expect(log.locator(".hit")).to_have_text("line 0150000 of a long training")
    page.get_by_role("button", name="Start").click()
    expect(log).to_contain_text("epoch 0")
    for _ in range(5):
        log.evaluate("box => { box.scrollTop = box.scrollHeight }")
        page.wait_for_function("document.querySelector('.o-log-box').scrollTop > 0")
    assert log.evaluate("box => box.childElementCount") <= 12_000
    assert sum(received) < 2 << 20 < len(lines)


def test_outputs_are_previewed_as_what_they_are_and_run_nothing(console, context, page, trained):
    console.enter(context)
    page.goto(f"{console.url}/runs/{trained}/outputs")
    seen = {"out/result.json": '"lr": 0.1', "out/table.csv": "acc", "out/page.html": "<script>"}
    for file, words in seen.items():
        page.get_by_role("link", name=file, exact=True).click()
        expect(page.get_by_role("region", name=file)).to_contain_text(words)
    expect(page).to_have_title("trained · Outlast")
    assert find_barriers(page) == []


def test_results_and_checkpoints_come_home(console, context, page, trained):
    console.enter(context)
    page.goto(f"{console.url}/runs/{trained}/checkpoints")
    page.locator("td a.o-mono").first.click()
    expect(page.get_by_text("all files are in the store")).to_be_visible()
    assert find_barriers(page) == []
    with page.expect_download() as saved:
        page.get_by_role("link", name="ckpt/model.json").or_(page.get_by_role("link", name="model.json")).first.click()
    assert json.loads(saved.value.path().read_text())["epoch"] == 5


def test_a_new_run_goes_on_from_a_checkpoint(console, context, page):
    console.enter(context, "ada")
    parent = console.finished(console.submit("ada", name="parent"))
    page.goto(f"{console.url}/runs/{parent}/checkpoints")
    page.locator("td a.o-mono").last.click()
    page.get_by_role("button", name="Continue from here as a new run").click()
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("parent")
    expect(page).not_to_have_url(re.compile(f"/runs/{parent}"))
    child = console.finished(page.url.rpartition("/")[2])
    with console.http("ada") as client:
        log = client.get(f"/api/v1/runs/{child}/logs").text
    assert "epoch 1" not in log and "epoch 2" in log and "epoch 5" in log


def test_setups_are_compared_with_another_run_in_chinese(console, context, page, trained, broken):
    console.enter(context, language="zh")
    page.goto(f"{console.url}/runs/{trained}/setup?with={broken}")
    expect(page.get_by_role("row").filter(has_text="fail")).to_be_visible()
    expect(page.get_by_text("代码相同。")).to_be_visible()
    page.get_by_role("link", name="train.py").click()
    expect(page.locator("pre").filter(has_text="import argparse")).to_be_visible()
    assert find_barriers(page) == []
