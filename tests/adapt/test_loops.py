"""Loops that do not count with `range`: how each goes on, and why some do not."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from checked import said
from stage import play

from outlast.migrate.engine import Kind


def ends_as_before(text, tmp_path):
    """Kill it after each line that it prints; what follows must be what followed."""
    text = textwrap.dedent(text)
    lines = play(text, tmp_path).output.splitlines()
    adapted = adapt(text).text
    assert play(adapted, tmp_path).output.splitlines() == lines, "without a stint nothing may change"
    for at in range(1, len(lines)):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{at}")}
        assert play(adapted, tmp_path, env=env, kill_after=at).was_killed
        seen = play(adapted, tmp_path, env=env).output.splitlines()
        assert seen == lines[len(lines) - len(seen) :], f"killed after line {at}"
        assert len(seen) < len(lines) or at == 1, "it must not begin anew"
        again = play(adapted, tmp_path, env=env).output.splitlines()
        assert again == lines[len(lines) - len(again) :], "a third time must end alike"
    return adapted


@pytest.mark.parametrize(
    "loop",
    [
        "while epoch < 6:\n    x += random.random()\n    print(x)\n    epoch += 1\n",
        "while epoch < 6:\n    x += random.random()\n    print(x)\n    epoch = epoch + 1\n",
        "while epoch < 6:\n    for i in range(2):\n        x += random.random()\n        epoch += 1\n    print(x)\n",
        "while True:\n    x += random.random()\n    print(x)\n    epoch += 1\n    if epoch > 5:\n        break\n",
        "while epoch < LIMIT[0] and x < 90:\n    x += random.random()\n    epoch += 1\n    print(x)\n",
        "while epoch < 6:\n    epoch += 1\n    if epoch % 2: continue\n    x += random.random()\n    print(x)\n",
        "while epoch < 6:\n    last = x\n    x += random.random()\n    print(x)\n    epoch += 1\nprint(last)\n",
        "for epoch in itertools.count():\n    if epoch > 5:\n        break\n    x += random.random()\n    print(x)\n",
        "for step in itertools.count(3):\n    x += random.random()\n    print(x)\n    if step > 7:\n        break\n",
        "for cur_epoch in range(epoch, 6):\n    x += random.random()\n    print(x)\n",
        "for epoch in (bar := tqdm(range(1, 5 + 1))):\n    x += random.random()\n    print(bar[0] > 0, x)\n",
        "for epoch in range(5):\n    epoch += 1\n    x += random.random()\n    print(epoch, x)\n",
        "for epoch in range(1, 6):\n    x += random.random()\n    epoch *= 2\n    print(x)\nprint(epoch)\n",
        "for epoch in range(9, 0, -2):\n    if x:\n        epoch = epoch + 1\n    x += epoch\n    print(epoch, x)\n",
        "for at, epoch in enumerate(range(1, 6)):\n    x += random.random()\n    print(at, x)\n",
        "for at, epoch in enumerate(range(epoch, 6), start=x > 0 or 2):\n    x += random.random()\n    print(at, x)\n",
        "for at, epoch in enumerate(tqdm(range(2, 7)), 1):\n    x += random.random()\n    print(at, x)\n",
        "with trange(1, 6) as bar:\n    for epoch in bar:\n        x += random.random()\n        print(x)\n",
    ],
)
def test_a_loop_of_another_form_ends_with_the_same_numbers(loop, tmp_path):
    head = """
import contextlib, itertools, random
def tqdm(values):
    return values
@contextlib.contextmanager
def trange(*places):
    yield range(*places)
