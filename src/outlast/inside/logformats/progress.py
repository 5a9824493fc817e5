"""Where the training is: epoch and step, current and total, in the many ways scripts print them."""

from __future__ import annotations

import re
from typing import List, Optional, Tuple

from .reading import Reading

#: After the number: not a date, a time, an address, a file name (`epoch=3-step=100.ckpt`, `epoch 3.pth`).
_NOT_AFTER = r"(?!\w|[.:/]\d|\.\w|-\w)"
_SEP = r"['\"]?(?:\s*[:=#：]\s*|\s+|\s*(?=[\[(]))[\[(]?\s*['\"]?"

_EPOCH = re.compile(
    r"(?<![a-z_/\-])epoch(?P<plural>s?)(?:\((?P<mode>\w+)\))?%s(?P<epoch>\d+(?:\.\d+)?)"
    r"(?:\s*(?:/|of)\s*(?P<epochs>\d+))?%s" % (_SEP, _NOT_AFTER)
)
_CHINESE_EPOCH = re.compile(r"第\s*(?P<epoch>\d+)\s*(?:/\s*(?P<epochs>\d+)\s*)?(?:轮|个?epoch)")
_STEP = re.compile(
    r"(?<![a-z_/])(?:global[_ ])?(?:(?P<word>step|iter(?:ation)?)(?P<plural>s?)|batch)(?:\(\w+\))?%s"
    r"(?P<step>\d{1,3}(?:,\d{3})+|\d+)(?:\s*(?:/|of)\s*(?P<steps>\d+))?%s" % (_SEP, _NOT_AFTER)
)
#: `Epoch: [0][ 10/5005]`, `Epoch(train) [1][ 50/100]`, `Train Epoch: 1 [640/60000 (1%)]`, `Train: 0 [ 50/1251 (  4%)]`
_BRACKETED_STEP = re.compile(
    r"(?:epoch[^\d]{0,12}|^train: )\d+\]?\s{0,2}\[\s*(?P<step>\d+)\s*/\s*(?P<steps>\d+)\s*(?:\]|\(\s*\d)"
)
#: fairseq: `epoch 001:    100 / 1102 loss=12.3`
_COUNTED_STEP = re.compile(r"epoch \d+:\s+(?P<step>\d+) / (?P<steps>\d+) ")
#: timm: `Train: 0 [  50/1251 (  4%)]`
_TRAIN_EPOCH = re.compile(r"^train: (?P<epoch>\d+) \[\s*\d+/\d+ \(\s*\d+%\)\]")
_TOTAL_EPOCHS = re.compile(
    r"(?:(?<![a-z])(?:num|max|total|n)[_ ](?:train[_ ])?epochs?|(?<![a-z_])epochs)['\"]?(?:\s*[:=]\s*|\s+)['\"]?"
    r"(?P<epochs>\d+)%s(?!\s*/)" % _NOT_AFTER
)
#: Lines that describe the training rather than report on it.
_CONFIG = re.compile(
    r"(?<![a-z_])(?:batch_size|num_workers|seed|weight_decay|momentum|log_interval|no_cuda|num_train_epochs|num_epochs"
    r"|max_epochs|optimizer|warmup_steps|n_layers?|hidden_size)['\"]?\s*[:=]"
)
#: Two or more on one line: `train: loss=0.31 | val: loss=0.29`
_SECTION = re.compile(
    r"(?<![\w/])(?P<scope>train|val|test|eval)(?:ing|id|idation|uation)?\]?\s*[:|>\-]+\s+(?=[a-z])", re.IGNORECASE
)
_MODE = re.compile(r"(?<![a-z])(?:epoch|iter)\((?P<mode>val|test)\)")
_SCOPE = re.compile(
    r"^[\s|=*\-#>\[]*(?P<scope>val(?:id(?:ation|ating)?)?|test(?:ing)?|eval(?:uation|uating)?)\]?"
    r"(?:[ _](?:set|results?|metrics?|dataloader))?\s*(?:[:\-|]|epoch|(?<=\s)(?=loss|acc))"
)
#: `[Eval][Epoch 1][Avg]loss: 2.3`, `[EVAL] #Images: 100`, `| valid | epoch 001 |`
_MARKED_SCOPE = re.compile(r"\[(?P<scope>val(?:id(?:ation)?)?|test|eval)\]|\| (?P<column>valid|test) \|")
#: PaddleOCR: `cur metric, acc: 0.5`, `best metric, acc: 0.6`
_METRIC_SCOPE = re.compile(r"(?<![a-z])(?P<scope>cur|best) metric, ")
_SCOPES = {"v": "val", "t": "test", "e": "eval", "c": "eval", "b": "best"}

#: An epoch beyond this is a Unix time.
_MAX_EPOCH = 1e6


def read_progress(lower: str) -> Reading:
    """Epoch and step of a line in lower case; empty fields where it names none."""
    reading = Reading()
    match = _EPOCH.search(lower) if "epoch" in lower else _CHINESE_EPOCH.search(lower) or _TRAIN_EPOCH.match(lower)
    if match is not None and float(match.group("epoch")) < _MAX_EPOCH:
        total = match.groupdict().get("epochs")
        if total is not None:
            reading.epochs = float(total)
        if total is not None or not match.groupdict().get("plural"):
            reading.epoch = float(match.group("epoch"))
    if "epochs" in lower and reading.epochs is None:
        reading.epochs = _total_epochs(lower)
    _read_step(lower, reading)
    return reading


def _total_epochs(lower: str) -> Optional[float]:
    match = _TOTAL_EPOCHS.search(lower)
    if match is None or float(match.group("epochs")) >= _MAX_EPOCH:
        return None
    return float(match.group("epochs"))


def _read_step(lower: str, reading: Reading) -> None:
    match = _BRACKETED_STEP.search(lower) or _COUNTED_STEP.search(lower) or _STEP.search(lower)
    if match is None:
        return
    groups = match.groupdict()
    is_batch = "word" in groups and groups["word"] is None
    if groups["steps"] is None and (is_batch or groups.get("plural")):
        return  # `batch: 32` is a size, `steps: 1000` a total
    reading.step = int(groups["step"].replace(",", ""))
    reading.steps = None if groups["steps"] is None else int(groups["steps"])


def is_config(lower: str) -> bool:
    """Does this line list settings (`Namespace(batch_size=64, lr=1.0, …)`)? Its `lr` is not a measurement."""
    return _CONFIG.search(lower) is not None


def read_scope(lower: str) -> str:
    """`val`, `test` or `eval` when the line says that it reports on one (`Test set: …`), else empty."""
    match = _MODE.search(lower)
    if match is not None:
        return match.group("mode")
    match = _SCOPE.match(lower) or _MARKED_SCOPE.search(lower) or _METRIC_SCOPE.search(lower)
    if match is not None and match.groupdict().get("column"):
        return _SCOPES[match.group("column")[0]]
    return "" if match is None else _SCOPES[match.group("scope")[0]]


def sections(text: str) -> List[Tuple[str, str]]:
    """The parts of a line that reports on several data sets at once, each with its scope; empty for other lines."""
    found = list(_SECTION.finditer(text))
    if len(found) < 2:
        return []
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [(text[match.end() : end], match.group("scope").lower()) for match, end in zip(found, ends)]
