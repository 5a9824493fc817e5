"""A training of a project in a real browser: from the form to its log, its evaluation and a published model."""

import re
import uuid

import pytest
from console_lab import find_barriers
from playwright.sync_api import TimeoutError, expect

from outlast.model.visitor import Visitor
from outlast.operations.hubs import open_hub

SCRIPT = """
import argparse, os
parser = argparse.ArgumentParser()
for name in ("output_path", "data_url", "rates"):
    parser.add_argument("--" + name)
args = parser.parse_args()
print("found", sorted(os.listdir(args.data_url)), flush=True)
for rate in args.rates.split(","):
    for epoch in range(1, 5):
        print("epoch: %d step: 10, loss is %.5f" % (epoch, float(rate) / epoch), flush=True)
with open(os.path.join(args.output_path, "weights.txt"), "w") as file:
    file.write("trained")
"""


@pytest.fixture
def project(console):
    """A project of mia's with a script, and a data set of zoe's that everybody may use."""
    hub = open_hub(console.settings)

    def make(owner, name, kind, files, **words):
        made = hub.create(Visitor(owner), f"{owner}/{name}", kind, **words)
        hub.bare(made).write_commit({path: (data.encode(), 0o644) for path, data in files.items()}, "first", owner)
        return made

    end = uuid.uuid4().hex[:6]
    make("zoe", f"mnist-{end}", "dataset", {"images.bin": "1"}, visibility="public")
    return make("mia", f"lenet-{end}", "project", {"src/train.py": SCRIPT, "README.md": "hello"})


def _arrives(console, page, form):
    """Wait for an address; what the page and the server say instead is told."""
    try:
        page.wait_for_url(form)
    except TimeoutError:
        raise AssertionError(f"{page.url}\n{page.locator('body').inner_text()}\n{console.log()[-3000:]}") from None


def test_a_training_from_the_form_to_a_published_model(console, context, page, project):
    console.enter(context)
    base = f"{console.url}/hub/{project.path}/trainings"
    page.goto(base)
    expect(page.get_by_text("This project was never trained.")).to_be_visible()
    page.get_by_role("link", name="New training").click()
    page.get_by_label("Name", exact=True).first.fill("first_try")
    page.get_by_role("button", name="Browse: Boot file").click()
    page.get_by_role("button", name="src/").click()
    page.get_by_role("button", name="train.py").click()
    expect(page.get_by_label("Boot file", exact=True)).to_have_value("src/train.py")
    page.get_by_role("combobox", name="Version").click()
    page.get_by_role("option", name=re.compile("mindspore_1.7.0")).click()
    page.get_by_role("button", name="+ data set").click()
    page.get_by_label("Option", exact=True).fill("data_url")
    page.get_by_role("button", name="Browse", exact=True).click()
    page.get_by_role("button", name=project.path.replace("mia/lenet", "zoe/mnist")).click()
    page.get_by_role("button", name="Use the whole repository").click()
    expect(page.get_by_label("Data set", exact=True)).to_have_value(project.path.replace("mia/lenet", "zoe/mnist"))
    page.get_by_role("button", name="+ hyper-parameter").click()
    page.get_by_label("Value", exact=True).fill("0.1,0.01")  # the row is there then, and its name is the last one
    page.get_by_label("Name", exact=True).last.fill("rates")
    assert find_barriers(page) == []
    page.get_by_role("button", name="Start the training").click()

    _arrives(console, page, re.compile(r"/trainings/[0-9a-f]{24}$"))
    expect(page.locator(".o-state")).to_have_text("Completed")
    expect(page.get_by_role("log")).to_contain_text("found ['images.bin']")
    assert find_barriers(page) == []
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the output").click()
    assert saved.value.suggested_filename == "output.tar.gz"

    page.get_by_label("Batch sizes").fill("32")
    page.get_by_label("Learning rates").fill("0.1, 0.01")
    page.get_by_label("Momentums").fill("0.9")
    page.get_by_role("button", name="Evaluate", exact=True).click()
    _arrives(console, page, re.compile("/evaluation$"))
    expect(page.get_by_role("heading", name="batch size 32, learning rate 0.01, momentum 0.9")).to_be_visible()
    assert find_barriers(page) == []

    page.get_by_role("link", name="first_try").click()
    page.get_by_role("button", name="Publish as a model").click()
    page.get_by_label("Repository").fill(f"{project.path}-model")
    page.get_by_role("button", name="Publish", exact=True).click()
    _arrives(console, page, re.compile(f"/hub/{project.path}-model"))
    published = open_hub(console.settings).find(Visitor("mia"), "mia", f"{project.name}-model")
    assert published.kind == "model"

    page.goto(base)
    page.get_by_role("button", name="Delete first_try").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("This project was never trained.")).to_be_visible()


def test_a_refusal_stands_beside_the_form_until_the_next_attempt(console, context, page, project):
    console.enter(context)
    page.goto(f"{console.url}/hub/{project.path}/trainings/new")
    start = page.get_by_role("button", name="Start the training")
    refusal = page.locator("#content").get_by_role("alert")
    page.get_by_label("Name", exact=True).first.fill("abc")
    start.click()
    expect(refusal).to_contain_text("abc")
    page.get_by_label("Name", exact=True).first.fill("long_enough")
    expect(refusal).to_contain_text("abc")
    start.click()
    expect(refusal).not_to_contain_text("abc")
    expect(refusal).to_contain_text("boot_file")
    expect(page.locator(".q-notification")).to_have_count(0)
    assert find_barriers(page) == []


def test_pages_of_a_private_project_do_not_exist_for_others(console, context, page, project):
    console.enter(context, "zoe")
    context.expected.add(404)
    for path in ("", "/new", f"/{'a' * 24}", f"/{'a' * 24}/evaluation"):
        page.goto(f"{console.url}/hub/{project.path}/trainings{path}")
        expect(page.get_by_text(f"no repository {project.path}")).to_be_visible()


def test_the_pages_speak_chinese(console, context, page, project):
    console.enter(context, language="zh")
    page.goto(f"{console.url}/hub/{project.path}/trainings/new")
    expect(page.get_by_role("heading", name="创建训练实例")).to_be_visible()
    page.get_by_role("button", name="开始训练").click()
    expect(page.get_by_role("alert").get_by_text("名称：'' 须为 5 到 50 个字母")).to_be_visible()
