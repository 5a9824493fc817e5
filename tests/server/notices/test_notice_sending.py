"""One try to deliver a message, against real receivers on loopback."""

from __future__ import annotations

import dataclasses
import socket

import pytest
from hookservice import hook_server
from mailservice import mail_server

from outlast.errors import UsageError
from outlast.server.notices.events import SAMPLE
from outlast.server.notices.mailing import PASSWORD, Mailbox, MailServer, find_password, keep_password
from outlast.server.notices.outcome import Undelivered
from outlast.server.notices.sending import Sender
from outlast.server.notices.texts import compose

MESSAGE = compose(SAMPLE, "zh", delivery="d1")


@pytest.fixture
def sender(private):
    return Sender(Mailbox(private), allow_private=True, timeout_s=60)


def by_mail(private, port, scheme="smtp+plain", user="", environ=()):
    at = f"{user}@" if user else ""
    settings = dataclasses.replace(private, smtp=f"{scheme}://{at}localhost:{port}?from=robot@lab.org")
    return Sender(Mailbox(settings, dict(environ)), allow_private=True, timeout_s=60)


def fails(sender, kind, target, **words):
    with pytest.raises(Undelivered) as caught:
        sender.send(kind, target, "", MESSAGE, **words)
    return caught.value


def test_each_service_is_told(sender, hook):
    for kind in ("webhook", "dingtalk", "wecom", "slack"):
        assert sender.send(kind, hook.url(f"/{kind}?t=1"), "", MESSAGE)
    assert [path for path, _, _ in hook.calls] == ["/webhook?t=1", "/dingtalk?t=1", "/wecom?t=1", "/slack?t=1"]
    assert "训练完成" in hook.bodies()[1]["markdown"]["title"]


def test_tls_is_checked(sender, certificate, monkeypatch):
    path, context = certificate
    with hook_server(context) as hook:
        assert "certificate is not trusted" in fails(sender, "webhook", hook.url()).message
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        assert sender.send("webhook", hook.url(), "", MESSAGE) and len(hook.calls) == 1


def test_failures_say_whether_trying_again_helps(sender, hook):
    hook.answers += [(500, b""), (429, b""), (404, b""), (200, b'{"errcode":310000,"errmsg":"no"}')]
    assert fails(sender, "slack", hook.url()).retryable and fails(sender, "slack", hook.url()).retryable
    assert not fails(sender, "slack", hook.url()).retryable and not fails(sender, "wecom", hook.url()).retryable
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound, not listening
        refused = fails(sender, "webhook", f"http://127.0.0.1:{nobody.getsockname()[1]}/token")
    assert refused.retryable and not refused.unsure and "token" not in str(refused)


def test_no_answer_leaves_it_open_whether_it_arrived(sender, hook):
    hook.silent = True
    found = fails(sender, "webhook", hook.url())
    assert found.unsure and not found.retryable and len(hook.calls) == 1


def test_redirections_are_not_followed(sender, hook):
    hook.answers.append((307, b""))
    assert not fails(sender, "webhook", hook.url()).retryable and len(hook.calls) == 1


def test_nothing_leaves_when_somebody_else_took_over(sender, hook, private):
    assert sender.send("webhook", hook.url(), "", MESSAGE, lambda: False) is False and hook.calls == []
    with mail_server() as server:
        mailing = by_mail(private, server.port)
        assert mailing.send("email", "ann@lab.org", "", MESSAGE, lambda: False) is False and server.mails == []


def test_what_an_admin_no_longer_allows_is_not_sent(private, hook):
    strict = Sender(Mailbox(private), allow_private=False)
    assert not fails(strict, "webhook", hook.url()).retryable and hook.calls == []


