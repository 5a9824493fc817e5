"""How code says "the accelerator, whichever it is": the words that `--to any` writes (torch 2.6 and later)."""

from __future__ import annotations

from outlast.migrate.engine import Script

ADVICE = "no form that fits every device: guard it with `if torch.cuda.is_available():`, or write a branch per device"
#: The one name that migrated files gain; `rules/accelerator_name.py` defines it behind the imports.
ACCELERATOR = "ACCELERATOR"


def torch_name(script: Script) -> str:
    """What torch is called where the walk stands; empty where it is not imported."""
    return script.names.name_for("torch", script.scopes)


def device_expression(script: Script) -> str:
    """The device to move to: the accelerator, or the processor where there is none; empty without torch."""
    return ACCELERATOR if script.names.name_for("torch", [script.module]) else ""


def type_expression(script: Script) -> str:
    """The word for a device string, as an expression of type `str`; empty without torch."""
    return f"{ACCELERATOR}.type" if device_expression(script) else ""
