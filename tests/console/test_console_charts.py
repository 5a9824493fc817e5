"""Charts of several runs and of sweeps, without a browser."""

import pytest

from outlast.server.console.charts import overlay, parallel
from outlast.server.console.shelves import crumbs

CURVE = {
    "index": 9, "label": "one", "seams": [{"x": 2, "y": 0.5, "stint": 2}],
    "lines": [{"xs": [1, 2], "ys": [1.0, None], "faint": False}, {"xs": [2], "ys": [0.5], "faint": True}],
}  # fmt: skip


def test_curves_keep_their_gaps_and_what_was_done_again_is_faint():
    series = overlay({"metric": "loss", "curves": [CURVE]}, "epoch", log=True)["series"]
    assert series[0]["data"] == [[1, 1.0], [2, None]]
    assert series[0]["connectNulls"] is False
    assert series[1]["lineStyle"]["opacity"] < series[0]["lineStyle"]["opacity"]
    assert series[0]["markPoint"]["data"] == [{"coord": [2, 0.5]}]


def member(best, **params):
    return {"best": best, "params": {name: str(value) for name, value in params.items()}}


def test_axes_of_a_sweep_are_numbers_or_names():
    members = [member(0.5, lr=0.001, opt="adam"), member(0.9, lr=1, opt="sgd"), member(None, lr=3, opt="sgd")]
    options = parallel(["lr", "opt"], members, "val_acc", 1)
    assert [axis["type"] for axis in options["parallelAxis"]] == ["log", "category", "value"]
    assert options["series"][0]["data"] == [[0.001, "adam", 0.5], [1.0, "sgd", 0.9]]
    assert options["parallelAxis"][2]["inverse"] is False
    assert parallel(["lr"], members[1:], "val_acc", 1) is None


@pytest.mark.parametrize("value", ["nan", "inf", "", "x"])
def test_a_parameter_that_is_no_number_makes_an_axis_of_names(value):
    options = parallel(["lr"], [member(1, lr=value), member(2, lr=0.1)], "loss", -1)
    assert options["parallelAxis"][0]["type"] == "category"
    assert [row[0] for row in options["series"][0]["data"]] == [value, "0.1"]


@pytest.mark.parametrize(
    ("address", "steps"),
    [
        ("obs://lab/data/x/", ["obs://", "obs://lab/", "obs://lab/data/", "obs://lab/data/x/"]),
        ("obs://me@lab/d/", ["obs://me@lab/", "obs://me@lab/d/"]),
        ("hdfs://nn:9000/a/", ["hdfs://nn:9000/", "hdfs://nn:9000/a/"]),
        ("/srv/data/", ["/", "/srv/", "/srv/data/"]),
        ("obs://", ["obs://"]),
    ],
)
def test_the_way_down_to_a_folder_can_be_walked(address, steps):
    assert [step for _, step in crumbs(address)] == steps
