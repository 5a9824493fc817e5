"""Files of results that an option names: they lie in the contract's folder, which is made."""

from checked import adapt
from stage import play


def test_the_folder_of_a_file_that_an_option_names_is_made(tmp_path):
    done = adapt("""
import argparse
import json
p = argparse.ArgumentParser()
p.add_argument("--save", default="last.json", help="path to save the results")
args = p.parse_args()
with open(args.save, "w") as file:
    json.dump([1], file)
""")
    ran = play(done.text, tmp_path, "--train_url=new/results")
    assert ran.files["new/results/last.json"] == b"[1]"
