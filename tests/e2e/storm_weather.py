"""What goes wrong in a storm over three servers: one thing every few seconds, chosen by a seed."""

from __future__ import annotations

import collections
import contextlib
import os
import signal
import time

import httpx
from lab import kill

from outlast.errors import OutlastError
from outlast.inside import processes
from outlast.platforms.base import job_name
from servers import faults

#: Minutes that a server's clock is off; signatures are good for fifteen.
CLOCKS_MIN = (-40, -20, -3, 0, 3, 20, 40)
#: The longest that a server stays dead, and that nobody starts its jobs: longer than a stint waits in a queue.
DEAD_S, FROZEN_S = 5.0, 25.0
#: Machines that may be taken in a row before the run has come further: one that cannot make progress need not.
MOST_TAKEN = 2
_PHASES = {"modelarts": '"Running"', "openpai": '"RUNNING"', "xihe": '"Running"'}


class Weather:
    """Trouble for one run. `turn` causes the next one; `calm` mends what is still broken."""

    def __init__(self, storm, run, dice):
        self._storm, self._run, self._dice = storm, run, dice
        self._later = []  # (when, what): mending
        self._taken = (0, 0)  # machines taken, checkpoints at that time
        self.seen = collections.Counter()
        self._kinds = {
            self.requests_lost_before: 3, self.requests_lost_after: 3, self.answers_cut: 1, self.slowness: 2,
            self.throttling: 2, self.server_errors: 2, self.tokens_expired: 2, self.odd_phases: 2, self.odd_dates: 1,
            self.clock_jumps: 2, self.server_killed: 3, self.server_keeper_killed: 1, self.server_keeper_frozen: 2,
            self.keeper_killed: 2, self.keeper_killed_in_a_call: 3, self.machine_dies: 3, self.process_dies: 2,
            self.job_stopped_by_hand: 1, self.job_vanishes: 2,
        }  # fmt: skip

    def turn(self):
        """Mend what is due, and cause one thing."""
        self.mend()
        kind = self._dice.choices(list(self._kinds), list(self._kinds.values()))[0]
        place = self._somewhere()
        done = kind(place)
        if done is not None:
            self.seen[kind.__name__] += 1
        print(time.strftime("%X"), kind.__name__, place.kind, done or "not now", flush=True)

    def _somewhere(self):
        """Mostly where the run is now."""
        stint, elsewhere = self._newest(), self._dice.choice(self._storm.places)
        return self._storm.place(stint.platform) if stint and self._dice.random() < 0.6 else elsewhere

    def mend(self, everything=False):
        """Undo what was broken for a while and has been so for long enough."""
        now = time.monotonic()
        due = [each for each in self._later if everything or each[0] <= now]
        self._later = [each for each in self._later if each not in due]
        for _, what in due:
            what()
        self._storm.wake()

    def calm(self):
        """Nothing goes wrong any more."""
        for each in self._proxies():
            each.clear()
        self.mend(everything=True)

    # ---- between client and server

    def requests_lost_before(self, place):
        return self._spoil(place, faults.drop(times=self._dice.randint(1, 4), reset=self._dice.random() < 0.5))

    def requests_lost_after(self, place):
        return self._spoil(place, faults.drop_after(times=self._dice.randint(1, 3)))

    def answers_cut(self, place):
        return self._spoil(place, faults.cut(times=2))

    def slowness(self, place):
        stall = self._dice.choice([faults.stall, faults.stall_after, faults.stall_in_body])()
        self._in(self._dice.uniform(0.5, 3.0), stall.released.set)
        return self._spoil(place, stall)

    def throttling(self, place):
        return self._spoil(place, faults.too_many(self._dice.choice([None, 0, 1]), times=self._dice.randint(1, 3)))

    def server_errors(self, place):
        trouble = self._dice.choice([faults.server_error, faults.slow_down])
        return self._spoil(place, trouble(times=self._dice.randint(1, 4)))

    def tokens_expired(self, place):
        """The cluster forgets its tokens; whoever has the password may have another."""
        return self._spoil(self._storm.cluster, faults.answer(401, path="/jobs", times=self._dice.choice([1, 1, 2])))

    def odd_phases(self, place):
        word = _PHASES[place.kind]
        return self._spoil(place, faults.rephrase(word, '"Hibernating"', times=3, path="training|/jobs"))

    def odd_dates(self, place):
        minutes = self._dice.choice(CLOCKS_MIN)
        return self._spoil(place, faults.far_date(60.0 * minutes, time.time(), times=5))

    def _spoil(self, place, fault):
        fault.skip = self._dice.randrange(4)
        proxies = [place.proxy, place.obs] if place is self._storm.region and not fault.path else [place.proxy]
        self._dice.choice(proxies).add(fault)
        return fault.name

    # ---- on the server's side

    def clock_jumps(self, place):
        minutes = self._dice.choice(CLOCKS_MIN)
        place.shift_clock(60.0 * minutes)
        return f"{minutes} min"

    def server_killed(self, place):
        if not place.is_up:  # one that is killed while it starts never serves
            return None
        place.kill()
        self._in(self._dice.uniform(0.0, DEAD_S), place.start)
        return "dead"

    def server_keeper_killed(self, place):
        return "dead" if place.kill_keeper() else None

    def server_keeper_frozen(self, place):
        """Jobs are taken and stay in the queue."""
        frozen = [pid for pid in place.pids("outlast.keeper") if _signal(pid, signal.SIGSTOP)]
        self._in(self._dice.uniform(1.0, FROZEN_S), lambda: [_signal(pid, signal.SIGCONT) for pid in frozen])
        return "frozen" if frozen else None

    def machine_dies(self, place):
        """What the server itself started for a job, with all that came of it."""
        found = place.jobs()
        if not found or not self._may_take():
            return None
        processes.kill_tree(self._dice.choice(found))
        return "dead"

    def process_dies(self, place):
        """Any one process of a job: of the server's own, of our runner, or the script."""
        found = [pid for job in place.jobs() for pid in processes.descendants(job)]
        return "dead" if found and self._may_take() and kill(self._dice.choice(found)) else None

    def job_stopped_by_hand(self, place):
        return self._by_hand(lambda hand, job: hand.cancel(job))

    def job_vanishes(self, place):
        return self._by_hand(lambda hand, job: (hand.cancel(job), hand.forget(self._run)))

    def _by_hand(self, act):
        """Somebody does something to the job of the newest stint, in the platform's own console."""
        stint = self._newest()
        if stint is None or not self._may_take():
            return None
        try:
            act(self._storm.hand(stint.platform), job_name(self._run, stint.number))
        except (OutlastError, httpx.HTTPError) as error:  # it is down: another fault has its turn
            return f"tried: {error}"
        return f"stint {stint.number}"

    def _newest(self):
        """The open stint, when it is in the storm: the user's own machine is left alone."""
        stint = self._storm.newest(self._run)
        return stint if stint is not None and stint.platform != "local" else None

    def _may_take(self):
        """Whether the run has come further since the last machines were taken."""
        taken, checkpoints = self._taken
        there = len(list((self._storm.home / "store" / "runs" / self._run / "checkpoints").glob("*")))
        taken = taken + 1 if there == checkpoints else 1
        if taken > MOST_TAKEN:
            return False
        self._taken = (taken, there)
        return True

    # ---- on the client's side

    def keeper_killed(self, place):
        found = [pid for pid in self._storm.keepers() if kill(pid)]
        return "dead" if found else None

    def keeper_killed_in_a_call(self, place):
        """Before the server has heard of it, or after it was done: nobody learns which."""
        stall = self._dice.choice([faults.stall, faults.stall_after])(skip=self._dice.randrange(4))
        place.proxy.add(stall)
        done = self.keeper_killed(place) if stall.reached.wait(3.0) else None
        stall.released.set()
        return f"{done} in {stall.name}" if done else None

    # ---- small things

    def _in(self, seconds, what):
        self._later.append((time.monotonic() + seconds, what))

    def _proxies(self):
        return [*(each.proxy for each in self._storm.places), self._storm.region.obs]


def _signal(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
