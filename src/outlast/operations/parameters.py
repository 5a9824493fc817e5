"""What a run was asked to do beside its parameters, and the command that would ask for it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from outlast.model.parameters import MASK, is_secret_name, shown_value
from outlast.model.quantities import format_duration, format_size
from outlast.model.spec import DEFAULT_CHECKPOINT

_SPEC_WORDS = ("script", "until", "requirements", "contract")


def run_conditions(spec: Mapping[str, Any]) -> dict[str, str]:
    """What else decides a training: the script, its data, its environment, its machine."""
    found = {name: str(spec[name]) for name in _SPEC_WORDS if spec.get(name) is not None}
    found |= {"limit": format_duration(spec["limit_s"])} if spec.get("limit_s") else {}
    found |= {f"data {one['name']}": str(one["source"]) for one in spec.get("inputs") or ()}
    found |= {f"env {name}": shown_value(name, str(value)) for name, value in (spec.get("env") or {}).items()}
    resources = spec.get("resources") or {}
    found |= {"memory": format_size(resources["memory_bytes"])} if resources.get("memory_bytes") else {}
    found |= {name: str(resources[name]) for name in ("cpus", "gpus", "npus") if resources.get(name)}
    found |= {"nodes": str(resources["nodes"])} if resources.get("nodes", 1) > 1 else {}
    return found


def reproduce_command(spec: Mapping[str, Any]) -> str:
    """The `outlast run` that asks for the same training, from the folder of its code; secrets are masked."""
    words = ["outlast", "run", str(spec.get("script", "train.py"))]
    words += [f"--param={name}={shown_value(name, str(value))}" for name, value in (spec.get("params") or {}).items()]
    words += [f"--data={one['name']}={one['source']}" for one in spec.get("inputs") or ()]
    if spec.get("checkpoint") not in (None, DEFAULT_CHECKPOINT):
        words.append(f"--checkpoint={spec['checkpoint']}")
    if spec.get("contract") not in (None, "plain", "openpai"):  # a job file is its own contract
        words.append(f"--contract={spec['contract']}")
    if spec.get("environment"):
        words.append(f"--environment={spec['environment']['name']}")
    for name in ("output", "until", "requirements"):
        if spec.get(name):
            words.append(f"--{name}={spec[name]}")
    if spec.get("limit_s"):
        words.append(f"--limit={spec['limit_s']:g}s")
    words += [f"--env={name}={shown_value(name, str(value))}" for name, value in (spec.get("env") or {}).items()]
    words += [f"--secret={name}" for name in spec.get("secrets") or ()]
    words += [f"--{name}={count}" for name, count in _machine(spec.get("resources") or {})]
    arguments = masked_arguments([str(word) for word in spec.get("args") or ()])
    return " ".join(shlex.quote(word) for word in [*words, *(["--", *arguments] if arguments else [])])


def masked_arguments(words: Sequence[str]) -> list[str]:
    """The script's arguments with the values of secret options masked."""
    masked: list[str] = []
    for word in words:
        name, equals, _ = word.partition("=")
        before = masked[-1] if masked else ""
        if equals and is_secret_name(name):
            masked.append(f"{name}={MASK}")
        elif before.startswith("-") and "=" not in before and not word.startswith("-"):
            masked.append(shown_value(before, word))
        else:
            masked.append(word)
    return masked


def _machine(resources: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    if (resources.get("cpus") or 1) > 1:
        yield "cpus", resources["cpus"]
    if resources.get("memory_bytes"):
        yield "memory", resources["memory_bytes"]
    for name in ("gpus", "npus"):
        if resources.get(name):
            yield name, resources[name]
    if resources.get("nodes", 1) > 1:
        yield "nodes", resources["nodes"]
