"""Lists, pages and the verbs on runs."""

import concurrent.futures
import contextlib
import dataclasses
import json
import math

import pytest

from outlast.keeper.home import Home
from outlast.keeper.index import Index, RunRow
from outlast.model.first_view import first_view
from outlast.model.query import RunQuery
from outlast.server.paging import write_cursor
from outlast.server.ready import Asked, ReadyRuns
from outlast.settings import Settings


@pytest.fixture(scope="session")
def many(api):
    """Twenty-five runs of ben, in order of their time; every fifth failed."""
    ids = []
    for number in range(25):
        view = {"state": "failed" if number % 5 == 0 else "succeeded", "metrics": {"acc": number / 100}}
        ids.append(
            api.add_run("ben", name=f"many-{number % 2}", created_at=f"2026-01-01T00:00:{number:02d}.000Z", view=view)
        )
    return ids


def _walk(client, **query):
    found, cursor, pages = [], "", 0
    while cursor is not None:
        page = client.get("/runs", params={**query, "cursor": cursor}).raise_for_status().json()
        found += [run["id"] for run in page["runs"]]
        cursor, pages = page["next"], pages + 1
    return found, pages


@pytest.mark.parametrize(
    "query",
    [
        {"state": ["failed", "succeeded"]},
        {"sort": "-created"},
        {"sort": "acc"},
        {"name": "many-*"},
        {"where": "acc>=0"},
    ],
)
def test_pages_show_every_run_once_in_one_order(api, many, query):
    with api.client("ben") as client:
        found, pages = _walk(client, limit=7, **query)
    expected = many if query.get("sort") == "-created" else many[::-1]
    assert [run for run in found if run in many] == expected
    assert len(set(found)) == len(found)
    assert pages == math.ceil(len(found) / 7)


def test_filters_choose(api, many):
    with api.client("ben") as client:
        failed = client.get("/runs", params={"state": "failed", "name": "many-*"}).json()["runs"]
        wanted = {"name": "many-*", "where": "acc>=0.2", "sort": "acc", "limit": 2}
        best = client.get("/runs", params=wanted).json()["runs"]
    assert {run["id"] for run in failed} == set(many[::5])
    assert [run["id"] for run in best] == [many[24], many[23]]


def test_open_runs_are_filtered_and_sorted_like_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr("outlast.server.ready.ensure_keeper", lambda home: False)
    home = Home(tmp_path)
    with contextlib.closing(Index(home.index)) as index:
        for number, value in enumerate((0.5, 0.9, 0.7)):
            spec = {"id": f"r{number}", "name": f"open-{number}", "user": "ben", "created_at": "2026", "store": ""}
            view = {**first_view(spec).to_json(), "metrics": {"top1": value}}
            index.put(RunRow(spec["id"], spec["name"], "ben", "running", "local", "2026", "", open=True, view=view))
    with contextlib.closing(ReadyRuns(Settings.load({}, home=tmp_path))) as runs:
        found = {
            words: [run["id"] for run in json.loads(runs.page(Asked(None, query, 10)))["runs"]]
            for words, query in {
                "best": RunQuery.build("open-*", (), ["top1>=0.6"], "top1"), "none": RunQuery.build("nothing-*"),
                "queued": RunQuery.build("", ["queued"], (), "-top1"),
            }.items()
        }  # fmt: skip
    assert found == {"best": ["r1", "r2"], "none": [], "queued": ["r0", "r2", "r1"]}


def test_a_run_that_comes_between_two_pages_shifts_nothing(api, many):
    with api.client("ben") as client:
        first = client.get("/runs", params={"limit": 5}).json()
        api.add_run("ben", name="newcomer")
        second = client.get("/runs", params={"limit": 5, "cursor": first["next"]}).json()
    assert not {run["id"] for run in first["runs"]} & {run["id"] for run in second["runs"]}


def test_a_list_is_never_older_than_the_index(api):
    with api.client("ann") as client:
        for state in ("running", "succeeded"):
            client.get("/runs")
            run = api.add_run("ann", view={"state": state}, id="0101-calm-otter-abc")
            shown = {each["id"]: each["state"] for each in client.get("/runs").json()["runs"]}
            assert shown[run] == state


