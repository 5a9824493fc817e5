"""Accounts on both databases: names, roles, keys, links, limits, races."""

from __future__ import annotations

import stat
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from outlast.errors import HomeError, NotFoundError, PlatformError, UsageError
from outlast.server import schema
from outlast.server.accounts.attempts import Attempts
from outlast.server.accounts.book import Accounts
from outlast.server.accounts.keys import Keys
from outlast.server.accounts.passwords import hash_password, is_password
from outlast.server.accounts.people import Quota, Role
from outlast.server.database import Database
from outlast.server.refusals import Conflict, NotSignedIn, TooManyAttempts
from outlast.settings import Settings

SECRET = "a long password"


class Clock:
    def __init__(self, now=1_000_000.0):
        self.now = now

    def __call__(self):
        return self.now


def refused(kind, work, *args, **words):
    with pytest.raises(kind) as caught:
        work(*args, **words)
    return caught.value


def test_users_are_added_changed_removed_and_brought_back(accounts):
    assert not accounts.users.exist()
    accounts.users.add("ann", Role.ADMIN)
    bob = accounts.users.add("bob", password=SECRET)
    assert accounts.users.exist() and bob.role is Role.MEMBER and bob.has_password
    assert [user.name for user in accounts.users.list()] == ["ann", "bob"]
    assert accounts.users.change("bob", role=Role.VIEWER).role is Role.VIEWER
    assert not accounts.users.remove("bob").active
    assert accounts.users.check_password("bob", SECRET) is None
    assert "--restore" in refused(Conflict, accounts.users.add, "bob").hint
    assert accounts.users.add("bob", restore=True).active
    refused(NotFoundError, accounts.users.change, "nobody", role=Role.ADMIN)


def test_a_name_is_taken_whatever_its_case_and_must_be_plain(accounts):
    accounts.users.add("Ann", Role.ADMIN)
    refused(Conflict, accounts.users.add, "ann")
    for name in ("", "a b", "../x", "a" * 65, "ann\n", "-x", "a,b=2", "安"):
        refused(UsageError, accounts.users.add, name)


def test_the_last_admin_stays(accounts):
    accounts.users.add("ann", Role.ADMIN)
    refused(UsageError, accounts.users.remove, "ann")
    refused(UsageError, accounts.users.change, "ann", role=Role.MEMBER)
    accounts.users.add("bob", Role.ADMIN)
    accounts.users.remove("ann")
    refused(UsageError, accounts.users.remove, "bob")


def test_of_two_admins_who_remove_each_other_at_once_one_stays(accounts):
    accounts.users.add("ann", Role.ADMIN)
    accounts.users.add("bob", Role.ADMIN)

    def remove(name):
        try:
            accounts.users.remove(name)
        except UsageError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(remove, ["ann", "bob"])) == [False, True]


def test_keys_are_kept_as_digests_and_end_when_they_should(database):
    clock = Clock()
    accounts = Accounts(database, clock)
    user = accounts.users.add("ann", Role.ADMIN)
    text, key = accounts.keys.create("token", user.id, name="laptop", lasts_s=60)
    assert accounts.find("token", text).name == "ann" and accounts.find("session", text) is None
    with database.read() as connection:
        rows = [str(row) for table in schema.metadata.sorted_tables for row in connection.execute(sa.select(table))]
    assert text not in "".join(rows) and text.removeprefix("outlast_") not in "".join(rows)
    clock.now += 61
    assert accounts.find("token", text) is None
    other, key = accounts.keys.create("token", user.id)
    refused(NotFoundError, accounts.keys.revoke, "token", key.id, user.id + 1)
    accounts.keys.revoke("token", key.id, user.id)
    assert accounts.find("token", other) is None