LIMIT, x, epoch = [6], 0.5, 0
"""
    ends_as_before(head + loop + "print('end', x)\n", tmp_path)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while ask(step):\n    x += 1\n    step += 1\n", "while loop"),
        ("while (y := x + step) < 9:\n    x += 1\n    step += 1\n", "while loop"),
        ("while step < 9:\n    x += 1\n    bump()\n", "while loop"),
        (
            "while True:\n    if step > 5:\n        break\n    y = x\n    step += 1\nprint(y)\n",
            "y is used behind the loop",
        ),
        ("for epoch in itertools.count():\n    y = x\n    x += 1\nprint(y)\n", "y is used behind the loop"),
        (
            "for step in range(9):\n    if step % 3 == 0:\n        y = iter([1])\n    step += 1\n    x += next(y)\n",
            "changes its own counter",
        ),
        ("for epoch in itertools.count(0, 2):\n    x += 1\n", "no training loop"),
        ("while step < 3:\n    step += 1\n    if x:\n        x = z\n    z = step\n", "z goes from one round"),
    ],
)
def test_what_such_a_loop_cannot_promise_is_refused(body, reason):
    text = "import itertools\nfrom asks import ask, bump\nx = step = 0\n" + body
    done = adapt(text)
    assert reason in said(done, Kind.HAND) and done.text == text


def test_a_single_pass_over_samples_is_refused_for_what_it_is():
    done = adapt("""
        import torch
        from data import batches
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for step, batch in zip(range(100), batches):
            model(batch).backward()
            optimizer.step()
    """)
    assert "goes once through its samples" in said(done, Kind.HAND)


def test_an_iterator_from_before_the_loop_is_told():
    done = adapt("""
        import torch
        from data import endless
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        batches = endless(4)
        for step in range(100):
            model(next(batches)).backward()
            optimizer.step()
    """)
    assert "batches begins anew in each stint" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "line",
    [
        "batches = iter(islice(loader, 9))",
        "loader = itertools.cycle(loader)\nbatches = iter(loader)",
        "batches = iter(loader)\nprint(len(batches))",
        "batches = iter(DataLoader(rows, generator=chance))",
        "batches = iter(rows())",
    ],
)
def test_what_cannot_be_dealt_again_is_told(line):
    done = adapt(
        "import itertools, torch\nmodel = torch.nn.Linear(1, 1)\n"
        f"optimizer = torch.optim.SGD(model.parameters(), 0.1)\n{line}\n"
        "for step in range(100):\n    model(next(batches)).backward()\n    optimizer.step()\n"
    )
    assert "batches begins anew in each stint" in said(done, Kind.DIFFERS)
    assert "iter(" in done.text and "ResumedIterator" not in done.text


@pytest.mark.parametrize("count", ["1", "EPOCHS"])
def test_that_one_round_is_not_kept_in_parts_is_told(count):
    text = "EPOCHS = 1\nx = 0\nfor epoch in range({}):\n    x += 1\n"
    assert "the training is one round" in said(adapt(text.format(count)), Kind.DIFFERS)
    assert "one round" not in said(adapt(text.format("EPOCHS + 1")), Kind.DIFFERS)


def test_a_while_loop_of_torch_keeps_all_that_goes_round():
    done = adapt("""
        import torch
        model = torch.nn.Linear(1, 1).cuda()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        iter_num, seen = 0, torch.zeros(1).cuda()
        while True:
            optimizer.step()
            seen = seen + 1
            iter_num += 1
            if iter_num > 9:
                break
    """)
    assert 'iter_num = resumed["iter_num"]' in done.text and "first_" not in done.text
    assert 'seen = resumed["seen"].to(seen.device) if torch.is_tensor(seen) else resumed["seen"]' in done.text


def test_a_round_within_a_round_is_not_a_second_training():
    done = adapt("""
        import torch
        def train_epoch(model, optimizer):
            step = 0
            while step < 100:
                optimizer.step()
                step += 1
        def main():
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for epoch in range(9):
                train_epoch(model, optimizer)
        main()
    """)
    assert done.is_complete and "for epoch in range(first_epoch, 9):" in done.text


WHILE = """
import os, torch
{before}
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
step = 0
if {test}:
    state = torch.load("last.pt")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    step = state["step"]
