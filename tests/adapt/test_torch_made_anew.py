"""Trainings of torch in which only some rounds make what later ones use: killed, they go on."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from torch_stage import HEAD, STEP

ANEW = {
    "an iterator that is made when an epoch begins": """
        for iteration in range(0, 4 * len(POINTS)):
            if iteration % len(POINTS) == 0:
                batches = iter(sorted(POINTS, key=lambda point: torch.draw()))
            x, y = next(batches)
            print(iteration, step(model, optimizer, x, y))
    """,
    "a number that some rounds find": """
        for epoch in range(6):
            if epoch % 4 == 0:
                score = torch.draw()
            for x, y in POINTS:
                step(model, optimizer, x, y)
            print(epoch, score, model(1.0).item())
    """,
}


@pytest.mark.parametrize("shape", ANEW)
@pytest.mark.parametrize("after", [2, 5, 6])
def test_what_only_some_rounds_make_is_there_after_a_stop(shape, after, run, tmp_path):
    made = "model = nn.Linear(1, 1)\noptimizer = torch.optim.SGD(model.parameters())\n"
    text = HEAD + STEP + made + textwrap.dedent(ANEW[shape])
    expected = run(text).output.splitlines()
    changed = adapt(text).text
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(changed, env=env, kill_after=after).was_killed
    again = run(changed, env=env).output.splitlines()
    assert again == expected[len(expected) - len(again) :] and (len(again) < len(expected) or after == 2)


def test_an_iterator_that_is_made_by_chance_and_used_always_is_refused():
    text = HEAD + textwrap.dedent("""
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters())
        size = 4
        for iteration in range(40):
            if iteration % size == 0:
                batches = iter(POINTS)
                size = size + len(POINTS)
            x, y = next(batches)
            optimizer.zero_grad()
            model(x).backward()
            optimizer.step()
    """)
    done = adapt(text)
    assert [each.message for each in done.findings if "batches" in each.message] == [
        "batches is made in some rounds and used in all, and is not there before the loop"
    ]


def test_what_is_made_under_a_condition_and_then_loaded_goes_on(run, tmp_path):
    text = (
        HEAD
        + STEP
        + textwrap.dedent("""
        import argparse
        def load(path, net, opt, rate):
            net.load_state_dict(torch.load(path))
            return net, opt, rate
        parser = argparse.ArgumentParser()
        parser.add_argument("--no_train", action="store_true")
        parser.add_argument("--resume_path", default=None)
        args = parser.parse_args()
        model = nn.Linear(1, 1)
        if not args.no_train:
            optimizer = torch.optim.SGD(model.parameters())
            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        if args.resume_path is not None:
            if not args.no_train:
                model, optimizer, scheduler = load(args.resume_path, model, optimizer, scheduler)
        for epoch in range(5):
            if not args.no_train:
                for x, y in POINTS:
                    step(model, optimizer, x, y)
                scheduler.step()
            print(epoch, model(1.0).item())
    """)
    )
    lines = run(text).output.splitlines()
    changed = adapt(text).text
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(changed, env=env, kill_after=3).was_killed
    assert run(changed, env=env).output.splitlines() == lines[2:]
