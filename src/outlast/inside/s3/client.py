"""Single calls to a bucket, each run to its end: what stores, log-in and housekeeping need."""

from __future__ import annotations

import base64
import hashlib
from typing import Iterator, List, Optional, Sequence
from urllib.parse import quote

from ..errors import AccessDenied, NotFound, PlaceError, RequestError
from ..move.base import FILE, Item
from ..net.connection import Steps
from ..net.drive import finish
from ..net.http import Answer, Response
from ..net.retry import Policy
from ..signing.v4 import EMPTY_SHA256
from ..stores.access import Access
from . import wire
from .server import Server

_PAGE = "1000"


class S3Client:
    """One bucket of an S3 or OBS store; without a bucket only the account can be asked. Safe for several threads."""

    def __init__(self, access: Access, bucket: str = "", policy: Optional[Policy] = None) -> None:
        self.server = Server(access, bucket, policy or Policy())
        self.access = access
        self.bucket = bucket
        self.url = self.server.url

    def close(self) -> None:
        self.server.http.close()

    def list_buckets(self) -> List[str]:
        return wire.buckets_of(finish(self.server.call("GET", payload=EMPTY_SHA256)).body)

    def head_bucket(self) -> bool:
        """Whether the bucket exists; `AccessDenied` when it is somebody else's."""
        answer = finish(self.server.call("HEAD", ok=(200, 404), payload=EMPTY_SHA256))
        return answer.status == 200

    def make_bucket(self) -> bool:
        """Make the bucket. False when it was there already and is yours."""
        existed = self._is_ours()  # many servers, AWS in its first region too, make one again without a word
        body = b"" if self.access.kind == "obs" else wire.location_body(self.access.region)
        answer = finish(self.server.call("PUT", body=body, ok=(200, 201, 204, 409)))
        if answer.status != 409:
            return not existed
        code = wire.fault_in(answer.body).code
        if code == "BucketAlreadyOwnedByYou" or (code == "BucketAlreadyExists" and existed):
            return False
        raise RequestError("bucket name %s is taken by somebody else; choose another" % self.bucket)

    def _is_ours(self) -> bool:
        try:
            return self.head_bucket()
        except RequestError:
            return False

    def remove_bucket(self) -> None:
        """Remove the bucket, which must be empty."""
        answer = finish(self.server.call("DELETE", ok=(200, 204, 404, 409)))
        if answer.status == 409:
            raise RequestError("bucket %s is not empty" % self.url)

    def get_policy(self) -> Optional[str]:
        answer = finish(self.server.call("GET", query=[("policy", "")], ok=(200, 404)))
        if answer.status == 404:
            if wire.fault_in(answer.body).code == "NoSuchBucket":
                raise RequestError("there is no bucket %s" % self.url)
            return None
        return answer.body.decode("utf-8")

    def put_policy(self, text: str) -> None:
        body = text.encode("utf-8")
        headers = [("content-md5", md5_base64(body)), ("content-type", "application/json")]
        finish(self.server.call("PUT", "", [("policy", "")], headers, body, ok=(200, 204)))

    def delete_policy(self) -> None:
        finish(self.server.call("DELETE", "", [("policy", "")], ok=(200, 204, 404)))

    def head(self, key: str) -> Optional[Item]:
        answer = finish(self.server.call("HEAD", key, ok=(200, 404), payload=EMPTY_SHA256))
        if answer.status == 404:
            return None
        head = answer.head
        tag = head.header("etag").strip('"')
        encrypted = "kms" in head.header("x-amz-server-side-encryption")
        return Item(
            key,
            int(head.header("content-length", "0")),
            wire.time_ns(head.header("last-modified")),
            FILE,
            "" if encrypted else wire.digest_of(tag),
            tag,
        )

    def get(self, key: str, start: int = 0, length: Optional[int] = None) -> bytes:
        """Bytes of an object; empty past its end."""
        headers = [] if start == 0 and length is None else [("range", byte_range(start, length))]
        if length == 0:
            if self.head(key) is None:
                raise NotFound(key)
            return b""
        answer = finish(self.server.call("GET", key, (), headers, ok=(200, 206, 416), payload=EMPTY_SHA256))
        if answer.status == 416:
            return b""
        if answer.status == 200 and headers:
            # Servers answer a range of an empty object with all of it.
            return answer.body[start : None if length is None else start + length]
        return answer.body

    def open(self, key: str, start: int = 0, length: Optional[int] = None) -> Response:
        """An object as a stream; the caller tries again from where it was when the stream breaks."""
        headers = [] if start == 0 and length is None else [("range", byte_range(start, length))]
        connection, head = finish(self.server.exchange("GET", key, (), headers, b"", EMPTY_SHA256))
        response = Response(self.server.http, connection, head, "GET")
        if head.status not in (200, 206, 416):
            with response:
                raise self.server.trouble("GET", key, head, response.read())
        return response

    def put(self, key: str, data: bytes, if_absent: bool = False) -> bool:
        """Write a small object in one request. False when `if_absent` and it is there already.

        When an answer got lost on the way, a refused second try may be our own first one: the bytes tell.
        """
        answer = finish(put_whole(self.server, key, data, if_absent))
        if answer.status < 300:
            return True
        return answer.tries > 1 and self.get(key) == data

    def delete(self, keys: Sequence[str]) -> None:
        """Remove keys, a thousand in a request. What is not there counts as removed."""
        alone: List[str] = []
        together: List[str] = []
        for key in keys:
            (together if len(keys) > 1 and wire.in_xml(key) else alone).append(key)
        for key in alone:
            finish(self.server.call("DELETE", key, ok=(200, 204, 404)))
        for begin in range(0, len(together), 1000):
            body = wire.deletion(together[begin : begin + 1000])
            headers = [("content-md5", md5_base64(body)), ("content-type", "application/xml")]
            answer = finish(self.server.call("POST", "", [("delete", "")], headers, body))
            failed = [each for each in wire.failures_in(answer.body) if each[1] != "NoSuchKey"]
            if failed:
                key, code, message = failed[0]
                error = AccessDenied if code == "AccessDenied" else PlaceError
                raise error("cannot remove %s/%s: %s %s (%d failed)" % (self.url, key, code, message, len(failed)))

    def list(self, prefix: str, delimiter: str = "", after: str = "") -> Iterator[Item]:
        """Keys that begin with `prefix`, in order; with a delimiter the folders below it instead of what they hold."""
        query = [("encoding-type", "url"), ("max-keys", _PAGE), ("prefix", prefix)]
        if delimiter:
            query.append(("delimiter", delimiter))
        while True:
            marker = [("marker", after)] if after else []
            answer = finish(self.server.call("GET", "", [*query, *marker], payload=EMPTY_SHA256))
            page = wire.page_of(answer.body)
            yield from page.items
            if not page.next_after or page.next_after == after:
                return
            after = page.next_after

    def copy(self, source_bucket: str, source: str, target: str, replace_metadata: bool = False) -> None:
        """Copy an object of up to 5 GB within the store."""
        prefix = self.server.prefix
        headers = [(prefix + "copy-source", "/%s/%s" % (source_bucket, quote(source, safe="/~-._")))]
        if replace_metadata:
            headers.append((prefix + "metadata-directive", "REPLACE"))
        finish(self.server.call("PUT", target, (), headers))

    def presign(self, method: str, key: str, expires_s: int) -> str:
        """A link to a key that anybody may use until it expires."""
        return self.server.presign(method, key, expires_s)


def put_whole(server: Server, key: str, data: bytes, if_absent: bool) -> Steps[Answer]:
    """Write an object in one request that is signed whole. 409 or 412 when `if_absent` and it is there already."""
    headers = [("content-md5", md5_base64(data))]
    if if_absent:
        headers.append(("if-none-match", "*"))
    ok = (200, 201, 204, 409, 412) if if_absent else (200, 201, 204)
    return server.call("PUT", key, (), headers, data, ok, hashlib.sha256(data).hexdigest())


def byte_range(start: int, length: Optional[int]) -> str:
    return "bytes=%d-%s" % (start, "" if length is None else start + length - 1)


def md5_base64(data: bytes) -> str:
    return base64.b64encode(hashlib.md5(data).digest()).decode("ascii")
