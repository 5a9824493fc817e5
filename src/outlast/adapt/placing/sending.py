"""Calls that send something over the network, or ask somebody there: where there is none, they fail or wait."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.placing.fetchers import constant, is_address
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, positional, tail

RULE = "downloads"
_SIGNS_IN = frozenset({"huggingface_hub.login", "huggingface_hub.notebook_login", "wandb.login", "comet_ml.login"})
#: what begins a run that a server follows: full name → how it is told to write files only
_RUNS = {
    "comet_ml.Experiment": "use comet_ml.OfflineExperiment there", "comet_ml.start": "start it with online=False there",
    "neptune.init_run": "let it write files only: outlast run … -e NEPTUNE_MODE=offline",
    "neptune.init": "let it write files only: outlast run … -e NEPTUNE_MODE=offline",
    "neptune.new.init": "let it write files only: outlast run … -e NEPTUNE_MODE=offline",
    "clearml.Task.init": "let it write files only: outlast run … -e CLEARML_OFFLINE_MODE=1",
    "swanlab.init": "let it write files only: outlast run … -e SWANLAB_MODE=local",
    "requests.post": "leave it out there", "requests.put": "leave it out there",
}  # fmt: skip
_LOGGERS = {"WandbLogger": "WANDB_MODE=offline", "NeptuneLogger": "NEPTUNE_MODE=offline"}


def report_sending(draft: Draft) -> None:
    """To know, on a platform without a network."""
    for call in draft.calls():
        name, asked = draft.resolve(call.func), argument(call, "push_to_hub")
        if name in _SIGNS_IN:
            said, advice = f"{name} asks a server; there is no network on this platform", "leave it out there"
        elif name == "wandb.init" and not _is_offline(draft, call):
            said = "wandb.init sends to a server; there is no network on this platform"
            advice = "let it write files only: outlast run … -e WANDB_MODE=offline"
        elif name in _RUNS:
            said, advice = f"{name} sends to a server; there is no network on this platform", _RUNS[name]
        elif tail(call.func) in _LOGGERS and argument(call, "offline") is None and not _is_offline(draft, call):
            said = f"{tail(call.func)} sends to a server; there is no network on this platform"
            advice = f"let it write files only: outlast run … -e {_LOGGERS[tail(call.func)]}"
        elif name == "mlflow.set_tracking_uri" and is_address(constant(draft, positional(call, 0))):
            said = "mlflow sends to a server; there is no network on this platform"
            advice = "let it write files only: without set_tracking_uri it writes to mlruns"
        elif tail(call.func) == "push_to_hub" or (asked is not None and draft.source(asked.value) == "True"):
            said = "push_to_hub sends to a server; there is no network on this platform"
            advice = "leave it out there: the results are in the output folder"
        else:
            continue
        draft.say(Kind.DIFFERS, RULE, call, said, advice)


def _is_offline(draft: Draft, call: cst.Call) -> bool:
    mode = argument(call, "mode")
    is_open = mode is not None and inner(mode.value) not in ("offline", "disabled", "dryrun")
    return "WANDB_MODE" in draft.text or (mode is not None and not is_open)
