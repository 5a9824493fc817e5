"""Records of a training: what the rounds add to is kept, also where a start may read it from a file of its own."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from checked import said
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

RECORDS = {
    "a dictionary of lists": """
        import json
        anew = True
        seen = {"losses": [], "scores": []}
        if not anew:
            with open("seen.json") as file:
                seen = json.load(file)
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for epoch in range(4):
            seen["losses"].append(sum(step(net, opt, x, y) for x, y in POINTS))
            print(epoch)
        print("end", seen)
    """,
    "a list": """
        import pickle
        seen = []
        if len(POINTS) > 99:
            seen = pickle.load(open("seen.pkl", "rb"))
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for epoch in range(4):
            seen.append(sum(step(net, opt, x, y) for x, y in POINTS))
            print(epoch)
        print("end", seen)
    """,
}


@pytest.mark.parametrize("shape", RECORDS)
def test_a_record_that_may_come_from_a_file_goes_on(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(RECORDS[shape])
    lines = run(text).output.splitlines()
    done = adapt(text)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=3).was_killed
    assert run(done.text, env=env).output.splitlines() == lines[2:]


@pytest.mark.parametrize("count", ["np.arange(4)", "np.arange(0, 4)", "np.arange(1, 8, 2)", "tqdm(np.arange(4))"])
def test_rounds_that_numpy_counts_go_on(count, run, tmp_path):
    loop = f"""
        import numpy as np
        tqdm = iter
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for epoch in {count}:
            print(epoch, sum(step(net, opt, x, y) for x, y in POINTS))
    """
    text = HEAD + STEP + textwrap.dedent(loop)
    lines = run(text).output.splitlines()
    done = adapt(text)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=3).was_killed
    assert run(done.text, env=env).output.splitlines() == lines[2:]


@pytest.mark.parametrize("count", ["np.arange(0, 1, 0.25)", "np.arange(0.0, 4)", "np.arange(4, dtype=float)"])
def test_rounds_that_are_counted_by_fractions_are_refused(count):
    loop = f"""
        import numpy as np
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for epoch in {count}:
            print(epoch, sum(step(net, opt, x, y) for x, y in POINTS))
    """
    assert "resume.pt" not in adapt(HEAD + STEP + textwrap.dedent(loop)).text


@pytest.mark.parametrize(("line", "is_told"), [("meter.reset()", False), ("if epoch: meter.reset()", True)])
def test_nothing_is_said_of_what_each_round_begins_anew(line, is_told):
    loop = f"""
        from elsewhere import Meter
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        meter = Meter()
        for epoch in range(4):
            {line}
            meter.add(sum(step(net, opt, x, y) for x, y in POINTS))
            print(epoch, meter.value())
    """
    done = adapt(HEAD + STEP + textwrap.dedent(loop))
    assert ("meter starts anew" in said(done, Kind.DIFFERS)) is is_told


def test_weights_that_a_class_computes_itself_are_kept_whatever_made_them(run, tmp_path):
    text = textwrap.dedent("""
        import numpy as np
        class Line:
            def __init__(self):
                first = lambda size: np.random.randn(size) * 0.1
                self.weights = first(3)
            def train(self, rows, epochs):
                seen = []
                for epoch in range(epochs):
                    rows = rows[np.random.permutation(len(rows))]
                    for row in rows:
                        self.weights -= 0.1 * (self.weights - row)
                    seen.append(float(self.weights.sum()))
                    print(epoch, seen[-1])
                return seen
        print("end", Line().train(np.arange(12.0).reshape(4, 3), 5))
    """)
    lines = run(text).output.splitlines()
    done = adapt(text)
    assert not said(done, Kind.HAND)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=3).was_killed
    assert run(done.text, env=env).output.splitlines() == lines[2:]
