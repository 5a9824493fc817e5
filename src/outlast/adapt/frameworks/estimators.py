"""Estimators of TensorFlow, which save and resume by themselves where their folder is the same in each start."""

from __future__ import annotations

import re

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.stamps import find_given_stamps, keep_stamps
from outlast.adapt.resuming.state import RULE
from outlast.adapt.wrapping import Fitted
from outlast.migrate.engine import Kind

_NAME = re.compile(
    r"tensorflow\.(?:compat\.v1\.|contrib\.)?(?:estimator\.)?(?:tpu\.)?\w*(?:Estimator|train_and_evaluate)"
)


def plan_estimator(draft: Draft) -> Fitted | None:
    """`Refusal` where there is nothing to do but to know; else a folder that the clock names is kept."""
    made = [call for call in draft.calls() if _NAME.fullmatch(draft.resolve(call.func))]
    if not made:
        return None
    said, advice = "the Estimator saves and resumes by itself", "its model_dir must lie in the output folder"
    stamps = find_given_stamps(draft, made[0])
    if not stamps:
        raise Refusal(said, None, advice, Kind.DIFFERS)

    def apply(value: str) -> None:
        keep_stamps(draft, stamps, draft.scope(made[0]), value)
        draft.say(Kind.DIFFERS, RULE, made[0], said, advice)

    return stamps[0], apply
