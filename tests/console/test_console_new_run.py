"""The form of a new run in a real browser, checked by the server while it is filled in."""

import json

import pytest
from playwright.sync_api import expect


@pytest.fixture
def form(console, context, page):
    console.enter(context)
    page.goto(f"{console.url}/new")
    return page


def upload_code(console, page):
    page.locator("input[webkitdirectory]").first.set_input_files(console.folder / "code")
    expect(page.get_by_text("code: 1 file")).to_be_visible()


def test_a_run_is_started_from_the_form_and_copied_again(console, form):
    page = form
    expect(page.get_by_text("Upload the code, then choose the boot file.")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_be_disabled()
    upload_code(console, page)
    expect(page.get_by_text("Everything is in order.")).to_be_visible()

    page.get_by_label("Limit of each stint").fill("soon")
    expect(page.locator(".o-refusal")).to_contain_text("not a duration")
    expect(page.get_by_role("button", name="Start")).to_be_disabled()
    page.get_by_label("Limit of each stint").fill("10m")
    page.get_by_label("As one line").fill("lr=0.5")
    expect(page.get_by_label("Value")).to_have_value("0.5")
    page.get_by_label("Value").fill("0.25")
    expect(page.get_by_label("As one line")).to_have_value("lr=0.25")
    page.get_by_label("Checkpoints").fill("ckpt")
    page.get_by_label("Outputs").fill("out")
    page.get_by_label("Name", exact=True).first.fill("from-the-form")
    expect(page.locator(".o-copy-text")).to_contain_text("--param lr=0.25")
    expect(page.get_by_text("train.py --lr=0.25")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/*")
    run = console.finished(page.url.rpartition("/")[2])
    with console.http("mia") as http:
        told = http.get(f"/api/v1/runs/{run}").json()
    assert (told["state"], told["user"], told["spec"]["params"]) == ("succeeded", "mia", {"lr": "0.25"})
    assert len(told["stints"]) == 3

    page.goto(f"{console.url}/new?from={run}")
    expect(page.get_by_text("Everything is in order.")).to_be_visible()
    expect(page.get_by_text("Forecast")).to_be_visible()
    expect(page.get_by_label("As one line")).to_have_value("lr=0.25")
    expect(page.locator(".o-copy-text")).to_contain_text("--checkpoint ckpt")


def test_jobs_of_other_systems_fill_the_form(console, form, tmp_path):
    page = form
    upload_code(console, page)
    job = tmp_path / "job.pai.json"
    role = {"name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 512, "gpuNumber": 0,
            "command": "cd code && python train.py --lr 0.75"}  # fmt: skip
    job.write_text(
        json.dumps({"jobName": "digits", "image": "x", "codeDir": "$PAI_JOB_NAME/code", "taskRoles": [role]})
    )
    page.get_by_role("button", name="Import a job file").click()
    page.get_by_label("Job file").set_input_files(job)
    expect(page.get_by_text("job.pai.json was read into the form.")).to_be_visible()
    expect(page.get_by_text("Everything is in order.")).to_be_visible()

    other = tmp_path / "broken.json"
    other.write_text("{")
    page.get_by_role("button", name="Import a job file").click()
    page.get_by_label("Job file").set_input_files(other)
    expect(page.get_by_role("alert").filter(has_text="broken.json")).to_be_visible()


def test_nobody_copies_a_run_they_may_not_see(console, context, page, trained):
    context.expected.add(404)
    console.enter(context, "zoe")
    page.goto(f"{console.url}/new?from={trained}")
    expect(page.get_by_text(f"no run '{trained}'")).to_be_visible()
    context.clear_cookies()
    console.enter(context, "vic")
    page.goto(f"{console.url}/new")
    expect(page.get_by_text("Viewers cannot start runs")).to_be_visible()


def test_inputs_are_chosen_in_a_store(console, form, tmp_path):
    from outlast.operations.maps import map_store

    page = form
    (tmp_path / "shelf" / "mnist").mkdir(parents=True)
    (tmp_path / "shelf" / "mnist" / "a.bin").write_bytes(b"1")
    map_store(console.settings, "obs://shelf-data", tmp_path / "shelf")
    page.reload()
    page.get_by_role("button", name="+ Add an input").click()
    page.get_by_role("button", name="Browse").click()
    page.get_by_role("dialog").get_by_role("button", name="obs://shelf-data/").click()
    page.get_by_role("dialog").get_by_role("button", name="mnist/").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="a.bin")).to_be_visible()
    page.get_by_role("button", name="Choose this folder").click()
    expect(page.get_by_label("Address")).to_have_value("obs://shelf-data/mnist/")
