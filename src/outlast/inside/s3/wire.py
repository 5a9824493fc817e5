"""The XML of S3 and OBS: pure functions from and to bytes."""

from __future__ import annotations

import calendar
import functools
import re
import time
from email.utils import parsedate
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple
from urllib.parse import unquote_plus
from xml.etree import ElementTree

from ..move.base import FOLDER, Item
from ..net.connection import Unreachable

_FIELD = re.compile(r"<(\w+)>([^<]*)</")
#: What is read of an entry of a listing, and what only a real parser understands.
_LISTED = re.compile(r"<(Key|Size|ETag|LastModified)>([^<]*)")
_UNUSUAL = re.compile(rb"<!|<CommonPrefixes|<\w+:|<(?:Contents|Key|Size|ETag|LastModified)\s")
#: Control characters, bare or as references: XML cannot carry them.
_FORBIDDEN = re.compile(rb"[\0-\x08\x0b\x0c\x0e-\x1f]|&#x0*(?:[0-8bcef]|1[0-9a-f]);", re.IGNORECASE)
_NOT_IN_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Page(NamedTuple):
    """One page of a listing."""

    items: List[Item]
    next_after: str  # where the next page begins; empty on the last


class Fault(NamedTuple):
    """What the body of a failed answer says."""

    code: str
    message: str
    fields: Dict[str, str]


def parse(body: bytes) -> ElementTree.Element:
    """An XML body without its namespaces."""
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError:
        root = _parse_leniently(body)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def _parse_leniently(body: bytes) -> ElementTree.Element:
    """Ceph repeats a prefix and a marker as they are. Keys are encoded, so nothing that we read is lost."""
    try:
        return ElementTree.fromstring(_FORBIDDEN.sub(b"", body))
    except ElementTree.ParseError:
        raise Unreachable("the server's answer is not the XML of an object store: %r" % body[:80]) from None


def fault_in(body: bytes) -> Fault:
    """The error that a body describes; empty when it describes none.

    Read leniently: a body that is damaged or cut off still tells what matters.
    """
    text = body[:16_384].decode("utf-8", "replace")
    fields = {name: _unescape(value) for name, value in _FIELD.findall(text)}
    if "Code" not in fields and not text.lstrip().startswith("<"):
        return Fault("", text[:200].strip(), {})
    return Fault(fields.get("Code", ""), fields.get("Message", ""), fields)


def page_of(body: bytes) -> Page:
    """A page of ListObjects, either version."""
    return _plain_page(body) or _any_page(body)


def _plain_page(body: bytes) -> Optional[Page]:
    """A page of encoded keys and nothing else, for less than a tree of elements costs; None for any other."""
    top, _, rest = body.partition(b"<Contents>")
    listed, ended, tail = rest.rpartition(b"</Contents>")
    # A server may say what the page is in front of the keys or behind them.
    about = top + tail
    if not ended or b"<EncodingType>url</EncodingType>" not in about or _UNUSUAL.search(body):
        return None
    text = listed.decode("utf-8", "replace").replace("&quot;", "").replace("&#34;", "")
    if "&" in text:
        return None
    items: List[Item] = []
    last = ""
    for entry in text.split("<Contents>"):
        found = dict(_LISTED.findall(entry))
        key = _decoded(found.get("Key", ""), encoded=True)
        items.append(_item(key, found))
        last = max(last, key)
    items.sort()
    return Page(items, last if b"<IsTruncated>true</IsTruncated>" in about else "")


def _any_page(body: bytes) -> Page:
    root = parse(body)
    encoded = root.findtext("EncodingType") == "url"
    items: List[Item] = []
    last = ""
    for each in root.iter("Contents"):
        found = {child.tag: child.text or "" for child in each}
        key = _decoded(found.get("Key", ""), encoded)
        items.append(_item(key, found))
        last = max(last, key)
    prefixes = [_decoded(each.findtext("Prefix") or "", encoded) for each in root.iter("CommonPrefixes")]
    items += [Item(prefix.rstrip("/"), 0, 0, FOLDER) for prefix in prefixes]
    items.sort()
    if root.findtext("IsTruncated") != "true":
        return Page(items, "")
    # The last name is where the next page begins. NextMarker would say the same, but AWS leaves it out when there is
    # no delimiter, and Ceph and SeaweedFS do not encode it as they encode keys: decoding it would skip names.
    return Page(items, max([last, *prefixes]) or _decoded(root.findtext("NextMarker") or "", encoded))


def _item(key: str, found: Dict[str, str]) -> Item:
    tag = found.get("ETag", "").strip('"')
    size = int(found.get("Size") or 0)
    modified_ns = time_ns(found.get("LastModified", ""))
    if key.endswith("/") and size == 0:
        return Item(key[:-1], 0, modified_ns, FOLDER)
    return Item(key, size, modified_ns, digest=digest_of(tag), tag=tag)


