"""The moving part of the live view: bars, rate, curve, device use and the last lines of output. Pure drawing."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.text import Text

from outlast.cli.paint import clip, number
from outlast.cli.sections import progress_text, rate_text
from outlast.cli.words import pad, say
from outlast.model.quantities import format_duration, format_size
from outlast.model.states import StintState
from outlast.model.view import RunView, StintView

if TYPE_CHECKING:
    from outlast.track.series import MetricPoint

LABEL_COLUMNS = 10
FACTS_COLUMNS = 58  # beside a bar: "epoch 16/40 · 3.7 s per epoch · 1 min 28 s to go"
OUTPUT_LINES = 3
KEPT_LINES = 40
CURVE_ROWS = 5  # four of dots, one for the axis
#: A screen lower than this gets a one-line curve, so that the region never scrolls.
ROOMY_ROWS = 18
_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-_])")


@dataclass
class Scene:
    """Everything that is drawn."""

    view: RunView | None = None
    seen_at_s: float = 0.0  # when the view came, by our own clock
    output: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_LINES))
    points: list[MetricPoint] = field(default_factory=list)
    _half_line: bytes = b""
    _drawn: tuple[tuple[object, ...], list[str]] = ((), [])

    def curve(self, name: str, width: int, rows: int) -> list[str]:
        """The curve of one metric; drawn anew only when there is something new, for the script needs the processor."""
        wanted = (name, width, rows, len(self.points), id(self.points))
        if self._drawn[0] != wanted:
            from outlast.cli.curves import curve_lines

            self._drawn = (wanted, curve_lines(self.points, name, width, rows))
        return self._drawn[1]

    def look(self, view: RunView, now_s: float) -> None:
        self.view = view
        self.seen_at_s = now_s

    def hear(self, chunk: bytes) -> None:
        """Take output of the script: only whole lines, the last state of lines that overwrite themselves."""
        # Cut at line ends before decoding: a chunk may end in the middle of a character.
        *lines, self._half_line = (self._half_line + chunk).split(b"\n")
        for line in lines[-KEPT_LINES:]:
            last_state = line.rstrip(b"\r").rsplit(b"\r", 1)[-1].decode("utf-8", "replace")
            shown = _ESCAPES.sub("", last_state).expandtabs(4).rstrip()
            if shown:
                self.output.append(shown)
        self._half_line = self._half_line[-4096:]


def draw(scene: Scene, now_s: float, width: int, rows: int, *, plain_glyphs: bool = False) -> list[Text]:
    """The region as lines, each at most `width` columns."""
    view = scene.view
    if view is None:
        return [Text(say("waiting") + " …", "dim")]
    lines = [_stint_line(view, now_s - scene.seen_at_s, width, plain_glyphs), _progress_line(view, width, plain_glyphs)]
    lines += _metric_lines(scene, width, CURVE_ROWS if rows >= ROOMY_ROWS else 1, plain_glyphs)
    lines.append(_device_line(view))
    lines += [Text(clip(f"{'|' if plain_glyphs else '│'} {line}", width), "dim") for line in _last_output(scene, rows)]
    kept = [line for line in lines if line is not None]
    for line in kept:
        line.truncate(width, overflow="ellipsis")
        line.no_wrap = True
    return kept


def _last_output(scene: Scene, rows: int) -> list[str]:
    return list(scene.output)[-(OUTPUT_LINES if rows >= ROOMY_ROWS else 1) :]


def _labelled(label: str, style: str = "bold") -> Text:
    return Text(pad(label, LABEL_COLUMNS), style)


def _bar_columns(width: int) -> int:
    return max(min(width - LABEL_COLUMNS - FACTS_COLUMNS, 40), 8)


def bar(fraction: float, columns: int, style: str, plain_glyphs: bool = False) -> Text:
    """A progress bar of half-character resolution."""
    full, rest = "#-" if plain_glyphs else "━─"
    halves = round(max(0.0, min(fraction, 1.0)) * columns * 2)
    done = full * (halves // 2)
    if halves % 2 and not plain_glyphs:
        done += "╸"
    return Text.assemble((done, style), (rest * (columns - len(done)), "bright_black"))


def _current(view: RunView) -> StintView | None:
    return view.stint_list[-1] if view.stint_list else None


def _stint_line(view: RunView, age_s: float, width: int, plain_glyphs: bool) -> Text | None:
    stint = _current(view)
    if stint is None:
        return Text.assemble(_labelled(say("stint") + " 1"), (f"{view.message or say('waiting')} …", "dim"))
    line = _labelled(f"{say('stint')} {stint.number}")
    if stint.reason is not None or stint.elapsed_s is None:
        # Between two stints the run's message says what it waits for: a machine, the end of a pause after a loss.
        words = stint.detail or view.message.partition("\n")[0] or say("queued")
        return line.append(f"{words} …", "dim")
    # Between two beats the clock goes on here, so that the bar moves evenly.
    elapsed_s = stint.elapsed_s + min(age_s, 3.0)
    facts = [format_duration(elapsed_s)]
    if stint.limit_s:
        elapsed_s = min(elapsed_s, stint.limit_s)
        line.append_text(bar(elapsed_s / stint.limit_s, _bar_columns(width), "cyan", plain_glyphs)).append("  ")
        facts = [
            f"{format_duration(elapsed_s)} {say('of')} {format_duration(stint.limit_s)}",
            f"{format_duration(stint.limit_s - elapsed_s)} {say('left')}",
        ]
    return line.append(" · ".join([*facts, *_phase(stint)]))


def _phase(stint: StintView) -> list[str]:
    if stint.state is StintState.HANDING_OVER:
        return [say("handing over")]
    if stint.state is StintState.RUNNING or stint.phase in ("", "running"):
        return []
    return [f"{say('preparing')}: {stint.phase}"]


def _progress_line(view: RunView, width: int, plain_glyphs: bool) -> Text | None:
    at, total = (view.epoch, view.epochs) if view.epoch is not None else (view.step, view.steps)
    if at is None:
        return None
    line = _labelled(say("training"))
    facts = [progress_text(view)]
    if total:
        line.append_text(bar(at / total, _bar_columns(width), "green", plain_glyphs)).append("  ")
    if rate_text(view):
        facts.append(rate_text(view))
    if view.eta_s is not None:
        facts.append(f"{format_duration(view.eta_s)} {say('to go')}")
    return line.append(" · ".join(facts))


def main_metric(names: list[str]) -> str | None:
    """The curve worth watching: the loss, else something like it, else the first."""
    for wanted in ("loss", "train_loss"):
        if wanted in names:
            return wanted
    return next((name for name in names if "loss" in name), names[0] if names else None)


def _metric_lines(scene: Scene, width: int, rows: int, plain_glyphs: bool) -> list[Text]:
    view = scene.view
    assert view is not None
    last = {name: number(value) for name, value in view.metrics.items()}
    name = main_metric(sorted(last))
    if name is None:
        return []
    curve = [] if plain_glyphs else scene.curve(name, width - LABEL_COLUMNS, rows)
    labels = [clip(name, LABEL_COLUMNS - 1), *[""] * len(curve)]
    lines = [Text.assemble(_labelled(label), (text, "yellow")) for label, text in zip(labels, curve, strict=False)]
    ordered = sorted(last, key=lambda key: (key != name, key))
    label = "" if curve else say("metrics")
    return [*lines, Text.assemble(_labelled(label), "  ".join(f"{key} {last[key]}" for key in ordered))]


def _device_line(view: RunView) -> Text | None:
    device = view.device
    facts = []
    if device.get("cpu_percent") is not None:
        facts.append(f"{say('cpu')} {device['cpu_percent']:.0f} %")
    if device.get("memory_bytes"):
        facts.append(f"{say('memory')} {format_size(device['memory_bytes'])}")
    for card in device.get("accelerators") or ():
        text = f"{card.get('kind', 'gpu')} {card.get('index', 0)} {card.get('busy_percent', 0):.0f} %"
        if card.get("memory_used_bytes"):
            text += f" {format_size(card['memory_used_bytes'])}"
        facts.append(text)
    return _labelled(say("machine"), "dim").append(" · ".join(facts), "dim") if facts else None
