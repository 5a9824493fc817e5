"""Freeing space without taking what a run needs."""

from __future__ import annotations

import os
import time

from outlast.operations.clean import clean


def test_dry_run_says_what_goes_and_removes_nothing(bench):
    spec = bench.run()
    stint = bench.start()
    for _ in range(4):
        stint.checkpoint()
    bench.end(stint, "finished")
    (bench.home.work / spec.id / "0001").mkdir(parents=True)
    (bench.home.work / spec.id / "0001" / "big").write_bytes(b"x" * 1000)
    plan = clean(bench.settings, keep_last=1, dry_run=True)
    assert plan.checkpoints == [f"{spec.id} 0001-{number:06d}" for number in (1, 2, 3)]
    assert plan.work_folders == [str(bench.home.work / spec.id)] and plan.size_bytes >= 1000
    assert not plan.is_empty and (bench.home.work / spec.id).exists()
    done = clean(bench.settings, keep_last=1)
    assert done.checkpoints == plan.checkpoints and not (bench.home.work / spec.id).exists()
    assert clean(bench.settings, keep_last=1).is_empty


def test_work_of_open_runs_stays_and_a_failed_run_keeps_its_shared_folder(bench):
    failed = bench.run()
    bench.end(bench.start(), "setup-error", cause="request")
    running = bench.run()
    bench.start()
    for run in (running.id, failed.id, "1101-long-gone-xyz"):
        (bench.home.work / run / "0001").mkdir(parents=True)
        (bench.home.work / run / "shared").mkdir()
    clean(bench.settings)
    left = sorted(str(path.relative_to(bench.home.work)) for path in bench.home.work.rglob("*"))
    assert left == sorted([running.id, f"{running.id}/0001", f"{running.id}/shared", failed.id, f"{failed.id}/shared"])


def test_packs_of_killed_commands_go_after_a_day(bench):
    old, young = bench.home.cache / "pack-old", bench.home.cache / "pack-young"
    for path in (old, young):
        path.mkdir()
    os.utime(old, (time.time() - 2 * 86400,) * 2)
    clean(bench.settings)
    assert not old.exists() and young.exists()


def test_settings_decide_how_many_checkpoints_stay(bench):
    bench.run()
    stint = bench.start()
    for _ in range(5):
        stint.checkpoint()
    assert len(clean(bench.settings, dry_run=True).checkpoints) == 5 - bench.settings.keep_last
