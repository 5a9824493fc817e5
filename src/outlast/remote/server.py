"""One server, as the verbs ask it: JSON in, JSON out, bytes in pieces; its refusals are our errors."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from outlast import __version__
from outlast.errors import NotFoundError, UsageError
from outlast.inside.errors import RequestError
from outlast.inside.net.connection import FilePart, Stale, Unreachable
from outlast.inside.net.http import Http, Response
from outlast.inside.net.retry import Again, Policy, retrying
from outlast.remote.refusals import refused, unreachable
from outlast.settings import Settings
from outlast.store.profiles import Profiles

T = TypeVar("T")

_PREFIX = "/api/v1"
#: Submitting asks the stores of the data, and removing waits for a script to save: one answer may take a while.
_TIMEOUT_S = 300.0
#: A stream says something every 15 seconds; one that is silent for longer is dead.
_STREAM_TIMEOUT_S = 60.0
#: For what is safe to repeat while the server is away for a moment, as when it is started anew.
PATIENT = Policy(tries=8, first_s=0.2, longest_s=5.0, total_s=60.0)

Query = Iterable[tuple[str, Any]]


class Server:
    """A server under one address, asked with one token. Safe to use from several threads."""

    def __init__(self, url: str, token: str = "", *, ca_file: str = "", verify: bool = True) -> None:
        self.url = url
        self._token = token
        try:
            self._http = Http(url, ca_file, verify, _TIMEOUT_S)
            self._streams = Http(url, ca_file, verify, _STREAM_TIMEOUT_S)
        except RequestError as error:
            raise UsageError(str(error)) from None

    def ask(
        self, method: str, path: str, body: Any = None, *, query: Query = (), key: str = "", again: bool = False
    ) -> Any:
        """The decoded answer to one question.

        With `key` the server does it at most once; that, and what `again` says to do no harm, is patiently repeated.
        """
        headers = [("Content-Type", "application/json")] if body is not None else []
        headers += [("Idempotency-Key", key)] if key else []
        data = json.dumps(body).encode() if body is not None else b""

        def once() -> Any:
            with self.opened(method, path, headers, data, query=query) as response:
                return json.loads(response.read() or b"null")

        return self.patiently(once) if key or again else self._told(once)

    def read(self, path: str, *, query: Query = ()) -> bytes:
        """The bytes that an address gives."""

        def once() -> bytes:
            with self.opened("GET", path, query=query) as response:
                return response.read()

        return self._told(once)

    def send_part(self, path: str, part: FilePart, sha256: str) -> None:
        """Send a part of a file; a connection that breaks is patiently tried again."""
        headers = [("Content-Type", "application/octet-stream"), ("Outlast-Part-SHA256", sha256)]

        def once() -> None:
            with self.opened("PUT", path, headers, part) as response:
                response.read()

        self.patiently(once)

    def patiently(self, once: Callable[[], T]) -> T:
        """Do what may be repeated until it works, as long as the server is only away for a moment."""

        def attempt() -> T:
            try:
                return once()
            except Unreachable as error:
                raise Again(error) from None

        return self._told(lambda: retrying(PATIENT, attempt))

    @contextlib.contextmanager
    def opened(
        self, method: str, path: str, headers: Iterable[tuple[str, str]] = (), body: bytes | FilePart = b"",
        *, query: Query = (), accepts: tuple[int, ...] = (), is_stream: bool = False,
    ) -> Iterator[Response]:  # fmt: skip
        """An answer whose body is still to be read. Refusals are raised; `Unreachable` passes through as it is."""
        http = self._streams if is_stream else self._http
        if method != "GET" and not isinstance(body, FilePart):
            http.close()  # a kept connection may be closed by now, and this must not be sent twice
        asked = [(name, value) for name, value in query if value not in (None, "")]
        target = f"{http.base}{_PREFIX}{path}" + (f"?{urlencode(asked)}" if asked else "")
        with _exchange(http, method, target, [*self._own_headers(), *headers], body) as response:
            if response.status >= 300 and response.status not in accepts:
                raise refused(self.url, response.status, response.read(), with_token=bool(self._token))
            yield response

    def _told(self, once: Callable[[], T]) -> T:
        try:
            return once()
        except Unreachable as error:
            raise unreachable(self.url, str(error)) from None
        except ValueError:
            raise UsageError(f"what answers at {self.url} is no outlast server: it does not speak JSON") from None

    def _own_headers(self) -> list[tuple[str, str]]:
        own = [("User-Agent", f"outlast/{__version__}"), ("Accept", "*/*")]
        return [*own, ("Authorization", f"Bearer {self._token}")] if self._token else own


def _exchange(http: Http, method: str, target: str, headers: list[tuple[str, str]], body: bytes | FilePart) -> Response:
    try:
        return http.request(method, target, headers, body)
    except Stale:
        return http.request(method, target, headers, body)


def server_of(settings: Settings) -> Server:
    """The server that the settings name, with the token of the environment or of `outlast login server`."""
    profiles = Profiles(settings.home)
    # Logging in or out changes the file; what was opened with an older token is not used again.
    changed_ns = profiles.path.stat().st_mtime_ns if profiles.path.exists() else 0
    return _opened(settings.server, settings.token, settings.home, changed_ns)


@functools.lru_cache(maxsize=16)
def _opened(url: str, token: str, home: Path, changed_ns: int) -> Server:
    profiles = Profiles(home)
    known = next((each for each in profiles.of_kind("server") if each.access.endpoint == url), None)
    if known is None:
        return Server(url, token)
    access = known.access if token else profiles.open(known)
    return Server(url, token or access.secret, ca_file=access.ca_file, verify=access.verify)


def part_of(text: str) -> str:
    """A name as one part of a path."""
    if not text or text in (".", ".."):
        raise NotFoundError(f"no such name: {text!r}")
    return quote(text, safe="")


def path_of(text: str) -> str:
    """A path within a folder, as the end of an address."""
    return quote(text, safe="/")
