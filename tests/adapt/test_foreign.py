"""Trainings that a library or another file runs: each has its own reason and advice."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind


@pytest.mark.parametrize(
    ("text", "reason", "advice"),
    [
        ('from ultralytics import YOLO\nm = YOLO("n.pt")\nm.train(epochs=3)\n', "ultralytics runs", "resume=True"),
        ("from fastai.vision.all import Learner\nl = Learner(d)\nl.fit_one_cycle(3)\n", "fastai runs", "start_epoch"),
        ("import xgboost as xgb\nb = xgb.train({}, d)\n", "xgboost runs", "xgb_model"),
        ("from catboost import CatBoostRegressor\nCatBoostRegressor().fit(x)\n", "catboost runs", "snapshot_file"),
        (
            "from stable_baselines3 import PPO\nm = PPO('M', e)\nm.learn(9)\n",
            "stable_baselines3",
            "reset_num_timesteps",
        ),
        ("from engine.core import Trainer\nTrainer(cfg).train()\n", "Trainer of engine.core runs", "outlast.save"),
    ],
)
def test_a_training_elsewhere_is_named(text, reason, advice):
    done = adapt(text)
    assert reason in said(done, Kind.HAND) and advice in said(done, Kind.HAND)
    assert "OUTLAST_CHECKPOINT" not in done.text
