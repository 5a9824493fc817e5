"""`python -m bench [NAME…]`: measure, print a table, write bench/results.json."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from pathlib import Path

from bench import hub, migrating, mover, reading, serving, tracking, webhdfs
from bench.measures import MEASURES as STINTS

MEASURES = STINTS | {
    "mover": mover.measure,
    "reading": reading.measure,
    "tracking": tracking.measure,
    "migrate": migrating.measure,
    "serving": serving.measure,
    "webhdfs": webhdfs.measure,
    "hub": hub.measure,
}
RESULTS = Path(__file__).parent / "results.json"


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        print(f"unknown measurement {unknown[0]!r}; there are: {', '.join(MEASURES)}")
        return 2
    found = json.loads(RESULTS.read_text())["results"] if names and RESULTS.exists() else {}
    for name in names or MEASURES:
        print(f"measuring {name} …", flush=True)
        results = MEASURES[name]()
        found[name] = [result.to_json() for result in results]
        for result in results:
            peers = ", ".join(f"{peer} {value:.4g}" for peer, value in result.peers.items())
            mark = "met   " if result.met else "MISSED"
            print(f"  {mark} {result.name}: {result.value:.4g} {result.unit} (target: {result.target}; {peers})")
    machine = {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count()}
    body = {"command": "make bench", "at": time.strftime("%Y-%m-%d"), "machine": machine, "results": found}
    RESULTS.write_text(json.dumps(body, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
