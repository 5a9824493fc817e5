"""Trainings that a library or another file runs: each has its own reason and advice."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.adapt import CONTRACTS, adapt_text
from outlast.migrate.engine import Kind


@pytest.mark.parametrize(
    ("text", "reason", "advice"),
    [
        ('from ultralytics import YOLO\nm = YOLO("n.pt")\nm.train(epochs=3)\n', "ultralytics runs", "resume=True"),
        ("from fastai.vision.all import Learner\nl = Learner(d)\nl.fit_one_cycle(3)\n", "fastai runs", "start_epoch"),
        ("from fastai.vision.all import *\nl = vision_learner(d)\nl.fine_tune(3)\n", "fastai runs", "start_epoch"),
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


def test_where_stable_baselines_writes_is_the_output_folder():
    done = adapt("""
        from stable_baselines3 import PPO
        from stable_baselines3.common.callbacks import CheckpointCallback
        model = PPO("MlpPolicy", "CartPole-v1", tensorboard_log="./tb/")
        model.learn(9, callback=CheckpointCallback(3, save_path="./kept/"))
    """)
    assert 'tensorboard_log=os.path.join(contract.train_url or ".", "tb/")' in done.text
    assert 'save_path=os.path.join(contract.train_url or ".", "kept/")' in done.text


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("import torch\nfrom engine import train_model\ntrain_model(torch.nn.Linear(1, 1), 9)\n", "engine.py"),
        ("import torch\nfrom engine.core import Trainer\nTrainer(torch.nn.Linear(1, 1)).train()\n", "engine/core.py"),
    ],
)
def test_a_file_beside_the_script_that_trains_is_named(text, file):
    done = adapt_text(text, CONTRACTS["plain"], beside=frozenset({"engine"}))
    assert f"outlast adapt {file} --contract plain" in said(done, Kind.HAND) and " .engine" not in said(done, Kind.HAND)
