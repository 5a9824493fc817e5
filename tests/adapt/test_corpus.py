"""Scripts as users write them: fitted without help or refused with a reason, and never changed in what they do."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys

import pytest
from stage import CORPUS, RUNNABLE, adapted_to, furnish, play, read

from outlast.adapt import CONTRACTS, adapt_text
from outlast.migrate.engine import Kind

NAMES = sorted(path.stem for path in CORPUS.glob("*.py"))
#: Positional arguments that a script cannot do without.
NEEDED = {"np_positional": ["data"], "np_required": ["--data_dir=data"]}


def home(tmp_path, name):
    folder = tmp_path / name
    furnish(folder / "data")
    if name.startswith("np_two_folders"):
        (folder / "labels").mkdir()
        (folder / "labels" / "labels.csv").write_text("\n".join(str(at / 10) for at in range(24)))
    return folder


def test_nine_of_ten_scripts_need_no_help_and_the_rest_has_reasons():
    assert len(NAMES) >= 60
    for contract in ("modelarts", "xihe", "plain"):
        done = {name: adapted_to(contract, name) for name in NAMES}
        left = [name for name in NAMES if not done[name].is_complete]
        assert len(left) <= len(NAMES) // 10, left
        assert all(finding.message and finding.line for name in left for finding in done[name].findings)


@pytest.mark.parametrize("contract", ["modelarts", "xihe", "plain"])
def test_a_second_adaptation_changes_nothing(contract):
    for name in NAMES:
        once = adapted_to(contract, name)
        ast.parse(once.text)
        twice = adapt_text(once.text, CONTRACTS[contract])
        assert twice.text == once.text, name
        assert {said.message for said in _told(twice)} <= {said.message for said in _told(once)}, name


def _told(done):
    """What is told without being changed."""
    return [finding for finding in done.findings if finding.kind in (Kind.HAND, Kind.DIFFERS)]


def test_every_argument_of_the_contract_is_known_afterwards():
    for name in NAMES:
        done = adapted_to("xihe", name)
        if any(finding.rule == "arguments" and finding.kind is Kind.HAND for finding in done.findings):
            continue
        assert all(word in done.text for word in ("data_url", "output_path")), name


@pytest.mark.parametrize("name", RUNNABLE)
def test_without_the_new_arguments_nothing_is_different(name, tmp_path):
    text = read(name)
    before = play(text, home(tmp_path / "before", name), *NEEDED.get(name, []))
    assert before.output
    for contract in ("modelarts", "plain"):
        adapted = adapted_to(contract, name)
        assert adapted.text != text or not adapted.is_complete
        after = play(adapted.text, home(tmp_path / contract, name), *NEEDED.get(name, []))
        assert (after.output, after.files) == (before.output, before.files)


@pytest.mark.parametrize("name", RUNNABLE)
def test_with_them_data_and_results_lie_elsewhere(name, tmp_path):
    text = read(name)
    before = play(text, home(tmp_path / "before", name), *NEEDED.get(name, []))
    made = set(before.files) - {"data/points.csv", "labels/labels.csv"}
    folder, results = home(tmp_path / "input", name), tmp_path / "results"
    (tmp_path / "empty").mkdir()
    results.mkdir()
    data = folder if name == "np_two_folders" else folder / "data"
    adapted = adapted_to("modelarts", name).text
    after = play(adapted, tmp_path / "empty", f"--data_url={data}", f"--train_url={results}")
    assert after.output == before.output
    assert not after.files, "nothing may be written beside the code"
    found = {path.name: path.read_bytes() for path in results.rglob("*") if path.is_file() and path.stem != "resume"}
    assert found == {path.rpartition("/")[2]: before.files[path] for path in made}


def same(path, left, right):
    """Byte for byte; pickles of equal values may differ in what they share."""
    return left == right or (path.endswith(".pkl") and repr(pickle.loads(left)) == repr(pickle.loads(right)))


@pytest.mark.parametrize("name", RUNNABLE)
def test_killed_anywhere_it_ends_with_the_same_numbers(name, tmp_path):
    text = read(name)
    before = play(text, home(tmp_path / "before", name), *NEEDED.get(name, []))
    lines = before.output.splitlines()
    adapted = adapted_to("plain", name).text
    for at in range(1, len(lines), 3):
        folder, keeps = home(tmp_path / f"killed{at}", name), tmp_path / f"keeps{at}"
        keeps.mkdir()
        env = {"OUTLAST_CHECKPOINT": str(keeps)}
        first = play(adapted, folder, *NEEDED.get(name, []), env=env, kill_after=at)
        assert first.was_killed
        if name == "np_makedirs":
            (folder / "snapshots").rename(folder / "old")  # a stint starts with fresh code
        second = play(adapted, folder, *NEEDED.get(name, []), env=env)
        seen = second.output.splitlines()
        assert seen == lines[len(lines) - len(seen) :], f"killed after line {at}"
        assert len(seen) < len(lines) or at == 1, "it must not begin anew"
        for path, data in before.files.items():
            if path in second.files:
                assert same(path, second.files[path], data), path


def test_flags_of_absl_take_the_contract_in_a_real_process(tmp_path):
    folder = home(tmp_path, "np_absl")
    runs = []
    for at, (text, words) in enumerate(
        [
            (read("np_absl"), []),
            (adapted_to("modelarts", "np_absl").text, []),
            (adapted_to("modelarts", "np_absl").text, [f"--data_url={folder / 'data'}", f"--train_url={tmp_path}"]),
        ]
    ):
        cwd = folder if at < 2 else tmp_path
        (cwd / "script.py").write_text(text)
        done = subprocess.run(
            [sys.executable, "script.py", *words], cwd=cwd, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        runs.append(done.stdout)
    assert runs[0] == runs[1] == runs[2]
    assert (tmp_path / "w.npy").read_bytes() == (folder / "w.npy").read_bytes()
