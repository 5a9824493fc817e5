"""Scripts that were cells of a notebook: later imports, drives of Windows, data dealt out anew, archives unpacked."""

from __future__ import annotations

import zipfile

import pytest
from checked import adapt, said
from stage import play

from outlast.migrate.engine import Kind

LOOP = """
w = 0.0
for epoch in range(3):
    w += len(rows)
"""


@pytest.mark.parametrize("late", ["import random", "import numpy as np"])
def test_a_seed_does_not_ask_for_what_a_later_cell_imports(late, tmp_path):
    shuffle = "random.shuffle(rows)" if "random" in late else "np.random.shuffle(rows)"
    done = adapt(f"import os\nrows = list(range(100))\n{late}\n{shuffle}\nprint(rows[:5])\n{LOOP}")
    ran = [play(done.text, tmp_path, "--train_url", str(tmp_path / "out")).output for _ in range(2)]
    assert ran[0] == ran[1]


def test_folders_of_windows_are_made_by_the_name_that_they_have_now(tmp_path):
    text = r"""
        import os
        rows = open(r"D:\Nets\rows.txt").read()
        w = 0.0
        for epoch in range(3):
            w += len(rows)
        open(os.path.join(r"C:\New Nets\one", "w.txt"), "w").write(str(w))
        open("log.txt", "w").write("done")
    """
    done = adapt(text)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.txt").write_text("abc")
    flags = ("--data_url", str(tmp_path / "in"), "--train_url", str(tmp_path / "out"))
    assert play(done.text, tmp_path, *flags).files["out/one/w.txt"] == b"9.0"


def test_data_of_several_folders_of_windows_is_told_by_its_last_names():
    text = r"""
        import pandas as pd
        one = pd.read_csv(r"E:\work\dataset\one.csv")
        two = pd.read_csv(r"E:\work\sets\two.csv")
    """
    assert "--data_url must hold one.csv, two.csv" in said(adapt(text), Kind.DIFFERS)
    assert "last name" not in said(adapt(text.replace("sets", "dataset")), Kind.DIFFERS)


def test_data_that_is_dealt_out_within_its_folder_is_no_result(tmp_path):
    text = """
        import os, shutil
        root = "shop/rows"
        for name in sorted(os.listdir(root)):
            print(name)
        root = "shop/rows"
        train = os.path.join(root, "train")
        os.makedirs(train, exist_ok=True)
        for name in os.listdir(os.path.join(root, "all")):
            shutil.copy(os.path.join(root, "all", name), os.path.join(train, name))
        rows = os.listdir(train)
        w = 0.0
        for epoch in range(3):
            w += len(rows)
        open(os.path.join("shop", "w.txt"), "w").write(str(w))
    """
    done = adapt(text)
    (tmp_path / "in" / "all").mkdir(parents=True)
    (tmp_path / "in" / "all" / "a.txt").write_text("1")
    played = play(done.text, tmp_path, "--data_url", str(tmp_path / "in"), "--train_url", str(tmp_path / "out"))
    assert played.files["in/train/a.txt"] == b"1"
    assert played.files["out/w.txt"] == b"3.0"


def test_what_is_unpacked_beside_results_is_read_where_it_was_unpacked(tmp_path):
    text = """
        import os, zipfile
        for folder, _, names in os.walk("sets"):
            print(sorted(names))
        with zipfile.ZipFile("sets/shop/train.zip") as archive:
            archive.extractall("work/output/shop")
        save = "work/output/shop/saved"
        rows = os.listdir("work/output/shop/train")
        w = 0.0
        for epoch in range(3):
            w += len(rows)
        open("work/output/shop/w.txt", "w").write(str(w))
        with zipfile.ZipFile("sets/shop/test.zip") as archive:
            archive.extractall("work/output/shop/test")
        test = "work/output/shop/test/test"
        print(sorted(os.listdir(test)))
    """
    done = adapt(text)
    home = tmp_path / "in" / "shop"
    home.mkdir(parents=True)
    for name in ("train", "test"):
        with zipfile.ZipFile(home / f"{name}.zip", "w") as archive:
            archive.writestr(f"{name}/{name}.txt", "1")
    played = play(done.text, tmp_path, "--data_url", str(tmp_path / "in"), "--train_url", str(tmp_path / "out"))
    assert played.output.splitlines()[-1] == "['test.txt']"
    assert played.files["out/w.txt"] == b"3.0"
    told = said(done, Kind.DIFFERS)
    assert "not certain" not in told, "what is unpacked is not asked about"
    assert "--data_url must hold the folder shop" in told


def test_the_start_of_a_name_stays_what_it_is_where_it_is_also_a_folder(tmp_path):
    text = """
        import os
        def watch(prefix, directory):
            assert "/" not in prefix, prefix
            os.makedirs(directory, exist_ok=True)
            return open(os.path.join(directory, prefix + ".txt"), "w")
        outdir = "runs"
        name = outdir + "_" + "small"
        os.makedirs(outdir, exist_ok=True)
        log = watch(prefix=name, directory=outdir)
        w = 0.0
        for epoch in range(3):
            w += 1
        log.write(str(w))
        log.close()
        with open(os.path.join(outdir, "w.txt"), "w") as file:
            file.write(str(w))
    """
    done = adapt(text)
    files = play(done.text, tmp_path, "--train_url", str(tmp_path / "out")).files
    assert {"out/runs/runs_small.txt", "out/runs/w.txt"} <= set(files)


CHOSEN = {
    "a choice": 'if len("ab") > 1:\n    root = "all/"\nelse:\n    root = "few/"\n',
    "an argument": 'import sys\ntry:\n    root = sys.argv[1]\nexcept IndexError:\n    root = "all"\nroot += "/"\n',
    "the first that is there": (
        'import os\nroot = None\nfor each in ["few/rows/", "few/all/"]:\n    if os.path.exists(each):\n'
        "        root = each\n        break\n"
    ),
}


@pytest.mark.parametrize("way", CHOSEN)
def test_data_in_one_of_several_folders_follows_the_option(way, tmp_path):
    done = adapt(f'{CHOSEN[way]}print(open(root + "x.txt").read())\n')
    (tmp_path / "in" / "all").mkdir(parents=True)
    (tmp_path / "in" / "all" / "x.txt").write_text("new")
    assert play(done.text, tmp_path, "--data_url", str(tmp_path / "in")).output.splitlines()[-1] == "new"


def test_a_loop_that_only_reads_its_files_is_no_training():
    text = """
        import pandas as pd
        from {library}
        parts = []
        for {name} in range(4):
            parts.append(pd.read_csv("rows/%d.csv" % {name}))
        rows = pd.concat(parts)
        {train}
    """
    for library, name, train, told in (
        ("sklearn.svm import SVC", "i", "SVC().fit(rows, rows)", "one call"),
        ("lightgbm import train", "item", "train({}, rows)", "lightgbm runs the training"),
        ("optuna import create_study", "part", "create_study().optimize(lambda trial: 1)", "optuna runs the training"),
    ):
        done = adapt(text.format(library=library, name=name, train=train))
        assert "resume" not in done.text
        assert told in said(done, Kind.DIFFERS) + said(done, Kind.HAND)


def test_a_loop_that_trains_beside_a_fitted_scaler_goes_on():
    text = """
        import numpy as np
        from sklearn.preprocessing import StandardScaler
        rows = np.load("rows/x.npy")
        rows = StandardScaler().fit(rows).transform(rows)
        w = 0.0
        for i in range(100):
            w -= 0.1 * (w - rows.mean())
        np.save("w.npy", w)
    """
    assert "resume.pkl" in adapt(text).text
