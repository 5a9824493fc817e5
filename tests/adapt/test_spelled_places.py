"""Places that are spelled in a way of their own: two slashes, the folder itself, nothing at all before a name."""

from __future__ import annotations

import numpy as np
import pytest
from checked import adapt, said
from stage import play

from outlast.migrate.engine import Kind

HEAD = "import os\nimport numpy as np\n"


@pytest.mark.parametrize(
    ("script", "files"),
    [
        ('a = np.load(".//a.npy")', ["a.npy"]),
        ('a = np.load("rows//a.npy")', ["a.npy"]),
        ('a = np.load(".//rows//a.npy")\nb = np.load("./rows/b.npy")', ["a.npy", "b.npy"]),
        ('a = np.load("rows//one//a.npy")\nb = np.load("rows/two/b.npy")', ["one/a.npy", "two/b.npy"]),
        ('part = "a"\na = np.load(f".//rows//{part}.npy")', ["a.npy"]),
        ('root = "./"\na = np.load(os.path.join(root, "a.npy"))', ["a.npy"]),
        ('root = "."\na = [np.load(os.path.join(root, x, "a.npy")) for x in ("u", "v")][0]', ["u/a.npy", "v/a.npy"]),
        ('a = np.load("./" + "a.npy")', ["a.npy"]),
        (
            'base = ""\nrows = os.path.join(base, "rows")\nassert os.path.isdir(rows)\n'
            "a = [np.load(os.path.join(rows, name)) for name in sorted(os.listdir(rows))][0]",
            ["rows/a.npy"],
        ),
    ],
)
def test_data_follows_its_option_however_it_is_spelled(script, files, tmp_path):
    done = adapt(f"{HEAD}{script}\nprint(a.sum())\n")
    assert "nothing reads" not in said(done, Kind.DIFFERS)
    given, empty = tmp_path / "given", tmp_path / "empty"
    empty.mkdir()
    for name in files:
        (given / name).parent.mkdir(parents=True, exist_ok=True)
        np.save(given / name, np.ones(3))
    assert play(done.text, empty, f"--data_url={given}").output == "3.0\n"


def test_settings_beside_the_script_and_the_list_of_its_folder_stay_there():
    text = f'{HEAD}import json\nc = json.load(open(os.path.join("./", "config.json")))\nprint(os.listdir("./"))\n'
    done = adapt(text).text
    assert 'os.path.join("./", "config.json")' in done
    assert 'os.listdir("./")' in done


@pytest.mark.parametrize(
    "script",
    [
        'def save(path=""):\n    np.save(path + "a.npy", 1)\nsave()\nsave("best_")\n',
        'def save(path=""):\n    np.save(f"{path}a.npy", 1)\nsave()\nsave("best_")\n',
        'tag = ""\nnp.save(tag + "a.npy", 1)\nnp.save("best_" + "a.npy", 1)\n',
        'def save(path=""):\n    np.save(path + "a.npy", 1)\nsave()\nsave("best_")\nprint(np.load("a.npy"))\n',
    ],
)
def test_results_lie_in_the_folder_where_nothing_stands_before_their_names(script, tmp_path):
    done = adapt(HEAD + script)
    before, empty = tmp_path / "before", tmp_path / "empty"
    for folder in (before, empty):
        folder.mkdir()
    play(done.text, before)
    assert sorted(path.name for path in before.iterdir()) == ["a.npy", "best_a.npy"]
    play(done.text, empty, f"--train_url={tmp_path / 'out'}")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.npy", "best_a.npy"]
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []


@pytest.mark.parametrize(("words", "expected"), [((), "'a.npy'"), (("--rows", "a.npy", "b.npy"), "['a.npy', 'b.npy']")])
def test_an_option_for_several_files_keeps_the_one_that_it_has_by_itself(words, expected, tmp_path):
    text = """
        import argparse, os
        import numpy as np
        parser = argparse.ArgumentParser()
        parser.add_argument("--rows", nargs="+", default="sets/a.npy")
        args = parser.parse_args()
        if isinstance(args.rows, str):
            np.load(args.rows)
        else:
            for path in args.rows:
                np.load(path)
        print(args.rows)
    """
    given = tmp_path / "given"
    given.mkdir()
    for name in ("a.npy", "b.npy"):
        np.save(given / name, 1)
    shown = play(adapt(text).text, tmp_path, f"--data_url={given}", *words).output
    assert shown.replace(f"{given}/", "") == expected.strip("'") + "\n"


def test_the_folder_of_the_code_may_be_asked_for_twice(tmp_path):
    text = """
        import os
        import numpy as np
        def main():
            here = os.path.dirname(os.path.abspath(__file__))
            out = os.path.join(here, "stats")
            os.makedirs(out, exist_ok=True)
            np.save(os.path.join(out, "a.npy"), 1)
            here = os.path.dirname(os.path.abspath(__file__))
            np.save(os.path.join(here, "b.npy"), 2)
        main()
    """
    done = adapt(text)
    assert "not visible" not in said(done, Kind.DIFFERS)
    play(f"__file__ = {str(tmp_path / 'script.py')!r}\n" + done.text, tmp_path, f"--train_url={tmp_path / 'out'}")
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.npy")}
    assert found == {"out/stats/a.npy", "out/b.npy"}


def test_nothing_is_said_of_what_is_never_run():
    text = HEAD + "def save(image, filename):\n    np.save(filename, image)\nprint(1)\n"
    assert "filename" not in said(adapt(text), Kind.DIFFERS)
    assert "filename" in said(adapt(text + "save(1, str(len(os.environ)))\n"), Kind.DIFFERS)


@pytest.mark.parametrize("path", ['f"./{kind}-last.pt"', 'f"./{kind}_{3}.pt"', 'f"./{str(kind)}.pt"'])
def test_a_dot_before_a_name_that_is_filled_in_says_nothing(path):
    done = adapt(
        f"import torch\ndef keep(kind):\n    torch.save([1], {path})\nfor kind in ('a', 'b'):\n    keep(kind)\n"
    )
    assert f'torch.save([1], os.path.join(contract.train_url or "", {path}))' in done.text
    assert "stays as it is" not in said(done, Kind.DIFFERS)


def test_a_place_on_a_drive_of_windows_follows_by_its_last_name():
    done = adapt('import torch\ntorch.save([1], "C:\\\\out\\\\m.pth")\n')
    after = 'os.path.join(contract.train_url, "m.pth") if contract.train_url else "C:\\\\out\\\\m.pth"'
    assert f"torch.save([1], {after})" in done.text


def test_a_drive_with_two_slashes_is_no_address():
    done = adapt(
        "import os\nimport matplotlib.pyplot as plt\nimport idx2numpy\n\n"
        'rows = idx2numpy.convert_from_file("digits/train-images-idx3-ubyte")\n'
        'PICTURES = "C://Users//me//Desktop//pictures//"\n'
        'for at in range(3):\n    plt.plot(rows[at])\n    plt.savefig(os.path.join(PICTURES, f"{at}.png"))\n'
    )
    assert 'contract.train_url or "C://Users//me//Desktop//pictures"' in done.text
    assert 'os.path.join(contract.data_url or "digits", "train-images-idx3-ubyte")' in done.text