def test_removing_a_user_ends_tokens_and_sessions_and_a_new_password_ends_sessions(accounts):
    accounts.users.add("ann", Role.ADMIN)
    user = accounts.users.add("bob", password=SECRET)
    accounts.groups.put("vision", Quota())
    accounts.groups.join("vision", "bob")
    token, _ = accounts.keys.create("token", user.id)
    session, _ = accounts.sign_in("bob", SECRET, "here")
    accounts.users.change("bob", password="another password")
    assert accounts.find("session", session) is None and accounts.find("token", token) is not None
    accounts.users.remove("bob")
    assert accounts.find("token", token) is None and accounts.groups.get("vision").members == ()


def test_a_link_works_once_even_when_many_hurry(accounts):
    accounts.users.add("ann", Role.ADMIN)
    code = accounts.make_link("ann")
    refused(UsageError, accounts.enter, code, "", "short", "here")  # a mistake in the form does not spend it

    def enter(number):
        try:
            accounts.enter(code, "", f"password number {number}", "here")
        except NotSignedIn:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(enter, range(4))) == 1


def test_the_first_link_makes_an_admin_and_only_the_first(accounts):
    older, newer = accounts.make_link(None), accounts.make_link(None)
    refused(NotSignedIn, accounts.enter, older, "eve", SECRET, "here")
    _, actor = accounts.enter(newer, "ann", SECRET, "here")
    assert actor.role is Role.ADMIN and actor.sees is None
    refused(NotSignedIn, accounts.enter, newer, "eve", SECRET, "here")
    late = accounts.make_link(None)
    refused(Conflict, accounts.enter, late, "eve", SECRET, "here")
    assert [user.name for user in accounts.users.list()] == ["ann"]


def test_guessing_is_slowed_down_and_forgotten(database):
    clock = Clock()
    attempts = Attempts(database, clock)
    for _ in range(5):
        attempts.begin("ann", "1.2.3.4")
    first = refused(TooManyAttempts, attempts.begin, "ANN", "5.6.7.8")
    assert 0 < first.wait_s <= 2 and "try again in 2 s" in first.hint
    attempts.begin("bob", "5.6.7.8")  # others are not held up
    clock.now += 2.1
    attempts.begin("ann", "5.6.7.8")
    assert refused(TooManyAttempts, attempts.begin, "ann", "5.6.7.8").wait_s > 3
    clock.now -= 500_000  # a clock that was set back locks nobody out for longer than the longest wait
    assert refused(TooManyAttempts, attempts.begin, "ann", "5.6.7.8").wait_s <= 900
    clock.now += 600_000
    attempts.begin("ann", "5.6.7.8")


def test_one_address_cannot_try_many_accounts(database):
    attempts = Attempts(database, Clock())
    for number in range(20):
        attempts.begin(f"user{number}", "1.2.3.4")
    refused(TooManyAttempts, attempts.begin, "fresh", "1.2.3.4")


def test_a_hundred_attempts_at_once_are_no_way_around(database):
    attempts = Attempts(database, Clock())

    def attempt(_):
        try:
            attempts.begin("ann", "1.2.3.4")
        except TooManyAttempts:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(100))) == 5


def test_sight_follows_groups(accounts):
    accounts.users.add("ann", Role.ADMIN)
    for name in ("bob", "cat", "dan"):
        accounts.users.add(name)
    for group, names in {"vision": ["bob", "cat"], "speech": ["cat", "dan"]}.items():
        accounts.groups.put(group, Quota())
        for name in names:
            accounts.groups.join(group, name)
            accounts.groups.join(group, name)
    seen = {user.name: accounts.users.actor(user.id, "token").sees for user in accounts.users.list()}
    assert seen == {"ann": None, "bob": {"bob", "cat"}, "cat": {"bob", "cat", "dan"}, "dan": {"cat", "dan"}}
    accounts.groups.leave("vision", "bob")
    assert accounts.users.actor(accounts.users.get("bob").id, "token").sees == {"bob"}
    refused(NotFoundError, accounts.groups.leave, "vision", "bob")
    refused(NotFoundError, accounts.groups.join, "vision", "nobody")
    accounts.groups.remove("speech")
    assert accounts.users.get("dan").groups == ()


