"""Progress bars: tqdm (and Lightning), Keras, Paddle."""

from __future__ import annotations

import re
from typing import Optional

from .plain import read_values
from .progress import read_progress, read_scope
from .reading import Context, Reading

_TQDM = re.compile(
    r"^(?P<desc>.*?):?\s*(?P<percent>\d{1,3})%\|[^|]*\|\s*(?P<n>\d+)/(?P<total>\d+)\s*"
    r"\[(?P<clock>[^,\]]*)(?:,\s*(?P<rate>[^,\]]*))?(?:,\s*(?P<postfix>[^\]]*))?(?P<after>.*)$"
)
#: A bar and a time, or ` - 3s` without a bar; a date and a time of day is neither.
_KERAS = re.compile(
    r"^\s*(?P<step>\d+)/(?P<steps>\d+)\s+(?:(?:[━╸╺]+|\[[=>.]*\])\s*(?:- )?(?:ETA: )?[\d:]+s?|- \d+m?s)\b"
    r".*?(?P<values> - .*)$"
)
_KERAS_HEADER = re.compile(r"^\s*Epoch\s+(?P<epoch>\d+)/(?P<epochs>\d+)\s*$")
_PADDLE = re.compile(r"^\s*step\s+(?P<step>\d+)/(?P<steps>\d+)\s+(?:\[[=>.]*\]\s*)?(?P<values>- .*)$")
_PADDLE_EVAL = re.compile(r"^\s*Eval (?P<what>begin|samples)")


def read_tqdm(text: str, context: Context) -> Optional[Reading]:
    """` 50%|███  | 5/10 [00:01<00:01, 4.9it/s, loss=0.123]`; a bar that names no epoch and no metric is not ours."""
    match = _TQDM.match(text)
    if match is None:
        return None
    desc, postfix = match.group("desc"), (match.group("postfix") or "") + " " + match.group("after").lstrip("]")
    reading = read_progress(desc.lower())
    is_epoch = reading.epoch is not None
    scope = read_scope(desc.lower() + ":")
    reading.values = read_values(desc, any_name=is_epoch, scope=scope)
    reading.values.update(read_values(postfix, any_name=True, scope=scope))
    if not reading.values and not is_epoch:
        return Reading()
    if scope:
        reading.step = reading.steps = None
    else:
        reading.step, reading.steps = int(match.group("n")), int(match.group("total"))
    if is_epoch and "v_num=" in postfix:  # Lightning counts epochs from zero
        reading.epoch = (reading.epoch or 0.0) + 1
    return reading


def read_keras(text: str, context: Context) -> Optional[Reading]:
    """`1875/1875 ━━━━ 3s 1ms/step - accuracy: 0.91 - loss: 0.30`, and the `Epoch 1/5` above it."""
    match = _KERAS_HEADER.match(text)
    if match is not None:
        context.scope, context.bar_steps = "", 0
        return Reading(epoch=float(match.group("epoch")), epochs=float(match.group("epochs")))
    match = _KERAS.match(text)
    if match is None:
        return None
    step, steps = int(match.group("step")), int(match.group("steps"))
    context.bar_steps = context.bar_steps or steps
    if steps != context.bar_steps:  # no header and another length: `model.evaluate` after the training
        return Reading(values=read_values(match.group("values"), any_name=True, scope="eval"))
    values = read_values(match.group("values"), any_name=True)
    return Reading(step=step, steps=steps, values=values) if values else None


def read_paddle(text: str, context: Context) -> Optional[Reading]:
    """`step  10/100 - loss: 0.3012 - acc: 0.9100 - 5ms/step`, between `Eval begin` and `Eval samples` an evaluation."""
    match = _PADDLE_EVAL.match(text)
    if match is not None:
        context.scope = "eval" if match.group("what") == "begin" else ""
        return Reading()
    match = _PADDLE.match(text)
    if match is None:
        return None
    reading = Reading(values=read_values(match.group("values"), any_name=True, scope=context.scope))
    if not context.scope:
        reading.step, reading.steps = int(match.group("step")), int(match.group("steps"))
    return reading
