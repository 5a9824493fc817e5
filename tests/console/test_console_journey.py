"""The whole way in a real browser: sign in, submit, watch it hand over twice, look at curves, compare, download."""

import re

from console_lab import PASSWORD
from playwright.sync_api import expect


def test_a_training_from_the_sign_in_to_its_results(console, page, trained):
    page.goto(f"{console.url}/new")
    page.get_by_label("Name").fill("mia")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    page.locator("input[webkitdirectory]").first.set_input_files(console.folder / "code")
    expect(page.get_by_text("Everything is in order.")).to_be_visible()
    page.get_by_label("Name", exact=True).first.fill("journey")
    page.get_by_label("As one line").fill("lr=0.7")
    page.get_by_label("Checkpoints").fill("ckpt")
    page.get_by_label("Outputs").fill("out")
    expect(page.locator(".o-copy-text")).to_contain_text("--name journey")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/runs/[^/]+$"))
    run = page.url.rpartition("/")[2]

    expect(page.get_by_role("heading", level=1)).to_have_text("journey")
    expect(page.locator(".o-timeline > li").filter(has_text="hand-over")).to_have_count(2)
    expect(page.locator(".o-run-name .o-state")).to_have_text("succeeded")

    page.get_by_role("link", name="Curves").click()
    expect(page.get_by_role("img", name=re.compile("^loss"))).to_be_visible()
    page.goto(f"{console.url}/compare?runs={run},{trained}")
    expect(page.get_by_text("0.7", exact=True).first).to_be_visible()
    expect(page.get_by_text("0.1", exact=True).first).to_be_visible()

    page.goto(f"{console.url}/runs/{run}")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download results").click()
    assert saved.value.suggested_filename == f"{run}-outputs.tar"
    assert b'{"lr": 0.7}' in saved.value.path().read_bytes()
