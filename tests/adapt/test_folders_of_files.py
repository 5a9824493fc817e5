"""The folder of a file goes where the file goes: `path.parent.mkdir()`, `os.makedirs(os.path.dirname(path))`."""

from __future__ import annotations

import pytest
from checked import adapt, said
from programs import Program

from outlast.migrate.engine import Kind

MAKES = ["path.parent.mkdir(parents=True, exist_ok=True)", "os.makedirs(os.path.dirname(path), exist_ok=True)",
         "folder = path.parent\n    folder.mkdir(parents=True, exist_ok=True)"]  # fmt: skip
FILES = {
    "train": """
        from settings import BEST, DATA, ROOT, TABLE
        from store import save
        with DATA.open() as f:
            rows = f.read().split()
        if not TABLE.parent.exists():
            TABLE.parent.mkdir(parents=True)
        TABLE.write_text(" ".join(rows))
        (TABLE.parent / "more.txt").write_text("more")
        save("net", BEST)
        save("end", ROOT / "last" / "end.txt")
    """,
    "settings": """
        from pathlib import Path
        ROOT = Path("artifacts")
        TABLE = ROOT / "deep" / "rows" / "table.csv"
        BEST = ROOT / "nets" / "best.txt"
        DATA = Path("data/raw/rows.txt")
    """,
    "store": """
        import os
        from pathlib import Path
        def save(text, path):
            path = Path(path)
            MAKE
            path.write_text(text)
    """,
}


@pytest.mark.parametrize("make", MAKES)
def test_folders_of_paths_of_a_settings_file_follow(make, tmp_path):
    store = FILES["store"].replace("MAKE", make.replace("\n    ", "\n            "))
    program = Program(tmp_path / "code", **{**FILES, "store": store})
    (tmp_path / "in").mkdir()
    (tmp_path / "in/rows.txt").write_text("a b")
    done = program.adapt()
    assert "parent" not in said(done, Kind.CHANGED) and "parent" not in said(done, Kind.DIFFERS)
    ran = program.run("--data_url", str(tmp_path / "in"), "--train_url", str(tmp_path / "out"))
    assert ran.code == 0, ran.error
    out = tmp_path / "out"
    assert (out / "deep/rows/table.csv").read_text() == "a b" and (out / "deep/rows/more.txt").is_file()
    assert (out / "nets/best.txt").is_file() and (out / "last/end.txt").is_file()
    assert not (tmp_path / "code/artifacts").exists()


@pytest.mark.parametrize("make", MAKES)
def test_the_folder_of_a_path_of_this_file_stays_as_it_is(make):
    done = adapt(f"""
import os
from pathlib import Path
import torch
from nets import net
NET = Path("out/deep/nets/net.pt")
def save(path):
    {make}
    torch.save(net, path)
save(NET)
""")
    assert make in done.text and "parent" not in said(done, Kind.DIFFERS) and "dirname" not in said(done, Kind.DIFFERS)
    assert 'NET = Path(os.path.join(contract.train_url or "out/deep/nets", "net.pt"))' in done.text


def test_a_folder_that_is_there_with_the_option_does_not_end_the_script():
    done = adapt("""
        from pathlib import Path
        import torch
        from nets import net
        NET = Path("out/net.pt")
        NET.parent.mkdir()
        torch.save(net, NET)
    """)
    assert "NET.parent.mkdir(exist_ok=" in done.text


def test_what_lies_beside_the_data_does_not_make_it_a_result():
    done = adapt("""
        import os
        import numpy as np
        ROWS = "data/rows.npy"
        rows = np.load(ROWS)
        np.save(os.path.join(os.path.dirname(ROWS), "sums.npy"), rows.sum())
    """)
    assert 'ROWS = os.path.join(contract.data_url or "data", "rows.npy")' in done.text
