"""Settings whose class puts places together of what it is given, in modules that the script may choose by name."""

from __future__ import annotations

import pytest
from programs import Program

CONFIG = """
    class Config:
        def __init__(self, root, rate):
            self.name = "{name}"
            self.rows_path = root + "/raw/rows.txt"
            self.words_path = root + "/raw/words.txt"
            self.kinds = [line.strip() for line in open(root + "/raw/kinds.txt")]
            self.best_path = root + "/saved/" + self.name + ".txt"
            self.log_path = root + "/log/" + self.name
            self.rate = rate
"""
READING = """
    import os
    def read(config):
        if os.path.exists(config.words_path):
            words = open(config.words_path).read()
        else:
            words = "counted"
            with open(config.words_path, "w") as file:
                file.write(words)
        return open(config.rows_path).read().strip(), words
"""
SAVING = """
    import os
    def save(config, rows):
        os.makedirs(config.log_path, exist_ok=True)
        with open(config.log_path + "/log.txt", "w") as file:
            file.write(rows)
        with open(config.best_path, "w") as file:
            file.write(rows)
        return open(config.best_path).read()
"""
CHOSEN = {
    "by an import": "import nets.small as net",
    "by a name": """import importlib
        kind = "small"
        net = importlib.import_module("nets." + kind)""",
    "by an argument": """import importlib, os
        net = importlib.import_module("nets." + os.environ.get("KIND", "small"))""",
}


@pytest.mark.parametrize("chosen", CHOSEN)
def test_what_lies_below_the_root_of_a_class_follows_the_data_or_the_results(chosen, tmp_path):
    code, given, out = tmp_path / "code", tmp_path / "in", tmp_path / "out"
    program = Program(
        code,
        train=f"""
        {CHOSEN[chosen]}
        from reading import read
        from saving import save
        top = "street"
        config = net.Config(top, 0.1)
        rows, words = read(config)
        print(rows, words, config.kinds, save(config, rows))
        """,
        reading=READING, saving=SAVING,
        nets__small=CONFIG.format(name="small"), nets__large=CONFIG.format(name="large"),
    )  # fmt: skip
    for folder, text in ((code / "street", "old"), (given, "new")):
        (folder / "raw").mkdir(parents=True)
        (folder / "raw/rows.txt").write_text(text)
        (folder / "raw/kinds.txt").write_text("a\nb\n")
    (code / "street/saved").mkdir()
    before = program.files()
    done = program.adapt()
    assert not [each.message for each in done.findings if "stays as it is" in each.message]
    assert program.run().lines == ["old counted ['a', 'b'] old"]
    made = program.files() - before
    assert made == {f"street/{name}" for name in ("raw/words.txt", "saved/small.txt", "log/small/log.txt")}
    out.mkdir()
    ran = program.run("--data_url", str(given), "--train_url", str(out))
    assert (ran.lines, ran.error) == (["new counted ['a', 'b'] new"], "")
    assert (given / "raw/words.txt").read_text() == "counted"
    assert {str(each.relative_to(out)) for each in out.rglob("*.txt")} == {"small.txt", "small/log.txt"}
    assert program.files() - before == made
