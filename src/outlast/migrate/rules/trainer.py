"""Arguments of Lightning, Accelerate and Transformers that choose a device."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.tree import inner, tail

_LIGHTNING = "Lightning has no NPU of its own: register an accelerator, or use a plain loop"
#: (callee, keyword) → what to say; the callee is the last name of the call
_ARGUMENTS: dict[tuple[str, str], tuple[Kind, str]] = {
    ("Trainer", "gpus"): (Kind.HAND, _LIGHTNING),
    ("Trainer", "auto_select_gpus"): (Kind.HAND, _LIGHTNING),
    ("Trainer", "accelerator"): (Kind.HAND, _LIGHTNING),
    ("Fabric", "accelerator"): (Kind.HAND, _LIGHTNING),
    ("TrainingArguments", "no_cuda"): (Kind.DIFFERS, "newer Transformers call it use_cpu"),
    ("TrainingArguments", "tf32"): (Kind.HAND, "TF32 is a mode of NVIDIA cards: leave it out"),
    ("TrainingArguments", "optim"): (Kind.HAND, "fused and 8-bit optimizers are made for CUDA: use 'adamw_torch'"),
    ("Seq2SeqTrainingArguments", "no_cuda"): (Kind.DIFFERS, "newer Transformers call it use_cpu"),
    ("Seq2SeqTrainingArguments", "tf32"): (Kind.HAND, "TF32 is a mode of NVIDIA cards: leave it out"),
    ("from_pretrained", "load_in_8bit"): (Kind.HAND, "bitsandbytes has no build for Ascend: load in bfloat16"),
    ("from_pretrained", "load_in_4bit"): (Kind.HAND, "bitsandbytes has no build for Ascend: load in bfloat16"),
    ("from_pretrained", "attn_implementation"): (Kind.HAND, "flash_attention_2 has no build for Ascend: use 'sdpa'"),
}
#: values that are fine on any device
_FINE = frozenset(
    {"cpu", "auto", "tpu", "mps", "sdpa", "eager", "adamw_torch", "adafactor", "sgd", "adamw_hf", "False"}
)


class TrainerArguments(Rule):
    name: ClassVar[str] = "trainer-arguments"
    summary: ClassVar[str] = "Device arguments of Lightning, Accelerate and Transformers that an NPU does not take"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Call,)

    def look(self, node: Any, script: Script) -> None:
        if script.direction.target == "cuda":
            return
        for arg in node.args:
            found = _ARGUMENTS.get((tail(node.func), arg.keyword.value)) if arg.keyword else None
            value = inner(arg.value) or (arg.value.value if isinstance(arg.value, cst.Name) else "")
            if found is None or value in _FINE or arg.keyword is None:
                continue
            script.report(arg, found[0], f"{tail(node.func)}({arg.keyword.value}={script.source(arg.value)})", found[1])
            if arg.keyword.value == "accelerator":
                script.claim(arg)
