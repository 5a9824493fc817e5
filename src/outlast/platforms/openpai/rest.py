"""OpenPAI's REST API as a client: which generation it is, who we are, and what to make of each answer."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx

from outlast.errors import Unavailable
from outlast.platforms.openpai.wire import K8S, YARN
from outlast.platforms.trust import SYSTEMS, Trust

AUTO = "auto"
TRIES = 3
PAUSES_S = (0.5, 1.5)
#: What a server may ask us to wait while others wait for us.
_LONGEST_WAIT_S = 3.0
_TIMEOUT = httpx.Timeout(20.0, connect=8.0)
#: Answers that a later try may change: a proxy without a server behind it, a server that is starting.
_PASSING = (408, 425, 429)


class Refusal(Exception):
    """An answer that says no, in OpenPAI's words."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{message} ({code})" if code else message)
        self.status, self.code, self.message = status, code, message

    def unavailable(self, what: str) -> Unavailable:
        """The same for whoever wanted something of the cluster."""
        why: Any = "quota" if self.code == "NoEnoughQuotaError" else "refused"
        return Unavailable(f"openpai refused {what}: {self}", why=why)


class Cluster(NamedTuple):
    """What was found at an endpoint."""

    base: str  # everything before /api/
    generation: str
    version: str = ""

    @property
    def words(self) -> str:
        era = "Kubernetes" if self.generation == K8S else "YARN"
        return f"OpenPAI {self.version} ({era})" if self.version else f"OpenPAI ({era})"


