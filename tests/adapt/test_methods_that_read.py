"""Methods of classes that read what was brought, and save beside it."""

from __future__ import annotations

import pytest
from checked import adapt, said
from programs import Program
from stage import play

from outlast.migrate.engine import Kind

ROWS = """
import os
class Rows:
    def __init__(self):
        self.path = "rows/"
        self.names = os.listdir(self.path + "train/")
        self.{read}()
    def {read}(self):
        self.rows = [open(self.path + "train/" + name).read() for name in self.names]
        self.test = open(self.path + "test.txt").read()
    def submit(self, number):
        with open(self.path + number + ".txt", "w") as file:
            file.write(self.test)
rows = Rows()
rows.submit(str(3))
print(rows.rows, rows.test)
"""


@pytest.mark.parametrize("read", ["read", "__read"])
def test_what_a_class_reads_beside_its_results_is_brought(read, tmp_path):
    text, given, results = adapt(ROWS.format(read=read)).text, tmp_path / "given", tmp_path / "results"
    (given / "train").mkdir(parents=True)
    (given / "train" / "a.txt").write_text("one")
    (given / "test.txt").write_text("two")
    for _ in range(2):
        ran = play(text, tmp_path, "--data_url", str(given), "--train_url", str(results))
        assert ran.output.splitlines() == ["['one'] two"], ran.error
    assert [path.name for path in results.iterdir()] == ["3.txt"]


SOUNDS = """
import csv
import os
TABLE = "/mnt/sounds/about/table.csv"
SOUNDS = "/mnt/sounds/wav"
class Sounds:
    def __init__(self, table, folder):
        with open(table) as file:
            self.rows = list(csv.reader(file))
        self.folder = folder
    def __getitem__(self, index):
        with open(self._place_of(index)) as file:
            return file.read()
    def _place_of(self, index):
        fold, name = self.rows[index]
        path = os.path.join(self.folder, f"fold{fold}", name)
        return path
print(Sounds(TABLE, SOUNDS)[0])
"""


def test_a_path_that_a_method_makes_of_a_field_leads_to_the_place_of_that(tmp_path):
    done = adapt(SOUNDS)
    for name, text in {"about/table.csv": "3,a.wav", "wav/fold3/a.wav": "loud"}.items():
        (tmp_path / "given" / name).parent.mkdir(parents=True)
        (tmp_path / "given" / name).write_text(text)
    ran = play(done.text, tmp_path, "--data_url", str(tmp_path / "given"))
    assert ran.output == "loud\n", (done.text, ran.error)


SETTINGS = """
class Places:
    def model_path(self, name):
        return self.saved + name + ".txt"
class Settings(Places):
    def __init__(self):
        self.rows = "./rows/news/"
        self.saved = "./saved/"
    def rows_path(self):
        return self.rows + "train.txt"
settings = Settings()
with open(settings.rows_path()) as file:
    text = file.read()
with open(settings.model_path("net"), "w") as file:
    file.write(text + "!")
"""


def test_methods_of_settings_lead_to_the_places_that_these_hold(tmp_path):
    done = adapt(SETTINGS)
    assert "stays as it is" not in said(done, Kind.DIFFERS)
    given, results = tmp_path / "given", tmp_path / "results"
    given.mkdir()
    (given / "train.txt").write_text("one")
    ran = play(done.text, tmp_path, "--data_url", str(given), "--train_url", str(results))
    assert (results / "net.txt").read_text() == "one!", (done.text, ran.error)


def test_a_result_whose_path_a_method_makes_of_an_option_follows_that():
    done = adapt("""
        import argparse, os
        import torch
        class Trainer:
            def __init__(self, args):
                self.args = args
            def path_of(self, number):
                return os.path.join(self.args.save_dir, f"net_{number}.pt")
            def save(self, net):
                torch.save(net, self.path_of(3))
        parser = argparse.ArgumentParser()
        parser.add_argument("--save_dir", default="saved")
        Trainer(parser.parse_args()).save([1])
    """)
    assert "stays as it is" not in said(done, Kind.DIFFERS) and "args.save_dir = " in done.text


def test_a_method_of_another_class_is_another():
    told = SOUNDS.replace("    def _place_of", "class Other:\n    def _place_of")
    assert 'SOUNDS = "/mnt/sounds/wav"' in adapt(told).text


