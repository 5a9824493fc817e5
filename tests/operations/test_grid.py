"""A grid from what was typed: the members, their names, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.errors import SpecError
from outlast.model.request import RunRequest
from outlast.model.spec import NAME_PATTERN
from outlast.operations.grid import Grid, choose_members, member_names, read_grid
from outlast.operations.sweeps import SweepRequest, plan_sweep


def test_every_combination_is_a_member_and_the_last_parameter_varies_fastest():
    grid = read_grid(["lr=0.1,0.01", "seed=7", "batch=32,64"])
    assert grid.fixed == ("seed=7",) and grid.size == 4
    assert choose_members(grid, None, 0) == [
        {"lr": "0.1", "batch": "32"},
        {"lr": "0.1", "batch": "64"},
        {"lr": "0.01", "batch": "32"},
        {"lr": "0.01", "batch": "64"},
    ]


def test_a_comma_inside_a_value_is_escaped():
    assert read_grid([r"layers=64\,64,128\,128"]).swept == {"layers": ("64,64", "128,128")}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ([], "several values"),
        (["lr=0.1"], "several values"),
        (["lr"], "--param lr= has an empty value"),
        (["lr=0.1,,0.2"], "empty value"),
        (["lr=0.1,0.2,"], "empty value"),
        (["lr=0.1,0.2,0.1"], "--param lr names 0.1 twice"),
        (["lr=0.1,0.2", "lr=0.3"], "--param lr is given twice"),
        (["=0.1,0.2"], "without a name"),
    ],
)
def test_wrong_spellings_are_refused(params, words):
    with pytest.raises(SpecError, match=words):
        read_grid(params)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"at_once": 0}, "--at-once 0"),
        ({"random": 0}, "--random 0"),
        ({"early_stop": True}, "name one, like --metric"),
        ({"metric": "lr"}, "write --metric lr:max"),
        ({"early_stop": True, "metric": "val_acc", "early_stop_after": 0}, "not a number of epochs"),
    ],
)
def test_options_that_cannot_work_are_refused(options, words):
    with pytest.raises(SpecError, match=words):
        plan_sweep(SweepRequest(RunRequest("train.py", params=("lr=1,2",)), **options))


def test_a_metric_may_say_its_direction():
    plan = plan_sweep(SweepRequest(RunRequest("train.py", params=("lr=1,2",)), metric="speed:min"))
    assert (plan.metric, plan.sign) == ("speed", -1)


def test_a_random_choice_is_repeated_by_its_seed():
    asked = RunRequest("train.py", params=("a=1,2,3,4,5,6", "b=1,2,3,4,5,6"))
    plan = plan_sweep(SweepRequest(asked, random=5))
    again = plan_sweep(SweepRequest(asked, random=5, seed=plan.seed))
    assert plan.members == again.members and len({tuple(one.items()) for one in plan.members}) == 5
    assert plan_sweep(SweepRequest(asked, random=100)).seed is None


def test_a_grid_beyond_reason_is_refused_but_can_be_sampled():
    asked = RunRequest("train.py", params=tuple(f"p{at}={','.join(map(str, range(100)))}" for at in range(6)))
    with pytest.raises(SpecError, match=r"1,000,000,000,000 members.*--random"):
        plan_sweep(SweepRequest(asked))
    assert len(plan_sweep(SweepRequest(asked, random=3)).members) == 3


def test_names_carry_the_values():
    members = [{"lr": "0.1", "batch": "32"}, {"lr": "1e-3", "batch": "32"}]
    assert member_names("grid", members) == ["grid-lr0.1-batch32", "grid-lr1e-3-batch32"]


@given(
    st.from_regex(NAME_PATTERN, fullmatch=True).filter(str.isascii),
    st.lists(st.text(min_size=1, max_size=30), min_size=2, max_size=8, unique=True),
)
def test_names_are_always_names_and_never_equal(sweep, given_values):
    names = member_names(sweep, [{"p": value} for value in given_values])
    assert len(set(names)) == len(names) == len(given_values)
    assert all(NAME_PATTERN.fullmatch(name) for name in names)


@given(st.dictionaries(st.sampled_from("abcd"), st.lists(st.text(), min_size=1, max_size=4, unique=True), min_size=1))
def test_members_are_all_different_and_all_there(swept):
    grid = Grid({name: tuple(values) for name, values in swept.items()})
    members = choose_members(grid, None, 0)
    assert len({tuple(sorted(member.items())) for member in members}) == grid.size
