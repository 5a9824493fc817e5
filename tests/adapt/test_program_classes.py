"""Classes that are built on those of other files, chosen by a configuration, or held by a list: places and states."""

from __future__ import annotations

from programs import POINTS, Program

from outlast.migrate.engine import Kind

LINE = """
    import torch

    class Line(torch.nn.Linear):
        def __init__(self):
            super().__init__(1, 1)
"""
ROWS = """
    def read(path):
        with open(path) as file:
            return [[float(each) for each in line.split(",")] for line in file]
"""
BASE = """
    import torch

    class Base:
        def __init__(self, model, optimizer, rows, save_dir, config=None):
            self.model, self.optimizer, self.rows, self.save_dir = model, optimizer, rows, save_dir
        def train(self):
            for epoch in range(4):
                loss = self.one(epoch)
                torch.save(self.model.state_dict(), str(self.save_dir / "net{}.pth".format(epoch)))
                print("epoch", epoch, loss, flush=True)
"""
TRAINER = """
    from base import Base

    class Trainer(Base):
        def __init__(self, model, optimizer, rows, save_dir, config=None):
            super().__init__(model, optimizer, rows, save_dir, config)
        def one(self, epoch):
            model, optimizer = self.model, self.optimizer
            for x, y in self.rows:
                STEP
            return loss.item()
"""


