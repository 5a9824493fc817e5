"""What a script does behind its training loop, and what of the loop's last round it needs for that."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from torch_stage import HEAD, STEP

ANEW = {
    "a file that is opened again": """
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        best = None
        for epoch in range(4):
            loss = sum(step(net, opt, x, y) for x, y in POINTS)
            if best is None or loss < best:
                with open("best.txt", "w") as f:
                    f.write(str(net(1.0).item()))
                best = loss
            print(epoch, loss)
        with open("best.txt") as f:
            print("end", f.read())
    """,
    "a file that is open before and in the rounds, and an error that they catch": """
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        with open("words.txt", "w") as f:
            f.write("three short words")
        for epoch in range(4):
            with open("words.txt") as f:
                words = f.read().split()
            try:
                loss = sum(step(net, opt, x, y) for x, y in POINTS)
            except RuntimeError as error:
                print(error)
                raise
            print(epoch, loss, len(words))
        print("end", net(1.0).item())
    """,
    "a value that is computed again": """
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for epoch in range(4):
            loss = sum(step(net, opt, x, y) for x, y in POINTS)
            if epoch % 2:
                text, note = open("log.txt", "a"), epoch
                text.close()
            print(epoch, loss)
        text, note = "end", net(1.0).item()
        print(text, note)
    """,
}


@pytest.mark.parametrize("shape", ANEW)
def test_what_gets_another_value_behind_the_loop_is_not_kept(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(ANEW[shape])
    lines = run(text).output.splitlines()
    done = adapt(text)
    assert "locals()" not in done.text
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=3).was_killed
    assert run(done.text, env=env).output.splitlines() == lines[2:]


def test_what_a_file_was_is_not_kept_though_it_is_read_behind():
    done = adapt(
        HEAD
        + STEP
        + textwrap.dedent("""
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for epoch in range(4):
            for x, y in POINTS:
                step(net, opt, x, y)
            if epoch % 2:
                with open("log.txt", "a") as log:
                    best = epoch
        print(log.name, best)
    """)
    )
    assert '"best": best' in done.text and '"log": log' not in done.text
