"""Places in dictionaries that are filled one by one, and in those that a function looks into for whoever asks."""

from __future__ import annotations

import pytest
from checked import adapt
from programs import Program

SET = {
    "one": "params['saved'] = '../models/net_' + params['name'] + '.pth'",
    "one of two": "if params['name'] in ('a', 'b'):\n        params['saved'] = '../models/ab.pth'\n"
    "    else:\n        params['saved'] = '../models/c.pth'",
    "a format": "params['saved'] = f'../models/net_{params[\"name\"]}.pth'",
    "by a name": "place = '../models/net.pth'\n    params['saved'] = place",
}


@pytest.mark.parametrize("made", ["{}", "dict(rows=3)"])
@pytest.mark.parametrize("way", SET)
def test_an_entry_that_is_set_by_itself_is_followed(way, made):
    done = adapt(f"""
        import torch
        def main():
            params = {made}
            params['name'] = 'c'
            {SET[way].replace(chr(10), chr(10) + " " * 8)}
            torch.save({{'params': params}}, params['saved'])
        main()
    """)
    assert "contract.train_url or" in done.text and "torch.save({'params': params}, params['saved'])" in done.text


def test_a_column_of_a_table_is_no_entry():
    done = adapt("""
        import pandas as pd
        from PIL import Image
        rows = pd.read_csv("sets/rows.csv")
        rows["file"] = "../pictures/" + rows["name"]
        for at in range(3):
            print(Image.open(rows["file"][at]).size)
    """)
    assert 'rows["file"] = "../pictures/" + rows["name"]' in done.text


def test_what_was_there_before_is_no_way_round():
    done = adapt("""
        import os
        import torch
        params = {"saved": "models"}
        params["saved"] = os.path.join(params["saved"], "net.pth")
        torch.save({}, params["saved"])
    """)
    assert 'params = {"saved": os.path.join(contract.train_url or "", "models")}' in done.text


PLACES = """
    def place_of(asked):
        places = {"rows": "../sets/rows/", "names": "../sets/names/"}
        return places[asked]
"""
TRAIN = """
    import torch
    from places import place_of

    def read(folder, name):
        return [tuple(map(float, each.split(","))) for each in open(folder + name)]

    def load(kind):
        if kind == "rows":
            folder = place_of("rows")
            return read(folder, "all.csv")
        folder = place_of(asked="names")
        return read(folder, "all.csv")

    torch.manual_seed(1)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(2):
        for x, y in load("rows"):
            STEP
        print(epoch, loss.item(), flush=True)
"""


def test_a_place_that_a_function_looks_up_is_looked_for_in_the_data(tmp_path):
    program = Program(tmp_path / "code", train=TRAIN, places=PLACES)
    for folder in ("rows", "names"):
        (tmp_path / "sets" / folder).mkdir(parents=True)
        (tmp_path / "sets" / folder / "all.csv").write_text("1.0,2.0\n0.5,1.5\n")
    before = program.run()
    assert before.code == 0 and len(before.lines) == 2, before.error
    assert not program.adapt().by_hand
    assert program.run().lines == before.lines
    (tmp_path / "sets").rename(tmp_path / "in")
    after = program.run(f"--data_url={tmp_path / 'in'}", f"--train_url={tmp_path / 'out'}")
    assert after.lines == before.lines, after.error
