"""The one table of verbs. `outlast --help` prints it without importing anything else.

A verb's first help line is its sentence here, so the two can never disagree.
"""

from __future__ import annotations

#: name → (module, one sentence, group); the order is the order of the help.
VERBS: dict[str, tuple[str, str, str]] = {
    "run": ("outlast.cli.run", "Train a script through as many stints as it takes", "Train"),
    "probe": ("outlast.cli.probe", "Measure one short stint and forecast the whole training", "Train"),
    "rehearse": ("outlast.cli.rehearse", "Check that an interrupted training equals a straight one", "Train"),
    "init": ("outlast.cli.init", "Write a commented outlast.toml for a training folder", "Train"),
    "ps": ("outlast.cli.ps", "List runs", "Look"),
    "show": ("outlast.cli.show", "Show everything about one run", "Look"),
    "logs": ("outlast.cli.logs", "Print what the script wrote", "Look"),
    "stop": ("outlast.cli.stop", "Ask a run to save and stop", "Steer"),
    "resume": ("outlast.cli.resume", "Continue a stopped or failed run from its last checkpoint", "Steer"),
    "fetch": ("outlast.cli.fetch", "Bring results, checkpoints or logs home", "Steer"),
    "rm": ("outlast.cli.rm", "Remove a finished run and its record", "Steer"),
    "config": ("outlast.cli.config", "Show or change settings", "Keep house"),
    "doctor": ("outlast.cli.doctor", "Tell what this machine has and what is missing", "Keep house"),
    "reindex": ("outlast.cli.reindex", "Rebuild the list of runs from the store", "Keep house"),
    "gc": ("outlast.cli.gc", "Free space: old checkpoints and unused files", "Keep house"),
}

#: options of `outlast` itself → one sentence
GLOBAL_OPTIONS: dict[str, str] = {
    "--help, -h": "Show this page; with a command, that command's page",
    "--version, -V": "Show the version",
    "--debug": "Show tracebacks (also: OUTLAST_DEBUG=1)",
    "--install-completion": "Set up completion for the current shell",
    "--show-completion [SHELL]": "Print the completion script for bash, zsh or fish",
}

TAGLINE = "Train your script on any machine you can borrow, for as long as it takes"
FIRST_STEPS = "Start with: outlast run train.py --limit 1h"
