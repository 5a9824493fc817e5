"""Trainings in objects whose fields are declared instead of set by a method of their own."""

from __future__ import annotations

from programs import Program

from outlast.migrate.engine import Kind

DECLARED = {
    "train": """
        import torch
        from torch import nn
        from trainer import Careful
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        trainer = Careful(model=model, optimizer=optimizer, rounds=6, limit=0.5)
        trainer.fit()
    """,
    "trainer": """
        from __future__ import annotations
        from copy import deepcopy
        from dataclasses import dataclass, field
        import torch
        from torch import nn
        @dataclass
        class Record:
            losses: list = field(default_factory=list)
            def update(self, loss):
                self.losses.append(loss)
        @dataclass
        class Records:
            record: Record = field(default_factory=Record)
            count: int = 0
        @dataclass
        class Trainer:
            model: nn.Module
            optimizer: torch.optim.Optimizer
            rounds: int = 3
            best: float = 100.0
            def __post_init__(self):
                self.records = Records()
                self.best_state = deepcopy(self.model.state_dict())
            def fit(self):
                model, optimizer = self.model, self.optimizer
                for epoch in range(self.rounds):
                    for x, y in [(1.0, 2.0), (2.0, 3.0)]:
                        STEP
                    self.note(loss.item())
                    print("epoch", epoch, self.best, len(self.records.record.losses), self.records.count)
                model.load_state_dict(self.best_state)
                print("end", model(1.0).item())
        @dataclass
        class Careful(Trainer):
            limit: float = 1.0
            def note(self, loss):
                self.records.record.update(loss)
                self.records.count += 1
                if loss < self.best and self.records.count < 3:
                    self.best = loss
                    self.best_state = deepcopy(self.model.state_dict())
    """,
}


def test_a_training_in_a_dataclass_goes_on_with_the_same_numbers(tmp_path):
    program = Program(tmp_path / "code", **DECLARED)
    done = program.adapt()
    assert not done.by_hand
    assert not [each for each in done.findings if each.kind is Kind.DIFFERS and "anew" in each.message]
    straight = program.run("--train_url", str(tmp_path / "straight"))
    assert straight.code == 0, straight.error
    options = "--train_url", str(tmp_path / "out")
    assert program.run(*options, until="epoch 3").code < 0
    rest = program.run(*options)
    assert rest.code == 0, rest.error
    assert len(rest.lines) < len(straight.lines) and straight.lines[-len(rest.lines) :] == rest.lines


def test_what_is_set_right_before_the_loop_is_not_put_back(tmp_path):
    files = {**DECLARED, "trainer": DECLARED["trainer"].replace(
        "                for epoch in range(self.rounds)", "                self.asked = self.rounds\n"
        "                for epoch in range(self.asked)")}  # fmt: skip
    program = Program(tmp_path / "code", **files)
    program.adapt()
    assert "self.asked" in program.text("trainer.py") and '"self.asked"' not in program.text("trainer.py")
