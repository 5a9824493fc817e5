"""Finding runs: the index and the plain words of a query say the same about every run."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlast.errors import UsageError
from outlast.keeper.index import Index, RunRow
from outlast.keeper.search import VALUES_LIMIT
from outlast.keeper.view import view_from_json
from outlast.model.query import Condition, RunQuery
from outlast.model.states import RunState
from outlast.model.view import RunView

V2 = """
CREATE TABLE meta (schema_version INTEGER NOT NULL);
INSERT INTO meta VALUES (2);
CREATE TABLE runs (id VARCHAR(80) NOT NULL PRIMARY KEY, name VARCHAR(64) NOT NULL, user VARCHAR(128) NOT NULL,
  state VARCHAR(16) NOT NULL, platform VARCHAR(64) NOT NULL, created_at VARCHAR(32) NOT NULL,
  updated_at VARCHAR(32) NOT NULL, store TEXT NOT NULL, view_json TEXT NOT NULL, open BOOLEAN NOT NULL DEFAULT 0);
CREATE TABLE leases (run_id VARCHAR(80) NOT NULL PRIMARY KEY, holder VARCHAR(64) NOT NULL, expires FLOAT NOT NULL);
INSERT INTO runs VALUES ('a', 'one', 'ann', 'failed', 'local', '1', '1', 'file:///s',
  '{"state": "failed", "metrics": {"loss": 0.25, "odd": NaN}, "epoch": 3, "stints": 2}', 0);
