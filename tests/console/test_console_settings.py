"""The settings in a real browser."""

import time

import httpx
from console_lab import PATIENCE_S
from playwright.sync_api import expect


def test_an_admin_adds_a_user_who_comes_in_by_the_link(console, context, page):
    console.enter(context, "ada")
    page.goto(f"{console.url}/settings?show=users")
    page.get_by_label("Name", exact=True).fill("kim")
    page.get_by_role("button", name="Add", exact=True).click()
    link = page.get_by_label("One-time link").inner_text()
    row = page.get_by_role("row", name="kim")
    expect(row).to_contain_text("invited")
    row.get_by_role("combobox", name="Role of kim").click()
    page.get_by_role("option", name="viewer").click()
    deadline = time.monotonic() + PATIENCE_S
    with console.http("ada") as http:
        while _role(http, "kim") != "viewer":
            assert time.monotonic() < deadline
            time.sleep(0.05)
    page.goto(link)
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Choose a password").click()
    page.wait_for_url(f"{console.url}/")
    page.goto(f"{console.url}/settings?show=users")  # not for viewers: they get the first part
    expect(page.get_by_text("viewer").first).to_be_visible()
    expect(page.get_by_role("link", name="Users")).to_have_count(0)


def test_a_token_is_shown_once_and_ended(console, context, page):
    console.enter(context)
    page.goto(f"{console.url}/settings?show=tokens")
    page.get_by_label("What it is for").fill("laptop")
    page.get_by_role("button", name="Make a token").click()
    token = page.get_by_label("The new token").inner_text()
    assert _status(console, token) == 200
    page.reload()
    expect(page.get_by_role("button", name="Revoke the token laptop")).to_be_visible()
    assert token not in page.content()
    page.get_by_role("button", name="Revoke the token laptop").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("button", name="Revoke the token laptop")).to_have_count(0)  # others of mia may stay
    assert _status(console, token) == 401


def test_groups_and_queues_are_made_changed_and_written_down(console, context, page):
    console.enter(context, "ada")
    page.goto(f"{console.url}/settings?show=groups")
    page.get_by_role("button", name="New queue").click()
    page.get_by_label("Name", exact=True).fill("fast")
    page.get_by_label("Weight").fill("3")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Change fast")).to_be_visible()
    page.get_by_role("button", name="New group").click()
    page.get_by_label("Name", exact=True).fill("speech")
    page.get_by_label("Stored, at most").fill("much")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").filter(has_text="not a size")).to_be_visible()
    page.get_by_role("button", name="New group").click()
    page.get_by_label("Name", exact=True).fill("speech")
    page.get_by_label("Stints at the same time").fill("4")
    page.get_by_label("Stored, at most").fill("10 GB")
    page.get_by_role("combobox", name="Queue").click()
    page.get_by_role("option", name="fast").click()
    page.get_by_role("button", name="Save").click()
    row = page.get_by_role("row", name="speech").first
    expect(row).to_contain_text("10.0 GB")
    row.get_by_role("button", name="Members of speech").click()
    page.get_by_role("combobox", name="Members").click()
    page.get_by_role("option", name="zoe").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("zoe")
    page.goto(f"{console.url}/settings?show=history")
    expect(page.get_by_role("row").filter(has_text="group.join").first).to_contain_text("speech")

    context.clear_cookies()
    console.enter(context, "zoe")
    page.goto(f"{console.url}/settings?show=groups")
    expect(page.get_by_role("row", name="speech").first).to_be_visible()
    expect(page.get_by_role("button", name="New group")).to_have_count(0)
    expect(page.get_by_role("row", name="vision")).to_have_count(0)


def test_a_channel_is_added_and_removed(console, context, page):
    console.enter(context)
    page.goto(f"{console.url}/settings?show=notices")
    page.get_by_label("Address").fill("ftp://nowhere")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("alert").first).to_be_visible()
    page.get_by_label("Address").fill("https://hooks.example.org/a/b")
    page.get_by_label("Name", exact=True).fill("lab chat")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_label("Secret").last).not_to_be_empty()
    page.get_by_role("button", name="Remove lab chat").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("button", name="Remove lab chat")).to_have_count(0)  # others of mia may stay


def _role(http, name):
    return next(user["role"] for user in http.get("/api/v1/users").json()["items"] if user["name"] == name)


def _status(console, token):
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"{console.url}/api/v1/me", headers=headers, timeout=PATIENCE_S, trust_env=False).status_code