def test_a_method_that_trains_in_a_loop_of_another_one_is_done_more_than_once():
    done = adapt("""
        import torch
        class Solver:
            def run(self):
                while self.is_open():
                    self.train()
            def is_open(self):
                return input() == "more"
            def train(self):
                net = torch.nn.Linear(1, 1)
                opt = torch.optim.SGD(net.parameters())
                for epoch in range(3):
                    opt.zero_grad()
                    net(torch.ones(1)).sum().backward()
                    opt.step()
        Solver().run()
    """)
    assert "the training is done more than once" in said(done, Kind.HAND)


WEIGHTS = """
import argparse
from keras.applications import VGG16
parser = argparse.ArgumentParser()
parser.add_argument("--weights", default="imagenet")
args = parser.parse_args()
def build(size, weights=None):
    return VGG16(weights={given})
{call}
"""


@pytest.mark.parametrize(
    ("given", "call"),
    [("weights", "build(3, 'imagenet')"), ("weights", "build(3, weights='imagenet')"), ("args.weights", "build(3)")],
)
def test_a_name_of_weights_that_is_handed_on_gives_way_to_the_file(given, call):
    done = adapt(WEIGHTS.format(given=given, call=call), "xihe")
    value = f'weights_file(args.pretrain_url) if args.pretrain_url and {given} == "imagenet" else {given}'
    assert f"VGG16(weights={value})" in done.text
    assert "VGG16 takes its weights from --pretrain_url when that is given" in said(done, Kind.CHANGED)


@pytest.mark.parametrize("call", ["build(3)", "build(3, None)", "build(3, weights='mine.h5')"])
def test_weights_that_are_not_fetched_stay(call):
    assert '== "imagenet" else' not in adapt(WEIGHTS.format(given="weights", call=call), "xihe").text


def test_a_place_of_which_letters_are_stripped_is_told():
    text = """
        class Rows:
            def __init__(self):
                self.path = "./sets/"
                self.plots = self.path.rstrip(CUT) + "/plots/"
                self.rows = open(self.path + "rows.txt").read()
        Rows()
    """
    assert "takes single letters away" in said(adapt(text.replace("CUT", '"sets/"')), Kind.HAND)
    assert "takes single letters away" not in said(adapt(text.replace("CUT", '"/"')), Kind.HAND)


def test_what_is_brought_may_lie_in_any_part_of_its_old_folder(tmp_path):
    text = """
        class Rows:
            def __init__(self):
                self.path = "./sets/"
                self.plots = self.path + "plots"
                self.rows = open(self.path + "train/rows.txt").read()
                open("log.txt", "w").close()
                open(self.path + "out.txt", "w").close()
        print(Rows().rows)
    """
    (tmp_path / "given" / "train").mkdir(parents=True)
    (tmp_path / "given" / "train" / "rows.txt").write_text("one")
    flags = ("--data_url", str(tmp_path / "given"), "--train_url", str(tmp_path / "results"))
    done = adapt(text)
    assert '"sets/")' in done.text, "its name is kept"
    assert play(done.text, tmp_path, *flags).output.splitlines() == ["one"]


def test_a_method_that_reads_is_not_the_one_of_that_name_that_dictionaries_have(tmp_path):
    program = Program(
        tmp_path / "code",
        train="""
            from tools import Settings
            settings = Settings("settings.json")
            settings.update("more.json")
            print(settings.rate, open("rows.txt").read())
        """,
        tools="""
            import json
            class Settings:
                def __init__(self, path):
                    self.__dict__.update(json.load(open(path)))
                def update(self, path):
                    with open(path) as file:
                        found = json.load(file)
                        self.__dict__.update(found)
        """,
    )
    given = tmp_path / "in"
    for folder, rate in ((tmp_path / "code", 1), (given, 2)):
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text('{"rate": 0}')
        (folder / "more.json").write_text(f'{{"rate": {rate}}}')
        (folder / "rows.txt").write_text(f"row {rate}")
    program.adapt()
    assert program.run().lines == ["1 row 1"]
    ran = program.run("--data_url", str(given))
    assert (ran.lines, ran.error) == (["2 row 2"], "")
