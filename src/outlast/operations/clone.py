"""A run again: the same code, data and words as a new run, from the beginning or from a checkpoint of the old one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from outlast.errors import NotFoundError, SpecError, UsageError
from outlast.inside import layout
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.errors import NotFound
from outlast.inside.records import Manifest, now_text
from outlast.keeper.home import Home
from outlast.keeper.inbox import drop_marker
from outlast.keeper.secrets import SecretsFile
from outlast.keeper.wake import ensure_keeper
from outlast.model.spec import NAME_PATTERN, RunSpec
from outlast.operations.faults import spoken
from outlast.operations.locate import Located, locate
from outlast.operations.said import pairs
from outlast.operations.served import served
from outlast.operations.submit import refuse_second_of_name, write_spec
from outlast.platforms.registry import create
from outlast.settings import Settings

#: The newest checkpoint, whichever it is.
LAST = "last"
#: Where the checkpoint of the old run lies in the new one: before everything that its own stints commit.
_INHERITED = (0, 1)


@served("runs")
def clone_run(
    settings: Settings, ref: str, *, checkpoint: str | None = None, name: str | None = None, params: Sequence[str] = ()
) -> RunSpec:
    """Start a run like `ref` and return its spec; with `checkpoint` (an id, or `last`) it goes on from there.

    `params` replace parameters of the same name. The bytes of the checkpoint are shared, not copied: removing either
    run leaves the other whole.
    """
    found = locate(settings, ref)
    with spoken(f"run {found.run}"):
        old = RunSpec.from_json(found.folder().spec)
        if found.store.head(layout.blob_key(old.code.sha256)) is None:
            raise NotFoundError(f"the code of run {found.run} is gone", hint="submit its folder again: outlast run")
        inherited = None if checkpoint is None else _manifest(found, checkpoint)
    home = Home(settings.home)
    if name is not None:
        if not NAME_PATTERN.fullmatch(name):
            raise SpecError(f"{name!r} is not a name; use letters, digits, '.', '_' and '-', at most 63")
        refuse_second_of_name(settings, name, settings.user)
    changed = {key: value or "" for key, value in pairs(params, "--param", "lr=0.1").items()}
    secrets_file = SecretsFile(home)
    secrets = secrets_file.of_run(found.run)

    def make(run: str) -> RunSpec:
        return dataclasses.replace(
            old, id=run, created_at=now_text(), name=name or old.name, user=settings.user, sweep=None,
            params={**old.params, **changed},
        )  # fmt: skip

    def prepare(run: str) -> None:
        """What must lie there before the run can be seen."""
        secrets_file.save_run(run, secrets)
        if inherited is not None:
            Checkpoints(found.store, run).commit(dataclasses.replace(inherited, run=run))

    create(old.platforms[0], settings).check(make("check"))
    with spoken("writing the run folder"):
        spec = write_spec(found.store, make, prepare, home)
    drop_marker(home, spec.id, found.url)
    ensure_keeper(home)
    return spec


def _manifest(found: Located, checkpoint: str) -> Manifest:
    checkpoints = Checkpoints(found.store, found.run)
    chosen = checkpoints.last() if checkpoint == LAST else checkpoint
    if chosen is None:
        raise UsageError(f"run {found.run} has no checkpoint to go on from", hint="clone it without one")
    try:
        layout.checkpoint_order(chosen)
        manifest = checkpoints.read(chosen)
    except (NotFound, ValueError):
        raise NotFoundError(
            f"run {found.run} has no checkpoint {chosen!r}", hint=f"see them with: outlast show {found.run}"
        ) from None
    stint, number = _INHERITED
    return dataclasses.replace(manifest, stint=stint, number=number, parent=None)
