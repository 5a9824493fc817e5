"""Reports of real run folders."""

from __future__ import annotations

import shutil

import pytest
from measured import train

from outlast.errors import UsageError
from outlast.operations import pdf
from outlast.operations.report import collect_report, report_run


def test_a_report_is_one_small_file_with_everything_in_it(bench, tmp_path):
    train(bench, "digits", params={"lr": "0.1", "api_key": "very-secret"}, args=("--epochs", "9"))
    path = report_run(bench.settings, "digits", tmp_path / "r.html")
    page = path.read_text()
    assert path.stat().st_size < 200_000 and "very-secret" not in page
    for text in ("loss", "val_acc", "numpy&gt;=1.24", "out/model.bin", "hand-over", "done", "epochs"):
        assert text in page, text
    assert page.count("<svg") == 2


def test_the_end_of_the_output_is_as_a_terminal_left_it(bench):
    train(bench, "digits")
    assert collect_report(bench.settings, "digits").log_tail == "epoch 2\nred <b>bold</b>\ndone"


def test_only_the_end_of_a_long_output_is_read(bench):
    spec = bench.run(name="chatty")
    stint = bench.start()
    for segment in range(1, 9):
        stint.log(segment, b"".join(b"segment %d line %d\n" % (segment, n) for n in range(2000)))
    read = []
    store = bench.store
    from outlast.operations.locate import locate
    from outlast.operations.report import log_tail

    class Counting:
        def list(self, prefix):
            return store.list(prefix)

        def get(self, key):
            read.append(key)
            return store.get(key)

    lines = log_tail(Counting(), locate(bench.settings, spec.id).folder()).split("\n")
    assert len(lines) == 120 and lines[-1] == "segment 8 line 1999" and len(read) <= 3


def test_a_run_that_has_not_started_can_be_reported(bench, tmp_path):
    bench.run(name="new")
    assert "new" in report_run(bench.settings, "new", tmp_path / "r.html", lang="zh_CN.UTF-8").read_text()


def test_other_endings_and_languages_are_refused(bench, tmp_path):
    bench.run(name="new")
    with pytest.raises(UsageError, match=r"'r\.doc'"):
        report_run(bench.settings, "new", tmp_path / "r.doc")
    with pytest.raises(UsageError, match="no report in 'fr'"):
        report_run(bench.settings, "new", tmp_path / "r.html", lang="fr")


def test_without_a_browser_a_pdf_is_refused_with_the_way_out(bench, tmp_path, monkeypatch):
    bench.run(name="new")
    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    with pytest.raises(UsageError, match="needs chromium") as caught:
        report_run(bench.settings, "new", tmp_path / "r.pdf")
    assert "apt install chromium" in caught.value.hint and list(tmp_path.glob("*.pdf")) == []


@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_chromium_prints_the_report(bench, tmp_path):
    train(bench, "digits")
    data = report_run(bench.settings, "digits", tmp_path / "r.pdf").read_bytes()
    assert data.startswith(b"%PDF") and len(data) > 10_000
