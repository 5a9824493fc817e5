"""Resuming where a Trainer owns the loop: that of Hugging Face's transformers."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.rounds import refuse_repeated
from outlast.adapt.state import ENVIRON, RULE, Refusal
from outlast.adapt.wrapping import Fitted, add_argument
from outlast.migrate.engine import Kind
from outlast.migrate.tree import dotted, tail


def plan_transformers(draft: Draft) -> Fitted | None:
    """One `trainer.train()`: the Trainer keeps everything itself, and has to be told where it stopped."""
    if not {"transformers", "trl"} & draft.names.roots or not any(word.endswith("Trainer") for word in draft.words):
        return None
    call = _only_call(draft, "train", r"\w*Trainer")
    if "get_last_checkpoint" in draft.words:
        raise Refusal("the Trainer goes on from the last checkpoint in its output_dir", None, "", Kind.KEPT)
    if call is None or call.args:
        raise Refusal("the Trainer saves and resumes by itself", None,
                      "use trainer.train(resume_from_checkpoint=…) and output_dir", Kind.DIFFERS)  # fmt: skip
    return draft.statement(call), lambda value: _last_checkpoint(draft, call, value)


def _last_checkpoint(draft: Draft, call: cst.Call, value: str) -> None:
    draft.need_import("glob", "os")
    folder, last, saved = draft.free("resume_dir"), draft.free("resume_from"), draft.free("resume_states")
    trainer, statement = _owner(call), draft.statement(call)
    draft.add_before(statement, [
        f"{folder} = {ENVIRON}" + (f" or {value}" if value else ""),
        f"{last} = None",
        f"if {folder}:",
        # The Trainer writes this file last: a checkpoint without it was cut off.
        f'    {saved} = glob.glob(os.path.join({trainer}.args.output_dir, "checkpoint-[0-9]*", "trainer_state.json"))',
        f'    {last} = max(map(os.path.dirname, {saved}), key=lambda each: int(each.rpartition("-")[2]), default=None)',
    ])  # fmt: skip
    add_argument(draft, call, f"resume_from_checkpoint={last}")
    draft.say(Kind.CHANGED, RULE, statement, "goes on from the last checkpoint in its output_dir")


def _only_call(draft: Draft, method: str, made_by: str) -> cst.Call | None:
    """The one call of a method on something that such a class made and that has a name; refused when repeated."""
    made = _made_by(draft, made_by)
    calls = [
        call for call in draft.calls()
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == method and dotted(call.func.value) in made
    ]  # fmt: skip
    if len(calls) != 1:
        return None
    statement = draft.statement(calls[0])
    if not draft.stands_alone(statement):
        raise Refusal(f"{method} shares its line with something else", statement)
    refuse_repeated(draft, calls[0])
    return calls[0]


def _made_by(draft: Draft, classes: str) -> dict[str, cst.Call]:
    """Names that are given to what such a class makes, and the call that makes it."""
    return {
        dotted(target.target): node.value for node in draft.nodes
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call)
        and re.fullmatch(classes, tail(node.value.func)) for target in node.targets
    }  # fmt: skip


def _owner(call: cst.Call) -> str:
    return dotted(call.func.value) if isinstance(call.func, cst.Attribute) else ""
