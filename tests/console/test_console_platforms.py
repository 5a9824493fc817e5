"""The platforms in a real browser: an admin signs the server in to a cluster, asks how it is, and signs out again.

The cluster is the server itself, which speaks OpenPAI's protocol.
"""

from console_lab import PASSWORD, find_barriers
from playwright.sync_api import expect


def test_an_admin_signs_in_to_a_platform_and_out_again(console, context, page):
    console.enter(context, "ada")
    page.goto(f"{console.url}/platforms")
    page.get_by_role("combobox", name="Kind of platform").click()
    page.get_by_role("option", name="openpai").click()
    page.get_by_label("Name of the account").fill("lab-pai")
    page.get_by_label("Address of the cluster").fill(console.url)
    page.get_by_label("User name").fill("mia")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in to it").click()
    expect(page.get_by_text("does not let mia in").first).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in to it").click()
    expect(page.get_by_text("Signed in as lab-pai").first).to_be_visible()
    page.get_by_role("link", name="Ask every platform how it is").click()
    expect(page.get_by_role("button", name="Sign out of lab-pai")).to_be_visible()
    expect(page.get_by_text("mia may use default").first).to_be_visible()
    assert find_barriers(page) == [] and PASSWORD not in page.content()
    page.get_by_role("button", name="Sign out of lab-pai").click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("button", name="Sign out of lab-pai")).to_have_count(0)  # the server may know others


def test_members_see_platforms_and_no_accounts(console, context, page):
    console.enter(context, "mia", language="zh")
    page.goto(f"{console.url}/platforms")
    expect(page.get_by_text("没有排队的训练。")).to_be_visible()
    expect(page.get_by_text("平台账号")).to_have_count(0)
    with console.http("mia") as http:
        assert http.get("/api/v1/platforms/kinds").status_code == 403
