"""Trainings that a library or another file runs, and that are not made to resume: what is true of each, what helps."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.frameworks.makers import class_path, makers
from outlast.adapt.resuming.state import Refusal
from outlast.migrate.tree import tail

#: (library, methods that train) → what can be done
_KNOWN = {
    ("ultralytics", "train"): 'go on by hand: YOLO("OUTPUT/…/weights/last.pt").train(resume=True), with project=OUTPUT',
    ("fastai", "fit fit_one_cycle fine_tune fit_flat_cos fit_sgdr"): "save with SaveModelCallback(every_epoch=True), "
    "load the last with learn.load, and pass start_epoch",
    ("xgboost", "fit train"): "save with TrainingCheckPoint, and pass the last model as xgb_model",
    ("lightgbm", "fit train"): "save the booster in a callback, and pass the last one as init_model",
    ("catboost", "fit train"): "pass snapshot_file in the output folder: CatBoost goes on from it",
    ("stable_baselines3", "learn"): "save with CheckpointCallback, load the last, and learn on with "
    "reset_num_timesteps=False",
    ("pytorch_accelerated", "train"): "save with its SaveBestModelCallback, or write the loop out: outlast.epochs",
    ("setfit", "train"): "a stint must be long enough for it",
    ("flair", "train fine_tune"): "pass checkpoint=True, and go on with ModelTrainer.load_checkpoint",
    ("sentence_transformers", "fit"): "use SentenceTransformerTrainer, which can be resumed",
    ("paddle", "fit"): "save with callbacks.ModelCheckpoint, and load the last with Model.load",
}
_TRAINS = frozenset({"train", "fit", "run", "learn", "start", "train_model", "train_loop", "fit_one_cycle"})


def foreign_training(draft: Draft) -> Refusal | None:
    """The reason for the first call that trains by something from elsewhere; None where there is no such call."""
    for call in draft.calls():
        path = draft.resolve(call.func)
        made = [class_path(draft, each) for each in makers(draft, call.func.value)] if isinstance(
            call.func, cst.Attribute) else []  # fmt: skip
        for (library, methods), advice in _KNOWN.items():
            roots = {each.partition(".")[0] for each in (path, *made)}
            if library in roots and tail(call.func) in methods.split():
                return Refusal(f"{library} runs the training in {tail(call.func)}()", draft.statement(call), advice)
    for call in draft.calls():
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in _TRAINS:
            continue
        made = [class_path(draft, each) for each in makers(draft, call.func.value)]
        found = next((each for each in made if each.rpartition(".")[2].endswith(("Trainer", "Runner", "Learner"))), "")
        if "." in found:
            where, _, name = found.rpartition(".")
            advice = f"save and load in {name}: outlast.epochs and outlast.save"
            return Refusal(f"{name} of {where} runs the training, out of sight here", draft.statement(call), advice)
    return None
