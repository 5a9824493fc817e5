"""Things that are handed on in a list and taken out of it again, and rounds that are counted behind a wrapper."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt, said
from checked import adapt_plainly as plain
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

SHAPES = {
    "models in a list that a function takes apart": """
        def one_epoch(models, opt):
            [first, second] = models
            first.train()
            second.train()
            loss = 0
            for x, y in POINTS:
                opt.zero_grad()
                away = second(first(x)) - y
                (away * away).backward()
                opt.step()
                loss += (away * away).item()
            return loss
        first, second = nn.Linear(1, 1), nn.Linear(1, 1)
        models = [first, second]
        opt = torch.optim.SGD([*first.parameters(), *second.parameters()])
        for epoch in range(4):
            print(epoch, one_epoch(models, opt))
        print("end", second(first(1.0)).item())
    """,
    "models without names": """
        def one_epoch(models, opt):
            first, second = models
            first.train()
            second.train()
            loss = 0
            for x, y in POINTS:
                opt.zero_grad()
                away = second(first(x)) - y
                (away * away).backward()
                opt.step()
                loss += (away * away).item()
            return loss
        models = [nn.Linear(1, 1) for _ in range(2)]
        opt = torch.optim.SGD([each for net in models for each in net.parameters()])
        for epoch in range(4):
            print(epoch, one_epoch(models, opt))
        print("end", models[1](models[0](1.0)).item())
    """,
    "a list that a function gives back beside a number": """
        import os
        def begin(net, path):
            if not os.path.exists(path):
                return 0, []
            state = torch.load(path)
            net.load_state_dict(state["net"])
            return state["round"], state["seen"]
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        start, seen = begin(net, "own.pt")
        for epoch in range(start, 4):
            loss = sum(step(net, opt, x, y) for x, y in POINTS)
            seen.append(loss)
            print(epoch, sum(seen))
        print("end", seen)
    """,
    "rounds of an iterator": """
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        rounds = range(4)
        rate = 1
        for epoch in iter(rounds):
            print(epoch, sum(step(net, opt, x, y) for x, y in POINTS))
        print("end", net(1.0).item())
    """,
    "a range in a wrapper": """
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for epoch in iter(range(4)):
            print(epoch, sum(step(net, opt, x, y) for x, y in POINTS))
        print("end", net(1.0).item())
    """,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_it_goes_on_after_a_stop(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(SHAPES[shape])
    lines = run(text).output.splitlines()
    done = plain(text)
    assert run(done.text).output.splitlines() == lines
    for stop in range(1, len(lines) + 1):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{stop}")}
        assert run(done.text, env=env, kill_after=stop).was_killed
        assert run(done.text, env=env).output.splitlines()[-1] == lines[-1], stop


def test_an_environment_that_is_made_anew_to_be_watched_is_not_kept():
    text = (
        HEAD
        + STEP
        + textwrap.dedent("""
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for episode in range(9):
            state, _ = env.reset()
            loss = step(net, opt, state, 1.0)
            if loss < 0.1:
                env = gym.make("CartPole-v1", render_mode="human")
    """)
    )
    done = plain(text)
    assert '"env"' not in done.text and "the environment begins anew" in said(done, Kind.DIFFERS)


def test_an_option_alone_in_a_name_of_the_run_is_no_place():
    text = """
        import torch
        from dataclasses import dataclass
        from torch import nn
        from torch.utils.tensorboard import SummaryWriter
        import tyro
        @dataclass
        class Args:
            exp_name: str = "run"
            seed: int = 1
        args = tyro.cli(Args)
        run_name = f"{args.exp_name}__{args.seed}"
        writer = SummaryWriter(f"runs/{run_name}")
        print(run_name)
    """
    assert "contract.train_url" in adapt(text).text
