"""A place of the script that the text of another file sets anew: it is the contract's again behind that."""

from __future__ import annotations

from checked import adapt
from stage import play

TEXT = """
import json
import os
out_dir = "out"
rounds = 1
exec(open("settings.txt").read())
os.makedirs(out_dir, exist_ok=True)
with open(os.path.join(out_dir, "last.json"), "w") as file:
    json.dump(rounds, file)
"""


def test_results_follow_the_contract_whatever_a_text_sets(tmp_path):
    done = adapt(TEXT)
    (tmp_path / "settings.txt").write_text("out_dir = 'mine'\nrounds = 3\n")
    assert play(done.text, tmp_path).files["mine/last.json"] == b"3"
    files = play(done.text, tmp_path, "--train_url=given").files
    assert files["given/last.json"] == b"3"


def test_a_text_with_names_of_its_own_changes_nothing():
    done = adapt(TEXT.replace(".read())", ".read(), {})"))
    assert "    out_dir = contract.train_url" not in done.text
