"""One try to deliver one message: over HTTP to a checked address, or by mail.

A failure says whether the message may have arrived: only what certainly did not is ever tried again.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from urllib.parse import urlsplit

from outlast.errors import UsageError
from outlast.server.notices.mailing import Mailbox
from outlast.server.notices.outcome import Departing, Undelivered
from outlast.server.notices.targets import addresses, check_target
from outlast.server.notices.texts import Message
from outlast.server.notices.wire import HTTP_KINDS, Request, email, refused

TIMEOUT_S = 10.0
_ANSWER_BYTES = 1 << 16


class Sender:
    """Delivers messages of every kind."""

    def __init__(self, mailbox: Mailbox, *, allow_private: bool, timeout_s: float = TIMEOUT_S) -> None:
        self._mailbox = mailbox
        self._allow_private = allow_private
        self._timeout_s = timeout_s

    def send(self, kind: str, target: str, secret: str, message: Message, departing: Departing = lambda: True) -> bool:
        """Deliver a message, or raise `Undelivered`; False when `departing` kept it back.

        Follows no redirection and uses no proxy.
        """
        try:
            check_target(kind, target, allow_private=self._allow_private)  # what an admin allowed may be over
            if kind == "email":
                mail = email(message, self._mailbox.sender, target)
                return self._mailbox.send(mail, self._timeout_s, departing)
            return self._post(kind, HTTP_KINDS[kind](message, target, secret, time.time()), departing)
        except UsageError as error:
            raise Undelivered(error.message, hint=error.hint, retryable=False) from None

    def _post(self, kind: str, request: Request, departing: Departing) -> bool:
        connection = self._connect(request.url)
        departed = False
        try:
            departed = departing()
            if not departed:
                return False
            parts = urlsplit(request.url)
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", path, request.body, {**request.headers, "User-Agent": "outlast"})
            response = connection.getresponse()
            problem = refused(kind, response.status, response.read(_ANSWER_BYTES))
        except (OSError, http.client.HTTPException) as error:
            raise Undelivered(f"no answer: {_reason(error)}", unsure=departed) from None
        finally:
            connection.close()
        if problem:
            # 4xx means that trying again is useless; 429 and 5xx may pass.
            passing = response.status >= 500 or response.status in (408, 425, 429)
            raise Undelivered(problem, retryable=passing)
        return True

    def _connect(self, url: str) -> http.client.HTTPConnection:
        """A connection to an address that was checked, in the name of the host that was asked for."""
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        connection = http.client.HTTPConnection(host, port, timeout=self._timeout_s)
        problem: OSError | None = None
        try:
            for address in addresses(host, port, allow_private=self._allow_private):
                try:
                    sock = socket.create_connection((address, port), self._timeout_s)
                    if parts.scheme == "https":
                        sock = _encrypted(sock, host)
                    connection.sock = sock
                except OSError as error:
                    problem = error
                else:
                    return connection
        except (OSError, UnicodeError) as error:
            raise Undelivered(f"the host cannot be found: {_reason(error)}") from None
        raise Undelivered(f"the host cannot be reached: {_reason(problem)}")


def _encrypted(sock: socket.socket, host: str) -> socket.socket:
    try:
        return ssl.create_default_context().wrap_socket(sock, server_hostname=host)
    except OSError:
        sock.close()
        raise


def _reason(error: BaseException | None) -> str:
    """The words of an error; a certificate's own, and never an address."""
    if isinstance(error, TimeoutError):
        return "timed out"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    return getattr(error, "strerror", None) or type(error).__name__
