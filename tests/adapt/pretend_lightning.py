"""Trainers of Lightning that count their rounds and train nothing, as old and new versions go on."""

from __future__ import annotations

import copy
import random
import sys
import types
from pathlib import Path


class Trainer:
    """A Trainer of before 1.5: it has no ckpt_path, and reads where to go on from an attribute."""

    current_epoch, global_step, world_size, is_global_zero, should_stop = 0, 0, 1, True, False
    max_epochs = 4

    def __init__(self, **given):
        self.callbacks = []
        self.resume_from_checkpoint = None

    def dump_checkpoint(self):
        return {"epoch": -1, "callbacks": [each.on_save_checkpoint(self, None) for each in self.callbacks]}

    def fit(self, model):
        store = sys.modules["torch"].store
        if self.resume_from_checkpoint:
            saved = store[self.resume_from_checkpoint.replace(".ckpt", ".ckpt.part")]
            self.current_epoch, self.global_step = saved["epoch"], saved["global_step"]
            for each, state in zip(self.callbacks, saved["callbacks"], strict=True):
                each.on_load_checkpoint(state)
        for each in self.callbacks:
            each.on_fit_start(self, model)
            each.on_train_start(self, model)
        for epoch in range(self.current_epoch, self.max_epochs):
            self.current_epoch = epoch
            for each in self.callbacks:
                each.on_train_epoch_start(self, model)
            print("epoch", epoch, self.global_step)
            self.global_step += 10
            for each in self.callbacks:
                each.on_train_epoch_end(self, model, [])
        for each in self.callbacks:
            each.on_train_end(self, model)


def fill_random(torch):
    torch.get_rng_state, torch.set_rng_state = lambda: types.SimpleNamespace(cpu=int), lambda state: None
    torch.cuda = types.SimpleNamespace(
        get_rng_state_all=lambda: [], set_rng_state_all=lambda states: None, device_count=lambda: 0
    )


class Plateau:
    def __init__(self):
        self.rate, self.best = 64, 0

    def step(self, metric):
        self.rate, self.best = (self.rate // 2 if metric >= self.best else self.rate), max(metric, self.best)


class NewTrainer(Trainer):
    """A Trainer of 1.6 or later: what watches a metric is stepped behind the end of an epoch, not when it goes on."""

    def __init__(self, **given):
        super().__init__(**given)
        self.callback_metrics = {}
        words = {"interval": "epoch", "frequency": 1, "reduce_on_plateau": True, "monitor": "loss"}
        self.lr_scheduler_configs = [types.SimpleNamespace(scheduler=Plateau(), **words)]

    def save_checkpoint(self, path):
        Path(path).touch()
        states = [copy.deepcopy(each.state_dict()) for each in self.callbacks]
        kept = self.current_epoch + 1, self.global_step, dict(vars(self.lr_scheduler_configs[0].scheduler)), states
        self.store[path.removesuffix(".part")] = kept

    def fit(self, model, ckpt_path=None):
        first, plateau = 0, self.lr_scheduler_configs[0].scheduler
        if ckpt_path:
            first, self.global_step, kept, states = self.store[ckpt_path]
            self.current_epoch = first - 1
            vars(plateau).update(kept)
            for each, state in zip(self.callbacks, states, strict=True):
                each.load_state_dict(state)
        for each in self.callbacks:
            each.on_fit_start(self, model)
            each.on_train_start(self, model)
        if ckpt_path:
            self._end(model)
        for epoch in range(first, self.max_epochs):
            self.current_epoch = epoch
            for each in self.callbacks:
                if hasattr(each, "on_train_epoch_start"):
                    each.on_train_epoch_start(self, model)
            print("epoch", self.current_epoch, plateau.rate)
            self.global_step += 10
            self.callback_metrics["loss"] = self.current_epoch
            self._end(model)
            plateau.step(self.current_epoch)

    def _end(self, model):
        for each in self.callbacks:
            each.on_train_epoch_end(self, model)


class Counting(NewTrainer):
    """Has checkpoints of its own below a folder that each start counts up, as Lightning's loggers do."""

    def __init__(self, default_root_dir=None, **given):
        super().__init__()
        folder = Path(default_root_dir or ".", "logs")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder / f"version_{len(list(folder.iterdir()))}"
        self.folder.mkdir()
        self.checkpoint_callbacks = [types.SimpleNamespace(dirpath=None), types.SimpleNamespace(dirpath=None)]

    def fit(self, model, ckpt_path=None):
        self.checkpoint_callbacks[0].dirpath = f"{self.folder}/checkpoints"
        for each in self.callbacks:
            each.setup(self, model, stage="fit")
        super().fit(model, ckpt_path)


class DrawingTrainer(NewTrainer):
    """Draws a number behind its last epoch, but not where it is passed."""

    def fit(self, model, ckpt_path=None):
        super().fit(model, ckpt_path)
        if not ckpt_path:
            random.random()
