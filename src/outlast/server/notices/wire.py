"""Messages as each service takes them. Pure: a message in, a request out; and what the service's answer means."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any
from urllib.parse import quote, urlsplit

from outlast.server.notices.texts import Message

_JSON = {"Content-Type": "application/json; charset=utf-8"}
#: Limits of the services, in bytes or characters of one message.
_DINGTALK_BYTES, _WECOM_BYTES, _SLACK_CHARACTERS = 19_000, 4_000, 3_000


@dataclass(frozen=True)
class Request:
    """One POST. `url` may carry a token, so neither it nor the body belongs in a log."""

    url: str = field(repr=False)
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def webhook(message: Message, url: str, secret: str, now: float) -> Request:
    """The event as JSON. The signature is over the time and the body, so that neither can be changed or replayed."""
    facts = message.happened.to_json() | {"title": message.title, "text": message.text, "link": message.link}
    body = _json(facts | {"delivery": message.delivery})
    headers = {**_JSON, "X-Outlast-Event": message.happened.event.value, "X-Outlast-Delivery": message.delivery}
    if secret:
        headers["X-Outlast-Timestamp"] = str(int(now))
        headers["X-Outlast-Signature"] = "sha256=" + sign_webhook(secret, int(now), body)
    return Request(url, body, headers)


def sign_webhook(secret: str, timestamp: int, body: bytes) -> str:
    """What a receiver computes as well: HMAC-SHA-256 of `<timestamp>.<body>`, in hex."""
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


def dingtalk(message: Message, url: str, secret: str, now: float) -> Request:
    """A Markdown message of a DingTalk robot; with a secret, signed as its security setting "sign" wants it."""
    if secret:
        stamp = str(int(now * 1000))
        digest = hmac.new(secret.encode(), f"{stamp}\n{secret}".encode(), hashlib.sha256).digest()
        url += f"{'&' if urlsplit(url).query else '?'}timestamp={stamp}&sign={quote(base64.b64encode(digest), safe='')}"
    text = _markdown(message, _DINGTALK_BYTES)
    return Request(url, _json({"msgtype": "markdown", "markdown": {"title": message.title, "text": text}}), _JSON)


def wecom(message: Message, url: str, secret: str, now: float) -> Request:
    """A Markdown message of a WeCom group robot, which takes 4096 bytes."""
    return Request(
        url, _json({"msgtype": "markdown", "markdown": {"content": _markdown(message, _WECOM_BYTES)}}), _JSON
    )


def slack(message: Message, url: str, secret: str, now: float) -> Request:
    """Text for an incoming webhook of Slack; only the three characters that Slack reads as its own are escaped."""

    def plain(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    link = f"\n<{message.link}>" if message.link else ""
    text = f"*{plain(message.title)}*\n{plain(message.text[:_SLACK_CHARACTERS])}{link}"
    return Request(url, _json({"text": text}), _JSON)


def email(message: Message, sender: str, receiver: str) -> EmailMessage:
    """A plain text mail. Its id is the delivery's: mail servers drop a repetition."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, receiver, f"[outlast] {message.title}"
    mail["Auto-Submitted"] = "auto-generated"
    if message.delivery:
        mail["Message-ID"] = f"<{message.delivery}@{sender.rpartition('@')[2]}>"
    mail.set_content(message.text + (f"\n\n{message.link}" if message.link else "") + "\n")
    return mail


#: kind → how its request is made
HTTP_KINDS: dict[str, Callable[[Message, str, str, float], Request]] = {
    "webhook": webhook, "dingtalk": dingtalk, "wecom": wecom, "slack": slack,
}  # fmt: skip
KINDS = ("webhook", "email", "dingtalk", "wecom", "slack")


def refused(kind: str, status: int, body: bytes) -> str:
    """Why a service did not take a message; empty when it did. DingTalk and WeCom say so with status 200."""
    if not 200 <= status < 300:
        return f"it answered {status}"
    if kind in ("dingtalk", "wecom"):
        try:
            answer = json.loads(body)
            code = int(answer.get("errcode", 0))
        except (ValueError, AttributeError, TypeError):
            return "its answer cannot be read"
        if code:
            return f"it answered errcode {code}: {str(answer.get('errmsg', ''))[:120]}"
    return ""


def _markdown(message: Message, most_bytes: int) -> str:
    link = f"\n\n[{message.link}]({message.link})" if message.link else ""
    head = f"### {message.title}\n\n"
    return head + _cut("\n\n".join(filter(None, message.lines)), most_bytes - len((head + link).encode())) + link


def _cut(text: str, most_bytes: int) -> str:
    """`text` within so many bytes, whole characters only."""
    data = text.encode()
    return text if len(data) <= most_bytes else data[: most_bytes - 3].decode("utf-8", "ignore") + "…"


def _json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
