"""Xihe: every input, output and hyper-parameter is an option named by its key, and then there is no network."""

from __future__ import annotations

import os

from .base import Facts, Rendered, Spec, kept, options, start_of
from .modelarts import CACHE, job_id, place_of, variables
from .ranktable import rank_table

#: The outputs a training instance can have; the second only when custom evaluation was asked for.
OUTPUT, AIM = "output_path", "aim_repo"


def render(spec: Spec, facts: Facts) -> Rendered:
    passed = {each["name"]: place_of(facts, each["path"]) for each in spec.get("inputs", ())}
    passed.update(spec.get("params", {}))
    passed.update((each["name"], place_of(facts, each["path"])) for each in spec.get("outputs", ()))
    aim = spec.get("aim")
    passed.update({AIM: place_of(facts, aim)} if aim else {})
    argv = [*start_of(spec["script"], facts.python), *kept(options(passed), spec), *spec.get("args", ())]
    cache, log = (os.path.join(facts.work, name) for name in ("cache", "log"))
    folders = [cache, log, *(os.path.join(facts.code_dir, each["path"]) for each in spec.get("outputs", ()))]
    folders += [os.path.join(facts.code_dir, aim)] if aim else []
    notices = []
    if not facts.sandboxed:
        notices.append("on Xihe a script has no network; without a sandbox nothing keeps it from using this machine's")
    # Xihe drives ModelArts: its variables are there too.
    env = variables(spec, facts, cache, log)
    files, more = rank_table(facts, job_id(facts.run))
    env.update(more)
    binds = [(cache, CACHE)] if facts.sandboxed else []
    return Rendered(argv, env, facts.code_dir, folders, files, binds, [], notices, network=False)
