"""Bringing results home: verified, never over a different file, never out of the folder."""

from __future__ import annotations

import pytest

from outlast.errors import NotFoundError, StoreError, UsageError
from outlast.inside import layout
from outlast.operations.fetch import fetch_run


def finished(bench, outputs, **fields):
    spec = bench.run(**fields)
    stint = bench.start()
    stint.checkpoint({"ckpt/model": b"state", "out/partial": b"p"})
    stint.log(1, b"hello\n")
    stint.log(2, b"world\n")
    stint.outputs(outputs)
    bench.end(stint, "finished")
    return spec


def test_outputs_land_without_the_output_place_in_their_path(bench, tmp_path):
    spec = finished(bench, {"out/model.npz": b"weights", "out/sub/a.csv": b"1,2"})
    fetched = fetch_run(bench.settings, spec.id, tmp_path / "got")
    assert (tmp_path / "got/model.npz").read_bytes() == b"weights"
    assert (tmp_path / "got/sub/a.csv").read_bytes() == b"1,2"
    assert fetched.new == ["model.npz", "sub/a.csv"] and fetched.size_bytes == 10 and not fetched.notices


def test_identical_files_are_skipped_and_different_ones_refused_before_anything_is_written(bench, tmp_path):
    spec = finished(bench, {"out/a": b"new-a", "out/b": b"b"})
    (tmp_path / "b").write_bytes(b"b")
    (tmp_path / "a").write_bytes(b"mine!")
    with pytest.raises(UsageError, match=r"/a is there already and differs.*--force"):
        fetch_run(bench.settings, spec.id, tmp_path)
    assert (tmp_path / "a").read_bytes() == b"mine!"
    fetched = fetch_run(bench.settings, spec.id, tmp_path, force=True)
    assert (fetched.new, fetched.same, fetched.replaced) == ([], ["b"], ["a"])
    assert (tmp_path / "a").read_bytes() == b"new-a"
    assert fetch_run(bench.settings, spec.id, tmp_path).same == ["a", "b"]


def test_folder_in_the_way_is_never_removed(bench, tmp_path):
    spec = finished(bench, {"out/a": b"x"})
    (tmp_path / "a").mkdir()
    with pytest.raises(UsageError, match="differs"):
        fetch_run(bench.settings, spec.id, tmp_path, force=True)


def test_run_without_outputs_gives_those_of_its_last_checkpoint_and_says_so(bench, tmp_path):
    spec = bench.run()
    stint = bench.start()
    stint.checkpoint({"ckpt/m": b"1", "out/log.csv": b"row1"})
    last = stint.checkpoint({"ckpt/m": b"2", "out/log.csv": b"row1 row2", "outside": b"no"})
    bench.end(stint, "stopped")
    fetched = fetch_run(bench.settings, spec.id, tmp_path / "got")
    assert fetched.new == ["log.csv"] and (tmp_path / "got/log.csv").read_bytes() == b"row1 row2"
    assert last in fetched.notices[0]


def test_nothing_to_fetch_is_said(bench, tmp_path):
    spec = bench.run()
    bench.start()
    for what, words in (("outputs", "no outputs yet"), ("checkpoint", "no checkpoint yet")):
        with pytest.raises(NotFoundError, match=words):
            fetch_run(bench.settings, spec.id, tmp_path / "got", what)
    none = bench.run(output=None)
    with pytest.raises(NotFoundError, match="names no output place"):
        fetch_run(bench.settings, none.id, tmp_path / "got")
    with pytest.raises(UsageError, match="choose one of outputs, checkpoint, logs, all"):
        fetch_run(bench.settings, spec.id, tmp_path, "everything")
    assert not (tmp_path / "got").exists()


def test_a_finished_run_that_kept_no_outputs_says_where_its_work_is(bench, tmp_path):
    saved = finished(bench, {}, output=None)
    with pytest.raises(NotFoundError, match="names no output place") as caught:
        fetch_run(bench.settings, saved.id, tmp_path / "got")
    assert caught.value.hint == f"fetch its checkpoint: outlast fetch {saved.id} --what checkpoint"
    empty = finished(bench, {})
    with pytest.raises(NotFoundError, match="left nothing in 'out'"):
        fetch_run(bench.settings, empty.id, tmp_path / "got")
    assert "checkpoint/model" in fetch_run(bench.settings, empty.id, tmp_path / "all", "all").new


def test_all_has_a_folder_for_each_kind(bench, tmp_path):
    spec = finished(bench, {"out/model": b"w"})
    fetched = fetch_run(bench.settings, spec.id, tmp_path / "got", "all")
    assert sorted(fetched.new) == ["checkpoint/model", "logs/stint-0001.log", "outputs/model"]
    assert (tmp_path / "got/logs/stint-0001.log").read_bytes() == b"hello\nworld\n"
    again = fetch_run(bench.settings, spec.id, tmp_path / "got", "all")
    assert not again.new and not again.replaced and len(again.same) == 3


def test_log_that_grew_is_brought_up_to_date_but_another_file_is_kept(bench, tmp_path):
    spec = bench.run()
    stint = bench.start()
    stint.log(1, b"one\n")
    fetch_run(bench.settings, spec.id, tmp_path, "logs")
    stint.log(2, b"two\n")
    assert fetch_run(bench.settings, spec.id, tmp_path, "logs").replaced == ["stint-0001.log"]
    assert (tmp_path / "stint-0001.log").read_bytes() == b"one\ntwo\n"
    (tmp_path / "stint-0001.log").write_bytes(b"my notes")
    with pytest.raises(UsageError, match="differs"):
        fetch_run(bench.settings, spec.id, tmp_path, "logs")
    assert (tmp_path / "stint-0001.log").read_bytes() == b"my notes"


def test_damaged_blob_is_refused_and_nothing_appears(bench, tmp_path):
    spec = finished(bench, {"out/model": b"weights"})
    import hashlib

    bench.store.put(layout.blob_key(hashlib.sha256(b"weights").hexdigest()), b"WEIGHTS")
    with pytest.raises(StoreError, match="digest"):
        fetch_run(bench.settings, spec.id, tmp_path / "got")
    assert not list((tmp_path / "got").iterdir())


@pytest.mark.parametrize("path", ["../evil", "/etc/evil", "out/../../evil"])
def test_manifest_of_a_stranger_cannot_write_outside(bench, tmp_path, path):
    spec = finished(bench, {path: b"x"})
    with pytest.raises(StoreError, match="no path inside"):
        fetch_run(bench.settings, spec.id, tmp_path / "got")


def test_link_that_leads_out_of_the_folder_is_refused(bench, tmp_path):
    spec = finished(bench, {"out/sub/model": b"x"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "got").mkdir()
    (tmp_path / "got/sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="leads out of"):
        fetch_run(bench.settings, spec.id, tmp_path / "got")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_folder_that_cannot_be_made_is_named(bench, tmp_path):
    spec = finished(bench, {"out/model": b"x"})
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot make"):
        fetch_run(bench.settings, spec.id, tmp_path / "file" / "below")
