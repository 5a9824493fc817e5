"""`python -m bench [NAME…]`: measure, print a table, write bench/results.json."""

from __future__ import annotations

import sys

from bench import adapting, first_page, hub, migrating, mover, reading, serving, tracking, webhdfs
from bench.common import keep, kept
from bench.measures import MEASURES as STINTS

MEASURES = STINTS | {
    "mover": mover.measure,
    "reading": reading.measure,
    "tracking": tracking.measure,
    "migrate": migrating.measure,
    "adapt": adapting.measure,
    "serving": lambda: serving.measure() + first_page.measure(),
    "webhdfs": webhdfs.measure,
    "hub": hub.measure,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        print(f"unknown measurement {unknown[0]!r}; there are: {', '.join(MEASURES)}")
        return 2
    found = kept() if names else {}
    for name in names or MEASURES:
        print(f"measuring {name} …", flush=True)
        results = MEASURES[name]()
        found[name] = [result.to_json() for result in results]
        for result in results:
            peers = ", ".join(f"{peer} {value:.4g}" for peer, value in result.peers.items())
            mark = "met   " if result.met else "MISSED"
            print(f"  {mark} {result.name}: {result.value:.4g} {result.unit} (target: {result.target}; {peers})")
    keep(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
