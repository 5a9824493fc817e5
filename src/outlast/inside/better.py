"""Which way a metric gets better, by its name."""

from __future__ import annotations

import functools
import re

_TOKENS = re.compile(r"[^a-z0-9]+")
_LOW_IS_GOOD = re.compile(r"(?:\w*loss|err|error|rmse|mse|mae|ppl|perplexity|wer|cer|fid|nll|l[12]|kl)\d*")
_HIGH_IS_GOOD = re.compile(
    r"(?:\w*acc(?:uracy)?|auc|f1|map|m?iou|dice|bleu|rouge[l\d]*|psnr|ssim|score|rewards?|precision|recall|top|ndcg"
    r"|r2|mcc|kappa)\d*"
)
_TIME = re.compile(r"(?:^|_)time(?:_s)?$|_s$|/sec$|loss_scale$")


@functools.lru_cache(maxsize=4096)
def direction(name: str) -> int:
    """+1 when more of this metric is better, -1 when less is, 0 when it is not that kind (a learning rate, a time)."""
    if _TIME.search(name.lower()):
        return 0
    tokens = _TOKENS.split(name.lower())
    if any(_LOW_IS_GOOD.fullmatch(token) for token in tokens):
        return -1
    return 1 if any(_HIGH_IS_GOOD.fullmatch(token) for token in tokens) else 0
