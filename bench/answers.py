"""The null server's answers: just enough S3 for s5cmd, rclone, boto3 and Outlast.

Pure but for the shelf: a request and the bytes of its small body in, an answer out.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
import secrets
from collections.abc import Callable
from email.utils import formatdate
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

from bench.datasets import STORED_AT, Dataset, Entry
from bench.shelf import Counts, Record, Shelf, Shown
from bench.sigv4 import Checker

#: Bodies of PUT up to this size are read with their heads; larger ones are dropped unread.
READ_UP_TO_BYTES = 64 << 10
_ALWAYS = (
    f"Last-Modified: {formatdate(STORED_AT, usegmt=True)}\r\n"
    "Accept-Ranges: bytes\r\nContent-Type: application/octet-stream\r\n"
)
_RANGE = re.compile(r"bytes=(\d*)-(\d*)$")
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_REASONS = {200: "OK", 204: "No Content", 206: "Partial Content", 403: "Forbidden", 404: "Not Found"}
_STATUS = {"NoSuchKey": 404, "NoSuchUpload": 404, "InvalidRange": 416, "NotImplemented": 501, "AccessDenied": 403}


class Request(NamedTuple):
    """A request whose head has arrived."""

    method: str
    target: str
    headers: dict[str, str]  # names in lower case

    @property
    def size_bytes(self) -> int:
        """Of the object in its body, without the framing of signed chunks."""
        return int(self.headers.get("x-amz-decoded-content-length") or self.headers.get("content-length") or 0)


class Answer(NamedTuple):
    """A head with what follows it, and a part of an object to be sent after that."""

    data: bytes
    entry: Entry | None = None
    start: int = 0
    length: int = 0


class Answers:
    """One for each process of the server."""

    def __init__(self, datasets: dict[str, Dataset], shelf: Shelf, key: str, secret: str) -> None:
        self._shown = {bucket: Shown(dataset) for bucket, dataset in datasets.items()}
        self._shelf = shelf
        self._checker = Checker(key, secret)
        self._counts = Counts()
        self._numbers = itertools.count(1)
        self._verbs: dict[str, Callable[[Request, str, str, dict[str, str], bytes], Answer]] = {
            "GET": self._get, "HEAD": self._get, "PUT": self._put, "POST": self._post, "DELETE": self._delete,
        }  # fmt: skip

    def answer(self, request: Request, body: bytes) -> Answer:
        """Answer one request; `body` is empty when it was too large to be kept."""
        code = self._checker.fault(*request)
        if code:
            return self._counted(_error(request, code), refused=1)
        path, _, query = request.target.partition("?")
        bucket, _, key = path[1:].partition("/")
        key = unquote(key) if "%" in key else key
        parameters = dict(parse_qsl(query, keep_blank_values=True)) if query else {}
        return self._verbs[request.method](request, bucket, key, parameters, body)

    def _counted(self, answer: Answer, refused: int = 0, got: tuple[int, int] = (0, 0), gave: int = -1) -> Answer:
        """Count a request; `got` objects and bytes with it, `gave` so many bytes of an object."""
        requests, before, objects_in, bytes_in, objects_out, bytes_out = self._counts
        self._counts = Counts(
            requests + 1, before + refused, objects_in + got[0], bytes_in + got[1], objects_out + (gave >= 0),
            bytes_out + max(gave, 0),
        )  # fmt: skip
        self._shelf.count(self._counts)
        return answer

    def _get(self, request: Request, bucket: str, key: str, parameters: dict[str, str], _: bytes) -> Answer:
        if not key:
            return self._counted(self._bucket(request, bucket, parameters))
        shown = self._shown.get(bucket)
        entry = shown.entries.get(key) if shown else None
        if entry is None:
            record = None if shown else self._shelf.find(f"{bucket}/{key}")
            if record is None or request.method == "GET":
                return self._counted(_error(request, "NoSuchKey"))
            entry = Entry(key, record.size_bytes, 0, record.etag)
        start, end = _range(request.headers.get("range", ""), entry.size_bytes)
        more = ""
        whole = end - start == entry.size_bytes
        if not whole:
            more = f"Content-Range: bytes {start}-{end - 1}/{entry.size_bytes}\r\n"
        elif entry.crc32 and "x-amz-checksum-mode" in request.headers:
            more = f"x-amz-checksum-crc32: {entry.crc32}\r\nx-amz-checksum-type: FULL_OBJECT\r\n"
        head = (
            f"HTTP/1.1 {'200 OK' if whole else '206 Partial Content'}\r\nContent-Length: {end - start}\r\n"
            f'ETag: "{entry.etag}"\r\n{_ALWAYS}{more}\r\n'
        ).encode()
        if request.method == "HEAD":
            return self._counted(Answer(head))
        return self._counted(Answer(head, entry, start, end - start), gave=end - start)

    def _bucket(self, request: Request, bucket: str, parameters: dict[str, str]) -> Answer:
        if request.method == "HEAD":
            return Answer(_head(200, "Content-Length: 0"))
        if not bucket:
            names = "".join(f"<Bucket><Name>{name}</Name></Bucket>" for name in self._shown)
            return _xml(f"<ListAllMyBucketsResult><Buckets>{names}</Buckets></ListAllMyBucketsResult>")
        if "location" in parameters:
            return _xml('<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>')
        if "versioning" in parameters:
            return _xml("<VersioningConfiguration/>")
        return self._list(bucket, parameters)

    def _list(self, bucket: str, parameters: dict[str, str]) -> Answer:
        shown = self._shown.get(bucket)
        prefix, delimiter = parameters.get("prefix", ""), parameters.get("delimiter", "")
        after = parameters.get("continuation-token") or parameters.get("start-after") or parameters.get("marker", "")
        limit = min(1000, int(parameters.get("max-keys", 1000)))
        lines, prefixes, last = shown.page(prefix, delimiter, after, limit) if shown else ([], [], "")
        token = "NextContinuationToken" if "list-type" in parameters else "NextMarker"
        return _xml(
            '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>{bucket}</Name><Prefix>{prefix}</Prefix><MaxKeys>{limit}</MaxKeys>"
            f"<KeyCount>{len(lines) + len(prefixes)}</KeyCount><IsTruncated>{'true' if last else 'false'}</IsTruncated>"
            + (f"<Delimiter>{delimiter}</Delimiter>" if delimiter else "")
            + ("<EncodingType>url</EncodingType>" if "encoding-type" in parameters else "")
            + (f"<{token}>{last}</{token}>" if last else "")
            + "".join(lines)
            + "".join(f"<CommonPrefixes><Prefix>{each}</Prefix></CommonPrefixes>" for each in prefixes)
            + "</ListBucketResult>"
        )

    def _put(self, request: Request, bucket: str, key: str, parameters: dict[str, str], body: bytes) -> Answer:
        if not key:
            return self._counted(Answer(_head(200, "Content-Length: 0")))
        name = f"{bucket}/{key}"
        if "partNumber" in parameters:
            name = f"{parameters['uploadId']}/{parameters['partNumber']}"
        is_part = "partNumber" in parameters
        record = Record(request.size_bytes, *self._digest(request, is_part))
        self._shelf.keep(name, record)
        crc32 = request.headers.get("x-amz-checksum-crc32")
        echoed = f"\r\nx-amz-checksum-crc32: {crc32}" if crc32 else ""
        head = f'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: "{record.etag}"{echoed}\r\n\r\n'
        return self._counted(Answer(head.encode()), got=(not is_part, record.size_bytes))

    def _digest(self, request: Request, is_part: bool) -> tuple[bytes, int]:
        """The MD5 that the client gave; otherwise a tag that is none (for an object: in the form that says so)."""
        given = request.headers.get("content-md5")
        if given:
            return base64.b64decode(given), 0
        return next(self._numbers).to_bytes(16, "big"), 0 if is_part else 1

    def _post(self, request: Request, bucket: str, key: str, parameters: dict[str, str], body: bytes) -> Answer:
        if "uploads" in parameters:
            names = f"<Bucket>{bucket}</Bucket><Key>{key}</Key><UploadId>{secrets.token_hex(12)}</UploadId>"
            return self._counted(_xml(f"<InitiateMultipartUploadResult>{names}</InitiateMultipartUploadResult>"))
        if "uploadId" in parameters:
            return self._complete(request, bucket, key, parameters["uploadId"], body.decode())
        return self._counted(_xml("<DeleteResult/>" if "delete" in parameters else "<Result/>"))

    def _complete(self, request: Request, bucket: str, key: str, upload: str, body: str) -> Answer:
        numbers = re.findall(r"<PartNumber>\s*(\d+)\s*</PartNumber>", body)
        parts = [self._shelf.find(f"{upload}/{number}") for number in numbers]
        if not numbers or None in parts:
            return self._counted(_error(request, "NoSuchUpload"))
        digest = hashlib.md5(b"".join(part.digest for part in parts if part)).digest()
        record = Record(sum(part.size_bytes for part in parts if part), digest, len(parts))
        self._shelf.keep(f"{bucket}/{key}", record)
        names = f"<Bucket>{bucket}</Bucket><Key>{key}</Key><ETag>&quot;{record.etag}&quot;</ETag>"
        answer = _xml(f"<CompleteMultipartUploadResult>{names}</CompleteMultipartUploadResult>")
        return self._counted(answer, got=(1, 0))

    def _delete(self, *_: object) -> Answer:
        return self._counted(Answer(_head(204)))


def _range(text: str, size_bytes: int) -> tuple[int, int]:
    found = _RANGE.match(text) if text else None
    if not found:
        return 0, size_bytes
    first, last = found.groups()
    if not first:
        return max(0, size_bytes - int(last)), size_bytes
    return min(int(first), size_bytes), min(size_bytes, int(last) + 1 if last else size_bytes)


def _head(status: int, *lines: str) -> bytes:
    return "\r\n".join((f"HTTP/1.1 {status} {_REASONS.get(status, 'Other')}", *lines, "", "")).encode()


def _xml(text: str, status: int = 200) -> Answer:
    body = (_XML + text).encode()
    return Answer(_head(status, f"Content-Length: {len(body)}", "Content-Type: application/xml") + body)


def _error(request: Request, code: str) -> Answer:
    status = _STATUS.get(code, 403)
    if request.method == "HEAD":
        return Answer(_head(status, "Content-Length: 0"))
    return _xml(f"<Error><Code>{code}</Code><Message>{code}</Message></Error>", status)
