"""What a planned run will take, by an earlier run or a probe of its script."""

from __future__ import annotations

import dataclasses
import datetime
import json

import pytest

from outlast.operations.destinations import Destination
from outlast.operations.forecast import Measured
from outlast.operations.probes import Probes
from outlast.operations.prospect import Share, foresee
from outlast.platforms.accounts import Account, Accounts

NOW = datetime.datetime(2026, 11, 16, 12, 0)
HERE = Destination("local", "local", 3600.0, "file:///store")


def planned(bench, **fields):
    """The spec of a run that is only planned."""
    spec = bench.run(**{"script": "train.py", "code_folder": "/work/toy", "user": "ann", **fields})
    bench.store.delete(f"runs/{spec.id}/spec.json")
    return spec


def trained(bench, epochs=6, useful_s=60.0, **fields):
    """A run of one stint that has ended; its epochs took ten seconds each."""
    spec = bench.run(**{"script": "train.py", "code_folder": "/work/toy", "user": "ann", **fields})
    stint = bench.start()
    stint.checkpoint(epoch=2)
    stint.checkpoint(epoch=4)
    bench.end(stint, "finished", phases={"running": useful_s}, epoch=float(epochs))
    return spec


def account(bench, name, **values):
    Accounts(bench.home.path).save(Account(name, "openpai", {"server": "http://127.0.0.1:1", **values}))
    return Destination(name, "openpai", 3600.0, "file:///store")


def test_when_nothing_is_known_it_says_how_to_find_out(bench):
    told = foresee(planned(bench), [HERE], bench.settings, NOW)
    assert told.lines == ["how long it will take is not known yet; measure it with: outlast probe train.py"]
    assert (told.stints, told.total_s, told.done_at, told.shares) == (None, None, "", ())


def test_an_earlier_run_of_the_same_script_tells(bench):
    before = trained(bench)
    told = foresee(planned(bench, until="epoch>=1000"), [HERE], bench.settings, NOW)
    assert told.run == before.id and told.basis == f"as {before.id} went"
    assert told.stints == 3 and 9_000 < told.total_s < 16_000 and told.done_at.startswith("2026-11-16T")
    # Without an end of its own it is as long as the earlier one was.
    assert foresee(planned(bench), [HERE], bench.settings, NOW).stints == 1


def test_runs_of_other_scripts_people_and_folders_tell_nothing(bench):
    trained(bench, script="other.py")
    trained(bench, user="ben", name="theirs")
    trained(bench, code_folder="/work/elsewhere", name="elsewhere", code=_code("b"))
    told = foresee(planned(bench, name="mine", code=_code("a")), [HERE], bench.settings, NOW)
    assert told.run == "" and "outlast probe" in told.sentence


@pytest.mark.parametrize("same", [{"name": "mine"}, {"code": "a"}])
def test_the_same_name_or_the_same_code_is_the_same_script(bench, same):
    given = {"code": _code(same["code"])} if "code" in same else same
    before = trained(bench, **{"code_folder": "/uploads/1", "name": "first", "code": _code("b"), **given})
    told = foresee(planned(bench, name="mine", code=_code("a")), [HERE], bench.settings, NOW)
    assert told.run == before.id


def _code(letter):
    from outlast.model.spec import CodePack

    return CodePack(sha256=letter * 64, size_bytes=1, files=1)


def test_other_arguments_are_said(bench):
    trained(bench, args=("--lr", "1"))
    assert foresee(planned(bench, args=("--lr", "2")), [HERE], bench.settings, NOW).basis.endswith(
        ", with other arguments"
    )
    assert "other" not in foresee(planned(bench, args=("--lr", "1")), [HERE], bench.settings, NOW).basis


def test_the_newer_of_probe_and_run_tells(bench):
    spec = planned(bench, until="epoch>=100")
    probes = Probes(bench.home)
    probes.keep(spec, Measured(unit_s=1.0, interval=1.0), 40.0)
    told = foresee(spec, [HERE], bench.settings, NOW)
    assert (told.basis, told.run, told.total_s) == ("as outlast probe measured", "", 100.0)
    later = trained(bench, created_at="2099-01-01T00:00:00Z")
    assert foresee(spec, [HERE], bench.settings, NOW).run == later.id


def test_a_probe_that_measured_nothing_or_is_torn_is_none(bench):
    spec = planned(bench)
    Probes(bench.home).keep(spec, Measured(unit_s=None), None)
    assert foresee(spec, [HERE], bench.settings, NOW).stints is None
    (file,) = (bench.home.cache / "probes").iterdir()
    for text in ("", "[]", "{}", json.dumps({"measured": {"unknown": 1}, "total": 1, "at": "", "arguments": []})):
        file.write_text(text)
        assert Probes(bench.home).find(spec) is None
        assert "outlast probe" in foresee(spec, [HERE], bench.settings, NOW).sentence


def test_a_limit_that_no_checkpoint_fits_into_is_impossible(bench):
    spec = planned(bench, until="epoch>=100")
    Probes(bench.home).keep(spec, Measured(unit_s=100.0, interval=50.0), None)
    told = foresee(spec, [HERE], bench.settings, NOW)
    assert not told.possible and "no stint would ever save" in told.sentence and told.shares == ()


def test_hours_of_each_allowance_are_told_in_the_order_of_the_list(bench):
    free, lab = account(bench, "free", hours="10", per="week"), account(bench, "lab", hours="4")
    spec = planned(bench, until="epoch>=300")
    Probes(bench.home).keep(spec, Measured(unit_s=60.0, interval=1.0, queued_s=600.0), None)  # five hours
    enough = foresee(spec, [free, lab, HERE], bench.settings, NOW)
    assert [share.words for share in enough.shares] == ["free: 5 h of the 10 h left of 10 h per week"]
    longer = foresee(dataclasses.replace(spec, until="epoch>=900"), [free, lab, HERE], bench.settings, NOW)
    assert [share.words for share in longer.shares] == [
        "free: the 10 h left of 10 h per week, then lab", "lab: the 4 h left of 4 h, then local", "local: 1 h",
    ]  # fmt: skip
    assert foresee(spec, [HERE], bench.settings, NOW).shares == ()


def test_what_was_used_already_is_not_left(bench):
    trained(bench, useful_s=7200.0)  # on the platform that the bench plays
    fake = account(bench, "fake", hours="10")
    spec = planned(bench, until="epoch>=12")
    (share,) = foresee(spec, [fake], bench.settings, NOW).shares
    assert (share.left_s, share.allowed_s) == (8 * 3600.0, 36_000.0) and share.words.endswith("of the 8 h left of 10 h")


def test_an_allowance_that_is_too_small_for_all_of_it_says_what_then():
    share = Share("free", 3600.0, 1800.0, 36000.0, "day")
    assert share.words == "free: needs 1 h, but has 30 min left of 10 h per day; it waits for the next day then"
    assert Share("free", 3600.0, 0.0, 3600.0).words.endswith("left of 1 h; name one to go on with: --on NAME")
