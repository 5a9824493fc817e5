"""Rounds whose parts lie in several files: trainings that another file repeats, and lists that another one fills."""

from __future__ import annotations

from programs import Program

POINTS = "[(at / 8, at / 4 + 1) for at in range(8)]"


def test_each_training_of_another_file_has_a_checkpoint_of_its_own(tmp_path):
    program = Program(
        tmp_path / "code",
        fold="""
            import torch

            def train_fold(rows):
                model = torch.nn.Linear(1, 1)
                optimizer = torch.optim.SGD(model.parameters(), 0.01)
                for epoch in range(3):
                    for x, y in rows:
                        STEP
                    print("epoch", len(rows), epoch)
                return loss.item()
        """,
        train=f"""
            import torch
            from fold import train_fold

            results = []
            for k in range(3):
                results.append(train_fold({POINTS}[k:]))
            print(results)
        """,
    )
    whole = program.run()
    done = program.adapt("modelarts")
    assert not done.by_hand and program.run().lines == whole.lines
    flags = ("--train_url", str(tmp_path / "out"))
    program.run(*flags, until=whole.lines[4])
    second = program.run(*flags)
    assert second.code == 0, second.error
    assert second.lines[-1] == whole.lines[-1] and len(second.lines) < len(whole.lines)


def test_trainings_that_read_what_the_next_one_writes_are_refused(tmp_path):
    program = Program(
        tmp_path,
        fold="""
            import torch

            def train_fold(model):
                optimizer = torch.optim.SGD(model.parameters(), 0.01)
                x, y = torch.Tensor([1.0]), torch.Tensor([2.0])
                for epoch in range(3):
                    STEP
                    torch.save(model.state_dict(), "best.pth")
        """,
        train="""
            import torch
            from fold import train_fold

            for rate in (1, 2, 3):
                model = torch.nn.Linear(1, 1)
                train_fold(model)
                model.load_state_dict(torch.load("best.pth"))
        """,
    )
    done = program.adapt("modelarts")
    assert any("the training of fold.py is done more than once" in finding.message for finding in done.by_hand)


def test_what_functions_of_another_file_put_into_lists_goes_on(tmp_path):
    program = Program(
        tmp_path / "code",
        util="""
            import random

            def note(history, value):
                keep(history["loss"], value)

            def keep(values, value):
                values.append(value)

            def batches(data):
                random.shuffle(data)
                yield from data

            def show(seen):
                print("epoch", len(seen))
        """,
        train=f"""
            import random
            import torch
            from util import note, batches, show

            random.seed(1)
            rows, seen = {POINTS}, [1]
            history = {{"loss": []}}
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            for epoch in range(4):
                for x, y in batches(rows):
                    STEP
                note(history, loss.item())
                show(seen)
                print("done", epoch)
            print(history)
        """,
    )
    whole = program.run()
    program.adapt()
    assert '"rows": rows' in program.text("train.py") and '"seen": seen' not in program.text("train.py")
    flags = ("--train_url", str(tmp_path / "out"))
    program.run(*flags, until="done 1")
    assert program.run(*flags).lines[-1] == whole.lines[-1]
