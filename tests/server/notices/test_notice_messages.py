"""What messages say, and how each service gets them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from urllib.parse import parse_qs, urlsplit

import pytest

from outlast.errors import UsageError
from outlast.keeper.index import RunRow
from outlast.server.notices import wire
from outlast.server.notices.events import SAMPLE, Event, Happened, event_of
from outlast.server.notices.targets import addresses, check_target, is_public, masked
from outlast.server.notices.texts import compose


def row(state, message="", notice="", **view):
    body = {"state": state, "message": message, "notice": notice, "stints": 3, **view}
    return RunRow("1115-a", "train", "ann", state, "local", "1", "file:///s", updated_at="2", view=body)


@pytest.mark.parametrize(
    ("found", "event"),
    [
        (row("succeeded"), Event.FINISHED),
        (row("failed", "two stints died alike"), Event.FAILED),
        (row("stopped", "reached the limit of 3 stints"), Event.ATTENTION),
        (row("stopped", "stopped early: loss 3 is behind"), Event.ATTENTION),
        (row("stopped", "stopped as asked; continue with: outlast resume x"), None),
        (row("running", notice="checkpoint not committed: the store is full"), Event.ATTENTION),
        (row("running"), None),
        (row("queued", "waits for 1 gpu"), None),
    ],
)
def test_events_are_what_somebody_wants_to_know(found, event):
    happened = event_of(found)
    assert (happened.event if happened else None) == event
    if happened:
        assert Happened.from_json(json.loads(json.dumps(happened.to_json()))) == happened


def test_a_run_that_was_resumed_has_another_occasion():
    first, again = event_of(row("failed")), event_of(row("failed", **{"stints": 4}))
    assert first.key != again.key


def test_both_languages_say_what_happened_and_what_comes_next():
    happened = event_of(row("failed", "the script ended with 1\n\n  boom", epoch=3.0, epochs=10.0, best={"loss": 0.5}))
    english, chinese = compose(happened, "en"), compose(happened, "zh")
    assert english.title == "train: failed" and chinese.title == "train: 训练失败"
    for message in (english, chinese):
        assert "boom" in message.text and "outlast show 1115-a" in message.text and "3/10" in message.text
    assert "最好: loss 0.5" in chinese.text
    assert "outlast fetch" in compose(SAMPLE, "en").text


def test_a_name_cannot_break_out_of_a_subject():
    from dataclasses import replace

    message = compose(replace(SAMPLE, name="x\r\nBcc: all@lab.org"), "en")
    mail = wire.email(message, "robot@lab.org", "ann@lab.org")
    assert mail["Bcc"] is None and "\n" not in mail["Subject"]


def test_a_webhook_is_signed_over_time_and_body():
    message = compose(SAMPLE, "en", delivery="d1")
    request = wire.webhook(message, "https://x/y", "key", 1000.4)
    wanted = hmac.new(b"key", b"1000." + request.body, hashlib.sha256).hexdigest()
    assert request.headers["X-Outlast-Signature"] == f"sha256={wanted}"
    assert request.headers["X-Outlast-Delivery"] == "d1" and json.loads(request.body)["event"] == "finished"
    assert "X-Outlast-Signature" not in wire.webhook(message, "https://x/y", "", 0.0).headers


def test_dingtalk_gets_its_sign_in_the_address():
    request = wire.dingtalk(compose(SAMPLE, "zh"), "https://oapi.dingtalk.com/robot/send?access_token=t", "SECx", 1.5)
    query = parse_qs(urlsplit(request.url).query)
    digest = hmac.new(b"SECx", b"1500\nSECx", hashlib.sha256).digest()
    assert query == {"access_token": ["t"], "timestamp": ["1500"], "sign": [base64.b64encode(digest).decode()]}
    assert json.loads(request.body)["markdown"]["title"] == "sample: 训练完成"


def test_long_texts_are_cut_to_what_each_service_takes():
    from dataclasses import replace

    message = compose(replace(SAMPLE, words="训练" * 20_000), "zh", link="https://lab/runs/x")
    content = json.loads(wire.wecom(message, "https://x", "", 0).body)["markdown"]["content"]
    assert len(content.encode()) <= 4096 and content.endswith("(https://lab/runs/x)") and "\ufffd" not in content
    assert len(json.loads(wire.dingtalk(message, "https://x", "", 0).body)["markdown"]["text"].encode()) <= 20_000
    assert len(json.loads(wire.slack(message, "https://x", "", 0).body)["text"]) <= 4000


def test_slack_reads_no_commands_in_a_text():
    from dataclasses import replace

    text = json.loads(wire.slack(compose(replace(SAMPLE, name="<!channel> & co"), "en"), "https://x", "", 0).body)[
        "text"
    ]
    assert "&lt;!channel&gt; &amp; co" in text


def test_a_service_that_says_no_with_200_has_said_no():
    assert wire.refused("dingtalk", 200, b'{"errcode":310000,"errmsg":"sign not match"}').endswith("sign not match")
    assert wire.refused("wecom", 200, b'{"errcode":0}') == "" == wire.refused("slack", 200, b"ok")
    assert wire.refused("wecom", 200, b"<html>") and wire.refused("slack", 404, b"no_service") == "it answered 404"


@pytest.mark.parametrize(
    "target",
    [
        "https://127.0.0.1/x", "https://localhost/x", "https://[::1]/x", "https://10.1.2.3/x", "https://192.168.0.9/x",
        "https://169.254.169.254/latest", "https://[::ffff:10.0.0.1]/", "https://100.64.0.1/", "http://example.org/x",
        "https://user:pw@example.org/", "ftp://example.org/", "https://", "not an address", "https://exa mple.org/",
        "https://0.0.0.0/", "https://[64:ff9b::a00:1]/", "https://[2002:a00:1::]/", "https://224.0.0.1/",
    ],
)  # fmt: skip
def test_targets_inside_the_servers_own_network_are_refused_without_being_repeated(target):
    with pytest.raises(UsageError) as refused:
        check_target("webhook", target + "SECRET" if target.endswith("]/") else target, allow_private=False)
    assert "SECRET" not in str(refused.value) and "pw" not in refused.value.message


def test_a_name_that_leads_inside_is_refused_when_it_is_used(monkeypatch):
    def looked_up(host, port, **_):
        return [(2, 1, 6, "", ("93.184.216.34", port)), (2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr("socket.getaddrinfo", looked_up)
    with pytest.raises(UsageError, match="private"):
        addresses("rebound.example", 443, allow_private=False)
    assert addresses("rebound.example", 443, allow_private=True) == ["93.184.216.34", "127.0.0.1"]


def test_public_addresses_and_mail_pass():
    assert is_public("93.184.216.34") and is_public("2606:4700::1111") and not is_public("fe80::1%eth0")
    assert check_target("slack", " https://hooks.slack.com/services/a/b ", allow_private=False).endswith("/b")
    assert check_target("email", "ann.lee+x@lab.org", allow_private=False)
    for wrong in ("ann", "ann@", "a@b@c", "ann@lab.org\nBcc: x", "ann lee@lab.org"):
        with pytest.raises(UsageError):
            check_target("email", wrong, allow_private=False)


def test_shown_targets_hold_no_token():
    assert masked("slack", "https://hooks.slack.com/services/T0/B0/xyz?k=v") == "https://hooks.slack.com/…"
    request = wire.webhook(compose(SAMPLE, "en"), "https://x/secret", "key", 0.0)
    assert "secret" not in repr(request) and "key" not in repr(request)
