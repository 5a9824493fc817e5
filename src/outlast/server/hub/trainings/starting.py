"""From a training that is written down to its run: the code is checked out, and the run submitted as every other."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from outlast.hub.checkouts import Checkouts
from outlast.hub.hub import Hub
from outlast.hub.repository import Repository
from outlast.inside.contracts.xihe import OUTPUT
from outlast.model.request import RunRequest
from outlast.operations.outputs import KEPT
from outlast.server.accounts.people import Actor, Role
from outlast.server.fences import check_request
from outlast.server.holding import Holding
from outlast.server.hub.trainings.computes import Granted
from outlast.server.hub.trainings.inputs import Pinned
from outlast.server.hub.trainings.wishes import Wish
from outlast.server.hub.visits import visitor_of
from outlast.server.state import ServerState
from outlast.server.submitting import long_names, start_request

#: Says which file of the code is started, and keeps an outlast.toml in it from speaking: the training alone decides.
_SPEC_FILE = "outlast-training.toml"
#: The folder is what the commit says it is; a .gitignore in it was meant for something else.
_EVERYTHING = ("**",)
_RUN_NAME_LENGTH = 63


def start_training(
    state: ServerState, holding: Holding, hub: Hub, actor: Actor, project: Repository, wish: Wish, pinned: Pinned,
    granted: Granted, run: str,
) -> str:  # fmt: skip
    """Start the run of a training; its id, which is `run` unless that is taken. When it raises there is no run."""
    with long_names(), _code(holding, hub, project, pinned.commit, wish) as (base, folder):
        request = _request(holding, actor, project, wish, pinned, granted, base, folder)
        if actor.role is not Role.ADMIN:
            stores = {holding.settings.store, *holding.runs.stores()}
            check_request(request, holding.settings_of(actor), base, stores)
        return start_request(state, holding, actor, request, run)


@contextlib.contextmanager
def _code(holding: Holding, hub: Hub, project: Repository, commit: str, wish: Wish) -> Iterator[tuple[Path, Path]]:
    """A folder of its own, and the code in it, until the block ends."""
    base = Path(tempfile.mkdtemp(dir=holding.home.cache, prefix="training-"))
    try:
        yield base, Checkouts(hub, base / "code").bring(project, commit, wish.code_dir)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _request(
    holding: Holding, actor: Actor, project: Repository, wish: Wish, pinned: Pinned, granted: Granted, base: Path,
    folder: Path,
) -> RunRequest:  # fmt: skip
    spec = folder / _SPEC_FILE
    spec.unlink(missing_ok=True)  # one of the repository's own is read-only
    name = f"{project.name}-{wish.name}"[:_RUN_NAME_LENGTH].rstrip("._-")
    # The name stands in the file, not in the request: two projects may train under one name.
    words = {"script": wish.boot_file, "name": name}
    spec.write_text("[run]\n" + "".join(f"{key} = {json.dumps(text)}\n" for key, text in words.items()))
    limit_s = holding.settings.training_limit_s
    return RunRequest(
        target=str(spec), cwd=base, contract="xihe", data=pinned.data, include=_EVERYTHING,
        params=tuple(f"{each.key}={each.value}" for each in wish.hyperparameters),
        env=tuple(f"{each.key}={each.value}" for each in wish.env),
        output=(f"{OUTPUT}={KEPT}",) if wish.enable_output else None, aim=wish.enable_aim or None,
        limit=f"{limit_s}s", stints="1", retries=0, environment=granted.environment, cpus=granted.cpus,
        gpus=granted.gpus, npus=granted.npus, code_asset=f"{project.asset}@{pinned.commit}",
        visitor=visitor_of(actor),
    )  # fmt: skip
