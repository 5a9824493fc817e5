"""Episodes that each end with a few steps of one model: they are the training, however they are called."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from torch_stage import HEAD, STEP

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


@pytest.mark.parametrize("name", ["n_epi", "i_ep", "episode_num"])
def test_a_training_of_episodes_has_one_checkpoint(name, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(SCRIPT).replace("NAME", name)
    lines = run(text).output.splitlines()
    done = adapt(text)
    kept = tmp_path / "kept"
    env = {"OUTLAST_CHECKPOINT": str(kept)}
    assert run(done.text, env=env, kill_after=3).was_killed
    assert run(done.text, env=env).output.splitlines() == lines[2:]
    assert [path.name for path in kept.iterdir()] == ["resume.pt"]
