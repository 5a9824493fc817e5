"""`outlast doctor`: what this machine has."""

from __future__ import annotations

import dataclasses

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.cli.paint import Ink, wrap
from outlast.cli.waiting import Waiting
from outlast.cli.words import pad

app = new_app()


@verb(
    app,
    "doctor",
    about="Looks at Python, the home folder, the disk, the sandbox, container engines, package tools and accelerators, "
    "and says how to get what is missing. It changes nothing.",
    examples=[
        ("outlast doctor", "before the first run on a new machine"),
        ("outlast doctor --json", "for programs"),
    ],
    exits={0: "everything needed is here", 1: "something needed is missing"},
)
def doctor(as_json: AsJson = False) -> int:
    with Waiting("looking around"):
        findings = open_client().doctor()
    if as_json:
        print_json([dataclasses.asdict(finding) for finding in findings])
    else:
        ink = Ink()
        marks = {True: ink("green", "ok  "), False: ink("red", "no  "), None: ink("yellow", "-   ")}
        width = max((len(finding.name) for finding in findings), default=0) + 2
        for finding in findings:
            print(f"{marks[finding.ok]}{pad(finding.name, width)}{finding.value}".rstrip())
            for line in wrap(finding.advice, width + 4) if finding.advice else ():
                print(" " * (width + 4) + ink("dim", line))
    return 1 if any(finding.ok is False for finding in findings) else 0
