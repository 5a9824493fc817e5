"""Episodes that each end with a few steps of one model: they are the training, however they are called."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from checked import said
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

SCRIPT = """
    def train(model, optimizer, seen):
        for _ in range(2):
            for x, y in POINTS:
                seen.append(step(model, optimizer, x, y))

    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters())
    seen = []
    for NAME in range(1, 6):
        train(model, optimizer, seen)
        print(NAME, model(1.0).item(), len(seen))
"""


@pytest.mark.parametrize(("name", "is_game"), [("n_epi", True), ("i_ep", False), ("episode_num", True)])
def test_a_training_of_episodes_has_one_checkpoint(name, is_game, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(SCRIPT).replace("NAME", name)
    lines = run(text).output.splitlines()
    done = adapt(text)
    kept = tmp_path / "kept"
    env = {"OUTLAST_CHECKPOINT": str(kept)}
    assert run(done.text, env=env, kill_after=3).was_killed
    # There may be thousands of games, and a memory of all of them: not every one is saved.
    assert ("resume_due" in done.text) == is_game
    assert run(done.text, env=env).output.splitlines() == lines[1 if is_game else 2 :]
    assert [path.name for path in kept.iterdir()] == ["resume.pt"]


WORLD = """
    import random

    class World:
        def __init__(self):
            self.size, self.played = 3, 0
        def reset(self):
            self.at = 0
            PLAYED
            self._place()
            return self.at
        def _place(self):
            cells = [cell for cell in range(self.size) if cell != self.at]
            if cells:
                self.food = random.choice(cells)
            else:
                self.food = None
        def step(self):
            self.at += 1
            self.played += 1
            return self.food

    world = World()
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters())
    for episode in range(4):
        world.reset()
        world.step()
        for x, y in POINTS:
            step(model, optimizer, x, y)
        print(episode, world.at, model(1.0).item())
"""


@pytest.mark.parametrize(("line", "is_told"), [("self.played = 0", False), ("pass", True)])
def test_a_world_that_each_episode_begins_anew_is_nothing_to_know(line, is_told, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(WORLD).replace("PLAYED", line)
    done = adapt(text)
    assert ("world starts anew in each stint" in said(done, Kind.DIFFERS)) is is_told
    env = {"OUTLAST_CHECKPOINT": str(tmp_path)}
    lines = run(text).output.splitlines()
    assert run(done.text, env=env, kill_after=2).was_killed
    assert run(done.text, env=env).output.splitlines() == lines[1:]
