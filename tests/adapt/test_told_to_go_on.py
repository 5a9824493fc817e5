"""Scripts that load a checkpoint when they are told to, while the loop that trains stands in another file."""

from __future__ import annotations

from programs import Program

from outlast.migrate.engine import Kind

TRAINER = """
    import torch

    class Trainer:
        def __init__(self, model, start):
            self.model, self.start = model, start
            self.optimizer = torch.optim.SGD(model.parameters(), 0.01)

        def train(self):
            optimizer, model = self.optimizer, self.model
            for epoch in range(self.start, 4):
                for x, y in [(1.0, 2.0)]:
                    STEP
                print("epoch", epoch)
"""
TRAIN = """
    import argparse
    import torch
    from trainer import Trainer

    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", default="")
    args = parser.parse_args()
    model = torch.nn.Linear(1, 1)
    start_epoch = 0
    if args.resume:
        state = torch.load(args.resume)
        model.load_state_dict(state["model"])
        start_epoch = state["epoch"]
    Trainer(model, start_epoch).train()
"""


def test_the_loop_of_another_file_goes_on_by_itself_though_the_script_can_be_told_to(tmp_path):
    program = Program(tmp_path / "code", trainer=TRAINER, train=TRAIN)
    done = program.adapt()
    said = [finding.message for finding in done.findings if finding.kind is Kind.KEPT]
    assert said == ["--resume=PATH goes on as before; in a stint nothing need be passed"]
    flags = ("--train_url", str(tmp_path / "out"))
    program.run(*flags, until="epoch 2")
    second = program.run(*flags)
    assert second.lines == ["epoch 2", "epoch 3"], second.error


def test_where_no_loop_is_seen_the_flag_is_named(tmp_path):
    program = Program(tmp_path, trainer="import strange\n\nclass Trainer(strange.Trainer):\n    pass\n", train=TRAIN)
    done = program.adapt()
    assert any("goes on only when it is started with --resume=PATH" in finding.message for finding in done.findings)
    assert not done.by_hand


def test_an_option_with_an_action_of_the_program_is_a_place(tmp_path):
    program = Program(
        tmp_path,
        tools="""
            import argparse
            import os

            class MakeFolder(argparse.Action):
                def __call__(self, parser, namespace, value, option=None):
                    os.makedirs(value, exist_ok=True)
                    setattr(namespace, self.dest, value)

            def note(line, output):
                with open(f"{output}/notes.csv", "a") as file:
                    file.write(line)
        """,
        train="""
            import argparse
            from tools import MakeFolder, note

            parser = argparse.ArgumentParser()
            parser.add_argument("--output", action=MakeFolder, default="results/training/")
            parser.add_argument("--quick", action="store_true")
            args = parser.parse_args()
            note("done", args.output)
        """,
    )
    program.adapt()
    assert "args.output = " in program.text("train.py")
