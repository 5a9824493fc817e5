"""Functions that nobody calls any more, and what a function is handed by a name of the script."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt as adapt_for
from checked import adapt_plainly as adapt
from checked import said
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

CLASS = """
    class Part:
        def __init__(self, name):
            self.name = name
            self.net = nn.Linear(1, 1)
            self.opt = torch.optim.SGD(self.net.parameters())

        def run(self):
            train(self.net, self.opt, self.name)
            print(self.name, self.net(1.0).item())

        def run_folds(self):
            train_folds(self.net, self.opt)

        def drop(self):
            del self.opt
            del self.net

    first, second = Part("first"), Part("second")
    first.run()
    first.drop()
    second.run()
    second.drop()
"""
LOOPS = """
    def train(net, opt, name):
        for epoch in range(3):
            print(name, epoch, sum(step(net, opt, x, y) for x, y in POINTS))

    def train_folds(net, opt):
        for epoch in range(3):
            print("fold", epoch, sum(step(net, opt, x, y) for x, y in POINTS))
"""


def test_a_training_that_nothing_runs_does_not_stand_in_the_way_of_the_one_that_is_run(run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(LOOPS) + textwrap.dedent(CLASS)
    lines = run(text).output.splitlines()
    done = adapt(text)
    assert not said(done, Kind.HAND)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    for after in (3, 4):
        assert run(done.text, env=env, kill_after=after).was_killed
    again = run(done.text, env=env).output.splitlines()
    assert again[-2:] == lines[-2:] and lines[3] in again
    assert run(done.text, env=env).output.splitlines() == [lines[3], lines[7]]


FORMS = {
    "names of one line": "first, second = Part('first'), Part('second')\nfirst.run()\nsecond.run()\n",
    "a parameter": "def go(part):\n    part.run()\ngo(Part('first'))\ngo(part=Part('second'))\n",
    "a function that makes them": (
        "def make(name):\n    part = Part(name)\n    return part\n"
        "make('first').run()\nmade = make('second')\nmade.run()\n"
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_trainings_of_several_objects_have_checkpoints_of_their_own(form, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(LOOPS) + textwrap.dedent(CLASS).partition("first, second")[0] + FORMS[form]
    lines = run(text).output.splitlines()
    done = adapt(text)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=6).was_killed
    assert run(done.text, env=env).output.splitlines() == [lines[3], *lines[5:]]


def test_what_is_found_by_its_name_may_be_run():
    text = HEAD + STEP + textwrap.dedent(LOOPS) + textwrap.dedent(CLASS) + "\nglobals()[f'{first.name}_folds']\n"
    assert "there are 2 training loops" in said(adapt(text), Kind.HAND)


@pytest.mark.parametrize(("rest", "given"), [("", ""), (", *more", ", 1, 2"), (", **more", ", size=1")])
def test_what_is_handed_in_is_saved_once_by_its_parameter(rest, given):
    text = f"""
        def score():
            return whole(1.0).item()
        def train(net, opt{rest}):
            for epoch in range(3):
                print(epoch, sum(step(net, opt, x, y) for x, y in POINTS), score())
        whole = nn.Linear(1, 1)
        rate = torch.optim.SGD(whole.parameters())
        train(whole, rate{given})
    """
    done = adapt(HEAD + STEP + textwrap.dedent(text)).text
    assert '"net": net.state_dict()' in done
    assert '"whole"' not in done


def test_a_copy_of_what_is_handed_in_is_another_thing():
    text = """
        import copy
        def train(net, opt):
            net = copy.deepcopy(net)
            opt = torch.optim.SGD(net.parameters())
            for epoch in range(3):
                print(epoch, sum(step(net, opt, x, y) for x, y in POINTS), whole(1.0).item())
        whole = nn.Linear(1, 1)
        rate = torch.optim.SGD(whole.parameters())
        train(whole, rate)
    """
    done = adapt(HEAD + STEP + textwrap.dedent(text)).text
    assert '"net": net.state_dict()' in done
    assert '"whole": whole.state_dict()' in done


IDLE = """
    import os
    import numpy as np

    def read(path):
        return np.load(path)

    def train(rounds=3):
        for each in range(rounds):
            print(each, read("sets/rows.npy").sum())
        np.save("out.npy", read("sets/rows.npy"))

    def test():
        assert os.path.exists("last/net.npy")
        print(read("old/rows.npy"))

    {start}
"""


# What is looked up by a name that stands there is that alone; lines that `adapt` adds do so, too.
@pytest.mark.parametrize(
    "start", ["train()", "for each in (1, 2):\n        train(each)", "train(getattr(os, 'rounds', 3))"]
)
def test_places_of_functions_that_nothing_runs_stay_as_they_are(start):
    done = adapt_for(IDLE.format(start=start))
    assert "contract.data_url or" in done.text and '"old/rows.npy"' in done.text and '"last/net.npy"' in done.text
    assert '"sets"' in done.text and not said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "start",
    [
        "import fire\n    fire.Fire()",
        "globals()[os.environ['DO']]()",
        "train()\n    test()",
        "train()\n    getattr(__import__('__main__'), 'test')()",
    ],
)
def test_places_of_functions_that_may_be_run_follow_the_contract(start):
    assert '"old/rows.npy"))' in adapt_for(IDLE.format(start=start)).text
