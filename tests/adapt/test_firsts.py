"""What a script saves before its rounds must not take the place of what the rounds have saved since."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from torch_stage import HEAD, STEP

#: the second round is the best one, so that a stop behind it must not lose it
SHAPES = {
    "the weights of the start, in a folder of results": """
        import os
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        best = os.path.join("kept_weights", "best.pt")
        os.makedirs("kept_weights", exist_ok=True)
        torch.save(net.state_dict(), best)
        for epoch in range(5):
            loss = sum(step(net, opt, x, y) for x, y in POINTS)
            if epoch == 1:
                torch.save(net.state_dict(), best)
            print(epoch, loss)
        net.load_state_dict(torch.load(best))
        print("end", net(1.0).item())
    """,
    "several lines, under a condition": """
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        if POINTS:
            torch.save(
                net.state_dict(),
                "best.pt",
            )
        for epoch in range(5):
            loss = sum(step(net, opt, x, y) for x, y in POINTS)
            if epoch == 1:
                torch.save(net.state_dict(), "best.pt")
            print(epoch, loss)
        net.load_state_dict(torch.load("best.pt"))
        print("end", net(1.0).item())
    """,
    "a temporary folder": """
        import os
        from tempfile import TemporaryDirectory
        def fit(net, opt):
            with TemporaryDirectory() as folder:
                best = os.path.join(folder, "best.pt")
                torch.save(net.state_dict(), best)
                for epoch in range(5):
                    loss = sum(step(net, opt, x, y) for x, y in POINTS)
                    if epoch == 1:
                        torch.save(net.state_dict(), best)
                    print(epoch, loss)
                net.load_state_dict(torch.load(best))
            return net
        net = nn.Linear(1, 1)
        print("end", fit(net, torch.optim.SGD(net.parameters()))(1.0).item())
    """,
    "a temporary folder that nothing is saved in before, of two trainings": """
        import os, tempfile
        def fit(net, opt):
            folder = tempfile.mkdtemp()
            for epoch in range(3):
                loss = sum(step(net, opt, x, y) for x, y in POINTS)
                if epoch < 2:
                    torch.save(net.state_dict(), os.path.join(folder, "best.pt"))
                print(epoch, loss)
            net.load_state_dict(torch.load(os.path.join(folder, "best.pt")))
            print("trained", net(1.0).item())
        for size in (1, 2):
            net = nn.Linear(1, 1)
            fit(net, torch.optim.SGD(net.parameters()))
    """,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_best_weights_outlive_a_stop(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(SHAPES[shape])
    lines = run(text).output.splitlines()
    done = adapt(text)
    assert run(done.text).output.splitlines() == lines
    for stop in range(3, len(lines) + 1):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{stop}")}
        assert run(done.text, env=env, kill_after=stop).was_killed
        assert run(done.text, env=env).output.splitlines()[-1] == lines[-1], stop


def test_a_temporary_folder_of_other_things_stays_where_it_is():
    text = """
        import os, tempfile
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        with tempfile.TemporaryDirectory() as folder:
            for epoch in range(3):
                for x, y in POINTS:
                    step(net, opt, x, y)
                open(os.path.join(folder, "note"), "w").close()
                torch.save(net, f"{epoch}.pt")
    """
    assert ".files" not in adapt(HEAD + STEP + textwrap.dedent(text)).text
