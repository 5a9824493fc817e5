"""Charts of real run folders: which runs, which metrics, what is refused."""

from __future__ import annotations

import pytest
from measured import train, write_points

from outlast.errors import NotFoundError, UsageError
from outlast.operations.chart import chart_runs, read_charted, run_labels, save_picture
from outlast.operations.locate import locate
from outlast.operations.points import read_metrics


def test_a_run_has_its_curves_with_seams_and_what_was_replayed(bench):
    train(bench, "digits")
    figure = chart_runs(bench.settings, ["digits"])
    assert [panel.metric for panel in figure.panels] == ["loss", "val_acc"] and figure.x_title == "step"
    (curve,) = figure.panels[0].curves
    faint, line = curve.lines
    assert list(line.xs) == [float(step) for step in range(10, 100, 10)]
    assert list(faint.xs) == [40.0, 50.0, 60.0] and [(mark.x, mark.stint) for mark in curve.seams] == [(50.0, 2)]


def test_with_and_without_numpy_the_picture_is_the_same(bench, monkeypatch):
    train(bench, "digits")
    with_columns = chart_runs(bench.settings, ["digits"])
    monkeypatch.setattr("outlast.operations.points.have_numpy", lambda: False)
    assert chart_runs(bench.settings, ["digits"]) == with_columns


def test_a_long_series_is_thinned_and_keeps_its_extremes(bench):
    spec = train(bench, "long")
    write_points(
        bench.store, spec.id, 2, [(9.0 + n / 1e4, 9.0 + n, 90 + n, {"loss": 0.5}) for n in range(1, 20_000)], 2
    )
    write_points(bench.store, spec.id, 2, [(20.0, 3e4, 30_000, {"loss": 77.0}), (21.0, 3e4, 30_001, {"loss": 0.25})], 3)
    figure = chart_runs(bench.settings, ["long"], metrics=["loss"])
    (curve,) = figure.panels[0].curves
    assert sum(len(line.xs) for line in curve.lines) < 8000
    assert max(curve.lines[-1].ys) == 77.0 and curve.last == 0.25 and curve.best == pytest.approx(2 / 9)
    thin = read_metrics(bench.settings, locate(bench.settings, "long"), 16)["loss"]
    assert thin.curve[-1].value == 0.25 and len(thin.points) < 60


def test_several_runs_are_told_apart_by_name_or_parameters_or_id():
    def labels(*specs):
        return list(run_labels({f"id{at}": spec for at, spec in enumerate(specs)}).values())

    assert labels({"name": "a"}, {"name": "b"}) == ["a", "b"]
    same = [{"name": "a", "params": {"lr": lr, "batch": "32"}} for lr in ("0.1", "0.2")]
    assert labels(*same) == ["lr=0.1", "lr=0.2"]
    assert labels({"name": "a"}, {"name": "a"}) == ["id0", "id1"]
    assert labels(*[{"name": "a", "params": {"x": "y" * 40 + c}} for c in "ab"]) == ["id0", "id1"]


def test_a_run_that_is_named_twice_is_drawn_once(bench):
    spec = train(bench, "digits")
    assert len(read_charted(bench.settings, ["digits", spec.id, spec.id[:12]])) == 1


def test_metrics_are_chosen_by_name_or_glob(bench):
    train(bench, "digits")
    assert [p.metric for p in chart_runs(bench.settings, ["digits"], metrics=["val*", "loss"]).panels] == [
        "val_acc",
        "loss",
    ]
    with pytest.raises(UsageError, match=r"no metric 'los'; did you mean 'loss'\?"):
        chart_runs(bench.settings, ["digits"], metrics=["los"])


@pytest.mark.parametrize(
    ("words", "message"),
    [({"x": "steps"}, "unknown x 'steps'"), ({"smooth": 1.0}, "cannot smooth by 1"), ({"smooth": -0.1}, "smooth")],
)
def test_wrong_words_are_refused(bench, words, message):
    train(bench, "digits")
    with pytest.raises(UsageError, match=message):
        chart_runs(bench.settings, ["digits"], **words)


def test_a_run_without_metrics_says_how_to_get_some(bench):
    bench.run(name="quiet")
    with pytest.raises(NotFoundError, match="no metrics") as caught:
        chart_runs(bench.settings, ["quiet"])
    assert "outlast.track" in caught.value.hint


def test_nothing_that_can_be_drawn_is_a_sentence(bench):
    spec = bench.run(name="zero")
    bench.start()
    write_points(bench.store, spec.id, 1, [(1.0, 1.0, None, {"loss": 0.0})])
    with pytest.raises(UsageError, match="log scale"):
        chart_runs(bench.settings, ["zero"], log=True)
    with pytest.raises(UsageError, match="no steps"):
        chart_runs(bench.settings, ["zero"], x="step")


def test_pictures_are_written_by_their_ending(bench, tmp_path):
    train(bench, "digits")
    figure = chart_runs(bench.settings, ["digits"])
    assert save_picture(figure, tmp_path / "a.svg").read_text().startswith("<svg")
    with pytest.raises(UsageError, match=r"\.jpg"):
        save_picture(figure, tmp_path / "a.jpg")
    with pytest.raises(UsageError, match="No such file"):
        save_picture(figure, tmp_path / "none" / "a.svg")
