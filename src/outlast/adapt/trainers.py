"""Resuming where a Trainer owns the loop: of Hugging Face's transformers, and of Lightning."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.fitting import Fitted, add_argument
from outlast.adapt.rounds import refuse_repeated
from outlast.adapt.state import ENVIRON, RULE, Names, Refusal, place_lines, random_sources
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, tail

_LIGHTNING = ("lightning.pytorch", "lightning", "pytorch_lightning")


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


def plan_lightning(draft: Draft) -> Fitted | None:
    """One `trainer.fit(…)`: a callback of ours has the Trainer save under one name after each epoch."""
    root = next((name for name in _LIGHTNING if name.partition(".")[0] in draft.names.roots), "")
    if not root:
        return None
    call = _only_call(draft, "fit", "Trainer")
    if call is None or argument(call, "ckpt_path") or any(arg.star == "**" for arg in call.args):
        raise Refusal(
            "Lightning saves and resumes by itself", None, 'use trainer.fit(…, ckpt_path="last")', Kind.DIFFERS
        )
    made = _made_by(draft, "Trainer")[_owner(call)]
    numbers = random_sources(draft)
    return draft.statement(made), lambda value: _callback(draft, call, made, numbers, value)


def _callback(
    draft: Draft, call: cst.Call, made: cst.Call, numbers: list[tuple[str, str, str]], value: str
) -> None:  # fmt: skip
    lightning = _lightning(draft)
    torch = draft.names.name_for("torch", [draft.module])
    if not torch:
        draft.need_import("torch")
    torch = torch or "torch"
    numbers = [("torch_random", f"{torch}.get_rng_state()", f"{torch}.set_rng_state({{}}.cpu())"), *numbers]
    if value and not argument(made, "default_root_dir") and not any(arg.star == "**" for arg in made.args):
        # None, which the option is by hand, is also what Lightning takes when nothing is said.
        add_argument(draft, made, f"default_root_dir={value}")
    draft.need_import("os")
    read = ", ".join(f'"{key}": {how}' for key, how, _ in numbers)
    put = [how.format(f'self.random["{key}"]') for key, _, how in numbers]
    names, kind = Names.choose(draft, "epoch"), draft.free("SaveResume")
    trainer, statement = _owner(call), draft.statement(call)
    draft.add_on_top([
        "",
        f"class {kind}({lightning}.callbacks.Checkpoint):",
        '    """Has the Trainer save under one name after each epoch, whole or not at all."""',
        "",
        "    def __init__(self, path):",
        "        self.path, self.random = path, None",
        "",
        "    def state_dict(self):",
        f"        return {{{read}}}",
        "",
        "    def load_state_dict(self, state_dict):",
        "        self.random = state_dict",
        "",
        "    def on_fit_start(self, trainer, module):",
        "        if self.random and trainer.world_size == 1:  # several processes need numbers of their own",
        *("            " + line for line in put),
        "        self.random = None",
        "",
        "    def on_train_epoch_end(self, trainer, module):",
        '        trainer.save_checkpoint(self.path + ".part")',
        "        if trainer.is_global_zero:",
        '            os.replace(self.path + ".part", self.path)',
        "",
    ])  # fmt: skip
    draft.add_before(statement, [
        *place_lines(names, value, "resume.ckpt"),
        f"if {names.folder}:",
        f"    os.makedirs({names.folder}, exist_ok=True)",
        f"    {trainer}.callbacks.append({kind}({names.path}))",
    ])  # fmt: skip
    known = f"{names.path} if {names.folder} and os.path.exists({names.path}) else None"
    add_argument(draft, call, f"ckpt_path={known}")
    draft.say(Kind.CHANGED, RULE, statement, "goes on from its last epoch (a callback of the Trainer)")


def _lightning(draft: Draft) -> str:
    """The module of Lightning that holds `callbacks`, by a name that the script has."""
    for path, below in (("lightning.pytorch", ""), ("pytorch_lightning", ""), ("lightning", ".pytorch")):
        name = draft.names.name_for(path, [draft.module])
        if name:
            return name + below
    root = "pytorch_lightning" if "pytorch_lightning" in draft.names.roots else "lightning"
    draft.need_import(root)
    return root if root == "pytorch_lightning" else "lightning.pytorch"


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
