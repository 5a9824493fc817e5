"""The list of runs in a real browser."""

import re

from console_lab import PASSWORD, find_barriers
from playwright.sync_api import expect

from outlast.server.security import API_POLICY


def test_a_stranger_signs_in_and_comes_back_to_the_page_they_wanted(console, page):
    page.goto(f"{console.url}/?state=running")
    page.get_by_label("Name").fill("mia")
    page.get_by_label("Password").fill(PASSWORD)
    assert find_barriers(page) == []
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{console.url}/?state=running")
    page.get_by_role("button", name="Account of mia").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{console.url}/sign-in")
    page.goto(console.url)
    assert page.url == f"{console.url}/sign-in?next=%2F"


def test_runs_are_found_by_words_conditions_and_states_that_live_in_the_address(
    console, context, page, trained, broken
):
    console.enter(context)
    page.goto(console.url)
    name = page.locator("td.c-name a")
    expect(name.filter(has_text="trained")).to_be_visible()
    expect(name.filter(has_text="broken")).to_be_visible()
    expect(page.locator(".o-spark path[d^=M]").first).to_be_attached()
    assert find_barriers(page) == []
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()

    page.goto(f"{console.url}/?q=broken")
    page.get_by_role("link", name="failed", exact=True).click()
    page.wait_for_url(re.compile(r"q=broken.*state=failed"))
    expect(name).to_have_text(["broken"])
    page.get_by_label("Search").fill("lr=0.3")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url(re.compile(r"q=lr%3D0\.3.*state=failed"))
    expect(page.get_by_text("No run fits this search")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    page.get_by_label("Search").fill("best:val_acc>0.9 rain")
    page.get_by_label("Search").press("Enter")
    expect(name).to_have_text(["trained"])
    page.goto(f"{console.url}/?q=lr>x")
    expect(page.get_by_role("alert")).to_contain_text("not a number")
    expect(page.get_by_role("link", name="failed", exact=True)).to_be_visible()  # the way to another search stays


def test_chosen_runs_are_compared_and_stopped(console, context, page, trained):
    console.enter(context)
    waiting = console.submit(name="waiting", params=("wait=1",))
    page.goto(f"{console.url}/?q=waiting")
    row = page.get_by_role("row").filter(has_text="waiting")
    expect(row.locator(".o-state")).to_have_text("running")
    row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Stop (1)").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(row.locator(".o-state")).to_have_text("stopped")

    page.goto(console.url)
    page.get_by_role("checkbox", name="Select trained").check()
    page.get_by_role("checkbox", name="Select waiting").check()
    chosen = page.get_by_role("region", name="Selected").get_by_role("link", name="Compare").get_attribute("href")
    assert chosen is not None and set(chosen.removeprefix("/compare?runs=").split(",")) == {trained, waiting}


def test_the_list_speaks_chinese_and_fits_a_phone_in_the_dark(console, context, page, trained):
    console.enter(context, language="zh", look="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(console.url)
    expect(page.get_by_role("heading", level=1)).to_have_text("训练")
    expect(page.get_by_role("row").filter(has_text="trained").locator(".o-state")).to_have_text("成功")
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert find_barriers(page) == []
    page.get_by_role("button", name="菜单").click()
    page.get_by_role("link", name="设置").click()
    page.wait_for_url(f"{console.url}/settings")


def test_the_console_loosens_the_policy_of_its_own_pages_only(console):
    with console.http("mia") as http:
        page, api, nowhere = http.get("/"), http.get("/api/v1/runs"), http.get("/nowhere")
        wrong = http.delete("/api/v1/runs")
        foreign = http.get("/_nicegui_ws/socket.io/?EIO=4&transport=polling", headers={"Origin": "http://evil.test"})
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page.text)
    assert api.headers["content-security-policy"] == nowhere.headers["content-security-policy"] == API_POLICY
    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "not_possible")
    assert foreign.status_code == 400


def test_runs_of_other_people_are_not_there(console, context, page, trained):
    console.enter(context, "zoe")
    page.goto(console.url)
    expect(page.get_by_text("No runs here")).to_be_visible()
    expect(page.get_by_text(f"outlast --server {console.url} run train.py")).to_be_visible()
    context.expected.add(404)
    assert page.goto(f"{console.url}/settings/nowhere").status == 404
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
    assert page.goto(f"{console.url}/runs/{trained}").status == 404
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found")

    console.enter(context, "vic")
    page.goto(f"{console.url}/runs/{trained}")
    expect(page.get_by_role("heading", level=1)).to_have_text("trained")
    expect(page.get_by_role("button", name="Remove")).to_have_count(0)
    expect(page.get_by_role("link", name="Clone")).to_have_count(0)
    expect(page.get_by_role("link", name="New run")).to_have_count(0)
