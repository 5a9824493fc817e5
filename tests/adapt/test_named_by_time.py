"""Results that are named by the time, by a class that only a setting names."""

from __future__ import annotations

import pytest
from programs import Program

FILES = {
    "nets__basic": """
        import time
        import torch

        class Basic(torch.nn.Module):
            def save(self, name=None):
                if name is None:
                    prefix = "checkpoints/" + self.kind + "_"
                    name = time.strftime(prefix + "%Y.pt")
                torch.save(self.state_dict(), name)
                return name
    """,
    "nets__line": """
        import torch
        from .basic import Basic

        class Line(Basic):
            def __init__(self):
                self.kind = "line"
                self.inner = torch.nn.Linear(1, 1)
            def forward(self, x):
                return self.inner(x)
    """,
    "train": """
        import argparse
        import torch
        import nets

        parser = argparse.ArgumentParser()
        parser.add_argument("--kind", required=True)
        args = parser.parse_args()
        torch.manual_seed(0)
        model = getattr(nets, args.kind)()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            for x, y in [(1.0, 2.0), (2.0, 3.0)]:
                STEP
            SAVE
            print("epoch", epoch)
    """,
}


@pytest.mark.parametrize(("save", "found"), [("model.save()", "line_*.pt"), ('model.save("last.pt")', "last.pt")])
def test_results_named_by_the_time_lie_in_the_output_folder(save, found, tmp_path):
    files = {**FILES, "train": FILES["train"].replace("SAVE", save)}
    program = Program(tmp_path / "code", **files)
    (program.folder / "nets/__init__.py").write_text("from .line import Line\n")
    program.adapt()
    (program.folder / "checkpoints").mkdir()
    ran = program.run("--kind", "Line", "--train_url", str(tmp_path / "out"))
    assert ran.code == 0, ran.error
    assert list((tmp_path / "out").rglob(found)) and not program.files()
    assert program.run("--kind", "Line").code == 0
    assert list(program.folder.rglob(found))


def test_a_writer_that_is_told_a_folder_in_other_words_is_told_no_second_one(tmp_path):
    program = Program(
        tmp_path,
        train="""
            import os
            from tensorboardX import SummaryWriter
            writer = SummaryWriter(logdir=os.path.join("runs", "first"))
        """,
    )
    program.adapt()
    assert "SummaryWriter(logdir=os.path.join(" in program.text("train.py")
    assert "log_dir" not in program.text("train.py") and "train_url or" in program.text("train.py")


def test_a_folder_that_another_file_names_by_the_clock_is_told(tmp_path):
    tools = """
        import datetime, os
        def work_dir(root):
            now = datetime.datetime.now().strftime("%Y%m%d_%H%M%S")
            place = os.path.join(root, now + "_a")
            return place
        def clock():
            return datetime.datetime.now().strftime("%H:%M")
    """
    train = """
        import os
        import torch
        from torch import nn
        from tools import clock, work_dir
        folder = work_dir("logs")
        os.makedirs(folder)
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            for x, y in [(1.0, 2.0), (2.0, 3.0)]:
                STEP
            print(clock())
            torch.save(model.state_dict(), os.path.join(folder, "%d.pth" % epoch))
    """
    done = Program(tmp_path, train=train, tools=tools).adapt()
    told = [each for each in done.findings if "another one in each start" in each.message]
    assert len(told) == 1 and '"%Y%m%d_%H%M%S"' in told[0].message, "only what a place is made of"


def test_a_folder_that_another_file_names_by_the_clock_is_the_first_ones_in_all_stints(tmp_path):
    tools = """
        import datetime, os
        def work_dir(root):
            now = datetime.datetime.now().strftime("%Y%m%d_%H%M%S_%f")
            return os.path.join(root, now + "_a")
    """
    train = """
        import os
        import torch
        from torch import nn
        from tools import work_dir
        folder = work_dir("logs")
        os.makedirs(folder, exist_ok=True)
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            for x, y in [(1.0, 2.0), (2.0, 3.0)]:
                STEP
            torch.save(model.state_dict(), os.path.join(folder, "%d.pth" % epoch))
            print("epoch", epoch)
    """
    program = Program(tmp_path / "code", train=train, tools=tools)
    done = program.adapt()
    assert not [each for each in done.findings if "a place of its own" in each.message]
    out = tmp_path / "out"
    program.run("--train_url", str(out), until="epoch 1")
    ran = program.run("--train_url", str(out))
    assert ran.code == 0, ran.error
    assert len({each.parent for each in out.rglob("?.pth")}) == 1
    assert sorted(each.name for each in out.rglob("?.pth")) == ["0.pth", "1.pth", "2.pth"]
    assert all(program.run().code == 0 for _ in range(2))
    assert len(list((tmp_path / "code/logs").iterdir())) == 2, "by hand each start has its own"
