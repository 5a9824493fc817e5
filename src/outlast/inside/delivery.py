"""Named outputs on their way to where the user wants them: a folder of this machine, a bucket, HDFS.

The store of the run has them too; this is the copy that people and other programs look at. It is brought up to date
after commits and at the end of a stint, and a place that cannot be reached costs a notice, never the training.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, List, Mapping, NamedTuple, Optional, Sequence, Set

from .errors import Changed, InsideError, NotFound, RequestError
from .stores import is_remote

if TYPE_CHECKING:
    from .move.address import Address
    from .move.engine import Outcome
    from .stores.access import Access

#: As often as ModelArts brings outputs away while a job runs.
PERIOD_S = 30.0
#: How long the last trip waits before it is made once more.
PAUSES_S = (1.0, 5.0, 15.0)


class Output(NamedTuple):
    """One named output."""

    name: str
    folder: str  # where the script writes it
    target: Address


class Trouble(NamedTuple):
    """Something that is not at its target."""

    words: str
    may_pass: bool  # trying again may help


def outputs_of(spec: Mapping[str, Any], code_dir: str, is_borrowed: bool = False) -> List[Output]:
    """The outputs that are to be brought somewhere. Scripts of ModelArts' first generation bring theirs themselves.

    From a borrowed machine nothing is brought to folders: they are meant on the user's own. The mover is imported
    only when there is something to move.
    """
    kept = kept_back(spec) if is_borrowed else []
    named = [each for each in spec.get("outputs", ()) if each.get("target") and each["name"] not in kept]
    if not named or spec.get("contract") == "modelarts-v1":
        return []
    from .move.address import parse

    return [
        Output(each["name"], os.path.join(code_dir, each["path"]), parse(each["target"])._replace(into=True))
        for each in named
    ]


def kept_back(spec: Mapping[str, Any]) -> List[str]:
    """Names of the outputs that belong into a folder of the user's own machine."""
    return [each["name"] for each in spec.get("outputs", ()) if each.get("target") and not is_remote(each["target"])]


class Courier:
    """Brings outputs to their targets, from a thread of its own while the script runs."""

    def __init__(
        self,
        outputs: Sequence[Output],
        accesses: Mapping[str, Access],
        maps: Optional[Mapping[str, str]],
        say: Callable[[str], None],
        pauses_s: Sequence[float] = PAUSES_S,
        period_s: float = PERIOD_S,
    ) -> None:
        self._outputs = list(outputs)
        self._accesses = accesses
        self._maps = dict(maps or {})
        self._say = say
        self._pauses_s = tuple(pauses_s)
        self._period_s = period_s
        self._wanted = threading.Event()
        self._closing = threading.Event()
        self._told: Set[str] = set()
        self._thread: Optional[threading.Thread] = None

    def start(self) -> None:
        if self._outputs:
            self._thread = threading.Thread(target=self._run, name="outlast-courier", daemon=True)
            self._thread.start()

    def nudge(self) -> None:
        """Something was committed: worth a trip, but not more than one in a while. Trips never overlap."""
        self._wanted.set()

    def close(self) -> None:
        """End the trip under way; no other follows but those that are asked for with `deliver`."""
        self._closing.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()

    def deliver_patiently(self) -> List[str]:
        """Make the last trip, again after a while as long as that may help, and return what is missing, in words."""
        left = self.deliver()
        for pause_s in self._pauses_s:
            if not any(trouble.may_pass for trouble in left):
                break
            time.sleep(pause_s)
            left = self.deliver()
        return [trouble.words for trouble in left]

    def deliver(self, is_written: bool = False) -> List[Trouble]:
        """One trip with everything; what could not be brought is said, once, and returned.

        `is_written`: the script is at work, so files that change or vanish meanwhile are no trouble.
        """
        left = [each for each in (self._bring(output, is_written) for output in self._outputs) if each is not None]
        for trouble in left:
            if trouble.words not in self._told:
                self._told.add(trouble.words)
                self._say(trouble.words)
        return left

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if self._closing.is_set():
                return
            self.deliver(is_written=True)
            self._closing.wait(self._period_s)

    def _bring(self, output: Output, is_written: bool) -> Optional[Trouble]:
        if not os.path.isdir(output.folder):
            return None
        errors: List[InsideError] = []
        try:
            outcome = self._copy(output, errors, is_written)
        except InsideError as error:
            words = "output %s could not be brought to %s: %s" % (output.name, output.target, error)
            return Trouble(words, not isinstance(error, RequestError))
        if not outcome.failures or (is_written and all(isinstance(each, (Changed, NotFound)) for each in errors)):
            return None
        count, first = len(outcome.failures), outcome.failures[0]
        words = "%d file%s of output %s could not be brought to %s: %s: %s" % (
            count, "" if count == 1 else "s", output.name, output.target, first.path, first.reason,
        )  # fmt: skip
        return Trouble(words, not all(isinstance(each, RequestError) for each in errors))

    def _copy(self, output: Output, errors: List[InsideError], is_written: bool) -> Outcome:
        from .move.address import parse
        from .move.base import Job
        from .move.engine import Listener, copy
        from .move.plan import Options, Place
        from .move.trees import open_tree

        courier = self

        class Trip(Listener):
            def failed(self, job: Job, error: InsideError) -> None:
                errors.append(error)

            def stopping(self) -> bool:
                return is_written and courier._closing.is_set()

        source = Place(parse(output.folder + "/"), open_tree(parse(output.folder)))
        tree = open_tree(output.target, self._accesses.get(output.target.root), self._maps)
        return copy([source], Place(output.target, tree), Options(), Trip())
