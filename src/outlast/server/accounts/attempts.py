"""Wrong sign-ins, counted by account and by address, so that guessing takes for ever."""

from __future__ import annotations

import time
from collections.abc import Callable

import sqlalchemy as sa

from outlast.server.database import Database
from outlast.server.refusals import TooManyAttempts
from outlast.server.schema import attempts

#: Free tries, then a wait that doubles with each wrong one up to the longest.
_FREE, _FIRST_WAIT_S, _LONGEST_WAIT_S = 5, 2.0, 900.0
#: A whole office may sit behind one address.
_FREE_BY_ADDRESS = 20
#: After so long without a wrong one everything is forgotten.
_FORGET_S = 3600.0


class Attempts:
    """The count of wrong sign-ins of late."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def begin(self, name: str, address: str) -> None:
        """Count an attempt before it is tried, or raise `TooManyAttempts`.

        Counting first means that a hundred attempts at the same moment are no way around the limit.
        """
        now = self._clock()
        with self._database.write() as connection:
            connection.execute(sa.delete(attempts).where(attempts.c.last_at < now - _FORGET_S))
            subjects = _subjects(name, address)
            wait_s = max(_wait(connection, subject, free, now) for subject, free in subjects)
            if wait_s <= 0:
                for subject, _ in subjects:
                    _count(connection, subject, now)
        if wait_s > 0:
            words = f"{max(1, round(wait_s))} s"
            raise TooManyAttempts("too many wrong sign-ins", hint=f"try again in {words}", wait_s=wait_s)

    def succeeded(self, name: str, address: str) -> None:
        """Forget the wrong ones of this account; those of the address only lose this attempt."""
        (account, _), (place, _) = _subjects(name, address)
        with self._database.write() as connection:
            connection.execute(sa.delete(attempts).where(attempts.c.subject == account))
            connection.execute(
                sa.update(attempts)
                .where(attempts.c.subject == place, attempts.c.wrong > 0)
                .values(wrong=attempts.c.wrong - 1)
            )


def _subjects(name: str, address: str) -> tuple[tuple[str, int], tuple[str, int]]:
    return (f"user {name.lower()[:64]}", _FREE), (f"address {address[:64]}", _FREE_BY_ADDRESS)


def _wait(connection: sa.Connection, subject: str, free: int, now: float) -> float:
    found = connection.execute(sa.select(attempts).where(attempts.c.subject == subject)).first()
    if found is None or found.wrong < free:
        return 0.0
    pause_s = min(_FIRST_WAIT_S * 2.0 ** min(found.wrong - free, 20), _LONGEST_WAIT_S)
    return float(min(pause_s, found.last_at + pause_s - now))  # a clock that was set back must not lock for ever


def _count(connection: sa.Connection, subject: str, now: float) -> None:
    one_more = sa.update(attempts).where(attempts.c.subject == subject)
    if not connection.execute(one_more.values(wrong=attempts.c.wrong + 1, last_at=now)).rowcount:
        connection.execute(sa.insert(attempts).values(subject=subject, wrong=1, last_at=now))
