"""Which runs a page shows: said in its address, so that it can be kept, sent and gone back to."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request

from outlast.model.query import OPERATORS, RunQuery

ROWS = 50


@dataclass(frozen=True)
class RunsFilter:
    """What is searched for: words are parts of a name, `lr=0.1` or `best:val_acc>0.9` are conditions."""

    search: str = ""
    states: tuple[str, ...] = ()
    sort: str = "created"
    cursor: str = ""

    @classmethod
    def of(cls, request: Request) -> RunsFilter:
        asked = request.query_params
        states = tuple(dict.fromkeys(filter(None, asked.getlist("state"))))
        return cls(asked.get("q", "").strip(), states, asked.get("sort") or "created", asked.get("cursor", ""))

    def query(self) -> RunQuery:
        """As the index understands it; `UsageError` names what cannot be understood."""
        words = self.search.split()
        where = [word for word in words if any(sign in word for sign in OPERATORS)]
        names = [word for word in words if word not in where]
        has_glob = any(sign in word for word in names for sign in "*?[")
        name = " ".join(names) if has_glob or not names else f"*{'*'.join(names)}*"
        return RunQuery.build(name, self.states, where, self.sort)

    def address(self, **changes: object) -> str:
        """The page with something changed; another choice begins at its first page."""
        new = dataclasses.replace(self, **{"cursor": "", **changes})  # type: ignore[arg-type]
        parts = [("q", new.search), *(("state", state) for state in new.states)]
        parts += [("sort", new.sort if new.sort != "created" else ""), ("cursor", new.cursor)]
        text = urlencode([(name, value) for name, value in parts if value])
        return f"/?{text}" if text else "/"

    def toggled(self, state: str) -> str:
        """The page with a state shown as well, or no longer."""
        others = tuple(each for each in self.states if each != state)
        return self.address(states=others if state in self.states else (*self.states, state))
