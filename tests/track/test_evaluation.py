"""Standard evaluation: curves with known faults are told, ordinary noisy ones raise no alarm."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.track.evaluation.curve import Spot
from outlast.track.evaluation.roles import base_of, counterpart, is_validation, most_telling
from outlast.track.evaluation.signs import WEIGHTS
from outlast.track.evaluation.standard import evaluate
from outlast.track.series import Series, SeriesPoint

ALARMS = ("problem", "warning")


def series(name, values, *, epoch_s=10.0, per_epoch=1):
    """A metric of one stint: `per_epoch` values for each epoch."""
    points = [
        SeriesPoint(1, (at + 1) * epoch_s / per_epoch, float(at // per_epoch + 1), at + 1, value)
        for at, value in enumerate(values)
    ]
    return Series(name, points)


def kinds(*curves, weights=WEIGHTS):
    found = evaluate({curve.name: curve for curve in curves}).findings
    return {finding.kind for finding in found if finding.weight in weights}


def falling(count, start=2.3, end=0.3, tau=0.2):
    return [end + (start - end) * math.exp(-at / (tau * count)) for at in range(count)]


def noisy(values, part, chance):
    """Noise as a part of the whole range."""
    width = part * (max(values) - min(values))
    return [value + chance.gauss(0, width) for value in values]


def seeds(count):
    base = random.SystemRandom().randrange(10**6)
    print(f"seeds {base} to {base + count - 1}")
    return range(base, base + count)


def test_best_last_and_convergence_are_told_with_their_places():
    values = [1.0, 0.5, 0.25, 0.125, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]
    found = evaluate({"loss": series("loss", values)})
    summary = found.metrics["loss"]
    assert (summary.best.value, summary.best.epoch, summary.best.time_s) == (0.1, 5.0, 50.0)
    assert summary.last.epoch == 10.0 and summary.first.value == 1.0
    assert summary.to_90 is not None and summary.to_90.epoch in (4.0, 5.0)
    assert found.main == "loss"
    assert found.epoch_time is not None and found.epoch_time.median_s == pytest.approx(10.0)


def test_time_is_counted_over_stints_without_what_was_done_again():
    points = [
        SeriesPoint(1, 10.0, 1.0, None, 1.0),
        SeriesPoint(1, 20.0, 2.0, None, 0.8),
        SeriesPoint(1, 30.0, 3.0, None, 0.7, replayed=True),
        SeriesPoint(2, 12.0, 3.0, None, 0.7),
        SeriesPoint(2, 22.0, 4.0, None, 0.6),
    ]
    best = evaluate({"loss": Series("loss", points)}).metrics["loss"].best
    assert (best.stint, best.epoch, best.time_s) == (2, 4.0, 42.0)


def ordinary(chance):
    """The curves of a training in which nothing went wrong, as (length, noise, curves)."""
    count, part = chance.choice([6, 8, 12, 20, 50, 100]), chance.choice([0.0, 0.01, 0.03, 0.05, 0.1])
    gap = chance.uniform(0.0, 0.3)
    falls = [falling(count, tau=chance.uniform(0.05, 0.6)) for _ in range(3)]
    shapes = {
        "loss": falls[0],
        "val_loss": [value + gap for value in falls[1]],
        "val_acc": [1 - v / 3 for v in falls[2]],
    }
    return count, part, [series(name, noisy(values, part, chance)) for name, values in shapes.items()]


def test_ordinary_noisy_trainings_raise_no_alarm():
    """One in a few thousand does; two in these few hundred would be a change for the worse."""
    alarms = []
    for seed in seeds(300):
        count, part, curves = ordinary(random.Random(seed))
        alarms += [(seed, count, part, kind) for kind in kinds(*curves, weights=ALARMS)]
    assert len(alarms) <= 2, alarms


def test_single_steps_are_judged_by_their_epochs():
    chance = random.Random(5)
    values = [value + chance.gauss(0, 0.3) for value in falling(2000)]
    assert kinds(series("loss", values, per_epoch=50), weights=ALARMS) == set()


@pytest.mark.parametrize("part", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("count", [20, 60, 200])
def test_overfitting_is_found_where_it_began(count, part):
    for seed in range(6):
        chance = random.Random(seed)
        turn = count // 3
        loss = falling(count, tau=0.4)
        val = [value if at <= turn else loss[turn] + 0.8 * (at - turn) / count for at, value in enumerate(loss)]
        curves = [series("train_loss", noisy(loss, part, chance)), series("val_loss", noisy(val, part, chance))]
        found = [one for one in evaluate({curve.name: curve for curve in curves}).findings if one.kind == "overfitting"]
        assert [one.metric for one in found] == ["val_loss"], seed
        at = float(found[0].numbers["at"].split()[1])
        assert abs(at - turn - 1) <= max(3, 0.2 * count), (seed, at)
        assert "train_loss went on" in found[0].sentence and f"epoch {at:g}" in found[0].advice


def test_a_validation_that_falls_back_while_training_stands_still_is_not_called_overfitting():
    loss = [0.5] * 30
    val = [0.5 - at * 0.01 if at < 10 else 0.4 + (at - 10) * 0.02 for at in range(30)]
    assert "overfitting" not in kinds(series("loss", loss), series("val_loss", val))
    assert "divergence" in kinds(series("loss", loss), series("val_loss", val))


def test_an_accuracy_that_turns_is_paired_with_the_training_loss():
    acc = [0.5 + 0.04 * at if at < 10 else 0.9 - 0.01 * (at - 10) for at in range(30)]
    assert "overfitting" in kinds(series("loss", falling(30, tau=0.5)), series("val_accuracy", acc))


def test_nan_is_a_problem_unless_it_recovers():
    broken = [1.0, 0.8, 0.6, math.nan, math.nan, math.nan]
    found = evaluate({"loss": series("loss", broken)}).findings
    assert found[0].kind == "not-finite" and found[0].weight == "problem"
    assert "became nan at epoch 4 (stint 1); 3 of 6 values" in found[0].sentence
    assert kinds(series("loss", [1.0, math.inf, 0.5, 0.4, 0.3, 0.2]), weights=("problem",)) == set()


def test_nothing_but_nan_is_told_and_gives_no_summary():
    found = evaluate({"loss": series("loss", [math.nan] * 8)})
    assert found.metrics == {} and found.main is None
    assert [finding.kind for finding in found.findings] == ["not-finite"]


def test_explosion_and_rise_are_told():
    exploded = [*falling(20, start=2.0, end=0.5), *(0.5 * 2**at for at in range(1, 12))]
    assert "explosion" in kinds(series("loss", exploded))
    rising = [*falling(20, start=2.0, end=0.5), *(0.5 + 0.1 * at for at in range(12))]
    assert "divergence" in kinds(series("loss", rising))


def test_plateau_unfinished_spike_noise_and_no_gain_are_notes_or_warnings():
    assert "plateau" in kinds(series("loss", falling(100, tau=0.04)))
    assert "unfinished" in kinds(series("loss", [2.0 - 0.02 * at for at in range(60)]))
    spiked = falling(60, tau=0.1)
    spiked[40] = 5.0
    assert "spike" in kinds(series("loss", spiked))
    chance = random.Random(1)
    assert "noisy" in kinds(series("acc", [0.2 + 0.01 * at + chance.gauss(0, 0.15) for at in range(60)]))
    assert kinds(series("loss", [2.303] * 30)) == {"no-gain"}


def test_slower_epochs_are_told():
    points = [SeriesPoint(1, at * 10.0 + at * at * 0.5, float(at), None, 1.0 / at) for at in range(1, 31)]
    assert "slowing" in kinds(Series("loss", points))
    steady = [SeriesPoint(1, at * 10.0, float(at), None, 1.0 / at) for at in range(1, 31)]
    assert "slowing" not in kinds(Series("loss", steady))


def test_little_useful_time_is_told():
    told = evaluate({"loss": series("loss", falling(10))}, 0.4).findings
    assert any(finding.kind == "useful" and "40%" in finding.sentence for finding in told)


def test_a_chosen_metric_comes_first_and_alone():
    curves = {"speed": series("speed", [1.0, 2.0, 3.0]), "loss": series("loss", [3.0, 2.0, 1.0])}
    found = evaluate(curves, signs={"speed": 1})
    assert list(found.metrics) == ["speed"] and found.main == "speed"


def test_names_tell_their_data_and_their_counterpart():
    assert is_validation("val_loss") and is_validation("loss/valid") and not is_validation("train_loss")
    assert base_of("eval_accuracy") == base_of("acc") == "acc"
    assert counterpart("val_loss", ["avg_loss", "loss", "val_loss", "lr"]) == "loss"
    assert counterpart("val_acc", ["train_loss", "val_loss"]) == "train_loss"
    assert counterpart("val_acc", ["val_loss"]) is None
    assert most_telling({"loss": -1, "val_loss": -1, "val_acc": 1, "lr": 0}) == "val_acc"
    assert most_telling({"lr": 0}) is None


values = st.floats(allow_nan=True, allow_infinity=True)
places = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True))


@given(
    st.lists(st.tuples(st.integers(1, 3), st.floats(0, 1e6), places, st.one_of(st.none(), st.integers()), values)),
    st.sampled_from([1, -1]),
)
def test_anything_that_can_be_recorded_can_be_evaluated(points, sign):
    recorded = [SeriesPoint(*point) for point in points]
    found = evaluate({"m": Series("m", recorded)}, signs={"m": sign})
    for summary in found.metrics.values():
        sane = [point.value for point in recorded if Spot(point.value, None, None, 0.0, 1).is_sane]
        assert summary.best.value == (max(sane) if sign > 0 else min(sane))
        assert summary.gain >= 0 and summary.noise >= 0
        assert summary.to_90 is None or summary.to_99 is not None
    for finding in found.findings:
        assert finding.sentence and finding.advice and finding.weight in WEIGHTS


@given(st.lists(st.floats(-1e6, 1e6), min_size=6, max_size=40), st.floats(0.5, 4.0))
def test_findings_do_not_depend_on_the_unit_of_an_accuracy(recorded, factor):
    """The same curve in other units (0.9 or 90 %) tells the same story."""
    factor = 2.0 ** round(factor)  # exact in binary, so that ties stay ties
    one = kinds(series("acc", recorded))
    assert one == kinds(series("acc", [value * factor for value in recorded]))