class Rest:
    """Safe to use from several threads. Asks nothing before the first call."""

    def __init__(
        self,
        endpoint: str,
        user: str,
        *,
        password: str = "",
        token: str = "",
        generation: str = AUTO,
        trust: Trust = SYSTEMS,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.user = user
        self.pause = pause
        self._endpoint = endpoint.strip().rstrip("/")
        self._password = password
        self._token = token
        self._generation = generation
        self._cluster: Cluster | None = None
        self._lock = threading.Lock()
        self._http = httpx.Client(timeout=_TIMEOUT, follow_redirects=True, verify=trust.context())

    def close(self) -> None:
        self._http.close()

    @property
    def known_generation(self) -> str:
        """Without asking: what the account says, or what an earlier call found out; may be empty."""
        if self._generation != AUTO:
            return self._generation
        return self._cluster.generation if self._cluster else ""

    @property
    def cluster(self) -> Cluster:
        """Where the API is and of which generation; asked once."""
        with self._lock:
            if self._cluster is None:
                self._cluster = self._find_cluster()
            return self._cluster

    def call(self, method: str, path: str, *, tries: int = TRIES, **options: Any) -> Any:
        """What the cluster answers to `v2/jobs`, decoded; None when the answer is no JSON.

        `Refusal` when it says no. `Unavailable` when it cannot be asked, or does not know us even after the password
        was shown once more.
        """
        url = f"{self.cluster.base}/api/{path}"
        token = self._token or self._sign_in("")
        answer = self._patiently(tries, method, url, token, **options)
        if answer.status_code == 401:
            answer = self._patiently(tries, method, url, self._sign_in(token), **options)
        if answer.status_code == 401:  # nothing that the user could mend
            raise self._down(f"refuses the token that it has just given: {_refusal(answer)}")
        if not answer.is_success:
            raise _refusal(answer)
        with contextlib.suppress(ValueError):
            return answer.json()
        return None

    def text(self, url: str) -> str:
        """What lies at a link that the cluster gave: it is the permission itself, and may lead to another host."""
        whole = httpx.URL(f"{self.cluster.base}/").join(url)
        try:
            answer = self._patiently(1, "GET", str(whole), "")
        except (Unavailable, httpx.InvalidURL):
            return ""
        return answer.text if answer.is_success else ""

    # ---- who and where

    def _sign_in(self, stale: str) -> str:
        """A token other than the one that was refused; another thread may have brought it already."""
        cluster = self.cluster
        with self._lock:
            if self._token != stale:
                return self._token
            if not self._password:
                raise self._not_let_in(None)
            path = "v2/authn/basic/login" if cluster.generation == K8S else "v1/token"
            body = {"username": self.user, "password": self._password}
            answer = self._patiently(TRIES, "POST", f"{cluster.base}/api/{path}", "", json=body)
            told = _document(answer)
            if not answer.is_success or not isinstance(told.get("token"), str):
                raise self._not_let_in(_refusal(answer))
            self._token = told["token"]
            return self._token

    def _not_let_in(self, refusal: Refusal | None) -> Unavailable:
        said = f": {refusal}" if refusal else "; it knows no token of ours that is still good"
        return Unavailable(
            f"{self._endpoint} does not let {self.user} in{said}",
            why="refused",
            hint="sign in again with: outlast login openpai",
        )

    def _find_cluster(self) -> Cluster:
        trouble: Unavailable | None = None
        for base in _bases(self._endpoint):
            for path in ("/api/v2/info", "/api/v1"):
                try:
                    answer = self._patiently(TRIES if trouble is None else 1, "GET", base + path, "")
                except Unavailable as error:
                    trouble = error
                    break
                told = _document(answer)
                if answer.is_success and "PAI" in str(told.get("name", "")):
                    return self._found(str(answer.url).removesuffix(path), told)
        if trouble is not None:
            raise trouble
        words = f"{self._endpoint} does not answer as OpenPAI does"
        raise Unavailable(words, why="refused", hint="give the address of its web portal, like http://pai.lab")

    def _found(self, base: str, told: dict[str, Any]) -> Cluster:
        # Releases that do not say what launches their jobs are older than Kubernetes there.
        launcher = K8S if told.get("launcherType") == "k8s" else YARN
        return Cluster(base, launcher if self._generation == AUTO else self._generation, str(told.get("version", "")))

    # ---- one request

    def _patiently(self, tries: int, method: str, url: str, token: str, **options: Any) -> httpx.Response:
        """An answer that means something. `Unavailable` when there is none after so many tries."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= options.pop("headers", {})
        for left in range(tries - 1, -1, -1):
            pause_s = PAUSES_S[min(tries - 1 - left, len(PAUSES_S) - 1)]
            try:
                answer = self._http.request(method, url, headers=headers, **options)
            except httpx.TransportError as error:
                if not left:
                    raise self._down(_network_words(error)) from None
            else:
                if answer.status_code < 500 and answer.status_code not in _PASSING:
                    return answer
                asked_s = _retry_after_s(answer)
                if not left or (asked_s or 0.0) > _LONGEST_WAIT_S:
                    raise self._passing(answer, asked_s)
                pause_s = max(pause_s, asked_s or 0.0)
            self.pause(pause_s)
        raise AssertionError("unreachable")

    def _passing(self, answer: httpx.Response, asked_s: float | None) -> Unavailable:
        if answer.status_code == 429:
            words = f"{self._host} takes no more requests now"
            return Unavailable(words, why="full", retry_after_s=asked_s)
        return self._down(f"answers {answer.status_code} {answer.reason_phrase}".rstrip(), asked_s)

    def _down(self, words: str, after_s: float | None = None) -> Unavailable:
        return Unavailable(f"{self._host} {words}", why="down", retry_after_s=after_s)

    @property
    def _host(self) -> str:
        return urlsplit(self._endpoint).netloc or self._endpoint


def _bases(endpoint: str) -> Iterator[str]:
    """Where the API may be: behind the cluster's proxy, or on a port of its own."""
    schemes = ("",) if "://" in endpoint else ("https://", "http://")
    for scheme in schemes:
        if urlsplit(scheme + endpoint).path in ("", "/"):
            yield f"{scheme}{endpoint}/rest-server"
        yield scheme + endpoint


def _refusal(answer: httpx.Response) -> Refusal:
    told = _document(answer)
    message = str(told.get("message") or f"{answer.status_code} {answer.reason_phrase}".rstrip())
    return Refusal(answer.status_code, str(told.get("code") or ""), " ".join(message.split())[:400])


def _document(answer: httpx.Response) -> dict[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _retry_after_s(answer: httpx.Response) -> float | None:
    try:
        return max(0.0, float(answer.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None


def _network_words(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "did not answer in time"
    return f"cannot be reached: {error or type(error).__name__}"
