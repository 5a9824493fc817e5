"""The keeper's process: `python -m outlast.keeper --home FOLDER`. Started on demand, leaves when idle."""

from __future__ import annotations

import argparse
import contextlib
import logging
import logging.handlers
import os
import select
import signal
import sys
from types import FrameType

from outlast.errors import OutlastError
from outlast.keeper.home import Home
from outlast.keeper.keeper import Keeper
from outlast.keeper.wake import sign_lock, still_ours, take_lock
from outlast.settings import Settings

LOG_BYTES = 1_000_000

log = logging.getLogger("outlast.keeper")


class KeeperProcess:
    """Turns, sleeps until something happens, and leaves without missing a run that arrives at that moment."""

    def __init__(self, settings: Settings, starting: int | None = None) -> None:
        self._settings = settings
        self._starting = starting
        self._home = Home(settings.home)
        self._leaving = False
        self._lock: int | None = None
        # Opened for both directions: with a writer of our own the pipe never reports its end.
        self._fifo = os.open(self._home.fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._leave)

    def run(self) -> int:
        """Keep until idle or told to leave. Returns 0 at once when another keeper is there."""
        lock = take_lock(self._home, patience_s=0.5)
        if self._starting is not None:
            os.close(self._starting)
            # A command that saw us starting relies on us: should the keeper that is there have left meanwhile
            # without a look at what that command wrote, it is ours.
            lock = lock if lock is not None else take_lock(self._home)
        while lock is not None:
            self._lock = lock
            sign_lock(lock)
            keeper = Keeper(self._settings)
            try:
                keeper.take_over_leases()
                self._keep(keeper)
                os.close(lock)
                # A command writes its marker before it tests the lock: whatever came while the lock was still
                # ours is visible now, and whatever comes later finds the lock free and starts another keeper.
                if self._leaving or not keeper.has_work():
                    return 0
            finally:
                keeper.close()
            log.info("a run arrived while leaving; staying")
            lock = take_lock(self._home)
        return 0

    def _keep(self, keeper: Keeper) -> None:
        log.info("keeper %d starts for %s", os.getpid(), self._home.path)
        woken = True
        while not self._leaving:
            if self._lock is not None and not still_ours(self._home, self._lock):
                # Looking at runs makes folders: a home that was removed would come back half.
                log.warning("%s is gone, or its lock is; leaving", self._home.path)
                self._leaving = True
                return
            delay_s = keeper.turn(woken)
            if keeper.idle_s >= self._settings.keeper_idle_s:
                log.info("nothing to do for %g s; leaving", self._settings.keeper_idle_s)
                return
            woken = self._sleep(keeper, min(delay_s, max(self._settings.keeper_idle_s - keeper.idle_s, 0.02)))
        log.info("asked to leave; runs go on")

    def _sleep(self, keeper: Keeper, seconds: float) -> bool:
        """Until the time is over, a command wakes us or a job may have ended; True when it was not the time."""
        poll = select.poll()
        poll.register(self._fifo, select.POLLIN)
        for handle in keeper.wake_fds():
            poll.register(handle, select.POLLIN)
        ready = poll.poll(seconds * 1000)
        if any(handle == self._fifo for handle, _ in ready):
            os.read(self._fifo, 65536)
        return bool(ready)

    def _leave(self, _number: int, _frame: FrameType | None) -> None:
        self._leaving = True
        with contextlib.suppress(BlockingIOError):  # full of wakes: the poll returns anyway
            os.write(self._fifo, b"q")


def _start_log(home: Home) -> None:
    handler = logging.handlers.RotatingFileHandler(home.log, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger("outlast")
    root.setLevel(logging.INFO)
    root.addHandler(handler)


def main(arguments: list[str] | None = None) -> int:
    """Run a keeper for one home; 0 when it left by itself, another one is there or the home is gone."""
    parser = argparse.ArgumentParser(prog="python -m outlast.keeper", description="Look after the runs of one home.")
    parser.add_argument("--home", help="the home folder (default: OUTLAST_HOME, or ~/.outlast)")
    parser.add_argument("--starting", type=int, metavar="FD", help="the lock of a keeper that is starting")
    options = parser.parse_args(arguments)
    try:
        settings = Settings.load(os.environ, home=options.home)
        if not settings.home.exists():
            # Whoever starts us has made it: it was removed while we were loaded, and shall not come back.
            sys.stderr.write(f"keeper: there is no home {settings.home}; leaving\n")
            return 0
        _start_log(Home(settings.home))
        return KeeperProcess(settings, options.starting).run()
    except OutlastError as error:
        log.error("%s", error)
        sys.stderr.write(f"keeper: {error}\n")
        return error.exit_code
    except Exception:
        log.exception("the keeper failed")
        return 1


if __name__ == "__main__":
    sys.exit(main())
