"""Notifications over the API and in the terminal: what goes in, what never comes out."""

from __future__ import annotations

import io
import json
import sys

import pytest
from mailservice import mail_server
from server_lab import serving

from outlast.cli.entry import main
from outlast.server.accounts.people import Role


@pytest.fixture
def notices(tmp_path, monkeypatch):
    """A server with ada and mia, and a way to ask it."""
    monkeypatch.setenv("OUTLAST_NOTICE_PRIVATE", "on")
    with serving(tmp_path / "home") as lab:
        lab.accounts.users.add("ada", Role.ADMIN)
        lab.accounts.users.add("mia")
        clients = {name: lab.client(name) for name in ("ada", "mia")}
        yield lambda user, method, path="", **words: clients[user].request(method, f"/api/v1/me/notices{path}", **words)
        for client in clients.values():
            client.close()


def test_channels_over_the_api(notices, hook, monkeypatch):
    body = {"kind": "webhook", "target": hook.url("/TOKEN"), "name": "phone", "events": ["failed"]}
    made = notices("mia", "POST", json=body, headers={"Accept-Language": "zh-CN,zh;q=0.9"})
    assert made.status_code == 201 and made.json()["secret"] and made.json()["language"] == "zh"
    own_id = made.json()["id"]
    listed = notices("mia", "GET").json()
    assert [each["id"] for each in listed["items"]] == [own_id] and listed["items"][0]["last"] is None
    assert "TOKEN" not in json.dumps(listed) and made.json()["secret"] not in json.dumps(listed)
    assert notices("ada", "GET").json()["items"] == []
    for method, path in (("PUT", ""), ("DELETE", ""), ("POST", "/test")):
        assert notices("ada", method, f"/{own_id}{path}", json={} if method == "PUT" else None).status_code == 404
    changed = notices("mia", "PUT", f"/{own_id}", json={"events": ["finished"], "language": "en"}).json()
    assert (changed["events"], changed["language"], changed["name"]) == (["finished"], "en", "phone")
    assert notices("mia", "POST", f"/{own_id}/test").json() == {"ok": True}
    assert hook.calls[0][0] == "/TOKEN" and "test message" in hook.bodies()[0]["words"]
    hook.answers.append((404, b""))
    failed = notices("mia", "POST", f"/{own_id}/test")
    assert failed.status_code == 502 and failed.json()["code"] == "undelivered" and "TOKEN" not in failed.text
    assert notices("mia", "DELETE", f"/{own_id}").status_code == 200
    assert notices("mia", "GET").json()["items"] == []


def test_wrong_channels_are_refused(notices, monkeypatch):
    monkeypatch.setenv("OUTLAST_NOTICE_PRIVATE", "off")
    for body, status in (
        ({"kind": "fax", "target": "x"}, 422),
        ({"kind": "slack", "target": "https://10.0.0.1/TOKEN"}, 400),
        ({"kind": "slack", "target": "http://example.org/TOKEN"}, 400),
        ({"kind": "slack", "target": "https://example.org/", "secret": "TOKEN"}, 400),
        ({"kind": "email", "target": "nobody"}, 400),
        ({"kind": "email", "target": "ann@lab.org", "events": []}, 422),
        ({"kind": "email", "target": "ann@lab.org", "language": "fr"}, 422),
    ):
        refused = notices("mia", "POST", json=body)
        assert refused.status_code == status and "TOKEN" not in refused.text, body
    for _ in range(20):
        assert notices("mia", "POST", json={"kind": "email", "target": "ann@lab.org"}).status_code == 201
    assert notices("mia", "POST", json={"kind": "email", "target": "ann@lab.org"}).status_code == 409


