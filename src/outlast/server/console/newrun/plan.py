"""What a run would be, before it starts: facts of its plan as a list."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from nicegui import ui

from outlast.model.parameters import shown_value
from outlast.model.quantities import format_duration, format_size
from outlast.server.console.formats import duration, percent
from outlast.server.console.parts import files, text, when
from outlast.server.console.words import say


def plan_facts(spec: Mapping[str, Any]) -> dict[str, str]:
    """The spec as a reader wants it; what is not said is left out."""
    need = spec["resources"]
    params = [f"--{name}={shown_value(name, str(value))}" for name, value in spec["params"].items()]
    limit_s, most = spec["limit_s"], spec["max_stints"]
    machine = [f"{need['cpus']} cpu", *(f"{need[kind]} {kind[:-1]}" for kind in ("gpus", "npus") if need[kind])]
    machine += [format_size(need["memory_bytes"])] if need["memory_bytes"] else []
    machine += [f"× {need['nodes']}"] if need.get("nodes", 1) > 1 else []
    facts = {
        say("Script"): shlex.join([spec["script"], *params, *spec["args"]]),
        say("Code"): f"{files(spec['code']['files'])}, {format_size(spec['code']['size_bytes'])}",
        say("Inputs"): ", ".join(f"{each['name']} → {each['path']}" for each in spec["inputs"]),
        say("Checkpoints"): spec["checkpoint"],
        say("Outputs"): ", ".join(filter(None, [spec["output"], *(each["target"] for each in spec["outputs"])])),
        say("Each stint"): format_duration(limit_s) if limit_s is not None else say("no limit"),
        say("Stints"): str(most) if most is not None else say("as many as it takes"),
        say("Until"): spec["until"] or say("the script ends"),
        say("Platforms"): " → ".join(spec["platforms"]),
        say("Machine"): ", ".join(machine),
        say("Network"): say("on") if spec["network"] else say("off"),
        say("Packages"): spec["requirements"] or "",
    }  # fmt: skip
    return {name: value for name, value in facts.items() if value}


def forecast_words(told: Mapping[str, Any]) -> str:
    """What a run will take, in the reader's language; what keeps it from ever ending is said as the plan says it."""
    if told["stints"] is None:
        return str(told["sentence"])
    stints = say("1 stint") if told["stints"] == 1 else say("{count} stints", count=told["stints"])
    lost = say("{part} lost", part=percent(told["lost_fraction"]))
    return " · ".join([stints, duration(told["total_s"]), say("done at {moment}", moment=when(told["done_at"])), lost])


def show_facts(facts: Mapping[str, str]) -> None:
    with ui.element("dl").classes("o-facts"):
        for name, value in facts.items():
            text(name, "", "dt")
            text(value, "", "dd")
