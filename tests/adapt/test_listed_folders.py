"""A folder of data beside the results: what its list names is found where the folder was found."""

from __future__ import annotations

import pytest
from checked import adapt
from stage import play

TEXT = """
import os
import numpy as np
BASE = "everything"

class Rows:
    def __init__(self, root, split):
        self.names = []
        {setup}
        if os.path.exists({folder}):
            for name in sorted(os.listdir({folder})):
                self.names.append(os.path.join({folder}, name))

    def total(self):
        return sum(len(np.fromfile(name)) if os.path.exists(name) else 0 for name in self.names)

{make}
weight = 0.0
for epoch in range(3):
    weight += rows.total()
    np.save(f"{{BASE}}/weight.npy", weight)
print(weight)
"""
MADE = 'rows = Rows(BASE, "train")'


@pytest.mark.parametrize(
    ("parameters", "setup", "folder", "make"),
    [
        ("root, split", "folder = os.path.join(root, split)", "folder", MADE),
        ("root, split", "self.folder = os.path.join(root, split)", "self.folder", MADE),
        ("root, split", "pass", "os.path.join(root, split)", MADE),
        ("folder", "pass", "folder", 'rows = Rows(os.path.join(BASE, "train"))'),
    ],
)
def test_files_of_a_listed_folder_are_found_where_it_was_found(parameters, setup, folder, make, tmp_path):
    text = TEXT.replace("root, split):", f"{parameters}):").format(setup=setup, folder=folder, make=make)
    done = adapt(text)
    for home in ("home/everything", "given"):
        (tmp_path / home / "train").mkdir(parents=True)
        (tmp_path / home / "train" / "a.bin").write_bytes(bytes(16))
    (tmp_path / "empty").mkdir()
    before = play(text, tmp_path / "home").output
    options = (f"--data_url={tmp_path / 'given'}", f"--train_url={tmp_path / 'out'}")
    assert before == play(done.text, tmp_path / "empty", *options).output == "6.0\n"
    assert play(done.text, tmp_path / "home").output == before


def test_a_text_that_names_a_listed_folder_keeps_its_quotes():
    text = TEXT.replace("root, split):", "folder):")
    done = adapt(
        text.format(setup='print(f"{folder}")', folder="folder", make='rows = Rows(os.path.join(BASE, "train"))')
    )
    assert "f\"{find_delivered(folder, contract.train_url, 'everything', contract.data_url)}\"" in done.text


def test_folders_of_several_names_are_no_file_that_is_saved_beside_them():
    make = MADE + '\nmore = Rows(BASE, "val")'
    done = adapt(TEXT.format(setup="folder = os.path.join(root, split)", folder="folder", make=make))
    assert "folder = find_delivered(os.path.join(root, split), " in done.text


def test_a_listed_folder_that_is_written_to_stays_where_it_is():
    more = MADE + '\nnp.save(os.path.join(BASE, "train", "mean.npy"), 0.0)'
    done = adapt(TEXT.format(setup="folder = os.path.join(root, split)", folder="folder", make=more))
    assert "folder = os.path.join(root, split)" in done.text


def test_a_longer_path_is_found_with_the_listed_folder_that_it_begins_with():
    text = TEXT.replace("os.path.join({folder}, name)", "os.path.join(root, split, name)")
    done = adapt(text.format(setup="pass", folder="os.path.join(root, split)", make=MADE))
    joined = next(line for line in done.text.splitlines() if "append" in line)
    assert "os.path.join(find_delivered(os.path.join(root, split), " in joined


def test_a_name_that_has_two_meanings_is_looked_for_where_it_is_listed_alone():
    make = "for split in range(2):\n    print(split)\n" + MADE
    setup = "folder = os.path.join(root, split)\n        other = [folder for folder in range(2)]"
    done = adapt(TEXT.format(setup=setup, folder="folder", make=make))
    assert "other = [folder for folder in range(2)]" in done.text


@pytest.mark.parametrize("lister", ["list_images", "list_files"])
def test_pictures_that_a_library_lists_are_data(lister):
    done = adapt(f"""
        import argparse
        import cv2
        from imutils import paths
        ap = argparse.ArgumentParser()
        ap.add_argument("-d", "--dataset", required=True)
        args = vars(ap.parse_args())
        for path in sorted(paths.{lister}(args["dataset"])):
            print(cv2.imread(path).sum())
    """)
    assert 'args["dataset"] = args["data_url"]' in done.text and "nothing reads" not in str(done.findings)
