"""What a run went through, as lines that stay on the screen: hand-overs, losses, notices. Pure: views in, lines out."""

from __future__ import annotations

from typing import NamedTuple

from outlast.cli.sections import checkpoint_progress
from outlast.model.quantities import format_duration
from outlast.model.states import EndReason
from outlast.model.view import RunView, StintView
from outlast.relay import FIRST_CHOICE

#: How long an ended stint waits for its successor, so that one line can name both.
PATIENCE_S = 1.5

_WORDS = {
    EndReason.FINISHED: "finished",
    EndReason.HAND_OVER: "handed over",
    EndReason.TIME_LIMIT: "reached its limit without a new checkpoint",
    EndReason.PREEMPTED: "lost its machine to the platform",
    EndReason.LOST: "was lost",
    EndReason.SCRIPT_ERROR: "ended with an error of the script",
    EndReason.SETUP_ERROR: "could not be prepared",
    EndReason.STOPPED: "stopped",
    EndReason.REFUSED: "found no machine",
}
_COLOURS = {EndReason.FINISHED: "green", EndReason.HAND_OVER: "cyan", EndReason.STOPPED: "yellow"}
_FAILURES = (EndReason.SCRIPT_ERROR, EndReason.SETUP_ERROR)


class Line(NamedTuple):
    """One line that stays, and the colour of its mark."""

    text: str
    colour: str = "dim"


class Story:
    """Remembers what was told. `told_through` is the last stint whose end has been told, with all before it."""

    def __init__(self, told_through: int = 0) -> None:
        self.told_through = told_through
        self._notices: set[str] = set()
        self._ended_at_s: dict[int, float] = {}
        self._is_begun = told_through > 0

    def tell(self, view: RunView, now_s: float) -> list[Line]:
        """The lines that are new with this view; each is told once."""
        lines = self._begin_lines(view)
        for stint in view.stint_list:
            if stint.number != self.told_through + 1 or stint.reason is None:
                continue
            follower = next((other for other in view.stint_list if other.number == stint.number + 1), None)
            waited_s = now_s - self._ended_at_s.setdefault(stint.number, now_s)
            if follower is None and not view.state.is_final and waited_s < PATIENCE_S:
                break
            lines.append(self._end_line(view, stint, follower))
            self.told_through = stint.number
        return lines + self._notice_lines(view)

    def _begin_lines(self, view: RunView) -> list[Line]:
        """Why the first stint does not go where the user wanted it first; later ones follow a line that says so."""
        first = next(iter(view.stint_list), None)
        if first is None or self._is_begun:
            return []
        self._is_begun = True
        if first.number != 1 or first.why in ("", FIRST_CHOICE):
            return []
        return [Line(f"stint 1 goes to {first.platform}: {first.why}", "yellow")]

    def _end_line(self, view: RunView, stint: StintView, follower: StintView | None) -> Line:
        reason = EndReason(stint.reason or EndReason.LOST)
        text = f"stint {stint.number} {_WORDS[reason]}"
        where = self._reached(view, stint)
        if where:
            text += f" at {where}"
        facts = [f"checkpoint {stint.last_checkpoint}"] if stint.last_checkpoint else []
        if stint.elapsed_s is not None:
            facts.append(format_duration(stint.elapsed_s))
        if facts:
            text += f" ({', '.join(facts)})"
        # A hand-over explains itself; everything else carries its reason.
        if stint.message and reason not in (EndReason.HAND_OVER, EndReason.FINISHED):
            text += f": {stint.message.splitlines()[0]}"
        if follower is not None:
            text += f" → stint {follower.number}"
            if follower.platform != stint.platform:
                text += f" on {follower.platform}"
            if reason is not EndReason.HAND_OVER and follower.resumed_from:
                text += f" goes on from {follower.resumed_from}"
        return Line(text, _COLOURS.get(reason, "red" if reason in _FAILURES else "yellow"))

    def _reached(self, view: RunView, stint: StintView) -> str:
        for checkpoint in view.checkpoints:
            if checkpoint.id == stint.last_checkpoint and checkpoint_progress(checkpoint):
                return checkpoint_progress(checkpoint)
        if stint.epoch is not None:
            return f"epoch {stint.epoch:g}"
        return f"step {stint.step}" if stint.step is not None else ""

    def _notice_lines(self, view: RunView) -> list[Line]:
        if not view.notice or view.notice in self._notices:
            return []
        self._notices.add(view.notice)
        return [Line(view.notice.splitlines()[0], "yellow")]
