"""What a round may read of an earlier one, though nothing of that name is there before the loop."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from checked import said
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

MODEL = """
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters())
"""

SHAPES = {
    "the best so far, given back from within the loop": """
        def fit(net, opt, epochs):
            losses = []
            for epoch in range(epochs):
                loss = sum(step(net, opt, x, y) for x, y in POINTS)
                losses.append(loss)
                if epoch < 2:
                    best = net(1.0).item()
                print(epoch, loss)
                if epoch + 1 == epochs:
                    return best, losses
        print("end", *fit(net, opt, 5))
    """,
    "a counter that the first round sets": """
        def fit(net, opt, epochs):
            lowest = 1e9
            for epoch in range(epochs):
                loss = sum(step(net, opt, x, y) for x, y in POINTS) * (1 if epoch < 2 else 99)
                if loss < lowest:
                    lowest = loss
                    waited = 0
                else:
                    waited += 1
                    if waited == 3:
                        print("stopped", epoch)
                        break
                print(epoch, loss, waited)
        fit(net, opt, 9)
        print("end", net(1.0).item())
    """,
    "a score of every second round": """
        for epoch in range(5):
            loss = sum(step(net, opt, x, y) for x, y in POINTS)
            if epoch in (0, 1):
                score = net(1.0).item()
            for x, y in POINTS:
                if x > 99:
                    print("never", score)
            print(epoch, loss) if epoch < 2 else print(epoch, loss, score)
        print("end", net(1.0).item())
    """,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kill_after", [2, 3])
def test_what_an_earlier_round_has_bound_is_there_after_a_stop(shape, kill_after, run, tmp_path):
    text = HEAD + STEP + MODEL + textwrap.dedent(SHAPES[shape])
    lines = run(text).output.splitlines()
    done = adapt(text)
    assert not said(done, Kind.HAND)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=kill_after).was_killed
    assert run(done.text, env=env).output.splitlines() == lines[-len(lines) + kill_after - 1 :]


SURE = {
    "bound in both branches": """
        if epoch % 2:
            shown = 1
        else:
            shown = 2
        print(shown)
    """,
    "bound and read under one condition": """
        if epoch % 2 == 0:
            shown = open("log.txt", "a")
        loss += 1
        if epoch % 2 == 0 and loss:
            shown.close()
    """,
    "bound where the other branch ends the round": """
        if loss > 99:
            continue
        else:
            shown = 2
        print(shown)
    """,
    "bound in the first step of each round": """
        for at, point in enumerate(POINTS):
            if at % 2 == 0:
                shown = at
            print(shown)
    """,
    "bound by loops, files and what may fail": """
        for shown in POINTS:
            pass
        print(shown)
        with open("log.txt", "a") as held:
            held.write("x")
        try:
            found = 1
        except ValueError:
            raise
        print(found, [shown for shown in POINTS])
    """,
}


@pytest.mark.parametrize("shape", SURE)
def test_what_each_round_binds_itself_is_not_kept(shape):
    body = textwrap.indent(textwrap.dedent(SURE[shape]), "    ")
    loop = "for epoch in range(4):\n    loss = sum(step(net, opt, x, y) for x, y in POINTS)\n"
    done = adapt(HEAD + STEP + MODEL + loop + body)
    assert "resume.pt" in done.text and "locals()" not in done.text


@pytest.mark.parametrize(
    ("made", "use"),
    [
        ("iter(POINTS)", "if loss > 0: print(shown)"),
        ("open('log.txt', 'a')", "if loss > 0: print(shown)"),
        ("plt.figure()", "shown.clear()"),
    ],
)
def test_what_no_file_can_hold_is_refused(made, use):
    text = f"""
        import matplotlib.pyplot as plt
        for epoch in range(4):
            loss = sum(step(net, opt, x, y) for x, y in POINTS)
            if epoch == 0:
                shown = {made}
            {use}
    """
    done = adapt(HEAD + STEP + MODEL + textwrap.dedent(text))
    assert "shown is made in some rounds and used in others" in said(done, Kind.HAND)
    assert "resume.pt" not in done.text


def test_a_figure_that_some_rounds_draw_is_made_anew():
    text = """
        import matplotlib.pyplot as plt
        for epoch in range(4):
            loss = sum(step(net, opt, x, y) for x, y in POINTS)
            if epoch % 2 == 0:
                shown, axes = plt.subplots()
            if epoch in (0, 2):
                shown.savefig("shown.png")
    """
    done = adapt(HEAD + STEP + MODEL + textwrap.dedent(text))
    assert not said(done, Kind.HAND)
    assert "resume.pt" in done.text and "locals()" not in done.text
