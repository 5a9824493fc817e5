"""One process's link to its stint: what the runner told it, the flag, and the line to the desk."""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import threading
import time
from typing import Any, Callable, Dict, Mapping, NoReturn, Optional, Set, Tuple

from .desk import POINTS_FOLDER
from .deskline import DeskLine, Reporter
from .flag import StopFlag
from .notepad import Notepad

#: What a script exits with to say: I saved, start me again.
COME_BACK = 85
#: A snapshot is links and takes milliseconds; where it has to be a copy, tens of gigabytes may take minutes.
SAVE_LIMIT_S = 900.0
_ANSWER_LIMIT_S = 60.0

_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK_ID", "SLURM_PROCID", "LOCAL_RANK")
_SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "RANK_SIZE", "SLURM_NTASKS", "LOCAL_WORLD_SIZE")


class Link:
    """What one process of a script knows about its stint.

    A forked child of a process that has a link (a data-loader worker) may read the flag, and otherwise stays silent.
    """

    def __init__(self, environ: Mapping[str, str], version: str) -> None:
        self.run = environ["OUTLAST_RUN"]
        self.stint = _whole(environ.get("OUTLAST_STINT", ""))
        self.checkpoint = environ.get("OUTLAST_CHECKPOINT", "")
        self.restored = environ.get("OUTLAST_RESTORED", "")
        self.output = environ.get("OUTLAST_OUTPUT", "")
        self.progress = _object(environ.get("OUTLAST_PROGRESS", ""))
        self.params = _object(environ.get("OUTLAST_PARAMS", ""))
        self.deadline = environ.get("OUTLAST_DEADLINE", "")
        self.saving = threading.RLock()
        self.is_child = False
        self.loops = 0  # how many `epochs` loops were made so far
        self.loop = 0  # the one under way
        self.epoch: Optional[int] = None  # index of the epoch under way in that loop
        self.saved_epochs = 0  # epochs of that loop that the last save covers
        self._version = version
        self._rank = _first_number(environ, _RANKS, 0)
        self._rank_is_final = False  # torch has said it
        self._env_size = _first_number(environ, _SIZES, 1)
        self._said: Set[str] = set()
        self._terminated = False
        self._is_listening = False
        self._has_noticed = False
        self._flag = _open_flag(environ.get("OUTLAST_FLAG", ""))
        self._line = DeskLine(environ.get("OUTLAST_SOCKET", ""), self._hello)
        self._reporter = Reporter(self._line)
        folder = os.path.join(os.path.dirname(environ.get("OUTLAST_SOCKET", "")), POINTS_FOLDER)
        self.notepad = Notepad(folder, self.say)
        #: `notepad.write` in a process that records; None in any other. Valid while torch.distributed is not there.
        self.write = None if self._rank else self.notepad.write
        atexit.register(self._at_exit)
        os.register_at_fork(after_in_child=self._after_fork)

    # ---- who and when

    def rank(self) -> int:
        """This process's number among those that train together; 0 when it trains alone."""
        if not self._rank_is_final and "torch.distributed" in sys.modules:
            found = _from_torch("get_rank")
            if found is not None:
                self._rank, self._rank_is_final = found, True
        return self._rank

    def is_leader(self) -> bool:
        """The one process that saves and reports for all."""
        return not self.is_child and self.rank() == 0

    def has_peers(self) -> bool:
        found = _from_torch("get_world_size")
        return (self._env_size if found is None else found) > 1

    def time_left_s(self) -> Optional[float]:
        try:
            return max(0.0, float(self.deadline) - time.monotonic())
        except ValueError:
            return None

    # ---- the flag

    def is_asked(self) -> bool:
        """Whether somebody asked this script to leave. One look at mapped memory."""
        return self._terminated or (self._flag is not None and self._flag.is_raised())

    def listen(self) -> None:
        """Tell the runner that this script looks at the flag, and let SIGTERM count as the flag.

        A handler that the script installed is never replaced; ours only takes the place of dying at once.
        """
        if self._is_listening or self.is_child:
            return
        self._is_listening = True
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._on_terminate)
        self._line.send({"op": "listening"})

    def notice(self) -> None:
        """Tell the runner once that the script's own code knows it shall leave."""
        if not self._has_noticed and not self.is_child:
            self._has_noticed = True
            self._line.send({"op": "noticed"})

    # ---- the desk

    def pen(self) -> Optional[Callable[[float, int, Mapping[str, float]], None]]:
        """`write`, now that torch may have a say in who records."""
        return self.notepad.write if self.is_leader() else None

    def report(self, boundary: bool = False, **progress: Any) -> None:
        """Where the script is; `None` values are left out. At a boundary it is said at once: the runner plans by it."""
        known = {name: value for name, value in progress.items() if value is not None}
        if boundary:
            self._reporter.flush()
            self._line.send(dict(known, op="progress", boundary=True))
        else:
            self._reporter.report(known)

    def begin_saving(self) -> None:
        """Nothing in the checkpoint place counts from here until `commit`."""
        self._line.request({"op": "saving"}, SAVE_LIMIT_S)

    def commit(self, progress: Dict[str, Any], writing_s: float) -> Optional[int]:
        """Have the checkpoint place taken as it is now. Returns once its files may change again.

        None, and one sentence to the user, when it was not taken.
        """
        self._reporter.flush()
        message = {"op": "save", "progress": progress, "writing_s": round(writing_s, 6)}
        reply = self._line.request(message, SAVE_LIMIT_S)
        if reply is None:
            self.say("the checkpoint was written, but the runner does not answer: it is not committed yet")
            return None
        if not reply.get("ok"):
            self.say("the checkpoint was not taken: %s" % reply.get("message", "no reason given"))
            return None
        return int(reply.get("ticket") or 0) or True

    def may_leave(self, boundary: int) -> bool:
        """For every rank but 0: wait until rank 0 has left at this boundary (True) or gone on (False).

        This costs synchronous training nothing: the next collective call would wait for rank 0 as well.
        """
        reply = self._line.request({"op": "may_leave", "boundary": boundary}, SAVE_LIMIT_S)
        return reply is not None and reply.get("leave") is True

    def pass_boundary(self, boundary: int) -> None:
        """For rank 0: it goes on past this boundary."""
        self._line.send({"op": "passed", "boundary": boundary})

    def leave(self) -> NoReturn:
        """Say that everything is saved, and end this process with the exit code that means "start me again".

        Under torchrun the code is 0 once the runner has heard it: torchrun takes any other for a crash, ends the
        other ranks and fills the log with it.
        """
        is_heard = True
        if self.is_leader():
            self._reporter.flush()
            reply = self._line.request({"op": "ack"}, _ANSWER_LIMIT_S)
            is_heard = reply is not None and reply.get("ok") is True
        raise SystemExit(0 if is_heard and "TORCHELASTIC_RUN_ID" in os.environ else COME_BACK)

    def say(self, sentence: str, once: str = "") -> None:
        """One sentence for the user, once however often it applies (`once` names sentences that only vary)."""
        if (once or sentence) not in self._said:
            self._said.add(once or sentence)
            sys.stderr.write("outlast: %s\n" % sentence)
            sys.stderr.flush()

    def _hello(self) -> Dict[str, Any]:
        return {"rank": self.rank(), "version": self._version}

    def _on_terminate(self, signum: int, frame: object) -> None:
        self._terminated = True

    def _at_exit(self) -> None:
        if not self.is_child:
            self._reporter.flush()
            self._line.close()

    def _after_fork(self) -> None:
        self.is_child = True
        self.write = None
        self._line.forget()
        self._reporter.forget()
        # A worker that ignored SIGTERM could not be ended by its pool.
        if signal.getsignal(signal.SIGTERM) == self._on_terminate:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _open_flag(path: str) -> Optional[StopFlag]:
    try:
        return StopFlag.open(path)
    except (OSError, ValueError):
        return None


def _object(text: str) -> Dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _whole(text: str) -> Optional[int]:
    return int(text) if text.isdigit() else None


def _first_number(environ: Mapping[str, str], names: Tuple[str, ...], default: int) -> int:
    numbers = (_whole(environ.get(name, "")) for name in names)
    return next((number for number in numbers if number is not None), default)


def _from_torch(question: str) -> Optional[int]:
    """Ask torch.distributed if the script uses it; it alone knows ranks that were passed as arguments."""
    dist: Any = sys.modules.get("torch.distributed")
    try:
        return int(getattr(dist, question)()) if dist is not None and dist.is_initialized() else None
    except (AttributeError, RuntimeError, ValueError):
        return None
