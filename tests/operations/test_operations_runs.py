"""The verbs on runs: names, stop, resume, remove, wait, watch."""

from __future__ import annotations

import contextlib
import threading

import pytest

from outlast.errors import NotFoundError, SpecError, UsageError
from outlast.inside import layout
from outlast.inside.records import Control
from outlast.keeper.index import Index
from outlast.keeper.secrets import SecretsFile
from outlast.model.states import RunState
from outlast.operations.locate import find_row, locate
from outlast.operations.reindex import reindex
from outlast.operations.runs import (
    list_runs,
    remove_run,
    resume_run,
    show_run,
    stop_run,
    wait_run,
    watch_run,
)
from outlast.testing.runs import fake_settings


def control_of(bench, run: str) -> Control:
    return Control.from_bytes(bench.store.get(layout.control_key(run)))


def failed(bench, **fields):
    """A run that saved twice in stint 1 and once in stint 2, and then failed."""
    spec = bench.run(**fields)
    stint = bench.start()
    stint.checkpoint(), stint.checkpoint()
    bench.end(stint, "hand-over")
    stint = bench.start()
    stint.checkpoint()
    bench.end(stint, "setup-error", cause="request", message="no such input")
    assert show_run(bench.settings, spec.id).state is RunState.FAILED
    return spec


def test_run_is_listed_as_soon_as_it_is_in_the_inbox(bench):
    spec = bench.run(name="fresh")
    listed = list_runs(bench.settings)
    assert [(view.id, view.name, view.state) for view in listed] == [(spec.id, "fresh", RunState.QUEUED)]
    assert (bench.home.inbox / spec.id).exists(), "only the keeper takes markers away"
    bench.turn()
    assert job_names(bench) == [f"{spec.id}.0001"]


def job_names(bench) -> list[str]:
    return list(bench.platform.jobs)


def test_run_that_ends_while_the_list_is_made_is_on_it(bench, monkeypatch):
    spec = bench.run(name="quick")
    stint = bench.start()
    stint.beat()
    bench.turn()
    search = Index.search

    def search_and_end(index, query):
        hits = search(index, query)
        bench.end(stint, "finished")
        bench.turn()
        return hits

    monkeypatch.setattr(Index, "search", search_and_end)
    assert [(view.id, view.state) for view in list_runs(bench.settings)] == [(spec.id, RunState.SUCCEEDED)]


def test_list_is_not_behind_the_folders(bench):
    spec = bench.run()
    stint = bench.start()
    bench.turn()
    stint.end("finished")
    assert [(view.id, view.state) for view in list_runs(bench.settings)] == [(spec.id, RunState.SUCCEEDED)]


def test_list_shows_what_the_keeper_last_saw_of_a_folder_that_cannot_be_read(bench):
    spec = bench.run()
    bench.start()
    bench.turn()
    bench.store.put(layout.spec_key(spec.id), b"{")
    assert [(view.id, view.state) for view in list_runs(bench.settings)] == [(spec.id, RunState.RUNNING)]


def test_newest_run_is_listed_first(bench):
    bench.run(name="a", created_at="2026-01-01T00:00:00.000Z")
    bench.run(name="b", created_at="2026-01-02T00:00:00.000Z")
    assert [view.name for view in list_runs(bench.settings)] == ["b", "a"]


def test_id_wins_over_name_and_name_over_the_beginning_of_an_id(bench):
    bench.run(id="1115-able-ant-aaa", name="old", created_at="1")
    bench.run(id="1115-able-bat-bbb", name="1115-able-ant-aaa", created_at="2")
    bench.run(id="1115-calm-cat-ccc", name="1115", created_at="3")
    assert locate(bench.settings, "1115-able-ant-aaa").run == "1115-able-ant-aaa"
    assert locate(bench.settings, "1115").run == "1115-calm-cat-ccc"
    assert locate(bench.settings, "1115-able-b").run == "1115-able-bat-bbb"


