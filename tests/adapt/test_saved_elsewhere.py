"""What the script reads, and only another file of the program writes: brought, unless that has been called before."""

from __future__ import annotations

import pytest
from programs import Program

KEEPING = """
    import json
    def keep(words, file="words.json"):
        with open(file, "w") as out:
            json.dump(words, out)
    class Keeper:
        def __init__(self):
            self.best = 0
        def add(self, words):
            if words["n"] > self.best:
                self.best = words["n"]
                keep(words)
"""
TRAIN = """
    import json
    import os
    from keeping import {name}
    {first}
    words = {{"n": 0}}
    if os.environ.get("GO_ON"):
        words = json.load(open("words.json"))
    for epoch in range(2):
        words["n"] += 1
        {then}
    print(words["n"])
"""


@pytest.mark.parametrize("then", ["keep(words)", 'keep(words, "words.json")'])
def test_what_another_file_saves_later_is_found_where_it_was(then, tmp_path, monkeypatch):
    program = Program(tmp_path / "code", keeping=KEEPING, train=TRAIN.format(name="keep", first="", then=then))
    (tmp_path / "code/words.json").write_text('{"n": 5}')
    program.adapt()
    monkeypatch.setenv("GO_ON", "1")
    ran = program.run(f"--train_url={tmp_path / 'out'}")
    assert ran.lines == ["7"], ran.error
    assert (tmp_path / "out/words.json").read_text() == '{"n": 7}'


def test_what_an_object_of_another_file_has_saved_is_read_where_that_is(tmp_path):
    train = TRAIN.format(name="Keeper", first="keeper = Keeper()", then="keeper.add(words)")
    program = Program(tmp_path / "code", keeping=KEEPING, train=train)
    program.adapt()
    assert "find_delivered" not in program.text("train.py")
