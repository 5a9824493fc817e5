"""What runs measured, drawn, compared, exported and reported: these verbs of `Client.runs`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.operations.chart import Charted
    from outlast.operations.comparing import Comparison
    from outlast.operations.export import Exported
    from outlast.track.drawing.figure import Figure


class Curves:
    """The part of `Client.runs` that looks at metrics."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def chart(
        self, *refs: str, metrics: Sequence[str] = (), x: str | None = None, smooth: float = 0.0, log: bool = False
    ) -> Figure:
        """The curves of some runs as one figure, ready to be drawn; `draw` writes it to a file at once.

        figure = client.runs.chart("base", "wide", metrics=["val_loss"], x="epoch")
        """
        from outlast.operations.chart import chart_runs

        return chart_runs(self._settings, refs, metrics=metrics, x=x, smooth=smooth, log=log)

    def draw(
        self, *refs: str, to: str | os.PathLike[str], metrics: Sequence[str] = (), x: str | None = None,
        smooth: float = 0.0, log: bool = False, theme: str = "auto",
    ) -> Path:  # fmt: skip
        """Draw the curves of some runs into an .svg or a .png; `theme` is auto, light or dark.

        client.runs.draw("mnist", to="loss.svg", metrics=["loss"])
        """
        from outlast.operations.chart import save_picture

        return save_picture(self.chart(*refs, metrics=metrics, x=x, smooth=smooth, log=log), Path(to), theme=theme)

    def curves(self, *refs: str, metrics: Sequence[str] = ()) -> list[tuple[Charted, list[str]]]:
        """Each run with all its series, and which of the chosen metrics it has."""
        from outlast.operations.chart import choose_metrics, read_charted

        charted = read_charted(self._settings, refs)
        chosen = choose_metrics(charted, metrics)
        return [(one, [name for name in chosen if name in one.series]) for one in charted]

    def compare(self, *refs: str, sort: str | None = None) -> Comparison:
        """Some runs side by side: parameters, metrics, time and code; sorted by a metric when one is named.

        for row in client.runs.compare("a", "b", sort="val_loss").rows:
            print(row.run, row.params, row.best)
        """
        from outlast.operations.comparing import compare_runs

        return compare_runs(self._settings, refs, sort=sort)

    def export(
        self, *refs: str, kind: str = "csv", to: str | os.PathLike[str] | None = None, replayed: bool | None = None,
        force: bool = False, tell: Callable[[str], None] | None = None,
    ) -> Exported:  # fmt: skip
        """Write the metrics of some runs for another program: csv, parquet, tensorboard, mlflow or aim.

        client.runs.export("mnist", kind="tensorboard", to="events")
        """
        from outlast.operations.export import export_runs

        target = None if to is None else Path(to)
        return export_runs(self._settings, refs, kind, target, replayed=replayed, force=force, tell=tell)

    def report(self, ref: str, to: str | os.PathLike[str], *, lang: str | None = None) -> Path:
        """Write everything about a run as one page (.html, or .pdf where chromium is) that can be mailed."""
        from outlast.operations.report import report_run

        return report_run(self._settings, ref, Path(to), lang=lang)