def test_name_means_its_newest_run(bench):
    bench.run(id="1115-able-ant-aaa", name="mnist", created_at="2026-11-15")
    bench.run(id="1116-able-ant-aaa", name="mnist", created_at="2026-11-16")
    assert locate(bench.settings, "mnist").run == "1116-able-ant-aaa"


def test_ambiguous_beginning_lists_the_runs(bench):
    for name in ("ant", "bat"):
        bench.run(id=f"1115-able-{name}-aaa")
    with pytest.raises(UsageError, match=r"2 runs begin with '1115-able'.*able-ant-aaa.*able-bat-aaa"):
        locate(bench.settings, "1115-able")


@pytest.mark.parametrize("ref", ["mnits", "", "%", "../../etc", "1115-nope-nope-xxx"])
def test_unknown_run_is_not_found(bench, ref):
    bench.run(name="mnist")
    with pytest.raises(NotFoundError, match="outlast ps") as caught:
        locate(bench.settings, ref)
    assert caught.value.exit_code == 10
    assert ("did you mean 'mnist'" in str(caught.value)) == (ref == "mnits")


def test_whole_id_is_found_without_the_database(bench):
    spec = bench.run()
    bench.turn()
    bench.keeper._index.close()
    bench.home.index.write_bytes(b"rubbish" * 999)
    assert locate(bench.settings, spec.id).run == spec.id
    bench.home.index.unlink()


def test_show_tells_everything_about_a_run(bench):
    spec = bench.run()
    stint = bench.start()
    stint.beat(epoch=2.0, epochs=5.0, metrics={"loss": 0.25}, time_left_s=20.0, elapsed_s=3.0)
    first = stint.checkpoint(epoch=1)
    bench.end(stint, "hand-over", phases={"running": 4.0}, epoch=2.0)
    stint = bench.start()
    stint.outputs({"out/model": b"weights"})
    bench.end(stint, "finished", epoch=5.0, metrics={"loss": 0.125})
    view = show_run(bench.settings, spec.id)
    assert (view.state, view.stints, view.epoch, view.metrics) == (RunState.SUCCEEDED, 2, 5.0, {"loss": 0.125})
    assert [(one.number, one.reason, one.resumed_from) for one in view.stint_list] == [
        (1, "hand-over", None), (2, "finished", first),
    ]  # fmt: skip
    assert [(one.id, one.progress) for one in view.checkpoints] == [(first, {"epoch": 1})]
    assert view.spec["script"] == "train.py" and list(view.outputs) == ["out/model"]
    assert view.to_json(detail=True)["stints"][0]["reason"] == "hand-over"


def test_show_adds_what_only_the_keeper_knows(bench):
    from outlast.platforms.base import Job, JobState

    spec = bench.run()
    bench.turn()
    bench.platform.jobs[f"{spec.id}.0001"] = Job(JobState.QUEUED, "waits for 1 cpu")
    bench.turn()
    assert "waits for 1 cpu" in show_run(bench.settings, spec.id).message


def test_stop_is_written_for_the_runner_and_stopping_twice_is_fine(bench):
    spec = bench.run()
    stint = bench.start()
    view = stop_run(bench.settings, spec.id)
    assert view.state is RunState.RUNNING and control_of(bench, spec.id).want == "stop"
    stop_run(bench.settings, spec.id)
    bench.end(stint, "stopped")
    assert stop_run(bench.settings, spec.id).state is RunState.STOPPED


def test_stop_keeps_the_other_wishes(bench):
    spec = failed(bench)
    resume_run(bench.settings, spec.id, from_stint=1, limit="9s")
    stop_run(bench.settings, spec.id)
    control = control_of(bench, spec.id)
    assert (control.want, control.since_stint, control.resume_from, control.limit_s) == ("stop", 3, "0001-000002", 9.0)


def test_resume_continues_from_the_last_checkpoint(bench):
    spec = failed(bench)
    resume_run(bench.settings, spec.id)
    bench.turn()
    assert bench.platform.launches[f"{spec.id}.0003"].order.resume_from == "0002-000001"
    assert show_run(bench.settings, spec.id).state is RunState.RUNNING


