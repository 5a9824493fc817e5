"""Paths that begin where a script is started, or above: they give way as a whole; and names that errors repeat."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from checked import adapt
from stage import play

HEAD = "import os\nimport numpy as np\nfrom pathlib import Path\nfrom torchvision.datasets import ImageFolder\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('top = os.path.abspath(os.path.join(os.getcwd(), "../.."))\nstreets = os.path.join(top, "sets", "streets")\n'
         'ImageFolder(os.path.join(streets, "train"))\nImageFolder(os.path.join(streets, "val"))',
         'streets = contract.data_url or os.path.join(top, "sets", "streets")'),
        ('d = os.path.join(os.getcwd(), "..", "d")\nImageFolder(os.path.join(d, "a"))',
         'd = contract.data_url or os.path.join(os.getcwd(), "..", "d")'),
        ('d = os.path.join(os.path.dirname(os.getcwd()), "d")\nImageFolder(os.path.join(d, "a"))',
         'd = contract.data_url or os.path.join(os.path.dirname(os.getcwd()), "d")'),
        ('np.load(Path.cwd().parent / "d" / "x.npy")',
         'np.load(Path(os.path.join(contract.data_url, "x.npy")) if contract.data_url else'),
        ('np.load(os.getcwd() + "/../d/x.npy")',
         'np.load(os.path.join(contract.data_url, os.path.basename('),
        ('d = os.path.join(os.getcwd(), "d")\nImageFolder(os.path.join(d, "a"))',
         'd = contract.data_url or os.path.join(os.getcwd(), "d")'),
        ('np.load(os.path.join(os.getcwd(), "d", "x.npy"))',
         'np.load(os.path.join(contract.data_url, "x.npy") if contract.data_url else'),
        ('np.save(os.path.join(os.getcwd(), "..", "o", "x.npy"), 1)',
         'np.save(os.path.join(contract.train_url, "x.npy") if contract.train_url else'),
        ('np.save(os.path.join(os.getcwd(), "o", "x.npy"), 1)',
         'np.save(os.path.join(contract.train_url or os.getcwd(), "o", "x.npy"), 1)'),
    ],
)  # fmt: skip
def test_what_begins_where_the_script_is_started_follows_the_option(before, after):
    assert after in adapt(HEAD + before + "\n").text


def test_a_folder_for_both_results_and_data_is_still_where_the_data_was(tmp_path):
    done = adapt("""
        import os
        import numpy as np
        here = os.getcwd()
        x = np.load(os.path.join(here, "d", "x.npy"))
        np.save(os.path.join(here, "y.npy"), x)
    """)
    script, data, out = tmp_path / "train.py", tmp_path / "d", tmp_path / "out"
    script.write_text(done.text)
    data.mkdir()
    out.mkdir()
    subprocess.run([sys.executable, "-c", "import numpy; numpy.save('d/x.npy', 3)"], cwd=tmp_path, check=True)
    subprocess.run([sys.executable, script, f"--train_url={out}"], cwd=tmp_path, check=True)
    assert sorted(os.listdir(out)) == ["y.npy"]
    (out / "y.npy").unlink()
    data.rename(tmp_path / "brought")
    given = [f"--data_url={tmp_path / 'brought'}", f"--train_url={out}"]
    subprocess.run([sys.executable, script, *given], cwd=tmp_path, check=True)
    assert sorted(os.listdir(out)) == ["y.npy"]


LISTS = {
    "joined with a text": ('os.path.join(root, "data/rows")', 'os.path.join(root, "data/names/all.txt")'),
    "joined with names": ('os.path.join(root, "data", "rows")', 'os.path.join(root, "data", "names", "all.txt")'),
    "put behind it": ('root + "/data/rows"', 'f"{root}/data/names/all.txt"'),
}


@pytest.mark.parametrize("shape", LISTS)
@pytest.mark.parametrize("brought", ["given", "given/data"])
def test_data_in_one_folder_below_the_start_is_found_in_that_folder(shape, brought, tmp_path):
    rows, names = LISTS[shape]
    done = adapt(f"""
        import os
        root = os.getcwd()
        rows = {rows}
        for name in sorted(os.listdir(rows)):
            print(open(os.path.join(rows, name)).read())
        print(open({names}).read())
    """)
    for name in ("rows/x.txt", "names/all.txt"):
        (tmp_path / "given/data" / name).parent.mkdir(parents=True)
        (tmp_path / "given/data" / name).write_text(name)
    away = tmp_path / "away"
    away.mkdir()
    assert play(done.text, away, f"--data_url={tmp_path / brought}").output == "rows/x.txt\nnames/all.txt\n", done.text


@pytest.mark.parametrize(
    ("place", "after"),
    [
        ('os.path.join(here, "d")', 'contract.data_url or os.path.join(here, "d")'),
        ('here + "/d/"', 'os.path.join(contract.data_url, "") if contract.data_url else here + "/d/"'),
        (
            'os.path.join(os.path.join(here, "d"), "a")',
            'os.path.join(contract.data_url or os.path.join(here, "d"), "a")',
        ),
        ("os.path.join(here, name)", "here = contract.data_url or os.getcwd()"),
    ],
)
def test_one_folder_below_a_name_for_the_start_is_the_option_where_it_is_told(place, after):
    assert after in adapt(f"{HEAD}name = input()\nhere = os.getcwd()\nImageFolder({place})\n").text


def test_two_folders_beside_the_script_stay_below_the_option():
    done = adapt(f"{HEAD}here = os.getcwd()\nImageFolder(os.path.join(here, 'a'))\nImageFolder(here + '/b')\n")
    assert "here = contract.data_url or os.getcwd()" in done.text


@pytest.mark.parametrize(
    "check",
    [
        'assert os.path.exists(start), "{} is missing".format(start)',
        'assert os.path.exists(start), f"look for {start}"',
        'if not os.path.exists(start):\n    raise FileNotFoundError("no file " + start)',
    ],
)
def test_an_error_that_repeats_a_path_does_not_keep_it(check):
    head = 'import os, torch\nnet = torch.nn.Linear(1, 1)\nstart = "./start.pth"\n'
    done = adapt(f"{head}{check}\nnet.load_state_dict(torch.load(start))\n")
    assert 'start = contract.pretrain_url or "./start.pth"' in done.text


@pytest.mark.parametrize(
    "place",
    [
        'os.getcwd() + "/" + name', 'os.getcwd() + "/rows/" + name', 'os.getcwd() + "/rows/x.csv"',
        'sys.path[0] + "/rows/x.csv"', 'os.path.join(sys.path[0], "rows", name)', 'FOLDER + "/rows/x.csv"',
        'os.path.dirname(os.path.abspath(__file__)) + "/rows/x.csv"', 'HERE + "rows/x.csv"', "HERE + name",
    ],
)  # fmt: skip
def test_folders_of_the_code_and_of_the_start_are_joined_as_text(place, tmp_path):
    done = adapt(f"""
        import os, sys
        name = "x.csv"
        FOLDER = sys.path[0]
        HERE = os.path.dirname(os.path.realpath(__file__)) + "/"
        print(open({place}).read())
    """)
    (tmp_path / "given" / "rows").mkdir(parents=True)
    for name in ("x.csv", "rows/x.csv"):
        (tmp_path / "given" / name).write_text("rows")
    away = tmp_path / "away"
    away.mkdir()
    text = done.text.replace("__file__", repr(str(away / "script.py")))
    assert play(text, away, f"--data_url={tmp_path / 'given'}").output == "rows\n", done.text


@pytest.mark.parametrize("place", ['HERE + "out/x.txt"', 'os.getcwd() + "/out/x.txt"', 'sys.path[0] + "/out/x.txt"'])
def test_results_that_are_joined_so_lie_in_the_output_folder(place, tmp_path):
    done = adapt(f"""
        import os, sys
        HERE = os.path.dirname(os.path.realpath(__file__)) + "/"
        with open({place}, "w") as file:
            file.write("x")
    """)
    text = done.text.replace("__file__", repr(str(tmp_path / "script.py")))
    play(text, tmp_path, f"--train_url={tmp_path / 'kept'}")
    assert [each.name for each in (tmp_path / "kept").rglob("*") if each.is_file()] == ["x.txt"], done.text


MOVED = {
    "another folder": """
        os.makedirs("work", exist_ok=True)
        os.chdir("work")
        os.makedirs(args.save_dir, exist_ok=True)
        with open(args.save_dir + "/x.txt", "w") as file:
            file.write("x")
    """,
    "a root of its own": """
        root = os.path.abspath("elsewhere")
        os.makedirs(os.path.join(root, args.save_dir), exist_ok=True)
        with open(os.path.join(root, args.save_dir, "x.txt"), "w") as file:
            file.write("x")
    """,
}  # fmt: skip


@pytest.mark.parametrize("shape", MOVED)
def test_a_relative_output_folder_is_one_folder_wherever_it_is_named(shape, tmp_path):
    done = adapt(f"""
        import argparse, os
        parser = argparse.ArgumentParser()
        parser.add_argument("--save_dir", default="runs")
        args = parser.parse_args()
        {MOVED[shape]}
        total = 0
        for epoch in range(2):
            total += epoch
        print(total)
    """)
    played = play(done.text, tmp_path, "--train_url=kept")
    assert {name for name in played.files if name.endswith(("x.txt", "resume.pkl"))} == {
        "kept/x.txt",
        "kept/resume.pkl",
    }
