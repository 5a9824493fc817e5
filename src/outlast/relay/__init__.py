"""What to do next about a run, from what was observed: a pure function, without I/O, clock or threads.

`decide` is idempotent: the same look gives the same answer, and carrying out an answer twice does no harm. At most
one stint of a run is open at any time, because an order is only asked for when every earlier stint has its end.
"""

from __future__ import annotations

from outlast.relay.choose import FIRST_CHOICE, WAITS, Choice, PlaceSeen, choose, elsewhere
from outlast.relay.decide import decide, next_checkpoint, run_state, stint_state
from outlast.relay.fixes import suggest_fix
from outlast.relay.seen import (
    Action,
    Cancel,
    Decision,
    EndSeen,
    Job,
    Policy,
    RunSeen,
    StintSeen,
    Submit,
    Wait,
    WriteEnd,
    WriteOrder,
)

__all__ = [
    "FIRST_CHOICE", "WAITS", "Action", "Cancel", "Choice", "Decision", "EndSeen", "Job", "PlaceSeen", "Policy",
    "RunSeen", "StintSeen", "Submit", "Wait", "WriteEnd", "WriteOrder", "choose", "decide", "elsewhere",
    "next_checkpoint", "run_state", "stint_state", "suggest_fix",
]  # fmt: skip