def test_resume_from_a_stint_or_a_checkpoint(bench):
    spec = failed(bench)
    resume_run(bench.settings, spec.id, from_stint=1, limit="2m")
    bench.turn()
    order = bench.platform.launches[f"{spec.id}.0003"].order
    assert (order.resume_from, order.limit_s) == ("0001-000002", 120.0)
    stint = bench.platform.start(bench.store)
    bench.end(stint, "setup-error", cause="request")
    resume_run(bench.settings, spec.id)
    bench.turn()
    order = bench.platform.launches[f"{spec.id}.0004"].order
    assert (order.resume_from, order.limit_s) == ("0001-000002", 120.0), "the choice holds until something is saved"
    bench.end(bench.platform.start(bench.store), "setup-error", cause="request")
    resume_run(bench.settings, spec.id, checkpoint="0001-000001")
    bench.turn()
    assert bench.platform.launches[f"{spec.id}.0005"].order.resume_from == "0001-000001"


def test_resume_refuses_what_cannot_be_resumed(bench):
    spec = failed(bench)
    with pytest.raises(NotFoundError, match=r"stint 7 .*left no checkpoint; there are 0001-000001"):
        resume_run(bench.settings, spec.id, from_stint=7)
    with pytest.raises(NotFoundError, match=r"no checkpoint '0009-000001'"):
        resume_run(bench.settings, spec.id, checkpoint="0009-000001")
    with pytest.raises(UsageError, match="not both"):
        resume_run(bench.settings, spec.id, from_stint=1, checkpoint="0001-000001")
    with pytest.raises(SpecError, match="soon"):
        resume_run(bench.settings, spec.id, limit="soon")
    with pytest.raises(SpecError, match="shorter than"):
        resume_run(bench.settings, spec.id, limit="0.1s")
    assert control_of(bench, spec.id).want == "go" and control_of(bench, spec.id).since_stint == 1


def test_resume_of_a_running_or_succeeded_run_is_refused(bench):
    spec = bench.run()
    stint = bench.start()
    with pytest.raises(UsageError, match="goes on already"):
        resume_run(bench.settings, spec.id)
    stop_run(bench.settings, spec.id)
    with pytest.raises(UsageError, match="is being stopped"):
        resume_run(bench.settings, spec.id)
    bench.end(stint, "finished")
    with pytest.raises(UsageError, match=r"has succeeded.*outlast fetch"):
        resume_run(bench.settings, spec.id)


def test_run_of_another_home_is_taken_over_by_resume(bench, tmp_path):
    import os

    from outlast.keeper.home import Home
    from outlast.keeper.wake import take_lock

    spec = bench.run()
    bench.start()
    other = fake_settings(tmp_path / "other", OUTLAST_STORE=bench.settings.store)
    lock = take_lock(Home(other.home))
    try:
        rebuilt = reindex(other)
        assert rebuilt.runs == 1 and list_runs(other)[0].notice
        resume_run(other, spec.id)
        assert (other.home / "inbox" / spec.id).exists()
        control = control_of(bench, spec.id)
        assert control.by == Home(other.home).id and control.since_stint == 1
    finally:
        os.close(lock)


def test_remove_takes_everything_but_blobs(bench):
    spec = failed(bench)
    SecretsFile(bench.home).save_run(spec.id, {"TOKEN": "value"})
    (bench.home.work / spec.id / "0001").mkdir(parents=True)
    blobs = [entry.key for entry in bench.store.list("blobs/")]
    assert remove_run(bench.settings, spec.id[:-1]) == spec.id
    assert [entry.key for entry in bench.store.list("")] == blobs
    assert not (bench.home.work / spec.id).exists() and list_runs(bench.settings) == []
    assert SecretsFile(bench.home).of_run(spec.id) == {}
    with pytest.raises(NotFoundError):
        show_run(bench.settings, spec.id)