def test_mail_arrives_over_each_kind_of_connection(private, certificate, monkeypatch):
    path, context = certificate
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    for scheme, words in (
        ("smtp", {"context": context, "password": "a long password"}),
        ("smtps", {"context": context, "at_once": True, "password": "a long password"}),
        ("smtp+plain", {}),
    ):
        with mail_server(**words) as server:
            user = "robot" if words else ""
            mailing = by_mail(private, server.port, scheme, user, {PASSWORD: "a long password"})
            assert mailing.send("email", "ann@lab.org", "", MESSAGE)
            (mail,) = server.mails
            assert (
                mail["To"] == "ann@lab.org" and "训练完成" in mail["Subject"] and mail["Message-ID"] == "<d1@lab.org>"
            )
            assert "outlast fetch" in mail.get_content() and server.signed_in == ([user] if user else [])


def test_mail_never_goes_unencrypted_where_encryption_was_asked_for(private):
    with mail_server() as server:
        found = fails(by_mail(private, server.port, "smtp", "robot", {PASSWORD: "x"}), "email", "ann@lab.org")
        assert "no encryption" in found.message and not found.unsure and server.mails == []


def test_mail_failures_say_whether_trying_again_helps(private, certificate, monkeypatch):
    path, context = certificate
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    monkeypatch.setattr("outlast.server.notices.mailing.open_keyring", lambda home: None)
    for refuse, again in (({"RCPT": "550 nobody"}, False), ({"MAIL": "451 later"}, True), ({"DATA": "452 full"}, True)):
        with mail_server(refuse=refuse) as server:
            found = fails(by_mail(private, server.port), "email", "ann@lab.org")
            assert (found.retryable, found.unsure) == (again, False), refuse
    with mail_server(drop=True) as server:
        assert fails(by_mail(private, server.port), "email", "ann@lab.org").unsure
    with mail_server(context, password="right") as server:
        wrong = fails(by_mail(private, server.port, "smtp", "robot", {PASSWORD: "wrong"}), "email", "ann@lab.org")
        assert "password" in wrong.message and not wrong.retryable
        odd = fails(by_mail(private, server.port, "smtp", "robot", {PASSWORD: "wörd"}), "email", "ann@lab.org")
        assert "letters" in odd.message and not odd.retryable
        unknown = fails(by_mail(private, server.port, "smtp", "robot"), "email", "ann@lab.org")
        assert "not known" in unknown.message and "outlast notify password" in unknown.hint


def test_the_mail_servers_address_is_checked():
    assert MailServer.parse("smtp://robot@mail.lab?from=r@lab.org").port == 587
    assert MailServer.parse("smtps://r%40lab.org@mail.lab").sender == "r@lab.org"
    for wrong in (
        "mail.lab", "smtp://", "http://mail.lab", "smtp://u:pw@mail.lab?from=a@b", "smtp://robot@mail.lab",
        "smtp+plain://u@mail.lab?from=a@b", "smtp://mail.lab:99999?from=a@b", "smtp://mail.lab?from=a%0d%0a@b",
    ):  # fmt: skip
        with pytest.raises(UsageError) as refused:
            MailServer.parse(wrong)
        assert "pw" not in str(refused.value)


def test_the_password_is_kept_where_only_its_owner_reads_it(private, monkeypatch):
    monkeypatch.setattr("outlast.server.notices.mailing.open_keyring", lambda home: None)
    assert keep_password(private.home, "word") == "file" and find_password(private.home, {}) == "word"
    assert find_password(private.home, {PASSWORD: "other"}) == "other"
    assert (private.home / "secrets.json").stat().st_mode & 0o77 == 0


def test_the_password_may_live_in_a_keyring(private, monkeypatch):
    kept = {}

    class Kept:
        def save(self, name, values):
            kept[name] = values
            return True

        def read(self, name):
            return kept[name]

    monkeypatch.setattr("outlast.server.notices.mailing.open_keyring", lambda home: Kept())
    assert keep_password(private.home, "word") == "keyring" and find_password(private.home, {}) == "word"
    assert not (private.home / "secrets.json").exists() or "word" not in (private.home / "secrets.json").read_text()
