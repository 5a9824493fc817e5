"""Runs that exist without having been submitted: a spec in a store and a marker in the inbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from outlast.inside import layout
from outlast.inside.records import Control, now_text, to_bytes
from outlast.inside.stores.base import Store
from outlast.keeper.home import Home
from outlast.keeper.inbox import drop_marker
from outlast.model.ids import new_run_id
from outlast.model.spec import CodePack, RunSpec
from outlast.settings import Settings


def fake_settings(home: Path, **environ: str) -> Settings:
    """Settings of a home as a test wants it: no waiting between stints, and nothing of the real environment."""
    base = {"OUTLAST_USER": "tester", "OUTLAST_BACKOFF_S": "0"}
    return Settings.load({**base, **environ}, home=home)


def write_run(store: Store, settings: Settings, *, marker: bool = True, **fields: Any) -> RunSpec:
    """Write a run's spec and control, and, unless told otherwise, its marker; `fields` are those of `RunSpec`."""
    home = Home(settings.home)
    words: dict[str, Any] = {
        "id": new_run_id(), "name": "train", "user": settings.user, "created_at": now_text(), "script": "train.py",
        "code": CodePack(sha256="0" * 64, size_bytes=0, files=1), "python": "python3", "checkpoint": "ckpt",
        "output": "out", "limit_s": 60.0, "platforms": ("fake",), "store": settings.store,
    }  # fmt: skip
    spec = RunSpec(**{**words, **fields})
    store.put(layout.control_key(spec.id), Control(at=now_text(), by=home.id).to_bytes())
    store.put(layout.spec_key(spec.id), to_bytes(spec.to_json()))
    if marker:
        drop_marker(home, spec.id, spec.store)
    return spec
