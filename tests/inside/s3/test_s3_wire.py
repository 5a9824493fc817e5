"""The XML of object stores, as real servers write it and as they should not."""

from __future__ import annotations

import urllib.parse
from xml.sax.saxutils import escape

import pytest

from outlast.inside.net.connection import Unreachable
from outlast.inside.s3 import wire


def page(keys=(), prefixes=(), marker="", truncated=True):
    """A page of a listing whose keys are encoded and whose marker is not, as Ceph and SeaweedFS send it."""
    contents = "".join(f"<Contents><Key>{urllib.parse.quote(key)}</Key><Size>0</Size></Contents>" for key in keys)
    folders = "".join(
        f"<CommonPrefixes><Prefix>{urllib.parse.quote(each)}</Prefix></CommonPrefixes>" for each in prefixes
    )
    following = f"<NextMarker>{escape(marker)}</NextMarker>" if marker else ""
    return (
        f"<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>{str(truncated).lower()}</IsTruncated>"
        f"{contents}{folders}{following}</ListBucketResult>"
    ).encode()


@pytest.mark.parametrize("marker", ["", "a%7Eb"], ids=["without a marker", "with a bare marker"])
def test_the_next_page_begins_after_the_last_key_as_it_is(marker):
    assert wire.page_of(page(["a", "a%7Eb"], marker=marker)).next_after == "a%7Eb"


def test_a_folder_marker_at_the_end_of_a_page_is_not_listed_twice():
    found = wire.page_of(page(["a", "b/"]))
    assert [item.path for item in found.items] == ["a", "b"]
    assert found.next_after == "b/"


def test_a_page_of_folders_goes_on_after_the_last_of_them():
    assert wire.page_of(page(["a", "x"], ["b/", "y/"])).next_after == "y/"


def test_a_page_without_names_goes_on_where_the_server_says():
    assert wire.page_of(page(marker="m")).next_after == "m"
    assert wire.page_of(page(["a"], truncated=False)).next_after == ""


@pytest.mark.parametrize("spelling", [b"\x01", b"&#x1;", b"&#x001B;"])
def test_a_marker_that_xml_cannot_carry_does_not_hide_the_page(spelling):
    found = wire.page_of(page(["a\x01b"], marker="HERE").replace(b"HERE", spelling))
    assert [item.path for item in found.items] == ["a\x01b"]
    assert found.next_after == "a\x01b"


def test_what_is_no_xml_is_still_refused():
    with pytest.raises(Unreachable, match="not the XML of an object store"):
        wire.parse(b"\x01<html>")


@pytest.mark.parametrize("key", ["a\x01b", "\x1f", "torn\udce9", "\uffff"])
def test_keys_that_xml_cannot_carry_are_known(key):
    assert not wire.in_xml(key)
    assert wire.in_xml("a\tb\nc\r数😀&<'\"")
