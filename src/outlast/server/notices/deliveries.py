"""Which message went where. A row for (channel, run, occasion) is made once and sent at most once.

`due` → `sending` → `sent` is the usual way. The step to `sending` is taken right before the first byte leaves and
holds for one process only; a server that dies there leaves the row as `unsure`, and nobody sends it again.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from outlast.server.accounts.people import moment
from outlast.server.database import Database
from outlast.server.notices.channels import Channel
from outlast.server.notices.events import Happened
from outlast.server.schema import leases, notice_deliveries

#: Waits after each try that certainly failed; when they are used up, the message is given up.
BACKOFF_S = (10.0, 60.0, 300.0, 1800.0, 7200.0)
#: A process that has been sending for so long is gone.
_LOST_S = 300.0
_KEPT_S = 30 * 86400.0
_AT_ONCE = 100

_table = notice_deliveries.c


@dataclass(frozen=True)
class Delivery:
    """A message that is due, in the hands of whoever has its `claim`."""

    channel: str
    happened: Happened
    tries: int
    claim: str

    @property
    def id(self) -> str:
        """The same for every try."""
        return f"{self.channel}.{self.happened.run}.{self.happened.key}"

    @property
    def which(self) -> tuple[sa.ColumnElement[bool], ...]:
        mine = _table.channel_id == self.channel, _table.run_id == self.happened.run
        return (*mine, _table.event == self.happened.key)


class Deliveries:
    """The rows of all deliveries. Every method is one transaction and safe with other processes."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def add(self, channel: str, events: Iterable[tuple[Happened, bool]]) -> int:
        """Make the rows that are not there yet: due when the flag says so, else only remembered. How many are due."""
        wanted = {(each.run, each.key): (each, is_due) for each, is_due in events}
        if not wanted:
            return 0
        known = sa.select(_table.run_id, _table.event).where(_table.channel_id == channel)
        with self._database.read() as connection:
            new = wanted.keys() - {(run, event) for run, event in connection.execute(known)}
        if not new:
            return 0  # nearly always; writers are not kept waiting for that
        with self._database.write() as connection:
            new -= {(run, event) for run, event in connection.execute(known)}
            rows = [self._row(channel, *wanted[key]) for key in sorted(new)]
            if rows:
                connection.execute(sa.insert(notice_deliveries), rows)
        return sum(row["state"] == "due" for row in rows)

    def _row(self, channel: str, happened: Happened, is_due: bool) -> dict[str, Any]:
        now = self._clock()
        return {
            "channel_id": channel, "run_id": happened.run, "event": happened.key, "tries": 0, "due_at": now,
            "state": "due" if is_due else "before", "facts": json.dumps(happened.to_json()) if is_due else "",
            "claim": "", "changed_at": now, "problem": "",
        }  # fmt: skip

    def claim_due(self, channels: Sequence[str]) -> list[Delivery]:
        """Take what is due for some channels. A later claim wins: an earlier holder finds out when it departs."""
        token = secrets.token_hex(8)
        due = [_table.state == "due", _table.due_at <= self._clock(), _table.channel_id.in_(channels)]
        chosen = sa.select(notice_deliveries).where(*due).order_by(_table.due_at).limit(_AT_ONCE)
        with self._database.read() as connection:
            if connection.execute(chosen).first() is None:
                return []
        with self._database.write() as connection:
            found = connection.execute(chosen).all()
            taken = [
                Delivery(row.channel_id, Happened.from_json(json.loads(row.facts)), row.tries + 1, token)
                for row in found
            ]
            for each in taken:
                connection.execute(sa.update(notice_deliveries).where(*each.which).values(claim=token))
        return taken

    def depart(self, delivery: Delivery) -> bool:
        """From now on the message may have left; False when another process has claimed it."""
        return self._change(delivery, _table.state == "due", state="sending", tries=delivery.tries)

    def sent(self, delivery: Delivery) -> None:
        self._change(delivery, state="sent", facts="", problem="")

    def failed(self, delivery: Delivery, problem: str, *, retry: bool, unsure: bool = False) -> bool:
        """Note a try that did not succeed; True when there will be another one."""
        again = retry and not unsure and delivery.tries <= len(BACKOFF_S)
        state = "due" if again else "unsure" if unsure else "failed"
        due_at = self._clock() + (BACKOFF_S[delivery.tries - 1] if again else 0.0)
        self._change(delivery, state=state, tries=delivery.tries, problem=problem, due_at=due_at)
        return again

    def tidy(self) -> None:
        """Say of messages whose sender died that nobody knows, and forget what is a month old."""
        now = self._clock()
        lost = sa.update(notice_deliveries).where(_table.state == "sending", _table.changed_at < now - _LOST_S)
        old = sa.delete(notice_deliveries).where(_table.state != "due", _table.changed_at < now - _KEPT_S)
        with self._database.write() as connection:
            connection.execute(lost.values(state="unsure", problem="the server was ended while it was sending"))
            connection.execute(old)

    def last(self, channels: Iterable[Channel]) -> dict[str, dict[str, Any]]:
        """What became of the newest message of each channel that had one."""
        ids = [channel.id for channel in channels]
        chosen = sa.select(_table.channel_id, _table.run_id, _table.state, _table.changed_at, _table.problem)
        chosen = chosen.where(_table.channel_id.in_(ids), _table.state != "before").order_by(_table.changed_at)
        with self._database.read() as connection:
            rows = connection.execute(chosen).all()
        return {
            row.channel_id: {
                "run": row.run_id, "state": row.state, "at": moment(row.changed_at), "problem": row.problem
            }
            for row in rows
        }  # fmt: skip

    def take_lease(self, holder: str, ttl_s: float) -> bool:
        """Become, or stay, the one process that sends. Only spares work: claims are what keeps order."""
        now, mine = self._clock(), leases.c.name == "notices"
        with self._database.write() as connection:
            found = connection.execute(sa.select(leases).where(mine)).first()
            values = {"name": "notices", "holder": holder, "expires": now + ttl_s}
            if found is None:
                connection.execute(sa.insert(leases).values(values))
            elif found.holder == holder or not now <= found.expires <= now + 10 * ttl_s:
                connection.execute(sa.update(leases).where(mine).values(values))
            else:
                return False
        return True

    def release_lease(self, holder: str) -> None:
        with self._database.write() as connection:
            connection.execute(sa.delete(leases).where(leases.c.name == "notices", leases.c.holder == holder))

    def _change(self, delivery: Delivery, *conditions: sa.ColumnElement[bool], **values: Any) -> bool:
        mine = (*delivery.which, _table.claim == delivery.claim, *conditions)
        with self._database.write() as connection:
            changed = connection.execute(
                sa.update(notice_deliveries).where(*mine).values(changed_at=self._clock(), **values)
            )
        return changed.rowcount > 0
