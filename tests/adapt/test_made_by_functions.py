"""Folders that a function of the script's own makes need no word."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

TEXT = """
import os, logging
import numpy as np
def mkdirs(paths):
    for path in paths:
        os.makedirs(path, exist_ok=True)
def ensure(folder):
    if not os.path.exists(folder):
        os.mkdir(folder)
def tell(folder):
    os.makedirs("elsewhere", exist_ok=True)
    print(folder)
def save(name):
    pictures = os.path.join("runs", str(name), "pictures")
    MAKE
    np.save(os.path.join(pictures, "x.npy"), [1])
save(len(os.listdir(".")))
"""


@pytest.mark.parametrize("line", ["mkdirs([pictures])", "ensure(pictures)", "ensure(os.path.join(pictures, 'x'))"])
def test_a_folder_that_a_function_makes_is_made(line):
    assert "nothing here makes it" not in said(adapt(TEXT.replace("MAKE", line)), Kind.CHANGED)


@pytest.mark.parametrize("line", ["pass", "tell(pictures)", "ensure(name)", "print(ensure, pictures)"])
def test_any_other_is_named(line):
    assert "nothing here makes it" in said(adapt(TEXT.replace("MAKE", line)), Kind.CHANGED)
