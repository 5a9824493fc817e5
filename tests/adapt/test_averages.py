"""What goes along with a torch training and comes from libraries: averages of weights, samples changed by chance."""

from __future__ import annotations

import pytest
from checked import adapt_plainly
from programs import Program

TRAINING = """
import argparse
import torch
{imports}
parser = argparse.ArgumentParser()
parser.add_argument("--model-ema", action="store_true")
args = parser.parse_args()
model = torch.nn.Linear(1, 1)
{made}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loss = model(torch.ones(1)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {used}
"""
MADE = {
    "always": "ema = {}(model, decay=0.9)",
    "by an option": "ema = None\nif args.model_ema:\n    ema = {}(model, decay=0.9)",
}
AVERAGES = {
    "ModelEma": "from timm.utils import ModelEma",
    "ModelEmaV2": "from timm.utils import ModelEmaV2",
    "ExponentialMovingAverage": "from torch_ema import ExponentialMovingAverage",
    "EMA": "from ema_pytorch import EMA",
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("kind", AVERAGES)
def test_an_average_of_the_weights_is_kept(kind, made):
    used = "if ema is not None:\n        ema.update(model)" if made == "by an option" else "ema.update(model)"
    text = adapt_plainly(TRAINING.format(imports=AVERAGES[kind], made=MADE[made].format(kind), used=used)).text
    assert '"ema": ' in text and 'resumed["ema"]' in text
    assert ("if ema is not None else None" in text) is (made == "by an option")


def test_a_helper_class_under_another_name_is_known_by_its_fields(tmp_path):
    program = Program(
        tmp_path,
        tools="""
            class CountingScaler:
                def __init__(self):
                    self.count = 0
                def __call__(self, loss, optimizer):
                    loss.backward()
                    optimizer.step()
                    self.count += 1
        """,
        train="""
            import torch
            from tools import CountingScaler as Scaler
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss_scaler = Scaler()
            for epoch in range(3):
                loss = model(1.0)
                optimizer.zero_grad()
                loss_scaler(loss, optimizer)
        """,
    )
    done = program.adapt()
    assert not [each for each in done.findings if "in another file" in each.message]
    assert '"loss_scaler.count": loss_scaler.count' in program.text("train.py")


@pytest.mark.parametrize(
    ("imports", "made", "is_kept"),
    [
        ("from timm.data import create_transform", "change = create_transform(32, is_training=True)", True),
        ("import albumentations as A", "change = A.HorizontalFlip(p=0.5)", True),
        ("from timm.optim import create_optimizer_v2", "other = create_optimizer_v2(model)", False),
    ],
)
def test_numbers_that_a_library_draws_to_change_samples_are_kept(imports, made, is_kept):
    text = adapt_plainly(TRAINING.format(imports=imports, made=made, used="pass")).text
    assert ("random.getstate()" in text) is is_kept
    assert ("random.get_state()" in text) is is_kept
