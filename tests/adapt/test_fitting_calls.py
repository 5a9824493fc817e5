"""Calls that a function of the program cannot be meant by, although it has their name."""

from __future__ import annotations

import libcst as cst
import pytest
from checked import adapt, said

from outlast.adapt.draft import Draft
from outlast.migrate.engine import Kind


@pytest.mark.parametrize(
    ("function", "call", "is_meant"),
    [
        ("def save(self, a, b): pass", "m.save(1)", False),
        ("def save(self, a, b=1): pass", "m.save(1)", True),
        ("def save(self): pass", "m.save(1)", False),
        ("def save(self, *rest): pass", "m.save(1, 2, 3)", True),
        ("def save(self, a, **rest): pass", "m.save(1, b=2)", True),
        ("def save(self, a): pass", "m.save(1, b=2)", False),
        ("def save(self, a, *, b): pass", "m.save(1)", False),
        ("def save(self, a, *, b=2): pass", "m.save(a=1)", True),
        ("def save(self, a, b): pass", "m.save(*given)", True),
        ("@staticmethod\n    def save(a, b): pass", "m.save(1)", False),
        ("@staticmethod\n    def save(a): pass", "m.save(1)", True),
    ],
)
def test_a_call_is_ours_if_the_function_can_take_it(function, call, is_meant):
    draft = Draft(f"class Own:\n    {function}\nm = make()\n{call}\n")
    (found,) = [each for each in draft.calls() if isinstance(each.func, cst.Attribute)]
    assert draft.may_be_ours(found) is is_meant


def test_a_model_is_saved_although_a_method_is_called_so():
    done = adapt(
        "from tensorflow import keras\nclass Trainer:\n    @staticmethod\n    def save(model, history):\n"
        '        model.save("net.keras")\n'
        "model = keras.Sequential()\nTrainer.save(model, model.fit(data))\n"
    )
    assert 'model.save(os.path.join(contract.train_url or "", "net.keras"))' in done.text, said(done, Kind.CHANGED)
