"""The hub in a real browser: from an empty project to a training of it, and everything that must stay hidden."""

import re

import pytest
from console_lab import find_barriers
from playwright.sync_api import expect

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cf500f0003860180"
    "5a346f6f0000000049454e44ae426082"
)  # fmt: skip
README = """---
license: mit
---
# Digits

A [script](train.py), a ![picture](img/dot.png), a ![spy](https://spy.example/x.png).

<script>document.title = 'taken over'</script> [trap](javascript:alert(1))

| a | b |
|---|---|
| 1 | 2 |
"""
SCRIPT = (
    "import pathlib\nprint('epoch 1')\npathlib.Path('out').mkdir()\npathlib.Path('out/model.txt').write_text('1')\n"
)


@pytest.fixture
def rest(console):
    """The API as somebody: `rest("mia", "POST", path, body)`."""

    def call(user, method, path, body=None):
        with console.http(user) as http:
            token = http.get("/api/v1/me").json()["csrf"]
            words = {"json": body} if body is not None else {}
            answer = http.request(method, f"/api/v1{path}", headers={"X-CSRF-Token": token}, **words)
        assert answer.is_success, answer.text
        return answer.json()

    return call


def make(rest, name, kind="model", user="mia", files=(), **words):
    """A repository of `user` with some texts in it; its path."""
    path = rest(user, "POST", "/repositories", {"name": name, "kind": kind, **words})["path"]
    if files:
        body = {"files": [{"path": each, "text": text} for each, text in files]}
        rest(user, "POST", f"/repositories/{path}/commits", body)
    return path


def test_from_an_empty_project_to_its_training_and_a_published_model(console, context, page, tmp_path):
    context.expected.add(404)  # the README comes before its picture
    console.enter(context)
    page.goto(f"{console.url}/hub")
    page.get_by_role("button", name="New repository").click()
    page.get_by_label("Repository name").fill("bad/name")
    expect(page.get_by_text("cannot be the name of a repository")).to_be_visible()
    page.get_by_label("Repository name").fill("digits")
    expect(page.get_by_text("mia/digits is free")).to_be_visible()
    page.get_by_role("dialog").get_by_label("Description").fill("numbers by hand")
    page.get_by_role("button", name="Make it").click()
    page.wait_for_url("**/hub/mia/digits")
    expect(page.get_by_text("This repository is empty")).to_be_visible()
    expect(page.locator(".o-copy-text")).to_contain_text("/mia/digits.git")

    folder = tmp_path / "up"
    (folder / "img").mkdir(parents=True)
    (folder / "README.md").write_text(README)
    (folder / "train.py").write_text(SCRIPT)
    (folder / "img" / "dot.png").write_bytes(PNG)
    page.get_by_label("What is this change?").fill("Begin")
    page.locator("input[type=file]").first.set_input_files([folder / "README.md", folder / "train.py"])
    readme = page.locator(".o-readme")
    expect(readme.get_by_role("heading", name="Digits")).to_be_visible()
    expect(readme).to_contain_text("<script>document.title")  # shown, never run
    expect(readme.get_by_text("trap")).not_to_have_attribute("href", re.compile("javascript"))
    expect(readme.locator("img")).to_have_count(1)
    expect(page).to_have_title(re.compile("^mia/digits"))

    page.get_by_role("button", name="Upload files").click()
    page.locator("input[webkitdirectory]").set_input_files(folder / "img")
    expect(page.get_by_role("link", name="img/", exact=True)).to_be_visible()
    expect(page.locator(".o-readme img")).to_have_js_property("naturalWidth", 1)

    page.get_by_role("link", name="train.py").last.click()
    expect(page.locator(".o-lines li").nth(1)).to_have_text("print('epoch 1')")
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Content").fill(SCRIPT.replace("epoch 1", "epoch 2 of 2"))
    page.get_by_label("What is this change?").fill("Train <b>twice</b>")
    page.get_by_role("button", name="Save as a commit").click()
    expect(page.locator(".o-lines li").nth(1)).to_have_text("print('epoch 2 of 2')")

    page.get_by_role("link", name="Commits", exact=True).first.click()
    expect(page.locator(".o-commits li")).to_have_count(3)
    page.get_by_role("link", name="Train <b>twice</b>").click()
    expect(page.locator(".o-patch tr.o-plus")).to_contain_text("epoch 2 of 2")
    expect(page.locator(".o-patch tr.o-minus")).to_contain_text("epoch 1")
    assert find_barriers(page) == []

    page.get_by_role("link", name="Train this project").click()
    expect(page.get_by_text("Everything is in order.")).to_be_visible()
    expect(page.locator(".o-copy-text")).to_contain_text("in a clone of mia/digits")
    page.get_by_label("Nodes").fill("2")
    expect(page.locator(".o-copy-text")).to_contain_text("--nodes 2")
    page.get_by_label("Nodes").fill("")
    page.get_by_label("Outputs").fill("out")
    expect(page.locator(".o-copy-text")).to_contain_text("--output out")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/runs/[^/]+$"))
    run = console.finished(page.url.rpartition("/")[2])

    page.goto(f"{console.url}/hub/mia/digits/runs")
    used = page.locator("tbody").get_by_role("link", name="train", exact=True)
    expect(used).to_have_attribute("href", f"/runs/{run}")

    page.goto(f"{console.url}/runs/{run}/outputs")
    page.get_by_role("button", name="Publish as a model").click()
    page.get_by_label("Repository").fill("mia/digits-model")
    page.get_by_role("button", name="Publish", exact=True).click()
    page.wait_for_url("**/hub/mia/digits-model")
    expect(page.get_by_role("link", name="model.txt")).to_be_visible()
    page.get_by_role("link", name="Use in a run").click()
    expect(page.get_by_label("Address")).to_have_value(re.compile("^model:mia/digits-model@[0-9a-f]{40}$"))


