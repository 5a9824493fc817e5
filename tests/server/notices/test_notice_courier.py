"""From a run's end to a message: found once, sent once, by one of several processes, whatever dies in between."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import threading
import time

import pytest
import sqlalchemy as sa

from outlast.inside.records import now_text
from outlast.keeper.home import Home
from outlast.keeper.index import RunRow
from outlast.keeper.opening import index_of
from outlast.server import schema
from outlast.server.accounts.book import Accounts
from outlast.server.accounts.people import Role
from outlast.server.database import Database
from outlast.server.notices.courier import Courier
from outlast.server.notices.deliveries import BACKOFF_S, Deliveries
from outlast.server.notices.desk import NoticeDesk

PATIENCE_S = 120.0


class Lab:
    """A home whose runs are written by hand, and a courier that makes rounds when it is told."""

    def __init__(self, settings, database):
        self.settings, self.database = settings, database
        self.url = settings.database
        self.home = Home(settings.home)
        self.accounts = Accounts(database)
        self.desk = NoticeDesk(settings, database)
        self.courier = self.new_courier()

    def new_courier(self, **words):
        return Courier(self.settings, self.database, **words)

    def restart(self):
        """Another process with nothing in memory."""
        self.courier.stop()
        self.courier = self.new_courier()

    def run(self, run, state="running", user="ann", at=None, **view):
        body = {"state": state, "stints": 1, "message": "", "notice": "", **view}
        row = RunRow(run, "train", user, state, "local", run, "file:///s", updated_at=at or now_text(), view=body)
        with contextlib.closing(index_of(self.settings, self.home)) as index:
            index.put(row)

    def states(self):
        with self.database.read() as connection:
            rows = connection.execute(sa.select(schema.notice_deliveries)).all()
        return {row.run_id: (row.state, row.tries) for row in rows}


@pytest.fixture
def lab(private):
    """On SQLite."""
    with contextlib.closing(Database(private.database)) as database:
        yield Lab(private, database)


@pytest.fixture
def shared_lab(private, database):
    """On each database, the list of runs included."""
    url = database._engine.url.render_as_string(hide_password=False)
    settings = dataclasses.replace(private, database=url)
    return Lab(settings, database)


def test_each_end_is_told_once(shared_lab, hook):
    lab = shared_lab
    lab.run("a", "succeeded")
    lab.desk.add("ann", "webhook", hook.url(), secret="key")
    lab.courier.round()
    assert hook.calls == []  # it had ended before
    lab.run("a", "succeeded")
    lab.run("b")
    lab.courier.round()
    lab.run("b", "failed", message="boom")
    lab.run("c", "succeeded", user="bob")
    for _ in range(3):
        lab.courier.round()
    lab.restart()
    lab.courier.round()
    assert [(body["run"], body["event"], body["words"]) for body in hook.bodies()] == [("b", "failed", "boom")]
    lab.run("b", "failed", stints=2)
    lab.courier.round()
    assert [body["stints"] for body in hook.bodies()] == [1, 2]


def test_what_ends_while_no_server_runs_is_told_later_even_by_a_wrong_clock(lab, hook):
    lab.desk.add("ann", "webhook", hook.url())
    lab.run("a", "succeeded", at="2020-01-01T00:00:00.000Z")  # more than a day off: this one cannot be told
    an_hour_ago = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - 3600))
    lab.run("b", "failed", at=an_hour_ago)
    lab.courier.round()
    assert [body["run"] for body in hook.bodies()] == ["b"]


def test_a_channel_gets_only_what_it_chose_and_nothing_of_before_when_it_chooses_more(lab, hook):
    added = lab.desk.add("ann", "slack", hook.url(), events=["failed"])
    lab.run("a", "succeeded")
    lab.courier.round()
    lab.desk.channels.change(added.channel.id, "ann", events=["finished", "failed"])
    lab.courier.round()
    assert hook.calls == []
    lab.run("b", "succeeded")
    lab.courier.round()
    assert len(hook.calls) == 1


def test_trouble_is_told_when_it_lasts(lab, hook):
    now = [0.0]
    lab.courier.watcher._clock = lambda: now[0]
    lab.desk.add("ann", "slack", hook.url())
    for passed, notice, told in (
        (0, "full", 0),
        (50, "full", 0),
        (55, "", 0),
        (58, "full", 0),
        (119, "full", 1),
        (200, "full", 1),
    ):
        now[0] = float(passed)
        lab.run("a", notice=notice)
        lab.courier.round()
        assert len(hook.calls) == told, passed


def test_certain_failures_are_tried_again_up_to_a_bound(lab, hook):
    now = [time.time()]
    lab.courier.deliveries = Deliveries(lab.database, lambda: now[0])
    lab.courier.watcher._deliveries = lab.courier.deliveries
    lab.desk.add("ann", "slack", hook.url())
    hook.answers += [(503, b"")] * 50
    lab.run("a", "failed")
    for wait_s in (*BACKOFF_S, 1.0, 9999.0):
        lab.courier._leased_until = float("inf")
        lab.courier.round()
        lab.courier.round()  # not due yet
        now[0] += wait_s + 0.1
    assert len(hook.calls) == len(BACKOFF_S) + 1 and lab.states() == {"a": ("failed", len(BACKOFF_S) + 1)}
    assert "503" in lab.desk.list("ann")[0]["last"]["problem"]


def test_a_message_that_may_have_arrived_is_never_sent_again(lab, hook):
    lab.desk.add("ann", "slack", hook.url())
    hook.silent = True
    lab.run("a", "failed")
    for _ in range(3):
        lab.courier.round()
    assert len(hook.calls) == 1 and lab.states() == {"a": ("unsure", 1)}


def test_a_server_that_died_while_sending_leaves_it_unsure(lab, hook):
    lab.desk.add("ann", "slack", hook.url())
    lab.run("a", "failed")
    lab.courier.watcher.look(lab.courier.channels.in_use())
    (delivery,) = lab.courier.deliveries.claim_due([each.id for each in lab.courier.channels.in_use()])
    assert lab.courier.deliveries.depart(delivery)  # … and killed here
    lab.new_courier().round()
    assert hook.calls == [] and lab.states() == {"a": ("sending", 1)}
    Deliveries(lab.database, lambda: time.time() + 1000).tidy()
    assert lab.states() == {"a": ("unsure", 1)}


def test_a_server_that_died_before_sending_loses_nothing(shared_lab, hook):
    lab = shared_lab
    lab.desk.add("ann", "slack", hook.url())
    lab.run("a", "failed")
    lab.courier.watcher.look(lab.courier.channels.in_use())
    ids = [each.id for each in lab.courier.channels.in_use()]
    (first,) = lab.courier.deliveries.claim_due(ids)  # claimed, and killed here
    lab.new_courier().round()
    assert len(hook.calls) == 1 and lab.states()["a"][0] == "sent"
    assert not lab.courier.deliveries.depart(first)  # should the first one wake up again


def test_one_process_does_the_work_until_its_lease_ends(shared_lab):
    lab = shared_lab
    deliveries = lab.courier.deliveries
    assert deliveries.take_lease("one", 20) and deliveries.take_lease("one", 20)
    assert not deliveries.take_lease("two", 20)
    assert Deliveries(lab.database, lambda: time.time() + 60).take_lease("two", 20)
    deliveries.release_lease("two")
    assert deliveries.take_lease("one", 20)
    assert Deliveries(lab.database, lambda: time.time() - 86400).take_lease("two", 20)  # the clock was set back


def test_several_senders_send_each_message_once(shared_lab, hook):
    lab, stop = shared_lab, threading.Event()
    lab.desk.add("ann", "webhook", hook.url())

    def deliver():
        with contextlib.closing(Database(lab.url)) as database:
            courier = Courier(lab.settings, database)
            courier._has_lease = lambda: True  # the worst case: everybody believes to be the one
            while not stop.wait(0.01):
                courier.round()

    workers = [threading.Thread(target=deliver) for _ in range(3)]
    for worker in workers:
        worker.start()
    for number in range(12):
        lab.run(f"run-{number:02d}", "succeeded")
    deadline = time.monotonic() + PATIENCE_S
    while len(lab.states()) < 12 or any(state != "sent" for state, _ in lab.states().values()):
        assert time.monotonic() < deadline, lab.states()
        time.sleep(0.1)
    stop.set()
    for worker in workers:
        worker.join(PATIENCE_S)
    assert sorted(body["run"] for body in hook.bodies()) == [f"run-{number:02d}" for number in range(12)]


def test_removed_accounts_and_channels_get_nothing(lab, hook):
    lab.accounts.users.add("ada", Role.ADMIN)
    lab.accounts.users.add("ann")
    added = lab.desk.add("ann", "slack", hook.url("/one"))
    lab.desk.add("ann", "slack", hook.url("/two"))
    lab.desk.channels.remove(added.channel.id, "ann")
    lab.run("a", "failed")
    lab.courier.round()
    assert [path for path, _, _ in hook.calls] == ["/two"]
    lab.accounts.users.remove("ann")
    lab.run("b", "failed")
    lab.courier.round()
    assert len(hook.calls) == 1


def test_no_secret_is_ever_written_to_a_log_or_shown(lab, hook, caplog):
    lab.desk.add("ann", "webhook", hook.url("/TOKEN1?key=TOKEN2"), secret="TOKEN3")
    hook.answers += [(404, b"TOKEN4")]
    lab.run("a", "failed")
    with caplog.at_level(logging.DEBUG):
        lab.courier.round()
    assert "channel" in caplog.text and "TOKEN" not in caplog.text
    assert "TOKEN" not in json.dumps(lab.desk.list("ann"), default=str) + repr(lab.desk.channels.list("ann"))


def test_a_round_works_in_the_background_until_it_is_stopped(lab, hook, monkeypatch):
    monkeypatch.setattr("outlast.server.rounds.PAUSE_S", 0.01)
    lab.desk.add("ann", "slack", hook.url())
    lab.courier.start()
    lab.run("a", "failed")
    deadline = time.monotonic() + PATIENCE_S
    while lab.states().get("a", ("",))[0] != "sent":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    lab.courier.stop()
    assert len(hook.calls) == 1 and lab.courier.deliveries.take_lease("another", 20)


def test_older_tables_get_what_notifications_need(tmp_path):
    url = f"sqlite:///{tmp_path / 'old.db'}"
    database = Database(url)
    with database.write() as connection:
        for table in (schema.notice_channels, schema.notice_deliveries, schema.leases):
            table.drop(connection)
        version = schema.facts.c.name == "schema_version"
        connection.execute(sa.update(schema.facts).where(version).values(value="1"))
    database.close()
    database = Database(url)
    with database.read() as connection:
        assert connection.execute(sa.select(schema.notice_channels)).all() == []
    database.close()
