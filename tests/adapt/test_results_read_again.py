"""Folders of results that a program loads its own weights from, where a module puts them together for all files."""

from __future__ import annotations

from programs import Program

CONFIG = """
    import os

    ROOT = os.path.dirname(os.path.abspath(__file__))
    ROWS = os.path.join(ROOT, "rows")
    SAVED = os.path.join(ROOT, "saved")
    for each in (SAVED, ROWS):
        if not os.path.exists(each):
            os.makedirs(each)
"""
KEEP = """
    import os
    import torch
    from config import SAVED

    def save(folder, model, epoch):
        torch.save({"model": model.state_dict()}, os.path.join(folder, f"epoch{epoch}.pth"))

    def load(model):
        last = sorted(os.listdir(SAVED))[-1]
        kept = torch.load(os.path.join(SAVED, last))
        model.load_state_dict(kept["model"])
        return model, int(last[5:-4])
"""
TRAIN = """
    import os
    import torch
    from config import *
    from keep import load, save

    torch.manual_seed(1)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    start = 0
    if os.listdir(SAVED):
        model, start = load(model)
    for epoch in range(start + 1, 5):
        for line in open(os.path.join(ROWS, "rows.csv")):
            x, y = map(float, line.split(","))
            STEP
        print("epoch", epoch, loss.item(), flush=True)
        save(SAVED, model, epoch)
"""


def test_a_folder_that_is_saved_to_and_loaded_from_is_one_of_results(tmp_path):
    program = Program(tmp_path / "code", train=TRAIN, config=CONFIG, keep=KEEP)
    for folder in (tmp_path / "in", tmp_path / "code" / "rows"):
        folder.mkdir()
        (folder / "rows.csv").write_text("1.0,2.0\n0.5,1.5\n")
    done = program.adapt()
    assert not done.by_hand, done.findings
    (tmp_path / "code" / "rows").rename(tmp_path / "gone")
    given = (f"--data_url={tmp_path / 'in'}", f"--train_url={tmp_path / 'out'}")
    whole = program.run(*given)
    assert whole.code == 0 and len(whole.lines) == 4, whole.error
    made = {path.name for path in (tmp_path / "out").rglob("epoch*")}
    assert made == {f"epoch{at}.pth" for at in range(1, 5)} and not list((tmp_path / "code").rglob("epoch*"))
