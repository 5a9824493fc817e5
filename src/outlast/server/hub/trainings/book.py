"""The trainings of one project: a small file beside its repository, which goes where the repository goes.

hub/<owner>/<name>/trainings.json
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from outlast.server.hub.trainings.envelope import NO_TRAINING, ONE_AT_A_TIME, TAKEN, TOO_MANY, Refusal
from outlast.server.hub.trainings.wishes import NAME_LENGTH, Wish, read_wish
from outlast.store.private import PrivateFile

#: Records that a project keeps; older ones are deleted by hand to make room.
MOST_RECORDS = 5


@dataclass(frozen=True)
class Training:
    """One training instance."""

    id: str
    by: str  # who asked for it
    run: str
    commit: str
    body: dict[str, Any]
    created_at: float
    error: str = ""  # why it could not be scheduled; there is no run then
    notices: tuple[str, ...] = ()
    evaluation: dict[str, Any] = field(default_factory=dict)  # what was last asked for

    @property
    def wish(self) -> Wish:
        return read_wish(self.body)

    @property
    def name(self) -> str:
        return str(self.body["name"])

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Training:
        return cls(**{**body, "notices": tuple(body["notices"])})


class TrainingBook:
    """The records of one project. Any number of processes may use it."""

    def __init__(self, folder: Path) -> None:
        remedy = "remove that file; the trainings of the project are forgotten, their runs stay"
        self._file = PrivateFile(folder / "trainings.json", ("trainings", "last"), remedy)

    def all(self) -> list[Training]:
        """Newest first."""
        found = [Training.from_json(each) for each in self._file.read()["trainings"].values()]
        return sorted(found, key=lambda each: each.created_at, reverse=True)

    def find(self, id: str) -> Training:
        found = self._file.read()["trainings"].get(id)
        if found is None:
            raise Refusal(NO_TRAINING, f"no training {id[:40]!r} in this project", status=404)
        return Training.from_json(found)

    def last_config(self) -> dict[str, Any]:
        """The body of the newest training that was asked for, deleted or not; empty before the first."""
        config: dict[str, Any] = self._file.read()["last"].get("config", {})
        return config

    def add(self, wish: Wish, by: str, run: str, commit: str, is_done: Callable[[Training], bool]) -> Training:
        """Write a training down before its run starts. Refuses a sixth one, a taken name, and a second open one."""
        made = Training(secrets.token_hex(12), by, run, commit, wish.to_json(), time.time())
        with self._file.changing() as body:
            there = [Training.from_json(each) for each in body["trainings"].values()]
            if len(there) >= MOST_RECORDS:
                raise Refusal(
                    TOO_MANY, f"a project keeps {MOST_RECORDS} trainings, and there are {len(there)}",
                    hint="delete one of them first",
                )  # fmt: skip
            if any(each.name == wish.name for each in there):
                raise Refusal(TAKEN, f"a training called {wish.name!r} exists already", hint="choose another name")
            going = next((each for each in there if not is_done(each)), None)
            if going is not None:
                raise Refusal(
                    ONE_AT_A_TIME, f"the training {going.name!r} goes on, and a project has one at a time",
                    hint="wait for it to end, or terminate it",
                )  # fmt: skip
            body["trainings"][made.id] = asdict(made)
            body["last"]["config"] = made.body
        return made

    def change(self, training: Training, **words: Any) -> Training:
        """The same training with other words; nothing happens to one that was deleted meanwhile."""
        changed = replace(training, **words)
        with self._file.changing() as body:
            if training.id in body["trainings"]:
                body["trainings"][training.id] = asdict(changed)
        return changed

    def remove(self, id: str) -> None:
        with self._file.changing() as body:
            body["trainings"].pop(id, None)


def next_name(name: str, now_s: int) -> str:
    """What a training made from another one is called: the moment behind it, within the longest name."""
    end = f"-{now_s}"
    return name[: NAME_LENGTH - len(end)] + end
