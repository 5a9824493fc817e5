"""Xihe's REST routes, as far as a run needs them. Every refusal becomes an `Unavailable` that says what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urljoin, urlsplit

from outlast import __version__
from outlast.errors import Unavailable
from outlast.inside.errors import RequestError
from outlast.inside.net.connection import Unreachable
from outlast.inside.net.http import Http, Response
from outlast.inside.net.retry import Again, Policy, retry_after_s, retrying
from outlast.platforms.xihe import wire
from outlast.platforms.xihe.websocket import read_message

#: A keeper has other runs to look after: one second try, then say so.
_PATIENCE = Policy(tries=2, first_s=0.3, total_s=40.0)
_TIMEOUT_S = 30.0
#: A body of ours is JSON of a few kilobytes; a log may be long.
_DOWNLOAD_TIMEOUT_S = 120.0

Why = Literal["full", "quota", "down", "refused"]
_QUOTAS = ("train_excced_max_num", "train_exceed_max_num", "exceed_max_num")


class Refused(Unavailable):
    """Xihe said no, in an envelope of its own; `word` is its code."""

    def __init__(self, message: str, word: str, status: int, *, why: Why, hint: str = "") -> None:
        super().__init__(message, why=why, hint=hint)
        self.word = word
        self.status = status

    @property
    def is_absent(self) -> bool:
        """Whether it says that there is no such thing."""
        return self.status == 404 or self.word in ("resource_not_exists", "train_not_found")


class XiheRest:
    """One account at one endpoint. Safe to use from several threads."""

    def __init__(self, endpoint: str, token: str, account: str) -> None:
        self.endpoint = endpoint.rstrip("/")
        self._token = token
        self._account = account
        self._http = self._open(self.endpoint, _TIMEOUT_S)

    # ---- repositories

    def repository_id(self, kind: str, owner: str, name: str) -> str | None:
        """The id of a repository; None when there is none that we may see."""
        try:
            data = self.ask("GET", f"/v1/{kind}/{quote(owner)}/{quote(name)}")
        except Refused as error:
            if error.is_absent:
                return None
            raise
        return _id_of(data)

    def make_repository(self, kind: str, owner: str, name: str, run: str) -> str:
        """The id of a repository that is there afterwards; one that was made in a lost answer is found."""
        found = self.repository_id(kind, owner, name)
        if found is not None:
            return found
        try:
            self.ask("POST", f"/v1/{kind}", wire.repository_body(kind, owner, name, run))
        except Unavailable as error:
            found = self.repository_id(kind, owner, name)
            if found is None:
                raise error from None
            return found
        found = self.repository_id(kind, owner, name)
        if found is None:
            raise Unavailable(f"{self.endpoint} made the {kind} {owner}/{name} but does not show it", why="down")
        return found

    def remove_repository(self, kind: str, owner: str, name: str) -> None:
        """Remove a repository; one that is not there is no error."""
        self._remove(f"/v1/{kind}/{quote(owner)}/{quote(name)}")

    def projects(self, owner: str) -> dict[str, str]:
        """The projects of a user, name by id. Only a valid token is shown the private ones."""
        data = self.ask("GET", f"/v1/project/{quote(owner)}?count_per_page=100&page_num=1")
        lists = [each for each in data.values() if isinstance(each, list)] if isinstance(data, dict) else [data]
        rows = [row for row in (lists[0] if lists else None) or () if isinstance(row, dict)]
        return {str(row["id"]): str(row.get("name", "")) for row in rows if row.get("id")}

    def whose_token(self) -> str:
        """The account that our token belongs to; empty where the service does not tell."""
        try:
            data = self.ask("GET", "/v1/user")
        except Refused as error:
            if error.status in (404, 405) or error.is_absent:
                return ""
            raise
        return str(data.get("account") or "") if isinstance(data, dict) else ""

    # ---- training instances

    def instances(self, project: str) -> list[wire.Instance]:
        """Every training instance of a project that is still recorded."""
        return wire.read_instances(self.ask("GET", self._trainings(project)))

    def create(self, project: str, body: dict[str, Any]) -> None:
        """Make an instance. What an unclear answer leaves open, the list tells: the name is there or it is not."""
        try:
            self.ask("POST", self._trainings(project), body)
        except Unavailable as error:
            if isinstance(error, Refused) and error.status < 500 and error.word != "duplicate_training_name":
                raise
            if all(each.name != body["name"] for each in self.instances(project)):
                raise

    def terminate(self, project: str, instance: str) -> None:
        """Ask for the end of an instance; one that is over or gone is no error."""
        try:
            self.ask("PUT", f"{self._trainings(project)}/{quote(instance)}")
        except Refused as error:
            left = [each for each in self.instances(project) if each.id == instance and not each.is_over]
            if left:
                raise error from None

    def remove(self, project: str, instance: str) -> None:
        """Remove the record of an instance that is over; one that is gone is no error."""
        self._remove(f"{self._trainings(project)}/{quote(instance)}")

    def running_log(self, project: str, instance: str) -> str:
        """What an instance has printed so far; Xihe itself tells that over WebSocket only."""
        path = f"{self._trainings(project)}/{quote(instance)}"
        try:
            data = self.ask("GET", path)
        except Refused as error:
            if error.is_absent and error.word != "no_route":
                raise
            data = read_message(self._http, self._http.base + path, self._headers())
        found = data.get("training", data) if isinstance(data, dict) else {}
        return str(found.get("log") or "") if isinstance(found, dict) else ""

    def result_url(self, project: str, instance: str, what: Literal["log", "output"]) -> str:
        """Where the log or the packed outputs of an instance that is over can be downloaded."""
        data = self.ask("GET", f"{self._trainings(project)}/{quote(instance)}/result/{what}")
        url = str(data.get("log_url") or data.get("url") or "") if isinstance(data, dict) else ""
        if not url:
            raise Unavailable(f"{self.endpoint} gives no address for the {what} of instance {instance}", why="down")
        return urljoin(self.endpoint + "/", url)

    def download(self, url: str, target: Path) -> int:
        """Bring what lies at an address into a file and return its size; `Unavailable` when it was cut short."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        # The token is for Xihe alone: a signed address elsewhere carries its own proof.
        headers = self._headers() if _origin(self.endpoint) == origin else []
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            with self._open(origin, _DOWNLOAD_TIMEOUT_S).request("GET", path, headers) as response:
                if response.status != 200:
                    raise Unavailable(f"{origin} answers {response.status} instead of the file", why="down")
                with target.open("wb") as file:
                    return sum(file.write(piece) for piece in response.pieces())
        except Unreachable as error:
            raise Unavailable(f"cannot download from {origin}: {error}", why="down") from None

    # ---- one question

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The `data` of one answer. What only reads is tried a second time when Xihe is away or failing."""

        def once() -> Any:
            with self._sent(method, path, body) as response:
                if response.status >= 500 and method == "GET":
                    raise Again(RequestError(f"status {response.status}"))
                return self._data(method, path, response)

        try:
            return retrying(_PATIENCE, once) if method == "GET" else once()
        except Unreachable as error:
            raise Unavailable(f"xihe does not answer at {self.endpoint}: {error}", why="down") from None
        except RequestError as error:
            raise Unavailable(f"xihe is failing at {self.endpoint}: {error}", why="down") from None

    @contextmanager
    def _sent(self, method: str, path: str, body: Any) -> Iterator[Response]:
        data = json.dumps(body).encode() if body is not None else b""
        headers = self._headers() + ([("Content-Type", "application/json")] if data else [])
        if method != "GET":
            self._http.close()  # a kept connection may be closed by now, and this must not be sent twice
        try:
            response = self._http.request(method, self._http.base + path, headers, data)
        except Unreachable as error:
            if method == "GET":
                raise Again(error) from None
            raise
        with response:
            yield response

    def _data(self, method: str, path: str, response: Response) -> Any:
        text = response.read()
        envelope = _envelope(text)
        if response.status < 300:
            return envelope.get("data") if envelope is not None else None
        if response.status in (404, 405, 410, 426, 501) and not (envelope and envelope.get("code")):
            raise Refused(
                f"{self.endpoint} does not have the route {method} {path} (status {response.status})",
                "no_route", response.status, why="refused",
                hint="the service no longer offers this; a server that runs `outlast serve` does",
            )  # fmt: skip
        raise self._refusal(method, path, response, envelope or {})

    def _refusal(self, method: str, path: str, response: Response, envelope: dict[str, Any]) -> Unavailable:
        status, word = response.status, str(envelope.get("code") or "")
        said = str(envelope.get("msg") or word or response.reason)
        if status == 401 or word == "invalid_token":
            return Refused(
                f"xihe does not accept the token of account {self._account!r}", word, status,
                why="refused", hint=f"sign in again with: outlast login xihe --profile {self._account}",
            )  # fmt: skip
        if status == 429:
            after_s = retry_after_s(response.header("retry-after"))
            return Unavailable(f"xihe wants fewer questions: {said}", why="full", retry_after_s=after_s)
        why: Why = "quota" if word in _QUOTAS else "down" if status >= 500 or word == "system_error" else "refused"
        return Refused(f"xihe refuses {method} {path}: {said}", word, status, why=why)

    def _remove(self, path: str) -> None:
        try:
            self.ask("DELETE", path)
        except Refused as error:
            if not error.is_absent:
                raise

    def _trainings(self, project: str) -> str:
        return f"/v1/train/project/{quote(project)}/training"

    def _headers(self) -> list[tuple[str, str]]:
        own = [("User-Agent", f"outlast/{__version__}"), ("Accept", "*/*")]
        return [*own, ("PRIVATE-TOKEN", self._token), ("Authorization", f"Bearer {self._token}")]

    def _open(self, url: str, timeout_s: float) -> Http:
        try:
            return Http(url, timeout_s=timeout_s)
        except RequestError as error:
            raise Unavailable(str(error), why="refused") from None


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _envelope(text: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(text)
    except ValueError:
        return None
    return body if isinstance(body, dict) and ("data" in body or "code" in body) else None


def _id_of(data: Any) -> str | None:
    """The id in a repository's description, wherever the service's version puts it."""
    if not isinstance(data, dict):
        return None
    inner = next((each for each in data.values() if isinstance(each, dict) and each.get("id")), data)
    found = data.get("id") or inner.get("id")
    return str(found) if found else None
