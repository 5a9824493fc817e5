"""Edits that lie in one another are both made, whatever scripts are adapted to whatever contract."""

from __future__ import annotations

import ast
import itertools
import random

import pytest
from checked import adapt
from stage import CORPUS, adapted_to, read

from outlast.adapt import CONTRACTS, adapt_text
from outlast.adapt.edits import Edits, Meeting
from outlast.migrate.engine import apply

NAMES = sorted(path.stem for path in CORPUS.glob("*.py"))


def test_a_replacement_leaves_what_it_keeps():
    data = b'f(g("d"), 2)'
    edits = Edits(data)
    edits.replace(2, 8, '(x if y else g("d"))')
    edits.replace(4, 7, 'a or "d"')
    edits.change(8, 8, ", 1")
    assert apply(data, edits.ordered()) == 'f((x if y else g(a or "d")), 1, 2)'


def test_two_texts_for_one_place_meet():
    edits = Edits(b"f(x)")
    edits.replace(2, 3, "a or x")
    edits.replace(2, 3, "a or x")
    with pytest.raises(Meeting):
        edits.replace(2, 3, "b or x")


def test_a_place_within_a_place_is_changed_with_it():
    done = adapt("""
        import os
        import numpy as np
        HERE = os.path.dirname(__file__)
        x = np.load(os.path.join(HERE, "d", os.listdir(os.path.join(HERE, "d"))[0]))
        y = np.load(f"d/{len(os.listdir('d'))}.npy")
    """).text
    assert 'os.path.join(contract.data_url or os.path.join(HERE, "d"), os.listdir(contract.data_url or os.path' in done
    assert """os.path.join(contract.data_url or "d", f"{len(os.listdir(contract.data_url or 'd'))}.npy")""" in done


@pytest.mark.parametrize("contract", sorted(CONTRACTS))
def test_no_changes_meet_in_the_corpus(contract):
    for name in NAMES:
        assert not refused(adapted_to(contract, name)), name


def test_no_changes_meet_where_two_scripts_are_one():
    """Two scripts behind one another: more ways to read arguments, more loops, the same paths in several roles."""
    pairs = random.Random(5).sample(list(itertools.permutations(NAMES, 2)), 12)
    for first, second in pairs:
        text = f"{read(first)}\n{read(second)}"
        try:
            ast.parse(text)
        except SyntaxError:
            continue  # an import from the future in the middle
        assert not refused(adapt_text(text, CONTRACTS["xihe"])), (first, second)


def refused(done):
    ast.parse(done.text)
    return [finding for finding in done.findings if "cannot be changed safely" in finding.message]
