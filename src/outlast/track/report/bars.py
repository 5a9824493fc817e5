"""The ledger as bars: one per stint, as long as its time, in the colours of what that time was for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from outlast.model.quantities import format_duration
from outlast.model.states import EndReason
from outlast.model.view import LEDGER_COLUMNS, StintView
from outlast.track.drawing.svg import escape
from outlast.track.report.words import Words

#: A chain of hundreds of stints shows its beginning and its end.
_FIRST, _LAST = 5, 45
_MESSAGE_LENGTH = 300
_LEAST_S = 0.05  # less would be shown as 0.0 s
_TROUBLE = (EndReason.SCRIPT_ERROR, EndReason.SETUP_ERROR, EndReason.LOST, EndReason.PREEMPTED, EndReason.TIME_LIMIT)


def ledger_bars(
    stints: Sequence[StintView], total: Mapping[str, float], hosts: Mapping[int, str], say: Words
) -> str:  # fmt: skip
    """Bars, and the legend with what each colour took in all. Empty when no time was spent yet."""
    longest_s = max((sum(stint.ledger.values()) for stint in stints), default=0.0)
    if longest_s < _LEAST_S:
        return ""
    left_out = len(stints) - _FIRST - _LAST
    rows = []
    for stint in stints if left_out <= 0 else (*stints[:_FIRST], None, *stints[-_LAST:]):
        if stint is None:
            rows.append(f'<span class="name">…</span><span class="fact">{left_out} {escape(say("not shown"))}</span>')
        else:
            rows.append(_bar(stint, longest_s, hosts.get(stint.number, ""), say))
    key = "".join(_key(column, total, say) for column in LEDGER_COLUMNS if total.get(column, 0.0) >= _LEAST_S)
    return f'<div class="bars">{"".join(rows)}</div><ul class="key">{key}</ul>'


def _key(column: str, total: Mapping[str, float], say: Words) -> str:
    """One entry of the legend; shares are of the time on machines, as everywhere else."""
    machine_s = sum(seconds for name, seconds in total.items() if name != "queued")
    share = "" if column == "queued" or not machine_s else f" · {total[column] / machine_s:.1%}"
    time = say.duration(format_duration(total[column]))
    return f'<li><i class="l-{column}"></i>{escape(_word(column, say))} {escape(time)}{share}</li>'


def _bar(stint: StintView, longest_s: float, host: str, say: Words) -> str:
    parts = "".join(
        f'<i class="l-{column}" style="flex:{seconds:.3f}" '
        f'title="{escape(_word(column, say))} {escape(say.duration(format_duration(seconds)))}"></i>'
        for column in LEDGER_COLUMNS
        if (seconds := stint.ledger.get(column, 0.0)) >= _LEAST_S
    )
    spent_s = sum(stint.ledger.values())
    width = max(100 * spent_s / longest_s, 0.5)
    reason = str(stint.reason or stint.state)
    tone = ' class="bad"' if stint.reason in _TROUBLE else ""
    facts = [say.duration(format_duration(spent_s)), host or stint.platform]
    facts += [_first_line(stint.message)] if stint.message and stint.reason in _TROUBLE else []
    return (
        f'<span class="name">{escape(say("stint"))} {stint.number}</span>'
        f'<span class="bar" style="width:{width:.2f}%">{parts}</span>'
        f'<span class="fact"><b{tone}>{escape(say(reason))}</b> · {escape(" · ".join(facts))}</span>'
    )


def _first_line(message: str) -> str:
    line = message.split("\n", 1)[0]
    return line if len(line) <= _MESSAGE_LENGTH else line[: _MESSAGE_LENGTH - 1] + "…"


def _word(column: str, say: Words) -> str:
    return say("environment (ledger)" if column == "environment" else column)
