"""Two ways to show a run while it happens: a terminal that can move its cursor, and anything else."""

from __future__ import annotations

import abc
from typing import TextIO

from outlast.cli.reader import News
from outlast.cli.story import Line, Story

#: Points kept for the curve; beyond it every second one goes, which no terminal can tell apart.
MOST_POINTS = 4000


class Screen(abc.ABC):
    """Shows news as they come."""

    def __init__(self, since_stint: int) -> None:
        self._since_stint = since_stint
        self._story = Story(told_through=since_stint)

    @abc.abstractmethod
    def update(self, news: News, now_s: float) -> None:
        """Show what is new; call it often, also without news."""

    @abc.abstractmethod
    def pause(self) -> None:
        """Leave the cursor on a fresh line so that something else can be written; `update` goes on."""

    def close(self) -> None:
        """Leave the screen for good. Closing twice is fine."""
        self.pause()

    def last_output(self) -> list[str]:
        """The script's last lines, unless the user has them on the screen already."""
        return []


class PlainScreen(Screen):
    """Script output as it comes, and `[outlast]` lines between. For pipes, CI and dumb terminals."""

    def __init__(self, target: TextIO, since_stint: int) -> None:
        super().__init__(since_stint)
        self._target = target
        self._pending: list[tuple[int, bytes]] = []
        self._at_line_start = True
        self._last_view: News | None = None

    def update(self, news: News, now_s: float) -> None:
        self._pending += [piece for piece in news.output if piece[0] > self._since_stint]
        if news.view is not None:
            self._last_view = news
        self._write_output()
        view = self._last_view.view if self._last_view is not None else None
        if view is not None:
            for line in self._story.tell(view, now_s):
                self._write_line(line)
            self._write_output()
        if news.is_over:
            self._write_output(everything=True)
        self._target.flush()

    def pause(self) -> None:
        if not self._at_line_start:
            self._target.write("\n")
            self._at_line_start = True

    def _write_output(self, *, everything: bool = False) -> None:
        """Write what may be written: the next stint's output waits until the last one's end has been told."""
        while self._pending and (everything or self._pending[0][0] <= self._story.told_through + 1):
            _, chunk = self._pending.pop(0)
            self._target.flush()
            binary = getattr(self._target, "buffer", None)
            if binary is not None:
                binary.write(chunk)
            else:
                self._target.write(chunk.decode("utf-8", "replace"))
            self._at_line_start = chunk.endswith(b"\n")

    def _write_line(self, line: Line) -> None:
        self.pause()
        self._target.write(f"[outlast] {line.text}\n")


class TerminalScreen(Screen):
    """A small moving region at the bottom; what happened stays above it as lines."""

    def __init__(self, target: TextIO, since_stint: int) -> None:
        super().__init__(since_stint)
        # rich costs a tenth of a second; by now the run has been submitted and is starting up meanwhile.
        from rich.console import Console
        from rich.live import Live

        from outlast.cli.scene import Scene

        self._console = Console(file=target, highlight=False, soft_wrap=False)
        self._plain_glyphs = not self._console.encoding.lower().startswith("utf")
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._scene = Scene()

    def update(self, news: News, now_s: float) -> None:
        from rich.console import Group

        from outlast.cli.scene import draw

        for stint, chunk in news.output:
            if stint > self._since_stint:
                self._scene.hear(chunk)
        self._keep(news)
        if news.view is not None:
            self._scene.look(news.view, now_s)
        if self._scene.view is not None:
            for line in self._story.tell(self._scene.view, now_s):
                self._print(line)
        if news.is_over or (self._scene.view is not None and self._scene.view.state.is_final):
            return
        if not self._live.is_started:
            self._live.start()
        size = self._console.size
        lines = draw(self._scene, now_s, size.width - 1, size.height, plain_glyphs=self._plain_glyphs)
        self._live.update(Group(*lines), refresh=True)

    def pause(self) -> None:
        if self._live.is_started:
            self._live.stop()

    def last_output(self) -> list[str]:
        return list(self._scene.output)

    def _keep(self, news: News) -> None:
        points = self._scene.points
        points += news.points
        if len(points) > MOST_POINTS:
            self._scene.points = points[::2]

    def _print(self, line: Line) -> None:
        from rich.text import Text

        mark = "* " if self._plain_glyphs else "● "
        text = line.text.replace("→", "->") if self._plain_glyphs else line.text
        self._console.print(Text.assemble((mark, line.colour), text))
