"""Programs whose configuration names their classes: a trainer on a base of another file, loaders that nobody calls."""

from __future__ import annotations

from programs import Program

FILES = {
    "train": """
        import argparse
        import torch
        import loaders as module_data
        import nets as module_nets
        from settings import Settings
        from trainer import Trainer

        torch.manual_seed(3)

        def main(config):
            rows = config.make("loader", module_data)
            model = config.make("net", module_nets)
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            Trainer(model, optimizer, config=config, rows=rows, scheduler=None).train()

        if __name__ == "__main__":
            args = argparse.ArgumentParser()
            args.add_argument("-c", "--config", default="config.json")
            main(Settings.from_args(args))
    """,
    "settings": """
        import json
        from datetime import datetime
        from pathlib import Path

        class Settings:
            def __init__(self, config, run=None):
                self._config = config
                folder = Path(self.config["trainer"]["save_dir"])
                self._save_dir = folder / "models" / (run or datetime.now().strftime("%H"))
                self.save_dir.mkdir(parents=True, exist_ok=True)
            @classmethod
            def from_args(cls, args):
                args = args.parse_args()
                with open(args.config) as file:
                    return cls(json.load(file))
            def make(self, name, module):
                return getattr(module, self.config[name]["type"])(**self.config[name]["args"])
            @property
            def config(self):
                return self._config
            @property
            def save_dir(self):
                return self._save_dir
    """,
    "loaders": """
        import os

        class Rows:
            def __init__(self, data_dir):
                self.data_dir = data_dir
                with open(os.path.join(self.data_dir, "rows.csv")) as file:
                    self.rows = [[float(each) for each in line.split(",")] for line in file]
    """,
    "nets": """
        import torch

        class Line(torch.nn.Linear):
            def __init__(self, size):
                super().__init__(size, size)
    """,
    "base": """
        import torch

        class BaseTrainer:
            def __init__(self, model, optimizer, config):
                self.model, self.optimizer = model, optimizer
                self.best = 99.0
                self.checkpoint_dir = config.save_dir
            def one_epoch(self, epoch):
                raise NotImplementedError
            def train(self):
                worse = 0
                for epoch in range(1, 6):
                    loss = self.one_epoch(epoch)
                    worse = 0 if loss < self.best else worse + 1
                    self.best = min(self.best, loss)
                    torch.save(self.model.state_dict(), str(self.checkpoint_dir / "last.pth"))
                    print("epoch", epoch, loss, self.best, worse, flush=True)
    """,
    "trainer": """
        from base import BaseTrainer

        class Trainer(BaseTrainer):
            def __init__(self, model, optimizer, config, rows, scheduler=None):
                super().__init__(model, optimizer, config)
                self.rows, self.scheduler, self.seen = rows, scheduler, 0
            def one_epoch(self, epoch):
                for x, y in self.rows.rows:
                    self.optimizer.zero_grad()
                    loss = self.model(x) - y
                    loss = loss * loss
                    loss.backward()
                    self.optimizer.step()
                    self.seen += 1
                if self.scheduler is not None:
                    self.scheduler.step()
                return loss.item() + self.seen
    """,
}
CONFIG = """{
    "loader": {"type": "Rows", "args": {"data_dir": "rows"}}, "net": {"type": "Line", "args": {"size": 1}},
    "trainer": {"save_dir": "saved"}
}"""


def test_a_program_that_its_configuration_puts_together_goes_on_and_follows_the_options(tmp_path):
    code, data = tmp_path / "code", tmp_path / "data"
    program = Program(code, **FILES)
    (code / "config.json").write_text(CONFIG)
    for folder in (code / "rows", data):
        folder.mkdir()
        (folder / "rows.csv").write_text("0.5,1\n1,2\n")
    before = program.run()
    assert len(before.lines) == 5, before.error
    done = program.adapt()
    assert not [each for each in done.findings if each.kind.value == "by-hand"], done.findings
    assert program.run().lines == before.lines
    (code / "rows" / "rows.csv").unlink()
    for at in range(1, 5):
        out = tmp_path / f"out{at}"
        given = "--data_url", str(data), "--train_url", str(out)
        program.run(*given, until=f"epoch {at}")
        again = program.run(*given)
        assert again.lines and again.lines == before.lines[-len(again.lines) :], again.error
        assert len(again.lines) < 5 or at == 1
        assert list(out.glob("models/*/last.pth"))
