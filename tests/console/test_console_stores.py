"""The stores in a real browser: a folder plays the bucket."""

import random

import httpx
import pytest
from console_lab import PASSWORD, PATIENCE_S, find_barriers
from playwright.sync_api import expect

from outlast.operations.maps import map_store


@pytest.fixture(scope="session")
def bucket(console):
    """The folder that plays obs://lab-data."""
    folder = console.folder / "bucket"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "points.csv").write_text("x,y\n1,2\n")
    (folder / "data" / "page.html").write_text("<script>document.title = 'taken over'</script>")
    map_store(console.settings, "obs://lab-data", folder)
    return folder


def test_files_are_looked_at_renamed_and_removed_only_after_a_question(console, context, page, bucket):
    console.enter(context)
    page.goto(f"{console.url}/stores")
    page.get_by_role("row", name="obs://lab-data/").get_by_role("link", name="Open").click()
    page.get_by_role("link", name="data/", exact=True).click()
    page.get_by_role("button", name="points.csv", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("columnheader", name="y")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="page.html", exact=True).click()
    expect(page.get_by_role("dialog").get_by_text("taken over")).to_be_visible()
    assert page.title() == "Stores · Outlast"
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    with page.expect_download() as down:
        page.get_by_role("row", name="points.csv").get_by_role("link", name="Download").click()
    assert down.value.path().read_text() == "x,y\n1,2\n"

    page.get_by_role("button", name="New folder").click()
    page.get_by_label("Name", exact=True).fill("中文 folder")
    page.get_by_role("button", name="Make").click()
    expect(page.get_by_role("link", name="中文 folder/", exact=True)).to_be_visible()
    page.get_by_role("button", name="More about points.csv").click()
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    page.get_by_label("New name").fill("renamed.csv")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("button", name="renamed.csv", exact=True)).to_be_visible()

    page.get_by_role("button", name="More about renamed.csv").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog")).to_contain_text("gone for good")  # the question, not the choice before it
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert (bucket / "data" / "renamed.csv").exists()
    page.get_by_role("button", name="More about renamed.csv").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 file, 8 B, will be gone for good.")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("button", name="renamed.csv", exact=True)).to_have_count(0)
    assert not (bucket / "data" / "renamed.csv").exists()
    with console.http("ada") as http:
        acts = {(entry["action"], entry["actor"]) for entry in http.get("/api/v1/audit").json()["items"]}
    assert {("store.rename", "mia"), ("store.remove", "mia")} <= acts


def test_a_folder_arrives_as_it_was_and_what_broke_off_goes_on(console, context, page, bucket, tmp_path):
    """Sizes around the blocks of SHA-256, long and Chinese names, two parts."""
    seed = random.randrange(10**6)
    print("seed", seed)
    generator = random.Random(seed)
    folder = tmp_path / "set 1"
    deep = "d" * 60 + "/" + "e" * 60
    sizes = {"empty": 0, "a55": 55, "a56": 56, "a64": 64, f"{deep}/图片 1.bin": 700, "big.bin": 8 << 20}
    for name, size in sizes.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(generator.randbytes(size))
    context.expected.add(409)
    console.enter(context, "max")
    page.goto(f"{console.url}/stores?at=obs://lab-data/")
    page.route("**/parts/2", lambda route: route.fulfill(status=409, json={"message": "the line broke"}))
    page.locator("input[webkitdirectory]").set_input_files(folder)
    expect(page.get_by_role("alert")).to_contain_text("the line broke")
    page.unroute("**/parts/2")
    sent = []
    page.on("request", lambda request: sent.append(request.url) if "/parts/" in request.url else None)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("link", name="set 1/", exact=True)).to_be_visible()
    assert [url.rpartition("/")[2] for url in sent] == ["2"]
    for name in sizes:
        assert (bucket / "set 1" / name).read_bytes() == (folder / name).read_bytes(), name
    with console.http("max") as http:
        assert http.get("/api/v1/uploads").json()["uploads"] == []


def test_files_of_the_server_and_viewers_are_kept_apart(console, context, page, bucket):
    console.enter(context)
    page.goto(f"{console.url}/stores?at=/etc/")
    expect(page.get_by_role("alert")).to_contain_text("is on the server's machine")
    page.goto(f"{console.url}/stores?at=obs://lab-data/data/")
    page.get_by_role("button", name="More about page.html").click()
    page.get_by_role("button", name="Temporary link").click()
    page.get_by_role("button", name="Make the link").click()
    expect(page.get_by_role("alert").filter(has_text="lab-data")).to_be_visible()  # a folder signs nothing
    context.clear_cookies()
    context.expected.add(403)
    console.enter(context, "vic")
    page.goto(f"{console.url}/stores")
    expect(page.get_by_text("this needs the role member")).to_be_visible()


def test_a_page_that_was_open_when_its_visitor_signed_out_changes_nothing(console, context, page, bucket):
    with httpx.Client(base_url=console.url, timeout=PATIENCE_S, trust_env=False) as http:
        told = http.post("/api/v1/sign-in", json={"name": "mia", "password": PASSWORD}).json()
        session = http.cookies["outlast_session"]
        context.add_cookies([{"name": "outlast_session", "value": session, "url": console.url}])
        page.goto(f"{console.url}/stores?at=obs://lab-data/data/")
        http.post("/api/v1/sign-out", headers={"X-CSRF-Token": told["csrf"]})
    page.get_by_role("button", name="New folder").click()
    page.get_by_label("Name", exact=True).fill("too-late")
    page.get_by_role("button", name="Make").click()
    expect(page.get_by_role("alert").filter(has_text="who are you?")).to_be_visible()
    assert not (bucket / "data" / "too-late").exists()
    assert find_barriers(page) == []
