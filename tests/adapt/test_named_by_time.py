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
