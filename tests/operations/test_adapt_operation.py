"""`outlast adapt` as a verb: it shows, checks, writes safely, and says what it cannot do."""

from __future__ import annotations

import ast
import json
import subprocess

import pytest

from outlast.client import Client
from outlast.errors import NotFoundError, UsageError
from outlast.operations.adapt import adapt

SCRIPT = 'import numpy as np\nx = np.load("d/x.npy")\nfor epoch in range(3):\n    x += 1\n'


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


def test_nothing_is_written_unless_asked(script):
    found = adapt(str(script), contract="xihe")
    assert found.changed == [str(script)] and found.lacks == ("data_url", "output_path") and not found.is_done
    assert script.read_text() == SCRIPT and list(script.parent.iterdir()) == [script]
    assert json.loads(json.dumps(found.to_json()))["setup"] == "created"


def test_a_written_script_keeps_its_old_text_and_is_done(script, tmp_path):
    found = Client(home=tmp_path / "home").adapt(script, contract="modelarts", write=True)
    assert found.written == [str(script)] and found.backups == [f"{script}.orig"]
    assert (script.parent / "train.py.orig").read_text() == SCRIPT
    assert adapt(str(script), contract="modelarts").is_done


def test_changes_that_git_has_not_seen_are_never_overwritten(script):
    def git(*words):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words],
            cwd=script.parent,
            check=True,
            capture_output=True,
        )

    git("init", "-q")
    git("add", "train.py")
    git("commit", "-qm", "first")
    script.write_text(SCRIPT + "print(x)\n")
    with pytest.raises(UsageError, match="git does not have yet"):
        adapt(str(script), contract="modelarts", write=True, entry=True)
    assert not (script.parent / "train_entry.py").exists()
    git("commit", "-qam", "second")
    found = adapt(str(script), contract="modelarts", write=True)
    assert found.written and not found.backups


@pytest.mark.parametrize("contract", ["modelarts", "modelarts-v1"])
def test_an_entry_script_is_python_of_any_image(script, contract):
    found = adapt(str(script), contract=contract, entry=True, write=True)
    text = (script.parent / "train_entry.py").read_text()
    ast.parse(text, feature_version=(3, 7))
    assert ("moxing" in text) == (contract == "modelarts-v1") and len(found.written) == 2
    assert not adapt(str(script), contract=contract, entry=True).changed


def test_every_wrong_request_names_the_next_step(script, tmp_path):
    with pytest.raises(UsageError, match="did you mean 'xihe'"):
        adapt(str(script), contract="xhie")
    with pytest.raises(UsageError, match="needs no entry script"):
        adapt(str(script), contract="xihe", entry=True)
    with pytest.raises(NotFoundError, match="there is no"):
        adapt(str(tmp_path / "none.py"))
    with pytest.raises(UsageError, match="is a folder"):
        adapt(str(tmp_path))
    (tmp_path / "train.sh").write_text("true")
    with pytest.raises(UsageError, match="not a Python script"):
        adapt(str(tmp_path / "train.sh"))


def test_a_module_beside_the_script_is_no_library_of_that_name(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import datasets as dt\nprint(dt.load_dataset('tang'))\n")
    told = [each.message for each in adapt(str(script), contract="xihe").findings]
    assert any("tang" in each for each in told)
    (tmp_path / "datasets.py").write_text("def load_dataset(name): ...\n")
    told = [each.message for each in adapt(str(script), contract="xihe").findings]
    assert not any("tang" in each or "load_dataset" in each for each in told)
