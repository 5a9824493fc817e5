"""Lists and dictionaries that a loop's function is handed and fills: who has handed them in finds all in them."""

from __future__ import annotations

import pytest
from programs import Program

POINTS = "[(at / 8, at / 4 + 1) for at in range(8)]"
FIT = """
    import torch

    def fit(model, rows, history):
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        for epoch in range(4):
            for x, y in rows:
                STEP
            note(history, epoch)
            print("epoch", epoch)

    def note(seen, epoch):
        for part in ("train", "val"):
            seen[part]["loss"].append(epoch)
"""


def _resumed(program, folder, until):
    flags = ("--train_url", str(folder))
    program.run(*flags, until=until)
    return program.run(*flags)


def test_what_a_round_puts_into_what_another_file_has_handed_in_is_all_there(tmp_path):
    program = Program(
        tmp_path / "code",
        fit=FIT,
        train=f"""
            import torch
            from fit import fit

            def anew():
                return torch.nn.Linear(1, 1), {{"train": {{"loss": []}}, "val": {{"loss": []}}}}

            model, results = anew()
            fit(model, {POINTS}, results)
            print(results)
        """,
    )
    whole = program.run()
    done = program.adapt()
    assert not done.by_hand
    second = _resumed(program, tmp_path / "out", "epoch 1")
    assert second.lines == whole.lines[1:], second.error


def test_a_list_that_is_handed_in_gets_back_what_was_in_it(tmp_path):
    program = Program(
        tmp_path / "code",
        fit=FIT.replace('    for part in ("train", "val"):\n            seen[part]["loss"]', "    seen"),
        train=f"""
            import torch
            from fit import fit

            losses = []
            fit(torch.nn.Linear(1, 1), {POINTS}, losses)
            print(losses)
        """,
    )
    whole = program.run()
    program.adapt()
    second = _resumed(program, tmp_path / "out", "epoch 1")
    assert second.lines == whole.lines[1:], second.error


def test_an_object_that_is_called_like_a_list_stays_as_it_is(tmp_path):
    program = Program(
        tmp_path,
        fit=FIT.replace('    for part in ("train", "val"):\n            seen[part]["loss"]', "    seen"),
        train=f"""
            import torch
            from elsewhere import Record
            from fit import fit

            fit(torch.nn.Linear(1, 1), {POINTS}, Record("log.txt"))
        """,
    )
    program.adapt()
    assert "fill_in_place" not in program.text("fit.py")


def test_a_training_that_a_third_file_repeats_is_refused_where_it_reads_what_the_next_writes(tmp_path):
    program = Program(
        tmp_path,
        fit="""
            import torch

            def fit(model, name, rows):
                optimizer = torch.optim.SGD(model.parameters(), 0.01)
                for epoch in range(4):
                    for x, y in rows:
                        STEP
                    torch.save(model.state_dict(), f"{name}.pt")
        """,
        trials=f"""
            import torch
            from fit import fit

            def trials(count, name):
                for trial in range(count):
                    model = torch.nn.Linear(1, 1)
                    fit(model, name, {POINTS})
                    model.load_state_dict(torch.load(f"{{name}}.pt"))
        """,
        train="""
            from trials import trials

            trials(3, "net")
        """,
    )
    done = program.adapt()
    said = [finding.message for finding in done.by_hand]
    assert said == ["the training of fit.py is done more than once, with one checkpoint for all"]


def test_files_that_a_function_of_the_script_sorts_need_not_be_sorted_again(tmp_path):
    program = Program(
        tmp_path,
        train=f"""
            import random
            import torch
            from pathlib import Path

            def natural_sorted(paths):
                return sorted(paths, key=lambda path: len(str(path)))

            files = natural_sorted(list(Path("rows").glob("*.txt")))
            random.shuffle(files)
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            for epoch in range(4):
                for x, y in {POINTS}:
                    STEP
        """,
    )
    done = program.adapt()
    assert not any("another order" in finding.message for finding in done.findings)


@pytest.mark.parametrize(("made", "read"), [("deque(maxlen=2)", "list(seen)"), ("set()", "sorted(seen)")])
def test_queues_and_sets_that_are_handed_in_get_back_what_was_in_them(made, read, tmp_path):
    fit = FIT.replace('    for part in ("train", "val"):\n            seen[part]["loss"]', "    seen")
    if made == "set()":
        fit = fit.replace("seen.append", "seen.add")
    program = Program(
        tmp_path / "code",
        fit=fit,
        train=f"""
            import torch
            from collections import deque
            from fit import fit

            seen = {made}
            fit(torch.nn.Linear(1, 1), {POINTS}, seen)
            print({read})
        """,
    )
    whole = program.run()
    assert not program.adapt().by_hand
    assert _resumed(program, tmp_path / "out", "epoch 1").lines[-1] == whole.lines[-1]
