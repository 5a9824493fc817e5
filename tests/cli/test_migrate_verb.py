"""`outlast migrate` as a user meets it: shown, checked, written, refused, reported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from outlast.cli.entry import main
from outlast.errors import UsageError
from outlast.operations import migrate as operation
from outlast.operations.migrate_trial import try_migrated

SCRIPT = b"import torch\r\n\r\nx = y.cuda()  # cuda\ntorch.cuda.nvtx.mark('x')\n"
MOVED = b"import torch\r\nimport torch_npu\r\n\r\nx = y.npu()  # cuda\ntorch.cuda.nvtx.mark('x')\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OUTLAST_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    (work / "train.py").write_bytes(SCRIPT)
    (work / "plain.py").write_bytes(b"print('no device')\n")
    (work / "run.sh").write_bytes(b"CUDA_VISIBLE_DEVICES=0 python train.py\n")
    (work / ".hidden").mkdir()
    (work / ".hidden" / "a.py").write_bytes(SCRIPT)
    return work


def git(*words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)


def test_showing_is_the_default_and_touches_nothing(folder, capsys):
    assert main(["migrate", "."]) == 0
    out = capsys.readouterr().out
    assert "-x = y.cuda()  # cuda" in out and "+x = y.npu()  # cuda" in out and "+import torch_npu" in out
    assert "torch.cuda.nvtx.mark has no twin" in out and "torch.npu.mstx" in out and "write it with: --write" in out
    assert (folder / "train.py").read_bytes() == SCRIPT and "run.sh" not in out and ".hidden" not in out


def test_check_ends_with_one_until_nothing_is_left(folder, capsys):
    assert main(["migrate", ".", "--check"]) == 1
    assert "+x = " not in capsys.readouterr().out
    (folder / "train.py").write_bytes(b"import torch\nx = 1\n")
    assert main(["migrate", ".", "--check"]) == 0


def test_writing_outside_git_keeps_the_old_files_and_never_loses_a_backup(folder):
    assert main(["migrate", ".", "--write"]) == 0
    assert (folder / "train.py").read_bytes() == MOVED and (folder / "train.py.orig").read_bytes() == SCRIPT
    assert main(["migrate", ".", "--write"]) == 0
    assert not (folder / "train.py.orig2").exists(), "the second run changed something"
    assert main(["migrate", ".", "--to", "cuda", "--write"]) == 0
    assert (folder / "train.py").read_bytes() == SCRIPT and (folder / "train.py.orig2").read_bytes() == MOVED
    assert not (folder / "plain.py.orig").exists()


def test_writing_in_git_needs_no_backup_but_a_clean_file(folder, capsys):
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    assert main(["migrate", "train.py", "--write"]) == 0
    assert (folder / "train.py").read_bytes() == MOVED and not (folder / "train.py.orig").exists()
    (folder / "train.py").write_bytes(SCRIPT + b"z.cuda()\n")
    (folder / "run.sh").write_bytes(b"CUDA_VISIBLE_DEVICES=1 python train.py\n")
    assert main(["migrate", ".", "--write", "--files"]) == 2
    assert "commit them first" in capsys.readouterr().err
    assert (folder / "train.py").read_bytes() == SCRIPT + b"z.cuda()\n", "written although it was refused"
    assert main(["migrate", "train.py", "--write", "--force"]) == 0
    assert (folder / "train.py.orig").read_bytes() == SCRIPT + b"z.cuda()\n"


def test_a_file_that_was_never_committed_is_not_overwritten(folder):
    git("init", "-q")
    git("add", ".")
    assert main(["migrate", "train.py", "--write"]) == 2
    assert (folder / "train.py").read_bytes() == SCRIPT


def test_modes_links_and_permissions_survive(folder):
    (folder / "train.py").chmod(0o755)
    (folder / "link.py").symlink_to("train.py")
    assert main(["migrate", "link.py", "--write"]) == 0
    assert (folder / "link.py").is_symlink() and (folder / "train.py").stat().st_mode & 0o777 == 0o755
    assert (folder / "train.py").read_bytes() == MOVED


def test_text_files_come_with_files(folder):
    assert main(["migrate", ".", "--files", "--write"]) == 0
    assert (folder / "run.sh").read_bytes() == b"ASCEND_RT_VISIBLE_DEVICES=0 python train.py\n"


def test_reports_for_programs_people_and_editors(folder, capsys):
    assert main(["migrate", ".", "--json", "--html", "r.html", "--sarif", "r.sarif"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert (
        body["changed"] == ["train.py"]
        and body["counts"]["by-hand"] == 1
        and body["files"] == 2
        and body["skipped"] == 1
    )
    assert 0 < body["score"] < 100
    hand = next(finding for finding in body["findings"] if finding["kind"] == "by-hand")
    assert (hand["path"], hand["line"], hand["column"], hand["rule"]) == ("train.py", 4, 1, "torch-module")
    page = Path("r.html").read_text()
    assert "torch.cuda.nvtx.mark has no twin" in page and "http" not in page and "<script" not in page
    sarif = json.loads(Path("r.sarif").read_text())
    run = sarif["runs"][0]
    known = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert sarif["version"] == "2.1.0" and all(result["ruleId"] in known for result in run["results"])
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region["startLine"] >= 1 and region["startColumn"] >= 1


def test_the_score_does_not_fall_when_the_changes_are_written(folder, capsys):
    main(["migrate", ".", "--json"])
    before = json.loads(capsys.readouterr().out)["score"]
    main(["migrate", ".", "--write"])
    capsys.readouterr()
    main(["migrate", ".", "--json"])
    assert json.loads(capsys.readouterr().out)["score"] == before


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["migrate"], 2, "no file or folder"),
        (["migrate", "gone.py"], 10, "there is no gone.py"),
        (["migrate", ".", "--to", "gpu"], 2, "npu, cuda, any"),
        (["migrate", ".", "--write", "--check"], 2, "exclude each other"),
        (["migrate", ".", "--html", "no/such/folder/r.html"], 2, "cannot write the report"),
        (["migrate", "--try"], 2, "needs the training"),
        (["migrate", "--try", "--", "no-such-program", "train.py"], 2, "no-such-program"),
        (["migrate", "--try", "--limit", "soon", "--", "python", "train.py"], 2, "--limit"),
    ],
)
def test_wrong_requests_are_answered_in_words(folder, capsys, words, code, said):
    assert main(words) == code
    assert said in capsys.readouterr().err


def test_files_that_are_no_text_are_reported(folder, capsys):
    (folder / "train.py").write_bytes(b"x.cuda() # \xff\xfe\n")
    assert main(["migrate", ".", "--check"]) == 1
    assert "left alone: not text" in capsys.readouterr().out


def test_without_libcst_one_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "libcst", None)
    with pytest.raises(UsageError, match="outlast\\[migrate\\]"):
        operation.migrate(["."])


FAKE_TORCH = """
import os, sys
__version__ = "2.9.0"
"""


def test_a_trial_compares_the_numbers_of_both_runs(folder, monkeypatch):
    """The comparison itself, with a package called torch that only lets itself be imported."""
    library = folder.parent / "library"
    (library / "torch").mkdir(parents=True)
    (library / "torch" / "__init__.py").write_text(FAKE_TORCH)
    monkeypatch.setenv("PYTHONPATH", str(library))
    number = "{} if os.environ['OUTLAST_STANDIN'] == 'cuda' else {}"
    program = f"import os\nprint('loss', 0.5)\nprint('acc', {number})\nopen('out.txt', 'w')\n"
    command = [sys.executable, "train.py"]
    (folder / "train.py").write_text(program.format("0.75", "0.75"))
    same = try_migrated(folder.parent / "home", command, light=True)
    assert same.agree and same.compared == 2 and same.largest_difference == 0
    assert not (folder / "out.txt").exists(), "a trial wrote into the user's folder"
    (folder / "train.py").write_text(program.format("0.75", "0.5"))
    other = try_migrated(folder.parent / "home", command, light=True)
    assert not other.agree and "0.75 as it is and 0.5 migrated" in other.sentence
    (folder / "train.py").write_text("import sys\nprint(1.5)\nsys.exit(3)\n")
    assert "ended with 3, before any migration" in try_migrated(folder.parent / "home", command, light=True).sentence
