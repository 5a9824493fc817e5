"""Cleaning frees bytes and never takes what somebody may still need."""

import hashlib
import json

import pytest

from outlast.errors import SpecError
from outlast.inside import layout
from outlast.inside.blobs import Blobs
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.records import Control, End, Manifest, Order
from outlast.store.clean import apply_clean, parse_best, plan_clean
from outlast.testing import MemoryStore

HOUR = 3600.0


class Lab:
    """A store with runs in it, at a time that the test moves."""

    def __init__(self):
        self.now = 1000.0
        self.store = MemoryStore(clock=lambda: self.now)
        self.blobs = Blobs(self.store)

    def checkpoint(self, run, stint, number, body, parent=None, **metrics):
        sha = self.blobs.put_bytes(body)
        files = {"ckpt/a": {"sha256": sha, "size": len(body), "mode": 0o644}}
        assert Checkpoints(self.store, run).commit(Manifest(run, stint, number, files, parent, {}, metrics))
        return layout.checkpoint_id(stint, number)

    def ids(self, run="r"):
        return Checkpoints(self.store, run).ids()

    def clean(self, **options):
        options.setdefault("keep_last", 1)
        plan = plan_clean(self.store, now=self.now, **options)
        return apply_clean(plan, now=self.now)


@pytest.fixture
def lab():
    lab = Lab()
    for number in range(1, 6):
        lab.checkpoint("r", 1, number, b"body %d" % number, acc=[0.1, 0.9, 0.5, 0.9, 0.2][number - 1])
    lab.now += 2 * HOUR
    return lab


def test_the_newest_stay_and_the_rest_is_freed(lab):
    plan = plan_clean(lab.store, keep_last=2, now=lab.now)
    assert [each.id for each in plan.checkpoints] == ["0001-000001", "0001-000002", "0001-000003"]
    assert plan.freed_bytes == 18
    assert lab.ids() == [f"0001-00000{n}" for n in range(1, 6)], "planning touches nothing"
    cleaned = apply_clean(plan, now=lab.now)
    assert (cleaned.checkpoints, cleaned.blobs, cleaned.freed_bytes) == (3, 3, 18)
    assert lab.ids() == ["0001-000004", "0001-000005"]
    assert len(list(lab.store.list("blobs/sha256/"))) == 2


def test_history_can_still_be_told_after_cleaning(lab):
    lab.clean()
    assert Checkpoints(lab.store, "r").recall("0001-000002").metrics == {"acc": 0.9}


@pytest.mark.parametrize(("best", "kept"), [("acc", 4), ("max:acc", 4), ("-acc", 1), ("min:acc", 1), ("absent", 5)])
def test_the_best_by_a_metric_stays(lab, best, kept):
    lab.clean(keep_best=best)
    assert lab.ids() == sorted({f"0001-00000{kept}", "0001-000005"})


def test_not_a_number_is_never_the_best(lab):
    lab.checkpoint("r", 2, 1, b"nan", acc=float("nan"))
    lab.checkpoint("r", 2, 2, b"text", acc="inf")
    lab.checkpoint("r", 2, 3, b"last")
    lab.clean(keep_best="acc")
    assert lab.ids() == ["0001-000004", "0002-000003"]


def test_the_last_that_verifies_stays_when_newer_ones_are_damaged(lab):
    for body in (b"body 5", b"body 4"):
        lab.store.delete(layout.blob_key(hashlib.sha256(body).hexdigest()))
    lab.clean()
    assert lab.ids() == ["0001-000003", "0001-000005"]


def test_what_an_open_stint_continues_from_stays_until_it_ends(lab):
    order = Order(run="r", stint=2, token="t", platform="local", resume_from="0001-000002")
    lab.store.put(layout.order_key("r", 2), order.to_bytes())
    lab.clean()
    assert lab.ids() == ["0001-000002", "0001-000005"]
    lab.store.put(layout.end_key("r", 2), End("lost").to_bytes())
    lab.clean()
    assert lab.ids() == ["0001-000005"]


