"""Options of places that a script will not have there yet: no data is looked for below these."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

TEXT = """
import argparse
import os
import sys
from pathlib import Path
from signals import SignalDataset, make_signals
parser = argparse.ArgumentParser()
parser.add_argument("--root", type=Path)
parser.add_argument("--overwrite", action="store_true")
args = parser.parse_args()
{question}
make_signals(args.root)
for epoch in range(3):
    for row in SignalDataset(root=args.root):
        print(row)
"""


@pytest.mark.parametrize(
    "question",
    [
        "if args.root is not None and args.root.exists() and not args.overwrite:\n    parser.error('it is there')",
        "if os.path.isdir(args.root):\n    raise SystemExit('it is there')",
        "if os.path.exists(args.root):\n    print('it is there')\n    sys.exit(1)",
    ],
)
def test_a_place_that_must_not_be_there_holds_no_data(question):
    done = adapt(TEXT.format(question=question))
    assert "args.root = " not in done.text
    assert "--root stays as it is" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize("question", ["", "if not args.root.exists():\n    parser.error('there is none')"])
def test_a_place_that_must_be_there_does(question):
    assert "args.root = " in adapt(TEXT.format(question=question)).text
