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


ENTRIES = "".join(
    f"<Contents><Key>{key}</Key><LastModified>2025-06-16T15:06:40.000Z</LastModified>"
    f"<ETag>{quote}{'0a' * 16}{quote}</ETag><Size>{size}</Size>"
    f"<Owner><ID>1</ID><DisplayName>安</DisplayName></Owner></Contents>"
    for key, size, quote in [("b/c%2Bd", 7, "&quot;"), ("a+b%0A%E6%96%87", 8, "&#34;"), ("z/", 0, '"'), ("z", 1, "")]
)


@pytest.mark.parametrize("about", ["front", "behind", "nowhere"])
@pytest.mark.parametrize("truncated", ["true", "false"])
@pytest.mark.parametrize("odd", ["", "<CommonPrefixes><Prefix>k/</Prefix></CommonPrefixes>", "<!-- <Contents> -->"])
def test_the_short_way_to_read_a_page_gives_what_the_long_one_gives(about, truncated, odd):
    said = f"<EncodingType>url</EncodingType><IsTruncated>{truncated}</IsTruncated>"
    front, behind = {"front": (said, ""), "behind": ("", said), "nowhere": ("", "")}[about]
    body = f"<ListBucketResult>{front}{ENTRIES}{odd}{behind}</ListBucketResult>".encode()
    assert wire.page_of(body) == wire._any_page(body)
    assert (wire._plain_page(body) is None) == (about == "nowhere" or bool(odd))


@pytest.mark.parametrize("key", ["<Key>a&amp;b</Key>", "<Key><![CDATA[a]]></Key>", '<Key xml:space="preserve">a</Key>'])
def test_a_key_that_takes_a_parser_gets_one(key):
    body = page(["k"]).replace(b"<Key>k</Key>", key.encode())
    assert wire._plain_page(body) is None
    assert [item.path for item in wire.page_of(body).items] in (["a&b"], ["a"])
