"""Dictionaries that hold the weights of a model as they are, not as they were."""

from __future__ import annotations

from checked import adapt_plainly

HOLDING = """
import torch
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
state = {"epoch": 0, "net": MADE, "steps": optimizer.state_dict(), "seen": []}
for epoch in range(3):
    optimizer.zero_grad()
    loss = model(torch.ones(1)).sum()
    loss.backward()
    optimizer.step()
    state["seen"].append(loss.item())
    state["epoch"] = epoch + 1
    torch.save(state, "last.pt")
"""


def test_weights_that_a_dictionary_holds_are_those_of_the_model_again():
    text = adapt_plainly(HOLDING.replace("MADE", "model.state_dict()")).text
    assert '{"net": model.state_dict()}.items() if key in resumed["state"]' in text
    assert '"steps": optimizer' not in text.partition("resumed =")[2]


def test_a_copy_of_weights_comes_back_as_it_was():
    text = adapt_plainly(
        HOLDING.replace("MADE", "{key: each.clone() for key, each in model.state_dict().items()}")
    ).text
    assert 'state = resumed["state"]\n' in text