def test_what_the_user_chose_to_continue_from_stays(lab):
    lab.store.put(layout.control_key("r"), Control(resume_from="0001-000001").to_bytes())
    lab.clean()
    assert lab.ids() == ["0001-000001", "0001-000005"]


def test_an_order_written_after_the_plan_is_respected(lab):
    plan = plan_clean(lab.store, keep_last=1, now=lab.now)
    order = Order(run="r", stint=2, token="t", platform="local", resume_from="0001-000003")
    lab.store.put(layout.order_key("r", 2), order.to_bytes())
    apply_clean(plan, now=lab.now)
    assert lab.ids() == ["0001-000003", "0001-000005"]
    assert Blobs(lab.store).has(hashlib.sha256(b"body 3").hexdigest(), 6)


def test_young_bytes_stay_for_the_grace_period(lab):
    sha = lab.blobs.put_bytes(b"going up")
    assert lab.clean().blobs == 4
    assert lab.blobs.has(sha, 8)
    lab.now += 2 * HOUR
    assert lab.clean().blobs == 1


def test_a_commit_between_plan_and_removal_keeps_its_bytes(lab):
    orphan = b"body of an abandoned upload"
    lab.blobs.put_bytes(orphan)
    lab.now += 2 * HOUR
    plan = plan_clean(lab.store, keep_last=5, now=lab.now)
    assert len(plan.blobs) == 1
    lab.checkpoint("r", 2, 1, orphan)
    assert apply_clean(plan, now=lab.now).blobs == 0
    # Sent again but not committed yet: it looks young then.
    lab.blobs.put_bytes(b"second")
    lab.now += 2 * HOUR
    plan = plan_clean(lab.store, keep_last=9, now=lab.now)
    lab.blobs.put_bytes(b"second")
    assert [len(plan.blobs), apply_clean(plan, now=lab.now).blobs] == [1, 0]


def test_bytes_shared_with_packs_outputs_and_other_runs_stay(lab):
    pack, output = lab.blobs.put_bytes(b"pack"), lab.blobs.put_bytes(b"output")
    lab.store.put(layout.spec_key("r"), json.dumps({"code": {"sha256": pack, "size_bytes": 4}}).encode())
    files = {"out": {"sha256": output, "size": 6, "mode": 0o644}}
    lab.store.put(layout.outputs_key("r"), Manifest("r", 1, 5, files).to_bytes())
    lab.checkpoint("other", 1, 1, b"body 1")
    lab.now += 2 * HOUR
    assert lab.clean(runs=["r"]).blobs == 3
    assert lab.blobs.get_bytes(pack) == b"pack" and lab.blobs.get_bytes(output) == b"output"
    assert lab.blobs.get_bytes(hashlib.sha256(b"body 1").hexdigest()) == b"body 1"


def test_only_the_named_runs_lose_checkpoints(lab):
    lab.checkpoint("other", 1, 1, b"1")
    lab.checkpoint("other", 1, 2, b"2")
    lab.now += 2 * HOUR
    lab.clean(runs=["r", "unknown"])
    assert lab.ids("other") == ["0001-000001", "0001-000002"]
    lab.clean(runs=[])
    assert len(lab.ids("other")) == 2
    lab.clean()
    assert lab.ids("other") == ["0001-000002"]


@pytest.mark.parametrize("key", ["runs/x/spec.json", "runs/x/checkpoints/0001-000001.json"])
def test_an_unreadable_document_keeps_every_byte_and_is_named(lab, key):
    lab.store.put(key, b"{ torn")
    cleaned = lab.clean()
    assert cleaned.blobs == 0 and key in cleaned.notices[0] and "outlast rm x" in cleaned.notices[0]


def test_nonsense_is_refused():
    for text in ("avg:loss", "-", "min:"):
        with pytest.raises(SpecError, match="keep-best"):
            parse_best(text)
    with pytest.raises(SpecError, match="keep at least 1"):
        plan_clean(MemoryStore(), keep_last=0)