@pytest.fixture
def outlast(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OUTLAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OUTLAST_USER", "ann")
    monkeypatch.setenv("COLUMNS", "140")
    for name in ("LANG", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = main(["notify", *arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err and "TOKEN" not in captured.out + captured.err
        return code, captured.out, captured.err

    return run


def test_channels_in_the_terminal(outlast, hook, monkeypatch):
    monkeypatch.setenv("OUTLAST_NOTICE_PRIVATE", "on")
    assert "outlast notify add email" in outlast()[1]
    code, out, _ = outlast("add", "dingtalk", "--secret", "--on", "failed", stdin=f"{hook.url('/TOKEN')}\nSEC1\n")
    assert code == 0 and "ann is told by dingtalk" in out
    code, out, _ = outlast("add", "webhook", "--json", stdin=hook.url("/TOKEN"))
    webhook = json.loads(out)
    assert code == 0 and webhook["secret"] and webhook["events"] == ["finished", "failed", "attention"]
    listed = json.loads(outlast("list", "--json")[1])
    assert [each["kind"] for each in listed] == ["dingtalk", "webhook"] and "secret" not in listed[1]
    assert "http://127.0.0.1/…" in outlast("list")[1]
    assert outlast("test", webhook["id"])[:2] == (0, "sent; look there\n") and len(hook.calls) == 1
    hook.answers.append((500, b""))
    assert outlast("test", webhook["id"])[0] == 12
    assert outlast("remove", webhook["id"])[0] == 0 and outlast("remove", webhook["id"])[0] == 10


def test_ones_own_channels_on_a_server(outlast, hook, tmp_path, monkeypatch):
    monkeypatch.setenv("OUTLAST_NOTICE_PRIVATE", "on")
    with serving(tmp_path / "served") as lab:
        lab.accounts.users.add("ada", Role.ADMIN)
        lab.accounts.users.add("mia")
        monkeypatch.setenv("OUTLAST_SERVER", lab.url)
        monkeypatch.setenv("OUTLAST_TOKEN", lab.token("mia"))
        code, out, err = outlast("add", "slack", "--json", stdin=hook.url("/TOKEN"))
        assert code == 0, err
        own_id = json.loads(out)["id"]
        assert [each["user"] for each in json.loads(outlast("list", "--json")[1])] == ["mia"]
        assert outlast("test", own_id)[0] == 0 and len(hook.calls) == 1
        assert outlast("list", "--user", "ada")[0] == 2
        assert outlast("remove", own_id)[0] == 0 and outlast("remove", own_id)[0] == 10
        assert "no channels" in outlast("list")[1]


def test_mail_from_the_terminal(outlast, monkeypatch):
    with mail_server() as server:
        monkeypatch.setenv("OUTLAST_SMTP", f"smtp+plain://localhost:{server.port}?from=robot@lab.org")
        own_id = json.loads(outlast("add", "email", "ann@lab.org", "--language", "zh", "--json")[1])["id"]
        assert outlast("test", own_id)[0] == 0
        assert server.mails[0]["To"] == "ann@lab.org" and "训练完成" in server.mails[0]["Subject"]


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "words"),
    [
        (["add", "fax"], "", 2, "kinds: webhook, email"),
        (["add", "email"], "", 2, "outlast notify add email ann@lab.org"),
        (["add", "slack", "https://hooks.slack.com/TOKEN"], "", 2, "leave it out"),
        (["add", "slack"], "", 2, "on standard input"),
        (["add", "slack"], "https://127.0.0.1/TOKEN", 2, "notice_private"),
        (["add", "slack", "--on", "never"], "https://hooks.slack.com/TOKEN", 2, "events: finished, failed, attention"),
        (["add", "slack", "--language", "fr"], "https://hooks.slack.com/TOKEN", 2, "languages: en, zh"),
        (["test", "nothing"], "", 10, "outlast notify list"),
        (["remove", "nothing"], "", 10, "outlast notify list"),
        (["ring"], "", 2, "add, list, test, remove, password"),
        (["password"], "", 2, "no password on standard input"),
    ],
)
def test_mistakes_are_explained(outlast, arguments, stdin, code, words):
    found, _, err = outlast(*arguments, stdin=stdin)
    assert found == code and words in err
