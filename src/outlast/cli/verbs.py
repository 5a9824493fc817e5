"""The one table of verbs. `outlast --help` prints it without importing anything else.

A verb's first help line is its sentence here, so the two can never disagree.
"""

from __future__ import annotations

#: name → (module, one sentence, group); the order is the order of the help.
VERBS: dict[str, tuple[str, str, str]] = {
    "run": ("outlast.cli.run", "Train a script through as many stints as it takes", "Train"),
    "probe": ("outlast.cli.probe", "Measure one short stint and forecast the whole training", "Train"),
    "rehearse": ("outlast.cli.rehearse", "Check that an interrupted training equals a straight one", "Train"),
    "sweep": ("outlast.cli.sweep", "Train over a grid of parameters", "Train"),
    "explain": ("outlast.cli.explain", "Show what a script will see, before anything starts", "Train"),
    "init": ("outlast.cli.init", "Write a commented outlast.toml for a training folder", "Train"),
    "import": ("outlast.cli.import_", "Write an outlast.toml from a job file of another system", "Train"),
    "environments": ("outlast.cli.environments", "List, add and remove named environments", "Train"),
    "adapt": ("outlast.cli.adapt", "Fit a script to the arguments and folders of a platform", "Train"),
    "migrate": ("outlast.cli.migrate", "Rewrite scripts for another device: CUDA, Ascend NPU, or any", "Train"),
    "ps": ("outlast.cli.ps", "List runs", "Look"),
    "show": ("outlast.cli.show", "Show everything about one run", "Look"),
    "logs": ("outlast.cli.logs", "Print what the script wrote", "Look"),
    "chart": ("outlast.cli.chart", "Draw the curves of runs", "Look"),
    "compare": ("outlast.cli.compare", "Compare runs: parameters, metrics, time, code", "Look"),
    "evaluate": ("outlast.cli.evaluate", "Judge runs by their curves, or by a script of yours", "Look"),
    "export": ("outlast.cli.export", "Write the metrics of runs for other programs", "Look"),
    "report": ("outlast.cli.report", "Write everything about a run as one page", "Look"),
    "aim": ("outlast.cli.aim", "Open the Aim repository of a run", "Look"),
    "platforms": ("outlast.cli.platforms", "Show where runs can go, and how each platform is", "Look"),
    "stop": ("outlast.cli.stop", "Ask a run to save and stop", "Steer"),
    "resume": ("outlast.cli.resume", "Continue a stopped or failed run from its last checkpoint", "Steer"),
    "fetch": ("outlast.cli.fetch", "Bring results, checkpoints or logs home", "Steer"),
    "rm": ("outlast.cli.rm", "Remove a finished run and its record, or files in a store", "Steer"),
    "cp": ("outlast.cli.cp", "Copy files and folders between any two places", "Move"),
    "sync": ("outlast.cli.sync", "Bring a folder up to date with another one", "Move"),
    "ls": ("outlast.cli.ls", "List what lies at a place", "Move"),
    "du": ("outlast.cli.du", "Measure how much lies at a place", "Move"),
    "cat": ("outlast.cli.cat", "Write a file to standard output", "Move"),
    "mb": ("outlast.cli.mb", "Make a bucket or a folder", "Move"),
    "data": ("outlast.cli.data", "Pack, compare and shrink data sets", "Move"),
    "login": ("outlast.cli.login", "Check the keys of a store or a platform and keep them", "Stores"),
    "logout": ("outlast.cli.logout", "Forget the keys of a store or a platform", "Stores"),
    "whoami": ("outlast.cli.whoami", "Show every access that is known here", "Stores"),
    "store": ("outlast.cli.store", "Prepare, publish and share places in a store", "Stores"),
    "serve": ("outlast.cli.serve", "Serve this home to a group: console, REST API, accounts", "Serve"),
    "user": ("outlast.cli.user", "List, add, change and remove the server's users", "Serve"),
    "token": ("outlast.cli.token", "Make, list and revoke tokens for programs", "Serve"),
    "notify": ("outlast.cli.notify", "Be told when runs finish, fail or need you", "Serve"),
    "group": ("outlast.cli.group", "Put users into groups with quotas", "Serve"),
    "queue": ("outlast.cli.queue", "Share the machines among groups", "Serve"),
    "repo": ("outlast.cli.repo", "Make, list, rename, fork and remove repositories of the hub", "Serve"),
    "publish": ("outlast.cli.publish", "Make the outputs of a run a model repository", "Serve"),
    "config": ("outlast.cli.config", "Show or change settings", "Keep house"),
    "doctor": ("outlast.cli.doctor", "Tell what this machine has and what is missing", "Keep house"),
    "reindex": ("outlast.cli.reindex", "Rebuild the list of runs from the store", "Keep house"),
    "gc": ("outlast.cli.gc", "Free space: old checkpoints and unused files", "Keep house"),
}

#: options of `outlast` itself → one sentence
GLOBAL_OPTIONS: dict[str, str] = {
    "--help, -h": "Show this page; with a command, that command's page",
    "--version, -V": "Show the version",
    "--server URL": "Work with a server (also: OUTLAST_SERVER)",
    "--debug": "Show tracebacks (also: OUTLAST_DEBUG=1)",
    "--install-completion": "Set up completion for the current shell",
    "--show-completion [SHELL]": "Print the completion script for bash, zsh or fish",
}

TAGLINE = "Train your script on any machine you can borrow, for as long as it takes"
FIRST_STEPS = "Start with: outlast run train.py --limit 1h"