def test_remove_of_an_open_run_needs_force(bench):
    spec = bench.run()
    stint = bench.start()
    with pytest.raises(UsageError, match=r"is running.*outlast stop"):
        remove_run(bench.settings, spec.id)

    def obey() -> None:
        while control_of(bench, spec.id).want != "stop":
            pass
        stint.end("stopped")

    runner = threading.Thread(target=obey)
    runner.start()
    remove_run(bench.settings, spec.id, force=True)
    runner.join()
    assert list_runs(bench.settings) == []
    bench.turn()
    assert list_runs(bench.settings) == [], "the keeper must not bring it back"


def test_interrupted_removal_can_be_repeated_and_never_restarts_the_run(bench):
    spec = failed(bench)
    keys = [entry.key for entry in bench.store.list(layout.run_prefix(spec.id))]
    delete, left = bench.store.delete, [0]

    def dying(key):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        delete(key)

    from outlast.operations import runs

    located = locate(bench.settings, spec.id)
    located.store.delete = dying
    for number in range(1, len(keys) + 1):
        left[0] = 2
        with contextlib.suppress(KeyboardInterrupt):
            runs._remove_folder(located)
        reindex(bench.settings)
        bench.turn()
        assert not [name for name in job_names(bench) if name.endswith("0003")], number
        if located.store.head(layout.spec_key(spec.id)) is None:
            break
        assert show_run(bench.settings, spec.id).state.is_final
    assert list_runs(bench.settings) == []


def test_wait_returns_the_final_run_and_gives_up_after_the_timeout(bench):
    spec = bench.run()
    stint = bench.start()
    with pytest.raises(UsageError, match=r"is still running after 0\.0 s.*outlast show"):
        wait_run(bench.settings, spec.id, timeout_s=0.0)
    threading.Timer(0.1, stint.end, ["finished"]).start()
    assert wait_run(bench.settings, spec.id, timeout_s=150.0).state is RunState.SUCCEEDED


def test_watch_yields_each_change_until_the_run_is_over(bench):
    spec = bench.run()
    stint = bench.start()
    seen = []
    for view in watch_run(bench.settings, spec.id):
        seen.append((view.state.value, view.epoch, [one.state.value for one in view.stint_list]))
        if len(seen) == 1:
            stint.beat(epoch=1.0)
        elif len(seen) == 2:
            stint.end("finished", epoch=1.0)
    assert seen == [
        ("running", None, ["running"]), ("running", 1.0, ["running"]), ("succeeded", 1.0, ["ended"]),
    ]  # fmt: skip


def test_reindex_rebuilds_a_lost_index(bench):
    spec, over = bench.run(name="open"), failed(bench, name="over")
    bench.keeper._index.close()
    before = {view.id: (view.name, view.state) for view in list_runs(bench.settings)}
    for path in bench.home.path.glob("index.db*"):
        path.unlink()
    rebuilt = reindex(bench.settings)
    assert rebuilt.runs == 2 and not rebuilt.problems
    assert {view.id: (view.name, view.state) for view in list_runs(bench.settings)} == before
    assert find_row(bench.settings, spec.id).open and not find_row(bench.settings, over.id).open


def test_reindex_names_runs_it_cannot_read_and_forgets_those_that_are_gone(bench):
    spec, gone = bench.run(), bench.run()
    bench.turn()
    bench.store.put(layout.spec_key(spec.id), b"{")
    for entry in list(bench.store.list(layout.run_prefix(gone.id))):
        bench.store.delete(entry.key)
    rebuilt = reindex(bench.settings)
    assert rebuilt.runs == 0 and rebuilt.removed == [gone.id]
    assert len(rebuilt.problems) == 1 and spec.id in rebuilt.problems[0]


def test_damaged_index_names_reindex_and_reindex_mends_it(bench):
    from outlast.keeper.index import IndexDamaged

    spec = bench.run()
    bench.turn()
    bench.keeper._index.close()
    bench.home.index.write_bytes(b"rubbish" * 999)
    with pytest.raises(IndexDamaged, match="outlast reindex"):
        list_runs(bench.settings)
    rebuilt = reindex(bench.settings)
    assert rebuilt.aside and rebuilt.runs == 1
    assert [view.id for view in list_runs(bench.settings)] == [spec.id]
    index = Index(bench.home.index)
    assert index.get(spec.id) is not None
    index.close()
