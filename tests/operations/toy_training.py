"""A tiny training for rehearsals: momentum, shuffled data, one checkpoint per epoch, and mistakes on request.

It trains for real (a line through noisy points), so that a forgotten momentum or a repeated epoch shows in the loss
as it would in a large model. One epoch takes one second of its own time.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from outlast.operations.compare import Place, Point, Training
from outlast.operations.rehearse import Cut

EPOCHS = 12


class ToyTraining:
    """`mistake` is one of: "", optimizer, order, restart, counter-low, counter-high, unseeded, beside, never-saves."""

    def __init__(self, folder: Path, mistake: str = "", *, samples: bool = True) -> None:
        self.folder = folder
        self.mistake = mistake
        self.samples = samples
        self.trained = 0

    def run_once(self, cuts: Sequence[Cut]) -> Training:
        self.trained += 1
        folder = self.folder / str(self.trained)
        folder.mkdir(parents=True)
        points: list[Point] = []
        places: list[Place] = []
        saved: dict[str, Any] | None = None
        for number, cut in enumerate((*cuts, None)):
            if number:
                places.append(Place(float(saved["epoch"]) if saved else 0.0))
            saved = self._stint(saved, points, cut.run_s if cut else None, folder)
        outputs = {"out/model.json": folder / "model.json"}
        duration_s = float(EPOCHS)
        at_s = () if self.mistake == "never-saves" else tuple(float(n) for n in range(1, EPOCHS + 1))
        return Training(points, outputs, {}, tuple(places), duration_s, at_s)

    def _stint(
        self, saved: dict[str, Any] | None, points: list[Point], run_s: float | None, folder: Path
    ) -> dict[str, Any] | None:
        state = dict(saved) if saved else {"epoch": 0, "w": 0.0, "v": 0.0, "history": 0.0}
        noise = random.Random(None if self.mistake == "unseeded" else 7)
        data = [(x / 50, 3 * x / 50 + noise.gauss(0, 0.3)) for x in range(50)]
        if saved and self.mistake == "optimizer":
            state["v"] = 0.0
        if saved and self.mistake == "restart":
            state.update(w=0.0, v=0.0)
        if saved and self.mistake == "beside":
            state["history"] = 0.0
        first = state["epoch"] + {"counter-low": -1, "counter-high": 1}.get(self.mistake, 0) * bool(saved)
        for done, epoch in enumerate(range(first + 1, EPOCHS + 1), start=1):
            if run_s is not None and done > run_s:
                return saved
            order = list(data)
            random.Random(done if self.mistake == "order" else epoch).shuffle(order)
            loss = self._epoch(state, order)
            values: dict[str, float | str] = {"loss": loss, "time": random.random()}
            if self.samples:
                values["samples"] = str(order[:3])
            points.append(Point(Place(float(epoch)), values))
            state["epoch"] = epoch
            if self.mistake != "never-saves":
                saved = dict(state)
        (folder / "model.json").write_text(json.dumps({"w": state["w"], "best": state["history"]}))
        return saved

    def _epoch(self, state: dict[str, Any], order: list[tuple[float, float]]) -> float:
        loss = 0.0
        for x, y in order:
            error = state["w"] * x - y
            loss += error * error / len(order)
            state["v"] = 0.9 * state["v"] + error * x
            state["w"] -= 0.002 * state["v"]
        state["history"] += loss
        return loss
