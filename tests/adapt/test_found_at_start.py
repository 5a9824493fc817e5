"""Weights that a script loads where it finds them, and that its own rounds save: no start for a stint."""

from __future__ import annotations

import pytest
from programs import Program

SHAPES = {
    "in front of the loop": """
        import os
        import torch
        {made}
        def main():
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters())
            if os.path.exists(os.path.join("saved", "net.pth")):
                model.load_state_dict(torch.load(os.path.join("saved", "net.pth")))
            for epoch in range(3):
                for x, y in [(1.0, 2.0), (0.5, 1.5)]:
                    STEP
                torch.save(model.state_dict(), os.path.join("saved",
                                                            "net.pth"))
                print("saved", epoch)
                print(epoch, loss.item())
        main()
    """,
    "in front of the call that leads to it": """
        import os
        import torch
        {made}
        PATH = "saved/net.pth"
        def train(model, optimizer):
            for epoch in range(3):
                for x, y in [(1.0, 2.0), (0.5, 1.5)]:
                    STEP
                torch.save(model.state_dict(), PATH)
                print("saved", epoch)
                print(epoch, loss.item())
        def main():
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters())
            if not os.path.isfile(PATH):
                print("anew")
            else:
                model.load_state_dict(torch.load(PATH))
            train(model, optimizer)
        main()
    """,
}
MADE = 'os.makedirs("saved", exist_ok=True)'


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_killed_round_has_saved_is_no_start(shape, tmp_path):
    program = Program(tmp_path / "code", train=SHAPES[shape].format(made=MADE))
    program.adapt()
    straight = program.run("--train_url", str(tmp_path / "straight"))
    assert straight.code == 0, straight.error
    out = tmp_path / "out"
    assert program.run("--train_url", str(out), until="saved 0").code != 0
    (out / "net.pth").write_bytes((out / "net.pth").read_bytes()[:9])  # the stop came while it was written
    again = program.run("--train_url", str(out))
    assert (again.lines, again.error) == (straight.lines, "")
    assert (out / "net.pth").read_bytes() == (tmp_path / "straight" / "net.pth").read_bytes()


@pytest.mark.parametrize("shape", SHAPES)
def test_without_the_contract_it_is_found_as_before(shape, tmp_path):
    program = Program(tmp_path / "code", train=SHAPES[shape].format(made=MADE))
    before = [program.run().lines for _ in range(2)]
    (tmp_path / "code/saved/net.pth").unlink()
    program.adapt()
    assert [program.run().lines for _ in range(2)] == before
    assert before[0] != before[1]


def test_a_flag_that_asks_for_it_works_as_before(tmp_path):
    text = SHAPES["in front of the loop"].replace("if os.path.exists", "if FLAG and os.path.exists")
    text = text.replace("def main", "import sys\n        FLAG = '--anew' not in sys.argv\n        def main")
    program = Program(tmp_path / "code", train=text.format(made=MADE))
    program.adapt()
    assert "if FLAG and os.path.exists" in program.text("train.py")
