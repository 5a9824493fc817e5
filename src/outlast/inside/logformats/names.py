"""Which names are metrics, and the one spelling they get."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

#: Words that stand before a name and belong to it, with their short spelling.
_QUALIFIERS = {
    "train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "test": "test",
    "eval": "eval", "evaluation": "eval", "dev": "dev", "avg": "avg", "average": "avg", "mean": "mean",
    "best": "best", "total": "total", "running": "running", "per": "per", "step": "step", "epoch": "epoch",
    "data": "data", "learning": "learning", "grad": "grad", "gradient": "grad", "global": "global", "word": "word",
    "error": "error", "generator": "generator", "discriminator": "discriminator", "box": "box", "top": "top",
    "loss": "loss", "d": "d", "g": "g",
}  # fmt: skip
_SCOPES = ("train", "val", "test", "eval", "dev")
_CHINESE = (
    ("损失值", "loss"), ("损失", "loss"), ("准确率", "acc"), ("精度", "acc"), ("学习率", "lr"),
    ("训练", "train_"), ("验证", "val_"), ("测试", "test_"), ("平均", "avg_"),
)  # fmt: skip

#: Tokens that make a name a metric with any number behind it.
_STRONG = re.compile(
    r"(?:[a-z]*(?<![gf])loss(?:es)?|[a-z]*acc(?:u|uracy)?|lr|ppl|perplexity|rmse|mse|mae|auc|rewards?|psnr|ssim|bleu"
    r"|rouge[l\d]*|m?iou|f1|ndcg|logloss|elbo|nll|wer|cer)\d*"
)
#: Tokens that are metrics only with a number that is not a bare integer: `error: 404` is none.
_WEAK = re.compile(r"(?:map|error|err|score|dice|precision|recall|fid|r2|l[12]|kl|norm|rate|top\d|kappa|mcc)\d*")
#: Names of settings: `loss_weight: 1.0` configures a loss. Beside progress they are taken (`loss_scale`).
_SETTING = re.compile(
    r"(?:.+[_/.\- ])?(?:weights?|scale|fn|func|type|coeff?|lambda|alpha|beta|gamma|factor|thre?sh(?:old)?|interval"
    r"|freq|every|smoothing|margin|dim|num|count|limit|max|min|bins|decay|schedule|port|ratio|reduction|mode|version|copypaste)\d*"
)
#: The learning rate in its spellings: on a line of its own before the training it is a setting too.
_RATE = re.compile(r"(?:\w+[_/.])?(?:lr|learning_rate)(?:[_/.]\w+)?")
_TOKENS = re.compile(r"[_/.@\- ]+")
_ACC_LIKE = re.compile(r"(?:[a-z]*acc(?:u|uracy)?|top\d|precision|recall)\d*")

#: Names that say where or how, never how well. Some are progress, which `progress.py` reads.
_IGNORED = frozenset(
    "epoch epochs step steps iter iters iteration iterations batch batches global_step v_num eta memory mem gpu_mem "
    "gpu gpus npu device devices cuda rank local_rank world_size worker workers port pid tid thread line version seed "
    "size image_size imgsize img_size batch_size num_workers id job task node host attempt retry level shape dim "
    "samples images instances date year month day hour minute num_updates train training val valid test eval "
    "dev".split()
)
_PROGRESS = frozenset(("epoch", "epochs", "step", "steps", "iter", "iters", "iteration", "iterations"))
_DATASET = re.compile(r"(?:valid|eval|test|train)\w*_\d+")
_BAD_END = re.compile(r"\.(?:py|pth?|ckpt|onnx|h5|json|ya?ml|txt|log|csv|npz?|bin|safetensors|tar|gz|zip|com|cn|org)$")


class Name(NamedTuple):
    """A name as printed, in the one spelling it gets, and what kind of name it is."""

    spelled: str
    is_strong: bool  # a metric whatever number follows: `loss`, `val_acc`, `lr`; not `color`, `access`, `glossary`
    is_weak: bool  # a metric when its number is not a bare integer: `bbox_map`, `error`, `score`
    is_accuracy: bool
    is_ignored: bool
    is_rate: bool


@functools.lru_cache(maxsize=4096)
def read_name(words: str) -> Name:
    """What a name stands for. `the best Accuracy` is `best_accuracy`, `Train Loss` is `train_loss`."""
    spelled = spell(words)
    tokens = _TOKENS.split(spelled)
    is_strong = any(_STRONG.fullmatch(token) for token in tokens) and _SETTING.fullmatch(spelled) is None
    is_count = tokens[-1] in _PROGRESS and not is_strong  # `train_loss_step` is a loss
    is_ignored = not spelled or spelled in _IGNORED or is_count or tokens[-1] == "copypaste"
    return Name(
        spelled,
        is_strong,
        any(_WEAK.fullmatch(token) for token in tokens),
        any(_ACC_LIKE.fullmatch(token) for token in tokens),
        is_ignored or _BAD_END.search(spelled) is not None,
        _RATE.fullmatch(spelled) is not None,
    )


def spell(words: str) -> str:
    """The spelling of a name of one to three words; words that are no part of it are dropped. May be empty."""
    parts = words.lower().replace("'s", "").split(" ")
    last = parts.pop().strip("._-/'")
    for chinese, english in _CHINESE:
        last = last.replace(chinese, english)
    name = [last.strip("_")]
    while parts:
        word = parts.pop()
        if word not in _QUALIFIERS and _DATASET.fullmatch(word) is None:
            break
        name.insert(0, _QUALIFIERS.get(word, word))
    return "_".join(name) if name[-1] else ""


def scoped(name: str, scope: str) -> str:
    """The name as that scope's own: `loss` in an evaluation is `eval_loss`; `val_loss` stays as it is."""
    if not scope or _TOKENS.split(name)[0] in _SCOPES:
        return name
    return scope + "_" + name
