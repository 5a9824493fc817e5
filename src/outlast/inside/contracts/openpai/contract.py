"""From a run's specification to the command that runs its job. Pure, so that it can be shown before it is done."""

from __future__ import annotations

import json
import os
import posixpath
from typing import Any, Mapping

from ...namenodes import led_here, needed
from ..base import Facts, Rendered, Spec
from .containers import Mounts
from .job import Job
from .runner import Plan

#: Where the code lies untouched, seen from the stint's code folder: every instance gets a copy of its own.
CODE = "../.pai-code"

# Not `-m`, which would look for modules in the working folder first: the job's own `socket.py` must not become ours.
_START = (
    "import sys; del sys.path[0]; from outlast.inside.contracts.openpai.__main__ import main; "
    "sys.exit(main(sys.argv[1:]))"
)


def render(spec: Spec, facts: Facts) -> Rendered:
    """The role runner, and the plan that it reads."""
    scratch = os.path.join(facts.work, "desk", "job")
    path = os.path.join(scratch, "plan.json")
    plan = json.dumps(plan_for(spec, facts, scratch).to_json(), indent=1, sort_keys=True)
    argv = [facts.python, "-c", _START, path]
    network = bool(spec.get("network", True))
    return Rendered(argv, {}, facts.code_dir, [scratch], {path: plan}, [], [], [], network)


def code_folder(spec: Mapping[str, Any], code_dir: str) -> str:
    """Where the code pack is unpacked: aside, unless the job brings its code as an input."""
    is_input = any(given["path"] == CODE for given in spec.get("inputs", ()))
    return code_dir if is_input else os.path.normpath(os.path.join(code_dir, CODE))


def plan_for(spec: Spec, facts: Facts, scratch: str) -> Plan:
    """What the role runner is told."""
    inputs = [posixpath.normpath(given["path"]) for given in spec.get("inputs", ()) if _is_shown(given)]
    keep = [spec["checkpoint"], spec.get("output"), *inputs]
    secrets = sorted(spec.get("secrets", ()))
    tree, desk = (os.path.join(facts.work, name) for name in ("tree", "desk"))
    return Plan(
        job=Job.from_json(spec["job"]),
        root=facts.code_dir,
        scratch=scratch,
        python=facts.python,
        keep=[path for path in keep if path],
        inputs=inputs,
        passed=sorted({*spec.get("env", {}), *secrets}),
        masked=secrets,
        mounts=Mounts([tree, desk], [facts.bundle]),
        hosts=led_here(needed(spec)),
        label="outlast-%s-%04d" % (facts.run, facts.stint),
    )


def _is_shown(given: Mapping[str, Any]) -> bool:
    """Whether an input has a place in the working folder."""
    path = str(given["path"])
    return not posixpath.isabs(path) and path != CODE
