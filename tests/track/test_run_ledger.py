"""Every second of a run is in exactly one column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.inside import layout
from outlast.inside.ledger import PHASES
from outlast.inside.records import Beat, Claim, End, Manifest, Order
from outlast.model.view import LEDGER_COLUMNS
from outlast.testing.memory_store import MemoryStore
from outlast.track.ledger import StintFacts, read_facts, run_ledger, stint_ledger

RUN = "1115-quiet-otter-7kx"
SETUP = {"fetching": 1.0, "staging": 0.5, "environment": 2.0, "restoring": 0.25, "starting": 1.25}


def useful(**columns: float) -> dict[str, float]:
    return {**dict.fromkeys(LEDGER_COLUMNS, 0.0), **columns}


def test_finished_stint_is_useful_as_a_whole():
    phases = {**SETUP, "running": 10.0, "saving": 1.0, "handing_over": 0.5, "committing": 0.5}
    row = stint_ledger(StintFacts(1, sum(phases.values()), phases, queued_s=3.0, kept_running_s=4.0, is_finished=True))
    assert row == useful(
        queued=3.0, fetching=1.5, environment=2.0, restoring=0.25, starting=1.25, useful=10.0, saving=2.0
    )
    assert list(row) == list(LEDGER_COLUMNS)


def test_what_was_done_again_is_replayed_and_what_was_not_is_lost():
    facts = StintFacts(1, 10.0, {"running": 10.0}, kept_running_s=7.0)
    assert stint_ledger(facts) == useful(useful=7.0, lost=3.0)
    assert stint_ledger(StintFacts(1, 10.0, {"running": 10.0}, kept_running_s=7.0, has_successor=True)) == useful(
        useful=7.0, replayed=3.0
    )


def test_stint_that_vanished_without_phases_keeps_what_its_checkpoint_proves():
    facts = StintFacts(1, 30.0, {}, kept_running_s=12.0, has_successor=True)
    assert stint_ledger(facts) == useful(useful=12.0, lost=18.0)


def test_open_stint_has_lost_nothing_yet():
    facts = StintFacts(1, 12.0, {"running": 8.0, "starting": 2.0}, kept_running_s=3.0, is_open=True)
    assert stint_ledger(facts) == useful(starting=2.0, useful=10.0)


def test_fraction_is_of_machine_time_only():
    rows = [StintFacts(1, 10.0, {"running": 10.0}, queued_s=1000.0, kept_running_s=5.0), StintFacts(2, queued_s=5.0)]
    ledger = run_ledger(rows)
    assert ledger.useful_fraction == 0.5 and ledger.total["queued"] == 1005.0
    assert run_ledger([]).useful_fraction is None and run_ledger([StintFacts(1)]).useful_fraction is None
    assert set(run_ledger([]).total) == set(LEDGER_COLUMNS)


SECONDS = st.floats(0, 1e5)


@given(
    phases=st.dictionaries(st.sampled_from([*PHASES, "claimed"]), SECONDS),
    unknown_s=SECONDS,
    kept_running_s=SECONDS,
    queued_s=st.floats(-100, 1e5),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_columns_add_up_to_the_elapsed_time(phases, unknown_s, kept_running_s, queued_s, flags):
    elapsed_s = sum(phases.values()) + unknown_s
    row = stint_ledger(StintFacts(1, elapsed_s, phases, queued_s, kept_running_s, *flags))
    assert min(row.values()) >= 0
    assert sum(seconds for column, seconds in row.items() if column != "queued") == pytest.approx(elapsed_s)


class Folder:
    def __init__(self) -> None:
        self.now_s = 0.0
        self.store = MemoryStore(clock=lambda: self.now_s)

    def order(self, stint: int, resume_from: str | None = None, claimed: str = "2026-11-15T10:00:05.500Z") -> None:
        made = Order(
            run=RUN, stint=stint, token="t", platform="local", resume_from=resume_from,
            created_at="2026-11-15T10:00:00.000Z",
        )  # fmt: skip
        self.store.put(layout.order_key(RUN, stint), made.to_bytes())
        if claimed:
            self.now_s += 5.5
            claim = Claim(token="t", host="h", pid=1, claimed_at=claimed)
            self.store.put(layout.claim_key(RUN, stint), claim.to_bytes())

    def end(self, stint: int, reason: str, by: str = "runner", **phases: float) -> None:
        self.store.put(layout.end_key(RUN, stint), End(reason=reason, phases=phases, by=by).to_bytes())

    def beat(self, stint: int, elapsed_s: float, **phases: float) -> None:
        beat = Beat(count=1, phase="running", elapsed_s=elapsed_s, phases=phases)
        self.store.put(layout.beat_key(RUN, stint), beat.to_bytes())

    def checkpoint(self, stint: int, number: int, running_s: float, parent: str | None = None) -> str:
        manifest = Manifest(
            run=RUN, stint=stint, number=number, files={}, parent=parent, elapsed_s=running_s + 2, running_s=running_s
        )
        name = layout.checkpoint_id(stint, number)
        self.store.put(layout.checkpoint_key(RUN, name), manifest.to_bytes())
        return name


def test_ledger_of_a_whole_run_is_read_from_its_folder():
    folder = Folder()
    folder.order(1)
    one = folder.checkpoint(1, 1, 8.0)
    folder.end(1, "hand-over", starting=2.0, running=9.0, committing=1.0)
    folder.order(2, one)
    two = folder.checkpoint(2, 1, 5.0, parent=one)
    folder.beat(2, 20.0)
    folder.end(2, "lost", by="keeper")
    folder.order(3, two, claimed="2026-11-15T09:00:00.000Z")
    folder.end(3, "finished", starting=2.0, running=6.0)
    folder.order(4, two, claimed="")
    rows = run_ledger(read_facts(folder.store, RUN)).stints
    assert rows[0] == useful(queued=5.5, starting=2.0, useful=8.0, replayed=1.0, saving=1.0)
    assert rows[1] == useful(queued=5.5, useful=5.0, lost=15.0)
    assert rows[2] == useful(queued=0.0, starting=2.0, useful=6.0)
    assert rows[3] == useful()


def test_machine_whose_clock_is_hours_ahead_did_not_wait_for_hours():
    folder = Folder()
    folder.order(1, claimed="2026-11-16T16:00:00.000Z")
    assert run_ledger(read_facts(folder.store, RUN)).stints[0]["queued"] == 5.5


def test_lost_stint_whose_beat_knew_its_phases_is_split_exactly():
    folder = Folder()
    folder.order(1)
    name = folder.checkpoint(1, 1, 5.0)
    folder.beat(1, 20.0, fetching=3.0, running=15.0)
    folder.end(1, "lost", by="keeper")
    folder.order(2, name)
    row = run_ledger(read_facts(folder.store, RUN)).stints[0]
    assert row == useful(queued=5.5, fetching=3.0, useful=5.0, replayed=10.0, lost=2.0)


def test_checkpoint_that_nobody_continued_from_was_not_useful():
    folder = Folder()
    folder.order(1)
    folder.checkpoint(1, 1, 8.0)
    folder.end(1, "script-error", running=10.0)
    folder.order(2, None)
    row = run_ledger(read_facts(folder.store, RUN)).stints[0]
    assert row == useful(queued=5.5, replayed=10.0)


def test_unreadable_times_and_records_do_not_stop_the_ledger():
    folder = Folder()
    folder.order(1, claimed="yesterday")
    folder.store.put(layout.end_key(RUN, 1), b"not json")
    folder.store.put(layout.checkpoint_key(RUN, "0001-000001"), b"{}")
    folder.store.put(layout.checkpoints_prefix(RUN) + "notes.txt", b"x")
    assert run_ledger(read_facts(folder.store, RUN)).stints == [useful()]
