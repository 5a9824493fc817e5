"""What a checkpoint cannot take as it is: models that rounds wrap again, and functions among settings."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from torch_stage import HEAD, STEP

SHAPES = {
    "a model that each round wraps once more": """
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters())
        for epoch in range(5):
            model = nn.DataParallel(model)
            for x, y in POINTS:
                step(model, optimizer, x, y)
            print(epoch, model(1.0).item())
    """,
    "a function among the settings of an optimizer of another file": """
        from parts import Choosing
        model = nn.Linear(1, 1)
        optimizer = Choosing(model.parameters())
        for epoch in range(5):
            for x, y in POINTS:
                step(model, optimizer, x, y)
            print(epoch, model(1.0).item())
    """,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_no_file_takes_as_it_is_goes_on_after_a_stop(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(SHAPES[shape])
    lines = run(text).output.splitlines()
    changed = adapt(text).text
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(changed, env=env, kill_after=3).was_killed
    assert run(changed, env=env).output.splitlines() == lines[2:]
