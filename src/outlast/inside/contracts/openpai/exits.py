"""What an exit code means to OpenPAI, and whether the job is tried again because of it. Pure."""

from __future__ import annotations

import re
from typing import Dict, List, NamedTuple, Tuple

from .job import K8S

NEVER = "never"
TO_MAX = "to max"  # as often as the job allows
ALWAYS = "always"  # not the job's doing: not counted
BACK_OFF = "back off"  # as ALWAYS, after a pause that grows


class Exit(NamedTuple):
    """One entry of the cluster's table of exits."""

    code: int
    meaning: str
    reaction: str


def _table(*rows: Tuple[str, str, str]) -> Dict[int, Exit]:
    """Entries by code from rows of `codes, meaning, reaction`; codes are separated by spaces, `a..b` is a range."""
    found: Dict[int, Exit] = {}
    for codes, meaning, reaction in rows:
        for text in codes.split():
            first, _, last = text.partition("..")
            for code in range(int(first), int(last or first) + 1):
                found[code] = Exit(code, meaning, reaction)
    return found


_YARN = _table(
    ("0", "succeeded", NEVER),
    ("130 137 143", "ended by a signal of the platform", ALWAYS),
    ("154", "the container was ended from outside", ALWAYS),
    ("193", "the container could not be started", ALWAYS),
    ("132 135 136 139 141", "ended by a signal that its own code caused", NEVER),
    ("196", "killed, presumably for want of memory", NEVER),
    ("198", "killed because it filled the disk", NEVER),
    ("134", "aborted", TO_MAX),
    ("255", "the user's command failed", TO_MAX),
    ("256", "undefined positive code", TO_MAX),
    ("-8000 -7302", "undefined negative code", TO_MAX),
    ("-7154..-7100", "the container or its node failed", ALWAYS),
    ("-7113 -7112", "no resources in time", BACK_OFF),
    ("-7120", "preempted", ALWAYS),
    ("-7152 -7122 -7121", "the container broke a limit", NEVER),
    ("-7252", "not all instances got resources in time", BACK_OFF),
    ("-7251 -7200", "the job's configuration is wrong", NEVER),
    ("-7300", "the job's configuration is wrong", NEVER),
    ("-7351", "stopped by the user", NEVER),
    ("-7400", "stopped because the job had ended", NEVER),
)

_K8S = _table(
    ("0", "succeeded", NEVER),
    ("128", "perhaps a memory fault of a GPU", TO_MAX),
    ("130 131 137 143", "ended by a signal of the platform", ALWAYS),
    ("132 135 136 141", "ended by a signal that its own code caused", NEVER),
    ("134 139", "aborted, or a wrong memory access", TO_MAX),
    ("220", "a command was not found", NEVER),
    ("221..222 224..226 228..231 234..235", "an error of the user's code that the log shows", NEVER),
    ("223", "an uncorrectable memory fault of a GPU", ALWAYS),
    ("232", "a module could not be imported", NEVER),
    ("233", "an index was out of range", NEVER),
    ("249 252", "the instances did not find each other", NEVER),
    ("250", "the instances did not find each other in time", ALWAYS),
    ("251", "not all instances got resources in time", BACK_OFF),
    ("253", "a port was taken", ALWAYS),
    ("254", "the image is missing", NEVER),
    ("255", "the user's command failed", TO_MAX),
    ("256", "undefined positive code", TO_MAX),
    ("-120..-100", "the container was removed", ALWAYS),
    ("-200", "the job's configuration is wrong", NEVER),
    ("-210", "stopped by the user", NEVER),
    ("-220", "stopped because the job had ended", NEVER),
    ("-310 -300 -8000", "undefined negative code", TO_MAX),
    ("-1006 -1003..-1000", "the node was lost or needed for something else", ALWAYS),
    ("-1005 -1004", "forbidden, or over its deadline", NEVER),
    ("-1203..-1202 -1200", "killed for want of memory, or could not be started", NEVER),
    ("-1204 -1201", "the container failed", TO_MAX),
    ("-1300 -1205", "the container runtime failed", ALWAYS),
)

# First match wins, as in the cluster's own list.
_LOG_RULES = (
    (223, re.compile(r"uncorrectable ECC error", re.IGNORECASE)),
    (232, re.compile(r"^(?:ImportError|ModuleNotFoundError):", re.MULTILINE)),
    (233, re.compile(r"^IndexError:", re.MULTILINE)),
)
_COMMAND_NOT_FOUND = re.compile(r"command not found")


def explain(generation: str, code: int) -> Exit:
    """The entry of a reported code; codes that are not listed share one, as on the cluster."""
    table = _K8S if generation == K8S else _YARN
    shared = table[256 if code > 0 else -8000]
    return table.get(code) or shared._replace(code=code)


def reported(generation: str, code: int, log: str) -> int:
    """The code that the cluster reports for a command that ended with `code` (negative: by a signal).

    On YARN every ordinary failure is 255. On Kubernetes the end of the log decides first.
    """
    code = 128 - code if code < 0 else code
    if code == 0:
        return 0
    if generation != K8S:
        known = {125: 193, 137: 196, 143: 196}
        return known.get(code, code if code in _YARN and code < 192 else 255)
    if code == 127 and _COMMAND_NOT_FOUND.search(log):
        return 220
    if code in _K8S and code not in range(220, 256):
        return code
    return next((each for each, pattern in _LOG_RULES if pattern.search(log)), 255)


def error_block(generation: str, code: int, original: int, log_lines: List[str]) -> str:
    """What the runtime leaves at the end of a failed instance's log: YAML between two marks, at most 4096 bytes."""
    k8s = generation == K8S
    head = [
        "[PAI_RUNTIME_ERROR_START]",
        "%s: %d" % ("exitCode" if k8s else "exitcode", code),
        "trigger: userCommand",
        'reason: "%s"' % explain(generation, code).meaning,
        "%s: %d" % ("originUserExitCode" if k8s else "originalUserExitCode", original),
        "errorLogs:",
        "  user: |",
    ]
    lines = ["    " + line for line in log_lines[-15:]] or ["    "]
    tail = ["[PAI_RUNTIME_ERROR_END]", ""]
    while len("\n".join(head + lines + tail).encode("utf-8", "replace")) > 4096:
        lines = lines[1:] if len(lines) > 1 else [lines[0][:400]]
    return "\n".join(head + lines + tail)
