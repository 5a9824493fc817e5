"""The real runner, except that it kills itself -9 at one exact moment: on entering a phase, or before or after the
n-th change of the store. Usage: crashing_runner.py WHEN PLACE, with WHEN like `phase:restoring`, `before:4`, `after:4`.
"""

import os
import signal
import sys

from outlast.inside import __main__ as runner
from outlast.inside.stint import Stint
from outlast.inside.stores.file import FileStore
from outlast.inside.stores.file_writer import FileWriter

kind, _, moment = sys.argv[1].partition(":")
changes = 0


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def crash_on_phase(enter):
    def wrapped(self, phase):
        enter(self, phase)
        if phase == moment:
            die()

    return wrapped


def crash_on_change(change):
    def wrapped(self, *arguments, **options):
        global changes  # noqa: PLW0603
        changes += 1
        number = changes
        if kind == "before" and number == int(moment):
            die()
        result = change(self, *arguments, **options)
        if kind == "after" and number == int(moment):
            die()
        return result

    return wrapped


if kind == "phase":
    Stint.enter = crash_on_phase(Stint.enter)
else:
    for owner, name in ((FileStore, "put"), (FileStore, "put_if_absent"), (FileWriter, "commit")):
        setattr(owner, name, crash_on_change(getattr(owner, name)))
sys.exit(runner.main(sys.argv[2:]))
