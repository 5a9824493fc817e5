"""One account at the door of ModelArts: signed or with a token, patient for a moment, never insistent.

Two ways in: an access key that signs each request, or name and password for a token of the identity service, which is
renewed when it is no longer taken. A clock that is minutes off is corrected by the date of the refusal, once.
"""

from __future__ import annotations

import calendar
import json
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from email.utils import parsedate
from typing import Any

from outlast import __version__
from outlast.inside.net.connection import Stale, Unreachable
from outlast.inside.net.http import Http, Response
from outlast.inside.net.retry import retry_after_s
from outlast.platforms.modelarts.faults import Said, Unheard
from outlast.platforms.modelarts.signing import Request, moment, sign
from outlast.platforms.trust import SYSTEMS, Trust

_TIMEOUT_S = 30.0
#: Before each further try of what was not answered, or answered with "not now".
_PAUSES_S = (0.3, 1.0, 2.0)
_LONGEST_PAUSE_S = 5.0
#: A difference this small may be the time an answer takes; services refuse 15 minutes.
_SKEW_S = 120.0
#: After a refusal of the credentials nothing is asked for so long: five in a row lock an access key.
_SILENCE_S = 60.0

Query = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Credentials:
    """Who asks: a key and its secret, or a user and a password."""

    key: str = ""
    secret: str = field(default="", repr=False)
    token: str = field(default="", repr=False)  # of temporary keys
    user: str = ""
    password: str = field(default="", repr=False)
    domain: str = ""

    @property
    def are_keys(self) -> bool:
        return bool(self.key and self.secret)

    @property
    def are_given(self) -> bool:
        return self.are_keys or bool(self.user and self.password)


