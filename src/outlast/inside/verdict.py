"""Why a stint ended: one reason, from what is known when the script is gone. Pure."""

from __future__ import annotations

import dataclasses
import signal
from typing import List, Optional

#: What a script exits with to say: I saved, start me again.
COME_BACK = 85

# Why the runner asked the script to leave.
DEADLINE = "deadline"
STOP = "stop"
PREEMPTED = "preempted"
UNTIL = "until"
MEMORY = "memory"
DISK = "disk"
NODE_LOST = "node-lost"
NODE_FAILED = "node-failed"

_OF_NODES = {NODE_LOST: "lost", NODE_FAILED: "script-error"}


@dataclasses.dataclass
class Facts:
    """What is known about a script that has ended."""

    exit_code: int
    asked: str = ""  # one of the constants above, or "" when nobody asked
    asked_why: str = ""
    acknowledged: bool = False  # the script said through the desk that it saved and leaves
    noticed: bool = False  # it was sent SIGTERM, or it read the raised flag
    committed: int = 0  # checkpoints of this stint
    place: str = ""  # where checkpoints were looked for
    pending: str = ""  # what kept the last change from being committed
    limit_s: Optional[float] = None
    elsewhere: str = ""  # how the script ended on another node, when it failed there too
    tail: List[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Verdict:
    """The end reason, and the sentence that goes with it."""

    reason: str
    message: str = ""
    cause: str = ""


def judge(facts: Facts) -> Verdict:
    """Map what happened to one end reason; the relay decides by it alone."""
    if facts.asked == UNTIL:
        return Verdict("finished", "the condition holds: %s" % facts.asked_why)
    if facts.asked == STOP:
        return Verdict("stopped", "stopped as asked")
    if facts.asked == DISK:
        return Verdict("setup-error", facts.asked_why, cause="place")
    if facts.asked == MEMORY:
        return Verdict("script-error", facts.asked_why)
    came_back = facts.exit_code == COME_BACK or facts.acknowledged
    # A script that ended well and did not know that it was asked has done its part without the other node.
    if facts.asked in _OF_NODES and (facts.exit_code != 0 or came_back or facts.noticed):
        return Verdict(_OF_NODES[facts.asked], facts.asked_why)
    if facts.asked == PREEMPTED and (facts.exit_code != 0 or came_back or facts.noticed):
        return Verdict("preempted", facts.asked_why or "the machine was taken away")
    if came_back:
        return _left(facts, "the script said it had saved")
    if facts.exit_code == 0:
        # A script that saw the request and ended with 0 may have finished or may have obeyed. Going on costs one
        # short stint when it had finished; believing it costs the rest of the training when it had not.
        if facts.asked == DEADLINE and facts.noticed:
            return _left(facts, "the script ended when asked")
        return Verdict("finished")
    if facts.asked == DEADLINE:
        return _left(facts, "the limit was reached")
    elsewhere = ", and %s" % facts.elsewhere if facts.elsewhere else ""
    return Verdict("script-error", "the script ended with %s%s" % (describe_exit(facts.exit_code), elsewhere))


def describe_exit(exit_code: int) -> str:
    """`exit code 1`, `signal 9 (SIGKILL)`."""
    if exit_code >= 0:
        return "exit code %d" % exit_code
    try:
        return "signal %d (%s)" % (-exit_code, signal.Signals(-exit_code).name)
    except ValueError:
        return "signal %d" % -exit_code


def _left(facts: Facts, how: str) -> Verdict:
    if facts.committed:
        return Verdict("hand-over")
    limit = "" if facts.limit_s is None else " of %g s" % facts.limit_s
    message = "%s, but no checkpoint appeared in %s within the limit%s" % (how, facts.place, limit)
    if facts.pending:
        message += " (%s)" % facts.pending
    return Verdict("time-limit", message)
