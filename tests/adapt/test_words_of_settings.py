"""Arguments that come out of a dictionary: `train(rank, **config["train"])` of settings that nobody sees."""

from __future__ import annotations

import json

from programs import POINTS, Program

TRAIN = """
    import json
    import os
    import torch
    from rows import Rows

    def load(path, model):
        assert os.path.isfile(path)
        model.load_state_dict(torch.load(path))

    def train(rank, output_directory, epochs, start=""):
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        if start:
            load(start, model)
        if rank == 0:
            if not os.path.isdir(output_directory):
                os.makedirs(output_directory)
                os.chmod(output_directory, 0o775)
        rows = Rows(**data_config)
        for epoch in range(epochs):
            for x, y in rows.pairs:
                STEP
            start = "{}/net_{}".format(output_directory, epoch)
            torch.save(model.state_dict(), start)
            model.train()

    if __name__ == "__main__":
        config = json.load(open("config.json"))
        global data_config
        data_config = config["data"]
        train(0, **config["train"])
"""
ROWS = """
    def read_lines(path):
        with open(path) as file:
            names = file.readlines()
        return [name.rstrip() for name in names]

    class Rows:
        def __init__(self, training_files, part=1):
            self.names = read_lines(training_files)
            self.pairs = [pair for at in range(len(self.names)) for pair in self.read(at)]

        def read(self, at):
            return read_pairs(self.names[at])

    def read_pairs(full_path):
        with open(full_path) as file:
            return [tuple(map(float, line.split(","))) for line in file]
"""


def test_places_that_come_out_of_settings_follow_where_they_are_taken(tmp_path):
    program = Program(tmp_path / "code", train=TRAIN, rows=ROWS)
    words = {"train": {"output_directory": "out", "epochs": 2}, "data": {"training_files": "lists/names.txt"}}
    (tmp_path / "code" / "config.json").write_text(json.dumps(words))
    data, out = tmp_path / "in", tmp_path / "results"
    (data / "a").mkdir(parents=True)
    (data / "names.txt").write_text("/home/who/a/points.csv\n")
    (data / "a" / "points.csv").write_text(POINTS)
    done = program.adapt()
    assert not done.by_hand
    out.mkdir()
    ran = program.run("--data_url", str(data), "--train_url", str(out))
    assert ran.code == 0, ran.error
    assert {each.name for each in out.iterdir()} == {"net_0", "net_1", "resume.pt"}
    assert program.files() == {"config.json"}


def test_what_is_written_down_in_the_program_stays_the_source(tmp_path):
    program = Program(
        tmp_path,
        rows="""
            class Rows:
                def __init__(self, root):
                    self.lines = list(open(root + "/points.csv"))
        """,
        train="""
            from rows import Rows

            words = {"root": "data"}
            rows = Rows(**words)
        """,
    )
    before = program.text("rows.py")
    program.adapt()
    assert program.text("rows.py") == before
