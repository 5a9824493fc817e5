"""Quotas and shares: pure, and once over real runs."""

from __future__ import annotations

import pytest

from outlast.server.accounts.book import Accounts
from outlast.server.accounts.groups import shares
from outlast.server.accounts.people import Group, Queue, Quota, Role
from outlast.server.accounts.quotas import Use, check
from outlast.server.accounts.usage import measure
from outlast.server.database import Database
from outlast.server.refusals import QuotaExceeded
from outlast.settings import Settings

VISION = Group("vision", Quota(stints=2, accelerators=4, stored_bytes=1024))


@pytest.mark.parametrize(
    ("use", "need", "words"),
    [
        (Use(1, 0, 0), Use(1, 4, 1024), None),
        (Use(2, 0, 0), Use(1), "uses 2 stints of 2 stints; this run needs 1 stint more"),
        (Use(0, 3, 0), Use(1, 2), "uses 3 accelerators of 4 accelerators; this run needs 2 accelerators more"),
        (Use(0, 0, 1000), Use(0, 0, 25), "uses 1000 B of 1.0 KB"),
        (Use(1, 9, 9999), Use(1), None),  # over its limits, but this run asks for none of that
    ],
)
def test_a_run_must_fit_into_what_is_left(use, need, words):
    if words is None:
        check([(VISION, use)], need)
        return
    with pytest.raises(QuotaExceeded) as caught:
        check([(VISION, use)], need)
    assert words in caught.value.message and "vision" in caught.value.message and caught.value.hint


def test_every_group_must_have_room_and_no_limit_is_no_limit():
    check([(Group("free"), Use(10**6, 10**6, 10**15))], Use(1, 8, 10**12))
    check([], Use(1, 8))
    with pytest.raises(QuotaExceeded):
        check([(Group("free"), Use()), (VISION, Use(2))], Use(1))


def test_members_share_their_queue_evenly_and_keep_the_largest_share():
    queues = [Queue("lab", 4), Queue("guests", 1), Queue("empty", 9)]
    groups = [
        Group("vision", queue="lab", members=("ann", "bob")), Group("speech", queue="lab", members=("bob", "cat")),
        Group("visitors", queue="guests", members=("cat", "dan")), Group("others", members=("eve",)),
    ]  # fmt: skip
    assert shares(queues, groups) == {"ann": 4 / 3, "bob": 4 / 3, "cat": 4 / 3, "dan": 0.5}


def test_shares_reach_the_settings_and_leave_again(tmp_path):
    settings = Settings.load({}, home=tmp_path)
    (tmp_path / "config.toml").write_text('# mine\nuser_weights = "old=3"\n')
    accounts = Accounts(Database(settings.database))
    accounts.users.add("ann", Role.ADMIN)
    accounts.queues.put("lab", 2)
    accounts.groups.put("vision", Quota(), "lab")
    accounts.groups.join("vision", "ann")
    assert accounts.share_out(Settings.load({}, home=tmp_path))
    assert Settings.load({}, home=tmp_path).user_weights == {"old": 3, "ann": 2}
    assert not accounts.share_out(Settings.load({}, home=tmp_path))
    accounts.groups.remove("vision")
    assert accounts.share_out(Settings.load({}, home=tmp_path))
    assert Settings.load({}, home=tmp_path).user_weights == {"old": 3}
    assert "# mine" in (tmp_path / "config.toml").read_text()


def test_use_counts_open_runs_cards_and_shared_bytes_once(tmp_path):
    import json

    from outlast.keeper.home import Home
    from outlast.keeper.index import Index, RunRow

    settings = Settings.load({}, home=tmp_path / "home")
    index = Index(Home(settings.home).index)
    store = tmp_path / "home" / "store" / "runs"
    for name, user, is_open in (("a", "ann", True), ("b", "ann", False), ("c", "bob", True), ("d", "eve", True)):
        index.add(RunRow(name, name, user, "running", "local", "2026", settings.store, open=is_open))
        (store / name / "checkpoints").mkdir(parents=True)
        spec = {"id": name, "name": name, "user": user, "created_at": "", "store": "", "resources": {"gpus": 2}}
        (store / name / "spec.json").write_text(json.dumps(spec))
        files = {"same": {"sha256": "s" * 64, "size": 100}, "own": {"sha256": name * 64, "size": 10}}
        (store / name / "checkpoints" / "0001-000001.json").write_text(json.dumps({"files": files}))
    (store / "b" / "outputs.json").write_text("torn")
    index.close()
    limited = Group("vision", Quota(9, 9, 9), members=("ann", "bob"))
    assert measure(settings, [limited]) == [(limited, Use(2, 4, 130))]
    free = Group("free", members=("ann",))
    assert measure(settings, [free]) == [(free, Use(1, 0, 0))]
    assert measure(settings, []) == []
