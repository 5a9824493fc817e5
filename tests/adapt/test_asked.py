"""A folder of results is asked for where it will lie, however the question spells it."""

from __future__ import annotations

from checked import adapt

SCRIPT = """
import os
import numpy as np
for epoch in range(3):
    if not os.path.exists(os.path.join(os.getcwd(), "Pictures")):
        os.mkdir("Pictures")
    np.save("Pictures/%d.npy" % epoch, np.ones(3))
np.save("end.npy", np.ones(3))
"""


def test_a_question_that_begins_with_the_working_folder_follows_its_folder():
    done = adapt(SCRIPT).text
    assert 'os.path.exists(os.path.join(contract.train_url or os.getcwd(), "Pictures"))' in done
    assert 'os.makedirs(os.path.join(contract.train_url or "", "Pictures"), exist_ok' in done


def test_a_question_for_something_else_stays():
    done = adapt(SCRIPT.replace('os.getcwd(), "Pictures"', 'os.getcwd(), "stop"')).text
    assert 'os.path.exists(os.path.join(os.getcwd(), "stop"))' in done
