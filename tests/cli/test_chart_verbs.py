"""`chart`, `compare`, `export` and `report` as typed, over a real home with two small runs in it."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from pathlib import Path

import pytest

from outlast.cli.compared import compared_lines
from outlast.cli.paint import Ink
from outlast.inside.stores import open_store
from outlast.keeper.home import Home
from outlast.keeper.wake import take_lock
from outlast.model.states import RunState
from outlast.operations.comparing import ComparedRun, Comparison
from outlast.testing.runs import fake_settings, write_run

sys.path.insert(0, str(Path(__file__).parents[1] / "operations"))
from measured import keep_code, losses, write_points


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two runs that have measured, in the home that commands of this test use."""
    from outlast.inside import layout
    from outlast.inside.records import Order

    monkeypatch.chdir(tmp_path)
    settings = fake_settings(tmp_path / "home")
    store = open_store(settings.store)
    lock = take_lock(Home(settings.home))
    ids = []
    for name, low in (("base", 0.0), ("wide", 0.2)):
        code = keep_code(store, {"train.py": name})
        spec = write_run(store, settings, name=name, params={"width": name, "lr": "0.1"}, code=code)
        order = Order(run=spec.id, stint=1, token="t", platform="fake")
        store.put(layout.order_key(spec.id, 1), order.to_bytes())
        write_points(store, spec.id, 1, losses(1, 9, low=low))
        ids.append(spec.id)
    yield ids
    os.close(lock)


def test_chart_draws_in_a_pipe_without_colour(outlast, runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    code, out, err = outlast("chart", "base")
    assert (code, err) == (0, "") and "\x1b" not in out
    assert out.startswith("loss  last 0.25 · best 0.25\n") and "val_acc" in out
    assert max(len(line) for line in out.splitlines()) <= 70
    overlaid = outlast("chart", "base", "wide", "-m", "loss")[1]
    assert overlaid.splitlines()[1].split() == ["a", "base", "0.25", "b", "wide", "0.45"]


def test_chart_writes_pictures_and_refuses_other_endings(outlast, runs):
    code, out, _ = outlast("chart", "base", "--svg", "a.svg", "--dark")
    assert (code, out) == (0, "wrote a.svg\n") and "prefers-color-scheme" not in Path("a.svg").read_text()
    code, _, err = outlast("chart", "base", "--png", "a.gif")
    assert code == 2 and "a.gif" in err and "try a.png" in err


def test_chart_json_has_the_points(outlast, runs):
    (body,) = json.loads(outlast("chart", "base", "-m", "loss", "--json")[1])
    assert body["run"] == runs[0] and body["metric"] == "loss" and len(body["points"]) == 8
    assert body["points"][0] == {"stint": 1, "at_s": 0.0, "epoch": 1.0, "step": 10, "value": 2.0, "replayed": False}


@pytest.mark.parametrize("verb", ["chart", "compare", "export", "report"])
def test_an_unknown_run_is_ten(outlast, runs, verb):
    code, out, err = outlast(verb, "bass")
    assert (code, out) == (10, "") and "did you mean 'base'?" in err


def test_compare_shows_what_differs_and_marks_the_best(outlast, runs):
    code, out, _ = outlast("compare", "base", "wide")
    assert code == 0
    lines = {line[:12].strip(): line for line in out.splitlines()}
    assert lines["width"].split() == ["width", "base", "wide"] and "lr" not in lines
    assert lines["best loss"].split() == ["best", "loss", "0.25", "at", "8", "*", "0.45", "at", "8"]
    assert "1 file differs: train.py" in out and "1 equal parameter not shown" in out
    assert "lr" in {line[:12].strip() for line in outlast("compare", "base", "wide", "--all")[1].splitlines()}


def test_many_runs_stand_below_each_other():
    rows = tuple(
        ComparedRun(
            run=f"1115-a-b-{at}", name="a", label=f"lr=0.{at}", state=RunState.SUCCEEDED, stints=1, duration_s=9.0,
            useful_fraction=None, code="c" * 64, code_differs=[], params={"lr": f"0.{at}"}, final={"loss": 0.1 * at},
            best={"loss": (0.1 * at, None)},
        )
        for at in range(1, 7)
    )  # fmt: skip
    title, *lines = compared_lines(Comparison(rows), Ink(io.StringIO()))
    assert title.split()[:3] == ["run", "state", "lr"] and len(lines) == 6
    assert lines[0].startswith("1115-a-b-1  succeeded  0.1") and lines[0].count("*") == 1 and "*" not in lines[1]


def test_compare_speaks_csv_and_json_but_not_both(outlast, runs):
    rows = list(csv.DictReader(io.StringIO(outlast("compare", "base", "wide", "--csv")[1])))
    assert [row["best.loss"] for row in rows] == ["0.25", "0.45"] and rows[1]["params.width"] == "wide"
    body = json.loads(outlast("compare", "base", "wide", "--json")[1])
    assert body[0]["is_best_in"] == ["loss", "val_acc"] and body[1]["code_differs"] == ["train.py"]
    assert outlast("compare", "base", "--csv", "--json")[0] == 2


def test_export_says_what_it_wrote(outlast, runs):
    code, out, err = outlast("export", "base", "wide")
    assert code == 0 and out == "wrote 32 values of 2 runs to metrics.csv\n" and "writing 32 values" in err
    assert outlast("export", "base")[0] == 2, "the file is there already"
    body = json.loads(outlast("export", "base", "--to", "tensorboard", "-o", "tb", "--json")[1])
    assert body == {"path": "tb", "format": "tensorboard", "runs": 1, "values": 16}


def test_report_follows_the_locale_unless_told(outlast, runs, monkeypatch):
    code, out, _ = outlast("report", "base")
    assert code == 0 and out.startswith("wrote report.html (") and 'lang="en"' in Path("report.html").read_text()
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    outlast("report", "base", "-o", "zh.html")
    assert "时间账" in Path("zh.html").read_text() or "曲线" in Path("zh.html").read_text()
    outlast("report", "base", "-o", "en.html", "--lang", "en")
    assert "Curves" in Path("en.html").read_text()
