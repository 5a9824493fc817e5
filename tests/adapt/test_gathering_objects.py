"""Objects of libraries that gather something while rounds go on: a new start begins them anew, which is said."""

from __future__ import annotations

import pytest
from checked import adapt_plainly, said

from outlast.migrate.engine import Kind

TEXT = """
import torch
from watching import Tracker
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
tracker = Tracker(model)
for step in range(30):
    optimizer.zero_grad()
    model(torch.ones(1)).sum().backward()
    optimizer.step()
    if step % 5 == 0:
        record = tracker.{method}(step)
        print(record)
print({read})
"""


@pytest.mark.parametrize("method", ["log_step", "record", "add_row"])
@pytest.mark.parametrize("read", ["len(tracker.history)", "tracker.best_loss", "tracker.losses[-1]"])
def test_what_an_object_has_gathered_and_shows_at_the_end_is_told(method, read):
    told = said(adapt_plainly(TEXT.format(method=method, read=read)), Kind.DIFFERS)
    assert "tracker starts anew in each stint: tracker." in told


@pytest.mark.parametrize(
    ("method", "read"), [("log_step", "tracker.is_main"), ("print", "tracker.history"), ("log", "1")]
)
def test_what_is_not_seen_to_gather_is_not(method, read):
    assert "tracker" not in said(adapt_plainly(TEXT.format(method=method, read=read)), Kind.DIFFERS)
