"""Named outputs on their way to where the user wants them: a folder of this machine, a bucket, HDFS.

The store of the run has them too; this is the copy that people and other programs look at. It is brought up to date
after every commit and at the end of a stint, and a place that cannot be reached costs a notice, never the training.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

from .errors import InsideError
from .move.address import Address, parse
from .move.engine import Listener, copy
from .move.plan import Options, Place
from .move.trees import open_tree
from .stores.access import Access


class Output(NamedTuple):
    """One named output."""

    name: str
    folder: str  # where the script writes it
    target: Address


def outputs_of(spec: Mapping[str, Any], code_dir: str) -> List[Output]:
    """The outputs that a spec wants brought somewhere."""
    return [
        Output(each["name"], os.path.join(code_dir, each["path"]), parse(each["target"])._replace(into=True))
        for each in spec.get("outputs", ())
        if each.get("target")
    ]


class Courier:
    """Brings outputs to their targets, from a thread of its own."""

    def __init__(
        self,
        outputs: Sequence[Output],
        accesses: Mapping[str, Access],
        maps: Optional[Mapping[str, str]],
        say: Callable[[str], None],
    ) -> None:
        self._outputs = list(outputs)
        self._accesses = accesses
        self._maps = dict(maps or {})
        self._say = say
        self._wanted = threading.Event()
        self._closing = False
        self._told: Dict[str, str] = {}
        self._thread: Optional[threading.Thread] = None

    def start(self) -> None:
        if self._outputs:
            self._thread = threading.Thread(target=self._run, name="outlast-courier", daemon=True)
            self._thread.start()

    def nudge(self) -> None:
        """Something was committed: worth a trip. Trips never overlap; one that is asked for twice is made once."""
        self._wanted.set()

    def close(self) -> List[str]:
        """Make the last trip and return what could not be brought, in words."""
        self._closing = True
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()
        return self.deliver()

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if self._closing:
                return
            for words in self.deliver():
                self._tell(words)

    def deliver(self) -> List[str]:
        """One trip with everything."""
        return [words for words in map(self._bring, self._outputs) if words]

    def _bring(self, output: Output) -> str:
        if not os.path.isdir(output.folder):
            return ""
        source = Place(parse(output.folder + "/"), open_tree(parse(output.folder)))
        try:
            tree = open_tree(output.target, self._accesses.get(output.target.root), self._maps)
            outcome = copy([source], Place(output.target, tree), Options(), Listener())
        except InsideError as error:
            return "output %s could not be brought to %s: %s" % (output.name, output.target, error)
        if outcome.failures:
            first = outcome.failures[0]
            return "%d files of output %s could not be brought to %s: %s: %s" % (
                len(outcome.failures), output.name, output.target, first.path, first.reason,
            )  # fmt: skip
        return ""

    def _tell(self, words: str) -> None:
        """Say a trouble once, not on every trip."""
        if self._told.get(words) is None:
            self._told[words] = words
            self._say(words)