class Session:
    """Asks the service. Raises `Said` for a refusal and `Unheard` when no answer came."""

    def __init__(
        self, credentials: Credentials, *, endpoint: str, iam: str, region: str, project: str = "",
        trust: Trust = SYSTEMS, clock: Callable[[], float] = time.time, sleep: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        self._credentials = credentials
        self._http = Http(endpoint, *trust, timeout_s=_TIMEOUT_S)
        self._iam = self._http if iam == endpoint else Http(iam, *trust, timeout_s=_TIMEOUT_S)
        self._region = region
        self._project = project
        self._clock = clock
        self._sleep = sleep
        self._offset_s = 0.0  # of the server's clock to ours
        self._token = ""
        self._silent_until = 0.0
        self._refusal: Said | None = None

    @property
    def offset_s(self) -> float:
        """How far this machine's clock turned out to be behind the service's."""
        return self._offset_s

    @property
    def project(self) -> str:
        """The id of the project; asked for by the region when the account does not name one."""
        if not self._project:
            self._project = self._find_project()
        return self._project

    def ask(
        self, method: str, generation: str, path: str, body: Any = None, query: Query = (), *, once: bool = False
    ) -> Any:
        """The decoded answer, None for an empty one. With `once` nothing is repeated: it may have been done."""
        path = f"/{generation}/{self.project}{path}"
        return self._ask(self._http, method, path, body, tuple(query), once)

    def ask_aside(self, generation: str, path: str, query: Query = ()) -> Any:
        """The answer to something that an account may live without: a refusal does not stand for the whole of it."""
        before = self._refusal, self._silent_until
        try:
            return self.ask("GET", generation, path, query=query)
        except Said:
            self._refusal, self._silent_until = before
            raise

    def close(self) -> None:
        self._http.close()
        self._iam.close()

    # ---- one question, several tries

    def _ask(
        self, http: Http, method: str, path: str, body: Any, query: tuple[tuple[str, str], ...], once: bool = False
    ) -> Any:
        data = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
        for usual_s in _PAUSES_S:
            asked_s = 0.0
            try:
                return self._admitted(http, method, path, query, data, once)
            except Unheard:
                if once:
                    raise
            except Said as said:
                if not said.is_busy or (once and not said.is_throttling):  # what is throttled was surely not done
                    raise
                asked_s = min(said.after_s or 0.0, _LONGEST_PAUSE_S)
            self._sleep(max(usual_s, asked_s))
        return self._admitted(http, method, path, query, data, once)

    def _admitted(
        self, http: Http, method: str, path: str, query: tuple[tuple[str, str], ...], data: bytes, once: bool
    ) -> Any:
        """One try; what is wrong with clock or token is mended and tried once more."""
        if self._refusal is not None and self._clock() < self._silent_until:
            raise self._refusal
        request = Request(method, http.authority, http.base + path, query, data)
        if once:
            http.close()  # a kept connection may be closed by now, and this is not sent again unknowingly
        try:
            try:
                return _decoded(*_send(http, request, self._proven(request)))
            except Said as said:
                if not said.is_about_credentials or not self._mend(said):
                    raise
            return _decoded(*_send(http, request, self._proven(request)))
        except Said as said:
            if said.is_about_credentials:
                self._refusal, self._silent_until = said, self._clock() + _SILENCE_S
            raise

    def _mend(self, said: Said) -> bool:
        """Whether a second try can go better."""
        if not self._credentials.are_keys:
            before, self._token = self._token, ""
            return bool(before)
        parsed = parsedate(said.date)
        offset_s = calendar.timegm(parsed) - self._clock() if parsed else 0.0
        if parsed is None or abs(offset_s - self._offset_s) < _SKEW_S:
            return False
        self._offset_s = offset_s
        return True

    def _proven(self, request: Request) -> list[tuple[str, str]]:
        headers = _own_headers()
        if self._project:
            headers.append(("X-Project-Id", self._project))
        if not self._credentials.are_keys:
            return [*headers, ("X-Auth-Token", self._current_token())]
        if self._credentials.token:
            headers.append(("X-Security-Token", self._credentials.token))
        at = moment(self._clock() + self._offset_s)
        return sign(request, headers, self._credentials.key, self._credentials.secret, at)

    # ---- the identity service

    def _current_token(self) -> str:
        if not self._token:
            self._token = self._new_token()
        return self._token

    def _new_token(self) -> str:
        who = self._credentials
        user: dict[str, Any] = {"name": who.user, "password": who.password}
        user |= {"domain": {"name": who.domain or who.user}}
        scope = {"project": {"id": self._project} if self._project else {"name": self._region}}
        body = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}}
        path = f"{self._iam.base}/v3/auth/tokens"
        request = Request("POST", self._iam.authority, path, (), json.dumps(body).encode())
        answer, content = _send(self._iam, request, _own_headers())
        decoded = _decoded(answer, content)
        self._project = self._project or str(decoded["token"].get("project", {}).get("id", ""))
        return answer.header("x-subject-token")

    def _find_project(self) -> str:
        if not self._credentials.are_keys:
            self._current_token()
            if self._project:
                return self._project
        found = self._ask(self._iam, "GET", "/v3/projects", None, (("name", self._region),))
        projects = [str(each["id"]) for each in found.get("projects", ())]
        if len(projects) != 1:
            raise Said(400, "", f"region {self._region} has {len(projects)} projects; give the project id")
        return projects[0]


def _own_headers() -> list[tuple[str, str]]:
    """With a name for each request: two equal ones within a second would have one signature."""
    return [
        ("Content-Type", "application/json"), ("User-Agent", f"outlast/{__version__}"),
        ("X-Client-Request-Id", uuid.uuid4().hex), ("X-Language", "en-us"),  # of events and refusals
    ]  # fmt: skip


def _send(http: Http, request: Request, headers: list[tuple[str, str]]) -> tuple[Response, bytes]:
    def once() -> tuple[Response, bytes]:
        with http.request(request.method, request.target, headers, request.body) as response:
            return response, response.read()

    try:
        try:
            return once()
        except Stale:  # only kept connections can be; whoever must not ask twice took a new one
            return once()
    except Unreachable as error:
        raise Unheard(str(error)) from None


def _decoded(response: Response, content: bytes) -> Any:
    """What an answer says. The first generation refuses with status 200 and `is_success`, too."""
    try:
        value = json.loads(content) if content.strip() else None
        is_json = True
    except ValueError:
        value, is_json = None, False
    failed = isinstance(value, dict) and value.get("is_success") is False
    if response.status < 300 and is_json and not failed:
        return value
    # Whatever stands before the service and speaks no JSON is trouble of a moment.
    status = response.status if is_json or response.status >= 300 else 502
    raise Said.read(status, content, response.header("date"), retry_after_s(response.header("retry-after")))
