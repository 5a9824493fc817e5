"""Opening stores by address, and what is said when that cannot work."""

from pathlib import Path

import pytest

from outlast.errors import NotFoundError, SpecError, StoreError
from outlast.inside.errors import Damaged, NotFound, PlaceError, RequestError, StoreFull
from outlast.inside.stores import open_store as open_inside
from outlast.store.registry import open_store, outside_errors, schemes, store_url


def test_paths_and_addresses_open_the_same_store(tmp_path):
    place = tmp_path / "größe und #1 %20?"
    open_store(place).put("k", b"x")
    for address in (
        str(place),
        place.as_uri(),
        "FILE://localhost" + place.as_uri()[7:],
        f"file://{tmp_path}/gr%C3%B6%C3%9Fe und #1 %2520?",
    ):
        assert open_store(address).get("k") == b"x"
    assert open_inside(open_store(place).url).get("k") == b"x"


def test_home_is_expanded(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert store_url("~/store") == (tmp_path / "store").as_uri()


def test_opening_creates_nothing(tmp_path):
    store = open_store(tmp_path / "new")
    assert list(store.list("")) == [] and store.head("x") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", ["fil:///x", "flie:///x", "files:///x"])
def test_near_misses_get_a_suggestion(address):
    with pytest.raises(SpecError, match=r"did you mean 'file://'\?"):
        open_store(address)


@pytest.mark.parametrize("address", ["gopher://x", "relative/path", "", "file://relative", Path("rel")])
def test_what_cannot_be_opened_is_named_with_what_can(address):
    with pytest.raises(SpecError, match=r"file://"):
        open_store(address)


def test_the_inside_opener_refuses_by_name():
    for url in ("gopher://x", "/plain/path", "file://relative", "file:///a%00b"):
        with pytest.raises(RequestError, match="store"):
            open_inside(url)
    assert schemes() == ["file", "hdfs", "obs", "s3"]


@pytest.mark.parametrize(
    ("inside", "outside", "retryable"),
    [(RequestError("r"), SpecError, None), (PlaceError("p"), StoreError, True), (StoreFull("f"), StoreError, False),
     (NotFound("k"), NotFoundError, None), (Damaged("d"), StoreError, False)],
)  # fmt: skip
def test_inside_errors_come_out_as_ours(inside, outside, retryable):
    with pytest.raises(outside) as caught, outside_errors():
        raise inside
    assert caught.value.message == str(inside)
    assert getattr(caught.value, "retryable", None) is retryable


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs a folder that nobody can write to")
def test_a_place_that_cannot_be_written_is_named():
    with pytest.raises(StoreError, match="/proc/outlast"), outside_errors():
        open_store("/proc/outlast").put("k", b"")