def test_large_files_go_to_lfs_and_a_project_refuses_them(console, context, page, rest, tmp_path):
    for kind in ("model", "project"):
        make(rest, f"large-{kind}", kind, files=[("a.txt", "1\n")])
    (tmp_path / "weights.bin").write_bytes(bytes(300 << 10))
    console.enter(context)
    page.goto(f"{console.url}/hub/mia/large-model")
    page.get_by_role("button", name="Upload files").click()
    page.locator("input[type=file]").first.set_input_files(tmp_path / "weights.bin")
    row = page.get_by_role("row", name=re.compile("weights.bin"))
    expect(row.get_by_text("LFS")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download .zip").click()
    assert saved.value.suggested_filename.endswith(".zip")

    page.goto(f"{console.url}/hub/mia/large-project")
    page.get_by_role("button", name="Upload files").click()
    page.locator("input[type=file]").first.set_input_files(tmp_path / "weights.bin")
    expect(page.get_by_role("alert").filter(has_text="a project holds code only")).to_be_visible()


def test_what_is_private_looks_like_what_is_not_there(console, context, page, rest):
    make(rest, "secret", files=[("a.txt", "1")])
    make(rest, "shown", files=[("a.txt", "1")], visibility="public", tags=["seen"])
    console.enter(context, "zoe")
    context.expected.add(404)
    context.expected.add(403)
    texts = []
    for name in ("secret", "nothing"):
        for view in ("", "/runs", "/settings", "/commit/main"):
            answer = page.goto(f"{console.url}/hub/mia/{name}{view}")
            expect(page.get_by_role("heading", name="Not found")).to_be_visible()
            texts.append((answer.status, page.locator("#content").inner_text().replace(name, "NAME")))
    assert texts[:4] == texts[4:] and texts[0][0] == 404

    page.goto(f"{console.url}/hub?tag=seen")
    page.get_by_role("link", name="mia/shown").click()
    expect(page.get_by_role("link", name="a.txt", exact=True)).to_be_visible()
    for name in ("Upload files", "New file", "Settings"):
        expect(page.locator("#content").get_by_text(name, exact=True)).to_have_count(0)
    page.goto(f"{console.url}/hub/mia/shown/settings")
    expect(page.get_by_role("heading", name="Not possible")).to_be_visible()


def test_a_repository_goes_only_when_its_name_is_typed(console, context, page, rest):
    make(rest, "short-lived", files=[("a.txt", "1")])
    console.enter(context)
    page.goto(f"{console.url}/hub/mia/short-lived/settings")
    page.get_by_label("Description").fill("soon gone")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".o-run-head").get_by_text("soon gone")).to_be_visible()
    page.get_by_role("button", name="Remove this repository").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Remove")).to_be_disabled()
    dialog.get_by_label("Name").fill("mia/short-lived")
    dialog.get_by_role("button", name="Remove").click()
    page.wait_for_url("**/hub")
    expect(page.get_by_role("link", name="mia/short-lived")).to_have_count(0)


def test_inputs_and_code_are_chosen_from_the_hub_in_the_form(console, context, page, rest):
    make(rest, "code", "project", files=[("src/train.py", "print(1)\n")])
    make(rest, "points", "dataset", files=[("deep/points.csv", "1,2\n")])
    console.enter(context)
    page.goto(f"{console.url}/new")
    page.get_by_role("button", name="Code from a project of the hub").click()
    page.get_by_role("dialog").get_by_role("button", name="project mia/code").click()
    page.get_by_role("button", name="Choose this").click()
    expect(page.get_by_text(re.compile("mia/code@[0-9a-f]+: 1 file"))).to_be_visible()
    page.get_by_role("button", name="+ Add an input").click()
    page.get_by_role("button", name="Hub", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="dataset mia/points").click()
    page.get_by_role("dialog").get_by_role("button", name="deep/").click()
    page.get_by_role("dialog").get_by_role("button", name="points.csv").click()
    expect(page.get_by_label("Address")).to_have_value(re.compile("^dataset:mia/points/deep/points.csv@"))
    expect(page.get_by_text("Everything is in order.")).to_be_visible()


@pytest.mark.parametrize(
    ("language", "look", "width", "views"),
    [
        ("en", "dark", 1280, ["", "?path=t.csv", "?path=deep/a.json", "/history", "/commit/main", "/settings"]),
        ("zh", "light", 390, ["", "?path=README.md&plain=1", "/runs", "/edit?path=t.csv"]),
    ],
)
def test_every_page_of_the_hub_can_be_used_by_everybody(console, context, page, rest, language, look, width, views):
    name = f"open-{language}"
    files = [("README.md", README), ("t.csv", "x,y\n1,2\n"), ("deep/a.json", '{"a": 1}')]
    path = make(rest, name, "dataset", files=files, tags=["vision"], licence="mit", description="for all")
    console.enter(context, language=language, look=look)
    page.set_viewport_size({"width": width, "height": 800})
    context.expected.add(404)  # the picture that the README names is not there
    for place in [f"/hub?q={name}&kind=dataset", *(f"/hub/{path}{view}" for view in views)]:
        page.goto(f"{console.url}{place}")
        assert find_barriers(page) == [], place
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, place
