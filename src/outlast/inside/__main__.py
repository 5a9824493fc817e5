"""`python outlast-inside.zip place.json`: run one stint."""

from __future__ import annotations

import sys
from typing import List, Optional

from .place import Place
from .runner import run_place


def main(argv: Optional[List[str]] = None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    if len(arguments) != 1:
        sys.stderr.write("usage: python outlast-inside.zip PLACE.json\n")
        return 2
    return run_place(Place.read(arguments[0]))


if __name__ == "__main__":
    sys.exit(main())