def goes_on(program, tmp_path, rounds, word="epoch"):
    """Kill it in each round with the options; the rest must be what it was without a stop."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "points.csv").write_text(POINTS)
    (program.folder / "points.csv").write_text(POINTS)
    before = program.run()
    assert len(before.lines) >= rounds, before.error
    done = program.adapt()
    assert not [each for each in done.findings if each.kind is Kind.HAND], done.findings
    assert program.run().lines == before.lines
    (program.folder / "points.csv").unlink()
    for at in range(rounds - 1):
        out = tmp_path / f"out{at}"
        given = "--data_url", str(data), "--train_url", str(out)
        program.run(*given, until=f"{word} {at}")
        again = program.run(*given)
        assert again.lines and again.lines == before.lines[-len(again.lines) :], again.error
    return out


def test_a_place_that_a_class_hands_to_its_base_of_another_file_follows(tmp_path):
    program = Program(
        tmp_path / "code", nets=LINE, rows=ROWS, base=BASE, trainer=TRAINER,
        train="""
            from pathlib import Path
            import torch
            from nets import Line
            from rows import read
            from trainer import Trainer

            FOLDER = Path("outs")
            torch.manual_seed(3)
            if __name__ == "__main__":
                model = Line()
                optimizer = torch.optim.SGD(model.parameters(), 0.01)
                FOLDER.mkdir(exist_ok=True)
                Trainer(model, optimizer, read("points.csv"), FOLDER).train()
        """,
    )  # fmt: skip
    out = goes_on(program, tmp_path, 4)
    assert (out / "net3.pth").is_file()


def test_a_class_of_another_file_without_a_start_of_its_own_takes_what_its_base_takes(tmp_path):
    plain = TRAINER.replace(
        "        def __init__(self, model, optimizer, rows, save_dir, config=None):\n"
        "            super().__init__(model, optimizer, rows, save_dir, config)\n", ""
    )  # fmt: skip
    assert "__init__" not in plain
    program = Program(
        tmp_path / "code", nets=LINE, rows=ROWS, base=BASE, trainer=plain,
        train="""
            from pathlib import Path
            import torch
            from nets import Line
            from rows import read
            from trainer import Trainer

            model = Line()
            Trainer(model, torch.optim.SGD(model.parameters(), 0.01), read("points.csv"), Path("outs")).train()
        """,
    )  # fmt: skip
    program.adapt()
    assert 'Path(contract.train_url or "outs")' in program.text("train.py")


def test_settings_of_a_class_that_only_the_configuration_names_follow(tmp_path):
    program = Program(
        tmp_path / "code", nets=LINE, rows=ROWS,
        base=BASE.replace("save_dir, config=None", "config").replace(
            "= model, optimizer, rows, save_dir", "= model, optimizer, rows, Path(config['trainer']['save_dir'])"
        ).replace("import torch", "from pathlib import Path\n    import torch"),
        trainers="from plain import *\n",
        plain=TRAINER.replace("save_dir, config=None", "config").replace("save_dir, config", "config"),
        sets="from listed import *\n",
        listed="""
            from rows import read

            class Listed:
                def __init__(self, listing, size=1):
                    self.rows = self.fill(listing)
                def fill(self, listing):
                    return read(listing)

            class Short(Listed):
                def __init__(self, **words):
                    super().__init__(**words)
        """,
        train="""
            import argparse, json, os
            import torch
            import sets as module_sets
            import trainers as module_trainers
            from nets import Line

            def make(module, name, config):
                return getattr(module, config[name]["type"])(**config[name]["args"])

            def main(config):
                rows = make(module_sets, "rows", config)
                model = Line()
                kind = getattr(module_trainers, config["trainer"]["type"])
                os.makedirs(config["trainer"]["save_dir"], exist_ok=True)
                trainer = kind(
                    model=model, optimizer=torch.optim.SGD(model.parameters(), 0.01), rows=rows.rows, config=config
                )
                trainer.train()

            torch.manual_seed(3)
            if __name__ == "__main__":
                parser = argparse.ArgumentParser()
                parser.add_argument("--config", default="config.json")
                args = parser.parse_args()
                config = json.load(open(args.config))
                main(config)
        """,
    )  # fmt: skip
    (program.folder / "config.json").write_text(
        '{"rows": {"type": "Short", "args": {"listing": "points.csv"}},'
        ' "trainer": {"type": "Trainer", "save_dir": "saved"}}'
    )
    out = goes_on(program, tmp_path, 4)
    assert (out / "net3.pth").is_file()


def test_an_object_of_a_class_that_is_taken_from_its_module_is_kept(tmp_path):
    program = Program(
        tmp_path / "code", nets=LINE, rows=ROWS,
        tools__stepping="""
            import torch

            class Stepping:
                def __init__(self, model, optimizer):
                    self.model, self.optimizer = model, optimizer
                    self.rate = 1.0
                def train(self, rows):
                    model, optimizer = self.model, self.optimizer
                    for x, y in rows:
                        STEP
                    self.best = self.model
                    self.rate *= 0.5
                    return loss.item() * self.rate
        """,
        train="""
            import torch
            import nets
            from rows import read
            from tools import stepping

            torch.manual_seed(3)
            model = nets.Line()
            rows = read("points.csv")
            stepper = stepping.Stepping(model, torch.optim.SGD(model.parameters(), 0.01))
            for epoch in range(4):
                print("epoch", epoch, stepper.train(rows), flush=True)
        """,
    )  # fmt: skip
    goes_on(program, tmp_path, 4)
    # Another name of the model is no state of its own.
    assert "stepper.best" not in program.text("train.py")


def test_objects_that_the_rounds_only_hand_on_or_have_in_a_list_are_kept(tmp_path):
    program = Program(
        tmp_path / "code", nets=LINE, rows=ROWS,
        fitting="""
            import torch

            class Best:
                def __init__(self, path="best.pth"):
                    self.path = path
                    self.lowest = 99.0
                    self.worse = 0
                def __call__(self, epoch, model, loss):
                    if loss < self.lowest:
                        self.lowest, self.worse = loss, 0
                        torch.save(model.state_dict(), self.path)
                    else:
                        self.worse += 1
                    print("best", self.lowest, self.worse)

            class Warm:
                def __init__(self, optimizer):
                    self.optimizer, self.steps = optimizer, 0
                def step(self):
                    self.steps += 1
                    self.optimizer.step()

            class Fitter:
                def __init__(self, model, rows):
                    self.model, self.rows = model, rows
                    self.warm = Warm(torch.optim.SGD(model.parameters(), 0.01))
                def train(self, epochs, callbacks=[]):
                    self.model.train()
                    for epoch in range(epochs):
                        loss = once(self.rows, self.model, Compute(wrapper=self.warm))
                        print("epoch", epoch, loss, flush=True)
                        for callback in callbacks:
                            callback(epoch, self.model, abs(loss - 3))

            class Compute:
                def __init__(self, wrapper):
                    self.wrapper = wrapper
                def __call__(self, loss):
                    loss.backward()
                    self.wrapper.step()
                    self.wrapper.optimizer.zero_grad()
                    return loss.item() + self.wrapper.steps

            def once(rows, model, compute):
                for x, y in rows:
                    loss = model(x) - y
                    told = compute(loss * loss)
                return told
        """,
        train="""
            import torch
            from fitting import Best, Fitter
            from nets import Line
            from rows import read

            torch.manual_seed(3)
            fitter = Fitter(Line(), read("points.csv"))
            callbacks = [Best()]
            fitter.train(epochs=5, callbacks=callbacks)
        """,
    )  # fmt: skip
    goes_on(program, tmp_path, 5)
    assert "callbacks[0].lowest" in program.text("fitting.py")
    assert "self.warm.steps" in program.text("fitting.py")
