"""What libraries hold while rounds go on, and a new start begins anew: that is said."""

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


@pytest.mark.parametrize("made", ["DataLoader(rows, {})", "split_rows(rows, 0.8, {})"])
@pytest.mark.parametrize(("given", "is_told"), [("persistent_workers=True", True), ("persistent_workers=False", False)])
def test_workers_that_stay_alive_are_told_whoever_makes_the_loader(made, given, is_told):
    done = adapt_plainly(f"""
        import torch
        from torch.utils.data import DataLoader
        from splitting import split_rows, rows
        torch.manual_seed(0)
        loader = {made.format(given)}
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for epoch in range(3):
            for x in loader:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
    """)
    assert ("workers that stay alive" in said(done, Kind.DIFFERS)) is is_told
