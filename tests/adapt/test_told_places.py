"""Places that are shown as well: whoever prints one does not make it more than a place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

SHOWN = """
from pathlib import Path
import logging, torch
def main(name):
    def log(text):
        logger.info(text)
        print(text)
    folder = Path("./log/")
    folder.mkdir(exist_ok=True)
    folder = folder.joinpath(name)
    folder.mkdir(exist_ok=True)
    logger = logging.getLogger("a")
    logger.addHandler(logging.FileHandler("%s/%s.txt" % (folder, name)))
    path = str(folder) + "/best.pth"
    {use}
    torch.save({{}}, path)
main("one")
"""


@pytest.mark.parametrize("use", ["log('saving to %s' % path)", "log(f'to {path}')", "print(name, path)"])
def test_a_place_that_a_function_of_the_script_tells_is_nothing_more(use):
    done = adapt(SHOWN.format(use=use))
    assert 'folder = Path(os.path.join(contract.train_url or "./log", ""))' in done.text
    assert "folder.mkdir" in done.text and 'path = str(folder) + "/best.pth"' in done.text
    assert "%s/%s.txt" not in said(done, Kind.DIFFERS), "it lies in the folder that is filled in first"


def test_a_path_object_that_is_joined_stays_one(tmp_path, monkeypatch):
    """Where the name is more than a place, each use is put below the option's folder, also where it has methods."""
    use = "model = globals().get('build_' + path)"
    done = adapt(SHOWN.format(use=use))
    assert "type(folder)(os.path.join(" in done.text
    monkeypatch.chdir(tmp_path)
    torch = type("torch", (), {"save": staticmethod(lambda state, path: Path(path).touch())})
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr("sys.argv", ["train.py"])
    exec(compile(done.text, "train.py", "exec"), {"__name__": "__main__"})
    assert (tmp_path / "log/one/best.pth").exists()