def test_values_that_json_lacks_are_null(api):
    run = api.add_run("ann", name="diverged", view={"metrics": {"loss": math.nan, "top": math.inf}})
    response = api.call("ann", "GET", "/runs", params={"name": "diverged"})
    assert "NaN" not in response.text and "Infinity" not in response.text
    assert next(each for each in response.json()["runs"] if each["id"] == run)["metrics"] == {"loss": None, "top": None}


@pytest.mark.parametrize("cursor", ["x", "!!!", write_cursor(1, 2), write_cursor("a"), "é", "a" * 400])
def test_a_wrong_cursor_is_the_callers_mistake(api, cursor):
    response = api.call("ann", "GET", "/runs", params={"cursor": cursor})
    assert response.status_code == 400 and response.json()["ok"] is False


@pytest.mark.parametrize(
    "query", [{"state": "asleep"}, {"where": "no condition"}, {"limit": 0}, {"sort": "-"}, {"limt": 3}]
)
def test_a_wrong_filter_is_named(api, query):
    response = api.call("ann", "GET", "/runs", params=query)
    assert response.status_code in (400, 422) and response.json()["message"]


def test_a_name_means_the_newest_run_of_those_one_may_see(api):
    mine = api.add_run("ann", name="shared", created_at="2026-01-01T00:00:00.000Z")
    api.add_run("ben", name="shared", created_at="2026-02-02T00:00:00.000Z")
    assert api.call("ann", "GET", "/runs/shared").json()["id"] == mine
    assert api.call("ann", "GET", f"/runs/{mine[:-1]}").json()["id"] == mine


def test_the_same_key_starts_one_run_however_often_and_however_many_ask(api):
    script = api.folder / "quick" / "train.py"
    script.parent.mkdir()
    script.write_text("print('quick')\n")
    body = {"target": str(script), "name": "only-once"}

    def ask(_):
        return api.call("root", "POST", "/runs", json=body, headers={"Idempotency-Key": "one"})

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(ask, range(3)))
    assert [each.status_code for each in answers] == [201] * 3, [each.text for each in answers]
    assert len({each.json()["id"] for each in answers}) == 1
    other = api.call("root", "POST", "/runs", json={**body, "args": ["x"]}, headers={"Idempotency-Key": "one"})
    assert (other.status_code, other.json()["code"]) == (409, "conflict")
    run = answers[0].json()["id"]
    assert api.call("ann", "GET", f"/runs/{run}").status_code == 404
    assert api.call("root", "DELETE", f"/runs/{run}", params={"force": True}).json() == {"removed": run}
    assert api.call("root", "GET", f"/runs/{run}").status_code == 404


def _ids(api):
    return [run["id"] for run in api.call("root", "GET", "/runs").json()["runs"]]


def test_plan_and_explain_start_nothing(api):
    script = api.folder / "planned.py"
    script.write_text("print(1)\n")
    before = _ids(api)
    plan = api.call("root", "POST", "/runs/plan", json={"target": str(script), "params": ["lr=0.1"]}).json()
    assert plan["spec"]["params"] == {"lr": "0.1"} and plan["command"]
    explained = api.call("root", "POST", "/runs/explain", json={"target": str(script)}).json()
    assert explained["parts"][0]["command"].endswith("planned.py")
    assert _ids(api) == before


def test_a_misspelt_field_is_refused(api):
    response = api.call("root", "POST", "/runs", json={"target": "x", "checkpont": "c"})
    assert response.status_code == 422 and "checkpont" in response.json()["message"]


def test_every_word_of_a_request_can_be_said_over_http():
    from outlast.model.request import RunRequest
    from outlast.server.bodies import RunBody

    own = {"cwd", "trial", "user", "visitor", "secret_values", "code_asset"}  # the server's business
    theirs = set(RunBody.model_fields) - {"code", "project", "folder"}  # where the code lies, what its folder is called
    assert {each.name for each in dataclasses.fields(RunRequest)} - own == theirs
