"""Plain Python: a training in an object whose class is in another file, and loops beside it that only prepare."""

from __future__ import annotations

from checked import adapt, said
from programs import Program

from outlast.migrate.engine import Kind

NET = """
    import numpy as np

    class Net:
        def __init__(self, size):
            self.size = size
            self.w = np.random.rand(size)
            self.rows = None

        def take(self, rows):
            self.rows = rows

        def learn(self, rate):
            np.random.shuffle(self.rows)
            for row in self.rows:
                self.w -= rate * (self.w - row)

        def save(self, path):
            np.save(path, self.w)
"""
TRAIN = """
    import numpy as np
    from net import Net

    net = Net(3)
    net.take(np.ones((5, 3)))
    for turn in range(4):
        net.learn(0.1)
        print(turn, net.w.sum())
    net.save("saved.npy")
"""


def test_what_methods_of_an_object_of_another_file_change_is_kept(tmp_path):
    program = Program(tmp_path, net=NET, train=TRAIN)
    program.adapt()
    text = program.text("train.py")
    assert '"net.w": net.w' in text and 'net.w = resumed["net.w"]' in text and "net.size" not in text


def test_an_object_of_a_library_of_networks_is_not_taken_apart(tmp_path):
    net = NET.replace("import numpy as np", "import numpy as np\n    import tensorflow as tf")
    program = Program(tmp_path, net=net, train=TRAIN)
    program.adapt()
    assert "resume" not in program.text("train.py")


def test_a_loop_that_puts_each_row_at_its_place_is_no_training():
    done = adapt("""
        rows = open("rows.txt").readlines()
        for i in range(len(rows)):
            rows[i] = rows[i].strip()
        print(rows)
        """)
    assert "resume" not in done.text and "goes on" not in said(done, Kind.CHANGED)


def test_rounds_that_go_from_one_row_to_the_next_are_kept():
    done = adapt("""
        rows = [0.0] * 9
        for i in range(1, len(rows)):
            rows[i] = rows[i - 1] * 0.5 + 1
        print(rows)
        """)
    assert '"rows": rows' in done.text


def test_rounds_up_to_the_number_of_epochs_and_one_are_those_of_the_training():
    done = adapt("""
        import numpy as np

        def train(rows, epochs):
            for k in range(3):
                rows = rows + np.random.rand()
            w = 0.0
            for i in range(1, epochs + 1):
                w += rows.sum()
            np.save("w.npy", w)

        train(np.zeros(3), 5)
        """)
    assert "for i in range(first_i, epochs + 1)" in done.text and "for k in range(3)" in done.text


ASKED = """
    import os
    import numpy as np

    if os.path.exists("saved/w.npy"):
        {asks}
    w = 0.0
    for epoch in range(4):
        w += 1
        np.save("saved/w.npy", w)
"""


def test_nobody_is_asked_about_a_result_of_the_stint_before():
    done = adapt(ASKED.replace("{asks}", "input('Replace it?')"))
    assert "if not contract.train_url and os.path.exists(" in done.text


def test_a_result_that_the_script_goes_on_from_is_still_looked_for():
    done = adapt(ASKED.replace("{asks}", "print(np.load('saved/w.npy'))"))
    assert "if not contract.train_url and os.path.exists(" not in done.text
