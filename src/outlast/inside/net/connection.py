"""One kept-alive connection to a server, written as steps so that one thread can drive many.

Every method that may have to wait is a generator: it yields the connection when its socket is not ready (`wants` says
for what), a number of seconds to pause, and returns its result. `drive.finish` runs one of them to its end;
`drive.Loop` runs dozens at once.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import ssl
import time
from typing import Any, Dict, Generator, Iterator, List, NamedTuple, Optional, Tuple, TypeVar, Union, cast

from ..errors import PlaceError

READ, WRITE = select.POLLIN, select.POLLOUT
CHUNK_BYTES = 1 << 20
_HEAD_LIMIT_BYTES = 256 << 10
#: Read at once for an answer's head: enough for a small body too, small enough to be cheap to allocate.
_HEAD_BYTES = 16 << 10
_NOT_READY = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EINPROGRESS)

T = TypeVar("T")
#: What a step yields: the connection whose socket it waits for, or seconds to pause.
Steps = Generator[Union["Connection", float], None, T]


class Unreachable(PlaceError):
    """The server could not be reached, or the connection broke."""


class CutOff(Unreachable):
    """The connection was closed before any answer: the request may not even have been read."""


class Stale(CutOff):
    """That happened on a kept connection: the server had most likely closed it before. Trying again costs nothing."""


class FilePart(NamedTuple):
    """Bytes of an open file, sent without passing through this program where the system can do that."""

    descriptor: int
    offset: int
    length: int


Body = Union[bytes, FilePart, Iterator[bytes]]


class Head(NamedTuple):
    """The beginning of an answer."""

    status: int
    reason: str
    headers: Dict[str, str]  # names in lower case
    keep: bool  # the connection can be used again after the body

    def header(self, name: str, default: str = "") -> str:
        return self.headers.get(name.lower(), default)


class Connection:
    """A non-blocking socket that speaks HTTP/1.1. One request at a time, used by one thread at a time."""

    def __init__(self, where: str, timeout_s: float) -> None:
        self.where = where  # host:port, for messages
        self.timeout_s = timeout_s
        self.wants = WRITE
        self.sock: Optional[Any] = None  # a socket or an SSLSocket
        self.used_at = 0.0
        self.requests = 0
        self._left = b""  # read, but not yet part of any answer
        self._tls = False

    def fileno(self) -> int:
        return self.sock.fileno() if self.sock is not None else -1

    def close(self) -> None:
        sock, self.sock = self.sock, None
        if sock is not None:
            sock.close()

    #: An idle connection goes with the client that kept it.
    __del__ = close

    def open(self, addresses: List[Tuple[Any, ...]], context: Optional[ssl.SSLContext], name: str) -> Steps[None]:
        """Connect to the first address that answers, and shake hands when a TLS context is given."""
        trouble: Optional[OSError] = None
        for family, kind, protocol, _, address in addresses:
            sock = socket.socket(family, kind, protocol)
            try:
                sock.setblocking(False)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.sock = sock
                code = sock.connect_ex(address)
                if code in _NOT_READY:
                    self.wants = WRITE
                    yield self
                    code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if code:
                    raise OSError(code, os.strerror(code))
                break
            except OSError as error:
                trouble = error
                self.close()
        else:
            raise Unreachable("cannot connect to %s: %s" % (self.where, words_of(trouble)))
        if context is not None:
            yield from self._shake_hands(context, name)

    def _shake_hands(self, context: ssl.SSLContext, name: str) -> Steps[None]:
        self._tls = True
        assert self.sock is not None
        try:
            self.sock = context.wrap_socket(self.sock, server_hostname=name, do_handshake_on_connect=False)
            while True:
                try:
                    self.sock.do_handshake()
                    return
                except ssl.SSLWantReadError:
                    self.wants = READ
                except ssl.SSLWantWriteError:
                    self.wants = WRITE
                yield self
        except ssl.SSLCertVerificationError as error:
            self.close()
            raise Unreachable(
                "the certificate of %s is not trusted (%s); name its authority with a CA file"
                % (self.where, error.verify_message)
            ) from None
        except OSError as error:
            self.close()
            raise Unreachable("no secure connection to %s: %s" % (self.where, words_of(error))) from None

    def send(self, head: bytes, body: Body = b"") -> Steps[None]:
        """Send one request. `CutOff` when the other side closed a kept connection meanwhile."""
        self.requests += 1
        try:
            if isinstance(body, bytes):
                yield from self._send_bytes(head + body if len(body) < CHUNK_BYTES else head)
                if len(body) >= CHUNK_BYTES:
                    yield from self._send_bytes(body)
            elif isinstance(body, FilePart):
                yield from self._send_bytes(head)
                yield from self._send_file(body)
            else:
                yield from self._send_bytes(head)
                for piece in body:
                    if piece:
                        yield from self._send_bytes(b"%x\r\n%s\r\n" % (len(piece), piece))
                yield from self._send_bytes(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            # The server may have refused early and said why: the answer, if any, is read next.
            return
        except OSError as error:
            self.close()
            raise Unreachable("the connection to %s broke: %s" % (self.where, words_of(error))) from None

    def _send_bytes(self, data: bytes) -> Steps[None]:
        sock = self.sock
        assert sock is not None
        view = memoryview(data)
        while view:
            try:
                view = view[sock.send(view) :]
                continue
            except (BlockingIOError, ssl.SSLWantWriteError):
                self.wants = WRITE
            except ssl.SSLWantReadError:
                self.wants = READ
            yield self

    def _send_file(self, part: FilePart) -> Steps[None]:
        offset, end = part.offset, part.offset + part.length
        while offset < end:
            if self._tls:
                piece = os.pread(part.descriptor, min(CHUNK_BYTES, end - offset), offset)
                yield from self._send_bytes(piece)
                sent = len(piece)
            else:
                try:
                    sent = os.sendfile(self.fileno(), part.descriptor, offset, min(end - offset, 16 * CHUNK_BYTES))
                except BlockingIOError:
                    self.wants = WRITE
                    yield self
                    continue
            if not sent:
                raise OSError(errno.EIO, "the file became shorter while it was sent")
            offset += sent

    def _receive(self, size: int) -> Steps[bytes]:
        data = yield from self._when_ready("recv", size)
        return cast(bytes, data)

    def _when_ready(self, verb: str, argument: Any) -> Steps[Any]:
        """Call `recv` or `recv_into` of the socket as soon as there is something to read."""
        if self.sock is None:
            raise CutOff("%s closed the connection" % self.where)
        call = getattr(self.sock, verb)
        while True:
            try:
                return call(argument)
            except (BlockingIOError, ssl.SSLWantReadError):
                self.wants = READ
            except ssl.SSLWantWriteError:
                self.wants = WRITE
            except OSError as error:
                self.close()
                raise CutOff("the connection to %s broke: %s" % (self.where, words_of(error))) from None
            yield self

    def receive_head(self) -> Steps[Head]:
        """Read an answer up to its body. Interim answers (100 Continue) are passed over."""
        while True:
            end = self._left.find(b"\r\n\r\n")
            if end >= 0:
                head = self._parse(self._left[:end])
                self._left = self._left[end + 4 :]
                if head.status >= 200:
                    self.used_at = time.monotonic()
                    return head
                continue
            if len(self._left) > _HEAD_LIMIT_BYTES:
                self.close()
                raise Unreachable("%s does not speak HTTP: its headers do not end" % self.where)
            more = yield from self._receive(_HEAD_BYTES)
            if not more:
                began = bool(self._left)
                self.close()
                raise (Unreachable if began else CutOff)("%s closed the connection without an answer" % self.where)
            self._left += more

    def _parse(self, text: bytes) -> Head:
        lines = text.decode("latin-1").split("\r\n")
        version, _, rest = lines[0].partition(" ")
        code, _, reason = rest.partition(" ")
        if not version.startswith("HTTP/1.") or not code.isdigit():
            self.close()
            raise Unreachable("%s does not speak HTTP: it said %r" % (self.where, lines[0][:80]))
        pairs = [line.partition(":") for line in lines[1:]]
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        said = headers.get("connection", "").lower()
        keep = "close" not in said and (version == "HTTP/1.1" or "keep-alive" in said)
        return Head(int(code), reason, headers, keep)

    def body_length(self, head: Head, method: str) -> Optional[int]:
        """How many bytes the body has; -1 when it comes in chunks, None when it ends with the connection."""
        if method == "HEAD" or head.status in (204, 304):
            return 0
        if "chunked" in head.headers.get("transfer-encoding", "").lower():
            return -1
        if "content-length" not in head.headers:
            return None
        try:
            return int(head.headers["content-length"])
        except ValueError:
            self.close()
            raise Unreachable("%s sent an unreadable Content-Length" % self.where) from None

    def receive_some(self, limit: int) -> Steps[bytes]:
        """Up to `limit` bytes of the body; empty when the connection ended."""
        if self._left:
            data, self._left = self._left[:limit], self._left[limit:]
            return data
        return (yield from self._receive(limit))

    def receive_into(self, view: memoryview) -> Steps[int]:
        """`receive_some` into memory of the caller's; 0 when the connection ended."""
        if self._left:
            size = min(len(view), len(self._left))
            view[:size] = self._left[:size]
            self._left = self._left[size:]
            return size
        count = cast(int, (yield from self._when_ready("recv_into", view)))
        return self._fill(view, count) if self._tls and count else count

    def _fill(self, view: memoryview, count: int) -> int:
        """Go on with what is there already: TLS hands out one record of 16 KiB at a time, and whatever is done with
        each of them costs more than the record."""
        sock = self.sock
        assert sock is not None
        size = len(view)
        try:
            while count < size:
                more = sock.recv_into(view[count:])
                if not more:
                    break
                count += more
        except OSError:
            pass  # nothing more is ready; what is wrong, if anything, shows when the next is read
        return count

    def is_bare(self) -> bool:
        """Whether the rest of the body is in the socket as it is: nothing encrypted, nothing read ahead."""
        return not self._tls and not self._left

    def receive_body(self, head: Head, method: str, limit_bytes: int = 256 << 20) -> Steps[bytes]:
        """The whole body in memory; for answers, not for data."""
        length = self.body_length(head, method)
        pieces: List[bytes] = []
        total = 0
        while length is None or length < 0 or total < length:
            if length == -1:
                piece = yield from self.receive_chunk()
                if not piece:
                    break
            else:
                piece = yield from self.receive_some(CHUNK_BYTES if length is None else length - total)
                if not piece:
                    if length is None:
                        self.close()
                        break
                    self.cut_short(total, length)
            total += len(piece)
            pieces.append(piece)
            if total > limit_bytes:
                self.close()
                raise Unreachable("%s sent an answer of more than %d bytes" % (self.where, limit_bytes))
        if not head.keep:
            self.close()
        return b"".join(pieces)

    def receive_chunk(self) -> Steps[bytes]:
        """The next chunk of a chunked body; empty after the last."""
        line = yield from self._line()
        try:
            size = int(line.split(b";")[0], 16)
        except ValueError:
            self.close()
            raise Unreachable("%s sent a broken chunk" % self.where) from None
        if size == 0:
            while (yield from self._line()):
                continue
            return b""
        data = yield from self._exactly(size + 2)
        return data[:-2]

    def _line(self) -> Steps[bytes]:
        while b"\r\n" not in self._left:
            more = yield from self._receive(65536)
            if not more or len(self._left) > _HEAD_LIMIT_BYTES:
                self.cut_short(len(self._left), -1)
            self._left += more
        line, _, self._left = self._left.partition(b"\r\n")
        return line

    def _exactly(self, size: int) -> Steps[bytes]:
        pieces, total = [self._left], len(self._left)
        while total < size:
            piece = yield from self._receive(min(CHUNK_BYTES, size - total))
            if not piece:
                self.cut_short(total, size)
            pieces.append(piece)
            total += len(piece)
        data = b"".join(pieces)
        self._left = data[size:]
        return data[:size]

    def cut_short(self, got: int, expected: int) -> None:
        """Close, and say that a body ended early."""
        self.close()
        what = "%d of %d bytes" % (got, expected) if expected >= 0 else "%d bytes of a chunk" % got
        raise Unreachable("%s closed the connection after %s" % (self.where, what))


def words_of(error: Optional[OSError]) -> str:
    if error is None:
        return "no address"
    return error.strerror or str(error) or type(error).__name__
