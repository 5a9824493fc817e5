"""`outlast user`, `token`, `group` and `queue` in the terminal."""

from __future__ import annotations

import io
import json
import sys

import pytest

from outlast.cli.entry import main
from outlast.settings import Settings


@pytest.fixture
def outlast(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OUTLAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OUTLAST_USER", "ann")
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("LANG", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = main(list(arguments))
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return run


def test_users_from_first_to_last(outlast):
    assert "outlast user add NAME --role admin" in outlast("user")[1]
    assert outlast("user", "add", "ann")[0] == 2  # the first must be an admin
    code, out, _ = outlast("user", "add", "ann", "--role", "admin")
    assert code == 0 and "added ann (admin)" in out and "http://127.0.0.1:8700/welcome?code=" in out
    code, out, _ = outlast("user", "add", "bob", "--password-stdin", "--json", stdin="a long password\n")
    assert code == 0 and json.loads(out)["has_password"] and "link" not in json.loads(out)
    assert outlast("user", "change", "bob", "--role", "viewer")[:2] == (0, "changed bob (viewer)\n")
    assert "welcome?code=" in outlast("user", "link", "bob")[1]
    listed = outlast("user", "list")[1]
    assert [line.split()[:2] for line in listed.splitlines()[1:]] == [["ann", "admin"], ["bob", "viewer"]]
    assert outlast("user", "remove", "bob")[0] == 0 and "removed" in outlast("user")[1]
    assert "--restore" in outlast("user", "add", "bob")[2]
    assert outlast("user", "add", "bob", "--restore")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["user", "add", "a b"], 2, "cannot be the name"),
        (["user", "add", "eve", "--role", "boss"], 2, "roles: admin, member, viewer"),
        (["user", "add", "eve", "--group", "nowhere"], 10, "no group nowhere"),
        (["user", "add", "eve", "--password-stdin"], 2, "no password on standard input"),
        (["user", "change", "ann"], 2, "nothing to change"),
        (["user", "remove", "ann"], 2, "last admin"),
        (["user", "remove", "nobody"], 10, "outlast user list"),
        (["token", "create", "--user", "nobody"], 10, "no user nobody"),
        (["token", "create", "--expires", "soon"], 2, "not a duration"),
        (["token", "create", "--name", "x" * 65], 2, "cannot be a token's name"),
        (["token", "revoke", "outlast_secret"], 2, "not its id"),
        (["token", "revoke", "abc"], 10, "outlast token list"),
        (["group", "set", "vision", "--stints", "many"], 2, "a number from 0, or none"),
        (["group", "set", "vision", "--stints", "-3"], 2, "-3"),
        (["group", "set", "vision", "--queue", "nowhere"], 10, "outlast queue set nowhere"),
        (["group", "join", "nowhere", "ann"], 10, "no group nowhere"),
        (["queue", "set", "lab", "--weight", "0"], 2, "a number above 0"),
        (["queue", "remove", "nowhere"], 10, "outlast queue list"),
    ],
)
def test_mistakes_say_what_is_possible(outlast, arguments, code, words):
    outlast("user", "add", "ann", "--role", "admin")
    given, _, err = outlast(*arguments)
    assert given == code and words in err and "eve" not in outlast("user", "--json")[1]


def test_who_did_not_say_whose_token_it_is_learns_how(outlast, monkeypatch):
    monkeypatch.setenv("OUTLAST_USER", "root")
    outlast("user", "add", "ann", "--role", "admin")
    code, _, err = outlast("token", "create")
    assert code == 10 and "no user root" in err and "--user" in err


def test_a_token_goes_alone_to_standard_output(outlast):
    outlast("user", "add", "ann", "--role", "admin")
    code, out, err = outlast("token", "create", "--name", "laptop", "--expires", "90d")
    assert code == 0 and out.startswith("outlast_") and out.count("\n") == 1 and "not shown again" in err
    listed = json.loads(outlast("token", "list", "--json")[1])
    assert listed[0]["name"] == "laptop" and out.strip() not in str(listed)
    assert "laptop" in outlast("token")[1] and "never" in outlast("token")[1]
    assert outlast("token", "revoke", listed[0]["id"])[0] == 0
    assert "no tokens" in outlast("token")[1]


def test_groups_and_queues_share_the_machine(outlast, tmp_path):
    outlast("user", "add", "ann", "--role", "admin")
    outlast("queue", "set", "lab", "--weight", "3")
    assert outlast("group", "set", "vision", "--stints", "4", "--stored", "2G", "--queue", "lab")[0] == 0
    outlast("user", "add", "bob", "--group", "vision")
    assert outlast("group", "join", "vision", "ann")[1] == "ann belongs to vision\n"
    assert Settings.load({}, home=tmp_path / "home").user_weights == {"ann": 1.5, "bob": 1.5}
    outlast("group", "set", "vision", "--stints", "none")
    (group,) = json.loads(outlast("group", "--json")[1])
    assert group["max_stints"] is None and group["max_stored_bytes"] == 2 * 1024**3 and group["queue"] == "lab"
    assert "2.0 GB" in outlast("group")[1] and "vision" in outlast("queue")[1]
    assert "used by vision" in outlast("queue", "remove", "lab")[2]
    assert outlast("group", "leave", "vision", "bob")[0] == outlast("group", "remove", "vision")[0] == 0
    assert outlast("queue", "remove", "lab")[0] == 0
    assert Settings.load({}, home=tmp_path / "home").user_weights == {}


@pytest.mark.parametrize("verb", ["serve", "user", "token", "group", "queue"])
def test_every_verb_has_a_page(outlast, verb):
    assert outlast(verb, "--help")[0] == 0