def test_a_queue_that_groups_wait_in_stays(accounts):
    accounts.queues.put("lab", 2)
    accounts.groups.put("vision", Quota(stints=4), "lab")
    assert accounts.queues.list()[0].groups == ("vision",)
    refused(Conflict, accounts.queues.remove, "lab")
    refused(NotFoundError, accounts.groups.put, "speech", Quota(), "nowhere")
    refused(UsageError, accounts.groups.put, "vision", Quota(stints=-1))
    for weight in (0, -1, float("inf"), float("nan")):
        refused(UsageError, accounts.queues.put, "lab", weight)
    accounts.groups.put("vision", Quota())
    accounts.queues.remove("lab")


def test_the_audit_log_is_read_in_pages(accounts):
    for number in range(5):
        accounts.audit.add("ann", "run.stop", f"run-{number}", reason="später")
    newest = accounts.audit.list(limit=2)
    assert [entry.target for entry in newest] == ["run-4", "run-3"]
    older = accounts.audit.list(before=newest[-1].id)
    assert [entry.target for entry in older] == ["run-2", "run-1", "run-0"]
    assert older[0].detail == {"reason": "später"}


def test_many_open_a_new_database_at_once(database):
    with database.write() as connection:
        schema.metadata.drop_all(connection)
    url = database._engine.url.render_as_string(hide_password=False)
    with ThreadPoolExecutor(6) as pool:
        for opened in pool.map(lambda _: Database(url), range(6)):
            opened.close()
    assert not Accounts(database).users.exist()


def test_a_newer_database_is_refused(database):
    with database.write() as connection:
        connection.execute(sa.update(schema.facts).values(value="99"))
    url = database._engine.url.render_as_string(hide_password=False)
    assert "schema 99" in refused(HomeError, Database, url).message


def test_the_database_file_is_private_and_an_unreachable_one_says_so(tmp_path):
    path = tmp_path / "deep" / "server.db"
    Database(f"sqlite:///{path}").close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    error = refused(PlatformError, Database, "postgresql+psycopg://ann:hush@127.0.0.1:9/x?connect_timeout=2")
    assert "hush" not in str(error) and "ann:***@127.0.0.1:9" in error.message
    path.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    assert "cannot be used" in refused(HomeError, Database, f"sqlite:///{path}").message


def test_passwords_are_never_shown_by_the_settings(tmp_path):
    given = {"OUTLAST_DATABASE": "postgresql://ann:hu@sh/word@db.lab/outlast"}
    shown = {setting.name: text for setting, text, _ in Settings.load(given, home=tmp_path).shown()}
    assert shown["database"] == "postgresql+psycopg://ann:***@db.lab/outlast"
    error = refused(HomeError, Settings.load, {"OUTLAST_DATABASE": "mysql://ann:hush@x/y"}, home=tmp_path)
    assert "hush" not in str(error)


def test_passwords_are_salted_slow_hashes():
    one, two = hash_password(SECRET), hash_password(SECRET)
    assert one != two and is_password(SECRET, one) and not is_password(SECRET + "x", one)
    assert not is_password("", None) and not is_password("x" * 5000, one)
    refused(UsageError, hash_password, "short")


def test_a_used_key_notes_its_use_at_most_once_a_minute(database):
    clock = Clock()
    user = Accounts(database).users.add("ann", Role.ADMIN)
    keys = Keys(database, clock)
    text, _ = keys.create("token", user.id)
    for _ in range(3):
        keys.find("token", text)
        clock.now += 30
    assert keys.list("token")[0].used_at == 1_000_000.0


def test_a_database_without_its_driver_names_the_package_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(HomeError) as refused:
        Database("postgresql+psycopg://outlast@127.0.0.1/outlast")
    assert "psycopg" in refused.value.message and "outlast[postgres]" in refused.value.hint
