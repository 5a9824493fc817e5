"""Results that are named by the clock: each stint finds what the ones before have left."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt, adapt_plainly
from torch_stage import HEAD, STEP

ROUNDS = """
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for epoch in range(5):
            loss = sum(step(net, opt, x, y) for x, y in POINTS)
            if epoch == 1:
                torch.save(net.state_dict(), best)
            print(epoch, loss)
        net.load_state_dict(torch.load(best))
        print("end", net(1.0).item())
"""
SHAPES = {
    "a folder": """
        import os, time
        folder = os.path.join("runs", time.strftime("%H%M") + str(time.time_ns()))
        stamp = str(time.time())
        os.makedirs(os.path.join(folder, stamp))
        best = os.path.join("runs", f"{stamp}.pt")
    """,
    "parts of a moment": """
        from datetime import datetime
        now = datetime.now()
        stamp = "{}-{}".format(now.second, now.microsecond)
        best = "best_" + stamp + ".pt"
    """,
    "a moment that is written": """
        import datetime
        now = datetime.datetime.now()
        best = "best_" + now.strftime("%H%M%S%f") + ".pt"
    """,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_name_that_the_clock_makes_is_the_same_in_each_stint(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(SHAPES[shape]) + textwrap.dedent(ROUNDS)
    lines = run(text).output.splitlines()
    done = adapt_plainly(text)
    assert run(done.text).output.splitlines() == lines
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=3).was_killed
    assert run(done.text, env=env).output.splitlines() == lines[2:]


def test_a_time_that_names_nothing_stays_the_time():
    text = HEAD + STEP + "import time\nstart = str(time.time())\nbest = 'best.pt'\n" + textwrap.dedent(ROUNDS)
    assert "first_name" not in adapt_plainly(text).text


def test_a_function_reads_the_folder_where_its_name_is_made():
    text = """
        import argparse, time
        stamp = time.strftime("%H%M")
        def main(args):
            best = args.out + "/" + stamp + ".pt"
            net = nn.Linear(1, 1)
            opt = torch.optim.SGD(net.parameters())
            for epoch in range(5):
                for x, y in POINTS:
                    step(net, opt, x, y)
                torch.save(net.state_dict(), best)
        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("--out", default="out")
            main(parser.parse_args())
    """
    done = adapt(HEAD + STEP + textwrap.dedent(text))
    assert 'first_name(time.strftime("%H%M"), os.environ.get("OUTLAST_CHECKPOINT") or contract.train_url' in done.text
