"""Watching a run: a calm moving picture on a terminal, plain lines in a pipe, and what Ctrl-C means.

Ctrl-C once leaves the run going and says how to come back; a second one within two seconds stops it.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

from outlast.cli.interrupt import Interrupts
from outlast.cli.paint import Ink
from outlast.cli.reader import News, Reader
from outlast.cli.screens import PlainScreen, Screen, TerminalScreen
from outlast.cli.summary import summary_lines
from outlast.errors import INTERRUPTED_EXIT_CODE
from outlast.model.states import RunState
from outlast.model.view import RunView

if TYPE_CHECKING:
    from outlast.client import Client

TICK_S = 0.2  # the script may share this processor: five pictures a second are enough
SECOND_CHANCE_S = 2.0


def watch_run(client: Client, view: RunView, *, since_stint: int = 0, stream: TextIO | None = None) -> int:
    """Follow a run to its end and return the exit code: 0 succeeded or detached, 1 failed or stopped, 130 interrupted.

    Stints up to `since_stint` are history and not told again.
    """
    target = stream if stream is not None else sys.stdout
    screen = _screen_for(target, since_stint)
    with Interrupts() as interrupts, Reader(client, view) as reader:
        try:
            return _follow(client, view, reader, screen, interrupts, target)
        finally:
            screen.close()


def _follow(
    client: Client, view: RunView, reader: Reader, screen: Screen, interrupts: Interrupts, target: TextIO
) -> int:
    stopping = False
    while True:
        news = reader.take()
        screen.update(news, time.monotonic())
        view = news.view or view
        if news.is_over:
            return _finish(client, view, screen, target, stopping)
        if not interrupts.wait(TICK_S):
            continue
        screen.pause()
        if stopping:
            print(f"left while it stops; see: outlast show {view.id}", file=target)
            return INTERRUPTED_EXIT_CODE
        if not _wants_to_stop(view, interrupts, target):
            return 0
        client.runs.stop(view.id)
        stopping = True
        print("stopping: the script may save first; Ctrl-C again leaves at once", file=target, flush=True)


def _wants_to_stop(view: RunView, interrupts: Interrupts, target: TextIO) -> bool:
    """Say that the run goes on, and give the user a moment for the second Ctrl-C."""
    print(
        f"\nthe run goes on; come back with: outlast logs -f {view.id}, stop it with: outlast stop {view.id}\n"
        f"(Ctrl-C again within {SECOND_CHANCE_S:g} s stops it now)",
        file=target,
        flush=True,
    )
    return interrupts.wait(SECOND_CHANCE_S)


def _finish(client: Client, view: RunView, screen: Screen, target: TextIO, stopping: bool) -> int:
    full = client.runs.get(view.id)
    screen.update(News(view=full), time.monotonic())
    screen.close()
    lines = summary_lines(full, screen.last_output(), client.runs.points, Ink(target))
    print("\n".join(lines), file=target, flush=True)
    if stopping:
        return INTERRUPTED_EXIT_CODE
    return 0 if full.state is RunState.SUCCEEDED else 1


def _screen_for(target: TextIO, since_stint: int) -> Screen:
    if target.isatty() and Ink(target).can_move:
        return TerminalScreen(target, since_stint)
    return PlainScreen(target, since_stint)
