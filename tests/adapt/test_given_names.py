"""A name that an option gives is not joined a second time with the folder that the option names already."""

from __future__ import annotations

from checked import adapt

SCRIPT = """
import argparse, json, os
from transformers import AutoModel
def main(model_name="distilbert-base-uncased", out="model"):
    model = AutoModel.from_pretrained(model_name, num_labels=2)
    with open(os.path.join(out, "info.txt"), "w") as file:
        json.dump({"model_name": model_name}, file)
    model.save_pretrained(out)
parser = argparse.ArgumentParser()
parser.add_argument("--model-name", default="distilbert-base-uncased")
args = parser.parse_args()
main(model_name=args.model_name)
"""


def test_a_model_that_an_option_names_is_the_option_alone():
    done = adapt(SCRIPT).text
    assert "AutoModel.from_pretrained(model_name, num_labels=2)" in done
    assert "args.model_name = contract.pretrain_url" in done
