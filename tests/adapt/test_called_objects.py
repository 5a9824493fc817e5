"""Paths that an object of another file is called with: `stop(loss, nets, ["a.pt", "b.pt"])`."""

from __future__ import annotations

import pytest
from programs import Program

STOPPING = """
    import torch

    class Stopping:
        def __init__(self, patience):
            self.best = None
        def __call__(self, loss, models, places):
            if self.best is None or loss < self.best:
                self.best = loss
                self.keep(models, places)
        def keep(self, models, places):
            [net] = models
            UNPACK
"""
TRAIN = """
    import torch
    from stopping import Stopping

    FIRST = "first_kept"
    SECOND = "second_kept"
    torch.manual_seed(1)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    stop = Stopping(3)
    for epoch in range(3):
        for x, y in [(1.0, 2.0)]:
            STEP
        stop(loss.item(), [model], PLACES)
        print("epoch", epoch, flush=True)
"""


@pytest.mark.parametrize(
    ("unpack", "places", "names"),
    [
        ("torch.save(net.state_dict(), places)", "FIRST", ["first_kept"]),
        (
            "[one, two] = places\n            torch.save(net.state_dict(), one)\n"
            "            torch.save(net.state_dict(), two)",
            "[FIRST, SECOND]",
            ["first_kept", "second_kept"],
        ),
    ],
)
def test_what_an_object_saves_lies_in_the_output_folder(unpack, places, names, tmp_path):
    train = TRAIN.replace("PLACES", places)
    program = Program(tmp_path / "code", train=train, stopping=STOPPING.replace("UNPACK", unpack))
    program.adapt()
    ran = program.run("--train_url", str(tmp_path / "out"))
    assert ran.code == 0, ran.error
    assert all((tmp_path / "out" / name).exists() for name in names)