INSERT INTO runs VALUES ('b', 'two', 'ann', 'succeeded', 'local', '2', '2', 'file:///s', 'not json', 0);
"""


def view(run="a", name="train", state="succeeded", **fields):
    return RunView(run, name, RunState(state), "local", created_at=run, **fields)


def put(index, *views, is_open=False):
    for one in views:
        row = RunRow(
            one.id, one.name, "ann", one.state.value, "local", one.created_at, "file:///s", open=is_open,
            view=one.to_json(),
        )  # fmt: skip
        index.put(row)


@pytest.fixture(params=["sqlite", "postgresql"])
def index(request, tmp_path):
    """An empty index of each kind."""
    is_file = request.param == "sqlite"
    index = Index(tmp_path / "index.db" if is_file else request.getfixturevalue("empty_postgres"))
    yield index
    index.close()


def ids(index, **words):
    return sorted(hit.id for hit in index.search(RunQuery.build(**words)))


def test_runs_are_found_by_name_state_parameter_and_metric(index):
    put(
        index,
        view("a", "mnist-1", params={"lr": "0.10", "opt": "adam"}, metrics={"val_acc": 0.95}, best={"val_acc": 0.97}),
        view("b", "mnist-2", "failed", params={"lr": "0.01", "opt": "sgd"}, metrics={"val_acc": 0.5}, epoch=7.0),
        view("c", "bert", params={"lr": "auto"}, metrics={"loss": math.nan, "up": math.inf}),
    )
    assert ids(index, name="mnist-*") == ["a", "b"] and ids(index, name="[bm]*[t1]") == ["a", "c"]
    assert ids(index, name="MNIST*") == [] and ids(index, name="mnist_1") == []
    assert ids(index, states=["failed", "stopped"]) == ["b"]
    assert ids(index, where=["lr=0.1"]) == ["a"] and ids(index, where=["lr == 1e-2"]) == ["b"]
    assert ids(index, where=["lr!=0.1"]) == ["b", "c"] and ids(index, where=["lr=auto"]) == ["c"]
    assert ids(index, where=["val_acc>=0.9"]) == ["a"] and ids(index, where=["val_acc<0.9", "opt=sgd"]) == ["b"]
    assert ids(index, where=["best:val_acc>0.96"]) == ["a"] and ids(index, where=["best:loss>0"]) == []
    assert ids(index, where=["loss<1"]) == [] and ids(index, where=["loss=nan"]) == ["c"]
    assert ids(index, where=["up>1e300"]) == ["c"] and ids(index, where=["epoch>=7"]) == ["b"]
    assert ids(index, where=["nothing!=1"]) == []


def test_open_runs_are_always_candidates(index):
    put(index, view("a", state="running"), is_open=True)
    put(index, view("b"))
    hits = index.search(RunQuery.build(states=["failed"], where=["loss<1"]))
    assert [(hit.id, hit.open) for hit in hits] == [("a", True)]


def test_values_follow_their_run(index):
    put(index, view("a", metrics={"loss": 1.0}))
    put(index, view("a", metrics={"loss": 2.0}))
    assert ids(index, where=["loss=1"]) == [] and ids(index, where=["loss=2"]) == ["a"]
    index.remove("a")
    put(index, view("a"))
    assert ids(index, where=["loss=2"]) == []


def test_a_run_of_very_many_metrics_does_not_fill_the_index(index):
    put(index, view("a", metrics={f"m{number}": 1.0 for number in range(2000)}))
    assert ids(index, where=["m0=1"]) == ["a"] and ids(index, where=["m1999=1"]) == []
    with index._begin() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM run_values").scalar() <= VALUES_LIMIT


def test_version_2_is_upgraded_and_its_runs_are_found_by_their_metrics(tmp_path):
    path = tmp_path / "index.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(V2)
    index = Index(path)
    assert ids(index, where=["loss<0.3", "epoch=3", "stints>1"]) == ["a"] and ids(index) == ["a", "b"]
    assert index.views(["b", "a"])["b"] == {}
    index.close()
    with closing(sqlite3.connect(path)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert {"runs_listed", "run_values_by_name"} <= names


def test_many_views_come_back_at_once(index):
    with index._begin():
        pass
    put(index, *(view(f"{number:04d}") for number in range(30)))
    wanted = [f"{number:04d}" for number in range(0, 30, 2)]
    assert sorted(index.views(wanted)) == wanted and index.views([]) == {} and index.views(["gone"]) == {}


values = st.one_of(st.sampled_from([0.1, 1, -2.5, 1e300, math.inf, -math.inf]), st.floats(allow_nan=True))
texts = st.sampled_from(["0.1", "1e-1", "auto", "", "nan", "Adam", "adam", "-2.5", "%", "a'b"])
names = st.sampled_from(["lr", "loss", "acc", "学习率"])
views = st.builds(
    view,
    state=st.sampled_from(list(RunState)),
    name=st.sampled_from(["mnist-1", "mnist-2", "bert", "a[b]", "100%"]),
    params=st.dictionaries(names, texts, max_size=3),
    metrics=st.dictionaries(names, values, max_size=3),
    best=st.dictionaries(names, values, max_size=2),
    epoch=st.none() | st.integers(0, 5).map(float),
)
signs = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
conditions = st.builds(
    lambda name, sign, value: f"{name}{sign}{value}",
    st.sampled_from(["lr", "loss", "best:loss", "acc", "epoch"]), signs, st.sampled_from([0.1, 1, -2.5, 1e300]),
) | st.builds(lambda name, sign, text: f"{name}{sign}{text}", names, st.sampled_from(["=", "!="]),
              texts.filter(bool))  # fmt: skip
queries = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["", "mnist-*", "*", "a[[]b]", "100%", "m?ist-1", "MNIST*"]),
        "states": st.lists(st.sampled_from(list(RunState)), max_size=2),
        "where": st.lists(conditions, max_size=2),
    }
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(views, max_size=6), st.lists(queries, min_size=1, max_size=6))
def test_the_index_and_the_query_agree(tmp_path_factory, some, asked):
    index = Index(tmp_path_factory.mktemp("index") / "index.db")
    known = [RunView(**{**vars(one), "id": f"{number:02d}"}) for number, one in enumerate(some)]
    put(index, *known)
    for words in asked:
        query = RunQuery.build(**words)
        # As the index remembers it: JSON turns 1 and 1.0 into what they are.
        expected = [one.id for one in known if query.matches(view_from_json(index.views([one.id])[one.id]))]
        assert ids(index, **words) == expected, words
    index.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"where": ["lr"]}, "not a condition"),
        ({"where": ["=3"]}, "not a condition"),
        ({"where": ["lr="]}, "not a condition"),
        ({"where": ["opt>adam"]}, "'adam', which is not a number"),
        ({"states": ["runing"]}, "unknown state 'runing'"),
        ({"limit": 0}, "--limit 0"),
        ({"sort": ""}, "--sort"),
        ({"sort": "-"}, "--sort"),
    ],
)
def test_wrong_words_are_named(words, said):
    with pytest.raises(UsageError, match=said):
        RunQuery.build(**words)


def test_spaces_and_odd_names_are_understood():
    assert Condition.parse(" val/acc@1 >= 0.9 ") == Condition("val/acc@1", ">=", "0.9", 0.9)
    assert Condition.parse("url=a=b").text == "a=b"
    assert Condition.parse("lr=1e-4").holds("0.0001") and not Condition.parse("lr<1").holds("auto")


@pytest.mark.parametrize(
    ("sort", "descending"),
    [("created", True), ("-created", False), ("name", False), ("val_acc", True), ("loss", False), ("-loss", True),
     ("best:acc", True), ("lr", False)],
)  # fmt: skip
def test_the_best_come_first(sort, descending):
    assert RunQuery.build(sort=sort).descending is descending
