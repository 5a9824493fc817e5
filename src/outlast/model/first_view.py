"""A run as its spec alone shows it, before anybody has looked at its folder.

Apart from the other views, which need the relay: the time from `outlast run` to the script's first line counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outlast.model.parameters import run_parameters
from outlast.model.states import RunState
from outlast.model.view import RunView


def first_view(spec: Mapping[str, Any]) -> RunView:
    """A run that nobody has looked at yet."""
    return RunView(
        id=spec["id"], name=spec["name"], state=RunState.QUEUED, platform=first_platform(spec), user=spec["user"],
        created_at=spec["created_at"], updated_at=spec["created_at"], store=spec["store"], message="starts",
        sweep=spec.get("sweep") or "", of=spec.get("of") or "", params=run_parameters(spec),
        assets=_assets(spec),
    )  # fmt: skip


def first_platform(spec: Mapping[str, Any]) -> str:
    """Where the first stint is meant to go."""
    return str((spec.get("platforms") or ("local",))[0])


def _assets(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """What a run uses of the hub; one that is used twice is named once."""
    used = [spec.get("code") or {}, *(spec.get("inputs") or ())]
    return tuple(dict.fromkeys(each["asset"] for each in used if each.get("asset")))