while step < 9:
    optimizer.step()
    step += 1
    torch.save({{"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}}, "last.pt")
"""


def test_a_while_loop_that_looks_for_its_checkpoint_is_left_alone():
    for before, test in (("", 'os.path.exists("last.pt")'), ('last = "last.pt"', "os.path.exists(last)")):
        done = adapt(WHILE.format(before=before, test=test))
        assert "counts on from it already" in said(done, Kind.KEPT) and "OUTLAST_CHECKPOINT" not in done.text


def test_one_that_does_so_by_a_constant_goes_on_without_it():
    done = adapt(WHILE.format(before='init_from = "scratch"', test='init_from == "resume"'))
    assert 'step = resumed["step"]' in done.text and done.is_complete


def test_a_session_of_tensorflow_1_counts_on_in_a_while_loop():
    done = adapt("""
        import tensorflow as tf
        sess = tf.Session()
        step = 1
        while step * 128 < 1000:
            sess.run(train)
            step += 1
    """)
    assert 'step = int(resumed.rpartition("-")[2])' in done.text and "global_step=step)" in done.text


@pytest.mark.parametrize("name", ["_epoch", "epoca", "j", "n", "ciclo", "round_"])
def test_rounds_may_be_counted_by_any_name(name):
    done = adapt(f"""
        import torch
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for {name} in range(9):
            for batch in model.batches:
                optimizer.step()
    """)
    assert done.is_complete and "resume.pt" in done.text


def test_a_loop_around_trainings_is_no_training_by_any_name():
    done = adapt("""
        import torch
        for fold in range(5):
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for batch in model.batches:
                optimizer.step()
    """)
    assert "resume.pt" not in done.text


@pytest.mark.parametrize("line", ["from random import shuffle", "from numpy.random import shuffle"])
def test_random_numbers_of_functions_that_are_imported_by_name_are_kept(line):
    done = adapt(f"""
        {line}
        rows = [1, 2, 3]
        total = 0
        for epoch in range(9):
            shuffle(rows)
            total += rows[0]
    """)
    module = "numpy.random.get_state()" if "numpy" in line else "random.getstate()"
    assert module in done.text and f"import {module.partition('.')[0]}\n" in done.text


def test_a_module_whose_name_is_taken_is_not_imported():
    done = adapt("from random import random\ntotal = 0\nfor epoch in range(9):\n    total += random()\n")
    assert 'importlib.import_module("random").getstate()' in done.text and "\nimport random\n" not in done.text


def test_a_model_goes_on_whose_optimizer_each_round_makes_anew():
    done = adapt("""
        import torch
        model = torch.nn.Linear(1, 1)
        lr = 0.1
        for epoch in range(9):
            optimizer = torch.optim.SGD(model.parameters(), lr)
            for batch in model.batches:
                optimizer.zero_grad()
                model(batch).backward()
                optimizer.step()
            lr *= 0.5
    """)
    assert '"model": model.state_dict()' in done.text and '"lr": lr' in done.text
    assert "optimizer.state_dict" not in done.text


def test_a_model_that_each_round_makes_anew_too_is_another_training():
    done = adapt("""
        import torch
        for k in range(9):
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for batch in model.batches:
                model(batch).backward()
                optimizer.step()
    """)
    assert "resume.pt" not in done.text


def test_an_iterator_of_another_function_is_another_one():
    done = adapt("""
        import torch
        class Trainer:
            def train(self):
                data_iter = iter(self.loader)
                for step in range(9):
                    x = next(data_iter)
                    self.optimizer.zero_grad()
                    self.model(x).backward()
                    self.optimizer.step()
            def show(self, data_iter):
                print(data_iter)
            def __init__(self, loader):
                self.loader = loader
                self.model = torch.nn.Linear(1, 1)
                self.optimizer = torch.optim.SGD(self.model.parameters())
        Trainer([1]).train()
    """)
    assert "data_iter = ResumedIterator(self.loader)" in done.text
