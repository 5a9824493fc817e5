"""What a message says, in English and Chinese. Pure: an event in, a title and lines out."""

from __future__ import annotations

from dataclasses import dataclass

from outlast.errors import UsageError
from outlast.server.notices.events import Event, Happened

LANGUAGES = {"en": "English", "zh": "中文"}

_TITLES = {
    "en": {Event.FINISHED: "finished", Event.FAILED: "failed", Event.ATTENTION: "needs your attention"},
    "zh": {Event.FINISHED: "训练完成", Event.FAILED: "训练失败", Event.ATTENTION: "需要你处理"},
}
_LABELS = {
    "en": {"run": "run", "user": "user", "stints": "stints", "epoch": "epoch", "best": "best", "next": "next"},
    "zh": {"run": "训练", "user": "用户", "stints": "段数", "epoch": "轮", "best": "最好", "next": "接下来"},
}
_BEST_SHOWN = 4


@dataclass(frozen=True)
class Message:
    """A text for people, and the event itself for programs."""

    title: str
    lines: tuple[str, ...]
    happened: Happened
    link: str = ""
    delivery: str = ""  # the same for every try: a receiver can tell a repetition

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def compose(happened: Happened, language: str, link: str = "", delivery: str = "") -> Message:
    """The message about an event in a language; `link` is where the run can be looked at."""
    labels = _LABELS[language]
    title = f"{_plain(happened.name)}: {_TITLES[language][happened.event]}"
    lines = [*filter(None, (line.rstrip() for line in happened.words.splitlines()))]
    facts = [f"{labels['run']}: {happened.run}", f"{labels['stints']}: {happened.stints}"]
    if happened.user:
        facts.insert(1, f"{labels['user']}: {_plain(happened.user)}")
    if happened.epoch is not None:
        of = f"/{happened.epochs:g}" if happened.epochs else ""
        facts.append(f"{labels['epoch']}: {happened.epoch:g}{of}")
    best = [f"{_plain(name)} {value:.4g}" for name, value in list(happened.best.items())[:_BEST_SHOWN]]
    if best:
        facts.append(f"{labels['best']}: {', '.join(best)}")
    facts.append(f"{labels['next']}: outlast {'fetch' if happened.event is Event.FINISHED else 'show'} {happened.run}")
    return Message(title, (*lines, "", *facts), happened, link, delivery)


def check_language(text: str) -> str:
    if text not in LANGUAGES:
        raise UsageError(f"unknown language {text!r}", hint=f"languages: {', '.join(LANGUAGES)}")
    return text


def _plain(text: str) -> str:
    """One line without control characters: it goes into headers and subjects."""
    return "".join(char if char.isprintable() else " " for char in text)
