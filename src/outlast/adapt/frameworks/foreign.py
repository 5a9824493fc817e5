"""Trainings that a library or another file runs, and that are not made to resume: what is true of each, what helps."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.frameworks.makers import class_path, makers
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.told import adapt_there
from outlast.migrate.tree import dotted, tail

#: (library, methods that train) → what can be done
_KNOWN = {
    ("ultralytics", "train"): 'go on by hand: YOLO("OUTPUT/…/weights/last.pt").train(resume=True), with project=OUTPUT',
    ("fastai", "fit fit_one_cycle fine_tune fit_flat_cos fit_sgdr"): "save with SaveModelCallback(every_epoch=True), "
    "load the last with learn.load, and pass start_epoch",
    ("xgboost", "fit train"): "save with TrainingCheckPoint, and pass the last model as xgb_model",
    ("lightgbm", "fit train"): "save the booster in a callback, and pass the last one as init_model",
    (
        "optuna",
        "optimize",
    ): "keep the storage of its study in the output folder (load_if_exists=True), and ask only for "
    "the trials that are left: n_trials=N - len(study.trials)",
    ("catboost", "fit train"): "pass snapshot_file in the output folder: CatBoost goes on from it",
    ("stable_baselines3", "learn"): "save with CheckpointCallback, load the last, and learn on with "
    "reset_num_timesteps=False",
    ("pytorch_accelerated", "train"): "save with its SaveBestModelCallback, or write the loop out: outlast.epochs",
    ("setfit", "train"): "a stint must be long enough for it",
    ("flair", "train fine_tune"): "pass checkpoint=True, and go on with ModelTrainer.load_checkpoint",
    ("sentence_transformers", "fit"): "use SentenceTransformerTrainer, which can be resumed",
    ("tflearn", "fit"): "save with checkpoint_path in the output folder, load the last with model.load, and fit on",
    ("paddle", "fit"): "save with callbacks.ModelCheckpoint, and load the last with Model.load",
}
_CALLED = frozenset(method for _, methods in _KNOWN for method in methods.split())
#: libraries that are imported with a star, as their own pages do it
_STARRED = frozenset({"fastai"})
_TRAINS = frozenset({"train", "fit", "run", "learn", "start", "train_model", "train_loop", "fit_one_cycle"})


def foreign_training(draft: Draft) -> Refusal | None:
    """The reason for the first call that trains by something from elsewhere; None where there is no such call."""
    for call in draft.calls_named(*_CALLED):
        made = [class_path(draft, each) for each in makers(draft, call.func.value)] if isinstance(
            call.func, cst.Attribute) else []  # fmt: skip
        roots = {each.partition(".")[0] for each in (draft.resolve(call.func), *made)}
        if isinstance(call.func, cst.Attribute) and not any("." in each for each in made):
            roots |= _opened(draft)
        for (library, methods), advice in _KNOWN.items():
            if library in roots and tail(call.func) in methods.split():
                return Refusal(f"{library} runs the training in {tail(call.func)}()", draft.statement(call), advice)
    for call in draft.calls_named(*_TRAINS):
        if not isinstance(call.func, cst.Attribute):
            continue
        made = [class_path(draft, each) for each in makers(draft, call.func.value)]
        found = next((each for each in made if each.rpartition(".")[2].endswith(("Trainer", "Runner", "Learner"))), "")
        if "." in found:
            where, _, name = found.rpartition(".")
            by_hand = f"save and load in {name}: outlast.epochs and outlast.save"
            is_beside = where.startswith(".")
            advice = f"{adapt_there(found, name)}, or {by_hand}" if is_beside else by_hand
            said = f"{name} of {where.lstrip('.')} runs the training, out of sight here"
            there = where.lstrip(".") if is_beside else ""
            return Refusal(said, draft.statement(call), advice, is_absent=is_beside, there=there)
    return None


def _opened(draft: Draft) -> set[str]:
    """Libraries of which anything may come without a sign: `from fastai.vision.all import *`."""
    return {dotted(node.module).partition(".")[0] for node in draft.star_imports} & _STARRED
