"""Whether a change reads names that have no value there: what is asked of every adapted text before it is given out."""

from __future__ import annotations

import textwrap

import pytest

from outlast.adapt import CONTRACTS, adapt_text
from outlast.adapt.program import Adapting
from outlast.adapt.unbound import newly_unbound

UNBOUND = {
    "at the top before it is bound": "print(contract)\ncontract = 1\n",
    "in no scope": "def train():\n    return contract\n",
    "in a function before it is bound there": "def train():\n    print(path)\n    path = 1\n",
    "in a method by the name of a field": "class A:\n    path = 1\n    def go(self):\n        return path\n",
    "in the body of a class": "class A:\n    data: str = contract\ncontract = 1\n",
    "as a default": "def train(path=contract):\n    pass\ncontract = 1\n",
    "in a comprehension": "rows = [contract for _ in range(2)]\n",
    "behind the comprehension that had it": "rows = [row for row in range(2)]\nprint(row)\n",
    "as a decorator": "@contract\ndef train():\n    pass\n",
    "as what a loop asks for": "while at < 3:\n    at = 3\n",
    "where it is added to": "total += 1\n",
    "where it is only annotated": "total: int\nprint(total)\n",
}
BOUND = {
    "by a function that stands below": "def train():\n    return contract\ncontract = 1\n",
    "by one branch": "if input():\n    path = 1\nprint(path)\n",
    "by the round before": "for at in range(3):\n    if at:\n        print(last)\n    last = at\n",
    "globally by a function": "def begin():\n    global path\n    path = 1\nbegin()\nprint(path)\n",
    "in an enclosing function": "def out():\n    def inner():\n        return path\n    path = 1\n    return inner\n",
    "in a nonlocal one": "def out():\n    n = 0\n    def more():\n        nonlocal n\n        n += 1\n",
    "by a star": "from os.path import *\nprint(join('a', 'b'))\n",
    "in every other way": """
        import os.path, sys as system
        from math import pi as half
        with open(os.devnull) as file, open(os.devnull) as (one):
            pass
        try:
            pass
        except OSError as error:
            print(error)
        match system.argv:
            case [first, *rest]:
                print(first, rest)
            case {"a": 1, **others}:
                print(others)
            case str() as text:
                print(text)
        if (number := 3) and [kept := each for each in range(2)]:
            print(number, kept, half, file, one)
        calls = [lambda: each for each in range(2)]
        def many(*args, key=lambda row: row, **named):
            return args, key, named, __file__
        class Row(list):
            width = 2
            heights = [width] * 2
            def copy(self):
                return Row(self), __class__
        for left, (right, *more) in []:
            print(left, right, more)
        *head, tail = "abc"
        print(head, tail, calls)
    """,
}


@pytest.mark.parametrize("text", UNBOUND.values(), ids=UNBOUND)
def test_a_name_without_a_value_is_found(text):
    found = newly_unbound("", text)
    assert found is not None and text.splitlines()[found.line - 1].count(found.name)
    assert newly_unbound(text, text + "\nprint(1)\n") is None, "what the original does is its own affair"


@pytest.mark.parametrize("text", BOUND.values(), ids=BOUND)
def test_a_name_that_has_a_value_somewhere_is_not(text):
    assert newly_unbound("", textwrap.dedent(text)) is None


def test_a_script_whose_change_would_read_such_a_name_stays_as_it_was(monkeypatch):
    monkeypatch.setattr(Adapting, "adapt", lambda adapting: "print(contract)\n")
    done = adapt_text("print(1)\n", CONTRACTS["modelarts"])
    assert done.text == "print(1)\n" and not done.is_complete
    assert "contract would be read before it has a value" in done.findings[0].message
