"""Resuming where a Trainer owns the loop: that of Hugging Face's transformers, and those made from it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.frameworks.makers import class_path, is_of_program, makers, may_run
from outlast.adapt.resuming.generators import whole_module
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.rounds import are_alternatives, refuse_repeated
from outlast.adapt.resuming.state import ENVIRON, RULE
from outlast.adapt.whole import roots_of, words_of
from outlast.adapt.wrapping import Fitted, add_helpers, wrap_method
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument

_ROOTS = frozenset({"transformers", "trl", "sentence_transformers", "optimum", "adapters", "unsloth"})
_TRAINER = re.compile(rf"(?:{'|'.join(sorted(_ROOTS))})\.(?:\w+\.)*\w*Trainer")
_ADVICE = "use trainer.train(resume_from_checkpoint=…), and keep its output_dir"


def plan_transformers(draft: Draft) -> Fitted | None:
    """`trainer.train()`: the Trainer keeps everything itself, and has to be told where it stopped."""
    if not _ROOTS & roots_of(draft):
        return None
    made = [call for call in draft.calls() if _is_trainer(draft, call)]
    calls = [call for call in draft.calls() if _is_train(draft, call)]
    if not calls:
        if made:
            raise Refusal("the Trainer trains in another file", draft.statement(made[0]), _ADVICE)
        return None
    for call in calls:
        refuse_repeated(draft, call)
    return calls[0], lambda value: _resume(draft, calls, value)


def _is_trainer(draft: Draft, call: cst.Call) -> bool:
    path = class_path(draft, call)
    if _TRAINER.fullmatch(path):
        return True
    # One of another file of the script, `QuestionAnsweringTrainer(args=training_args, …)`, or of a star import.
    is_like = path.rpartition(".")[2].endswith("Trainer") and argument(call, "args") is not None
    is_like = is_like and not is_of_program(draft, path)
    return is_like and any(word.endswith(("TrainingArguments", "Config")) for word in words_of(draft))


def _is_train(draft: Draft, call: cst.Call) -> bool:
    func = call.func
    if not isinstance(func, cst.Attribute) or func.attr.value != "train" or not may_run(draft, call):
        return False
    return any(_is_trainer(draft, each) for each in makers(draft, func.value))


def _resume(draft: Draft, calls: Sequence[cst.Call], value: str) -> None:
    draft.need_import("os")
    glob, go_on = whole_module(draft, "glob"), draft.free("resume_train")
    add_helpers(draft, calls[0], [], [
        "",
        f'def {go_on}(train, folder=None, name=""):',
        '    """Let a Trainer go on from its last checkpoint if there is a folder for that; else it trains as ever."""',
        f"    args, keeps = train.__self__.args, {ENVIRON} or folder",
        "",
        "    def train_on(resume_from_checkpoint=None, *given, **words):",
        "        if folder and not os.path.abspath(args.output_dir).startswith(os.path.abspath(folder)):",
        "            args.output_dir = folder",
        '        if getattr(getattr(args, "save_strategy", None), "value", "") == "no":  # nothing to go on from',
        '            args.save_strategy, args.save_total_limit = type(args.save_strategy)("epoch"), 1',
        "        results, args.output_dir = args.output_dir, os.path.join(keeps, name)",
        # The Trainer writes this file last: a checkpoint without it was cut off.
        f'        whole = {glob}.glob(os.path.join(args.output_dir, "checkpoint-[0-9]*", "trainer_state.json"))',
        '        last = max(map(os.path.dirname, whole), key=lambda each: int(each.rpartition("-")[2]), default=None)',
        "        asked = None if resume_from_checkpoint is True else resume_from_checkpoint",
        # Scripts ask with a folder of weights to begin with, too: that one has nothing to go on from.
        '        is_whole = asked and os.path.exists(os.path.join(asked, "trainer_state.json"))',
        "        try:",
        "            return train(last or (asked if is_whole else None), *given, **words)",
        "        finally:",
        "            args.output_dir = results",
        "",
        "    return train_on if keeps else train",
        "",
    ])  # fmt: skip
    is_one = are_alternatives(draft, calls)
    for at, call in enumerate(calls, 1):
        given = [value or "None"] if value or not is_one else []
        given += [] if is_one else [f'"resume-{at}"']
        wrap_method(draft, call, go_on, given)
        draft.say(Kind.CHANGED, RULE, call, "goes on from the last checkpoint that its Trainer has saved")
        advice = "take the losses of all stints from log_history in its trainer_state.json"
        draft.say(
            Kind.DIFFERS,
            RULE,
            call,
            "train_loss, which its Trainer tells at the end, leaves out the stints before",
            advice,
        )