def digest_of(tag: str) -> str:
    """The MD5 that an entity tag is, for an object that was not put together from parts."""
    return "md5:" + tag.lower() if len(tag) == 32 and "-" not in tag else ""


@functools.lru_cache(maxsize=4096)
def time_ns(text: str) -> int:
    """Nanoseconds since 1970 of an ISO or HTTP date; 0 for none."""
    try:
        if text[:4].isdigit():
            whole, _, rest = text.rstrip("Z").partition(".")
            seconds = calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S"))
            return seconds * 10**9 + int((rest + "000000000")[:9])
        parsed = parsedate(text)
        return calendar.timegm(parsed) * 10**9 if parsed else 0
    except ValueError:
        return 0


def _decoded(text: str, encoded: bool) -> str:
    if encoded and ("%" in text or "+" in text):
        return unquote_plus(text, errors="surrogateescape")
    return text


def upload_id_of(body: bytes) -> str:
    found = parse(body).findtext("UploadId")
    if not found:
        raise Unreachable("the server began a multipart upload without naming it")
    return found


def uploads_of(body: bytes, key: str) -> List[Tuple[str, int]]:
    """The uploads of a key in a list of those that are not completed, and when each began."""
    return [
        (each.findtext("UploadId") or "", time_ns(each.findtext("Initiated") or ""))
        for each in parse(body).iter("Upload")
        if each.findtext("Key") == key
    ]


class Part(NamedTuple):
    """One part of a multipart upload that the server has."""

    number: int
    tag: str
    size_bytes: int
    crc32: str = ""  # base64

    def same_as(self, other: Optional[Part]) -> bool:
        return other is not None and (self.tag, self.size_bytes) == (other.tag, other.size_bytes)


def parts_of(body: bytes) -> Tuple[List[Part], int]:
    """The parts in a page of ListParts, and the number after which the next page begins (0 on the last)."""
    root = parse(body)
    parts = [
        Part(
            int(each.findtext("PartNumber") or 0),
            (each.findtext("ETag") or "").strip('"'),
            int(each.findtext("Size") or 0),
            each.findtext("ChecksumCRC32") or "",
        )
        for each in root.iter("Part")
    ]
    more = root.findtext("IsTruncated") == "true"
    return parts, int(root.findtext("NextPartNumberMarker") or 0) if more else 0


def completion(parts: Sequence[Part]) -> bytes:
    """The body that puts parts together."""
    lines = []
    for part in sorted(parts):
        check = "<ChecksumCRC32>%s</ChecksumCRC32>" % part.crc32 if part.crc32 else ""
        lines.append(
            "<Part><PartNumber>%d</PartNumber><ETag>&quot;%s&quot;</ETag>%s</Part>" % (part.number, part.tag, check)
        )
    text = "<CompleteMultipartUpload>%s</CompleteMultipartUpload>" % "".join(lines)
    return text.encode("ascii")


def deletion(keys: Sequence[str]) -> bytes:
    """The body that removes up to a thousand keys."""
    lines = "".join("<Object><Key>%s</Key></Object>" % _xml_text(key) for key in keys)
    return ("<Delete><Quiet>true</Quiet>%s</Delete>" % lines).encode("utf-8", "surrogateescape")


def in_xml(key: str) -> bool:
    """Whether XML can carry a key: not with control characters, nor with what is not text."""
    return _NOT_IN_XML.search(key) is None


def _xml_text(text: str) -> str:
    # A bare line break or tab would be normalised by the reader.
    return _escape(text).replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;")


def _escape(text: str) -> str:
    # Not from `xml.sax`, which loads half of the library for it: ten milliseconds of every command and helper.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def failures_in(body: bytes) -> List[Tuple[str, str, str]]:
    """Key, code and message of what a multiple delete could not remove."""
    if not body.strip():
        return []
    return [
        (each.findtext("Key") or "", each.findtext("Code") or "", each.findtext("Message") or "")
        for each in parse(body).iter("Error")
    ]


def buckets_of(body: bytes) -> List[str]:
    return [each.findtext("Name") or "" for each in parse(body).iter("Bucket")]


def location_body(region: str) -> bytes:
    """The body that makes a bucket in a region; empty for the region that must not be named."""
    if region in ("", "us-east-1"):
        return b""
    text = "<CreateBucketConfiguration><LocationConstraint>%s</LocationConstraint></CreateBucketConfiguration>"
    return (text % _escape(region)).encode("utf-8")


def crc_of(headers: Dict[str, str]) -> Optional[str]:
    """The CRC-32 of the whole object as an answer states it, in base64; None when it states none."""
    if headers.get("x-amz-checksum-type", "FULL_OBJECT") != "FULL_OBJECT":
        return None
    text = headers.get("x-amz-checksum-crc32")
    return text if text and "-" not in text else None
