"""`python -m outlast.inside.contracts.openpai PLAN`: run a job and end with its code."""

from __future__ import annotations

import json
import os
import sys
from typing import List

from ...errors import InsideError
from .runner import JobRunner, Plan

#: A failure of ours, told apart from those of the job.
_CANNOT = 255


def main(arguments: List[str]) -> int:
    with open(arguments[0], encoding="utf-8") as file:
        plan = Plan.from_json(json.load(file))
    try:
        return JobRunner(plan, os.environ).run()
    except InsideError as error:
        sys.stderr.write("[outlast] the job cannot go on: %s\n" % error)
        return _CANNOT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
