"""Runs the command line in its own process against a simulated client: drive.py SPEED KIND ARGUMENTS…"""

from __future__ import annotations

import sys

import simulated

from outlast.cli.entry import main

if __name__ == "__main__":
    speed, kind, *arguments = sys.argv[1:]
    client = simulated.Client(speed=float(speed), **({kind: True} if kind != "-" else {}))
    simulated.install(client)
    code = main(arguments)
    print("calls:", ",".join(client.runs.calls), file=sys.stderr)
    sys.exit(code)
