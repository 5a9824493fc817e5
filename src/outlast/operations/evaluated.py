"""The results of one run as the input of another: what `outlast evaluate --of RUN eval.py` gives its script.

They are brought to the cache of fetched inputs once for each state of the run, verified, write-protected, and left to
`outlast gc` like every input there:

    of/outputs      what `outlast fetch` brings
    of/checkpoint   the last committed checkpoint
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from outlast.errors import NotFoundError, SpecError
from outlast.keeper.home import Home
from outlast.model.request import RunRequest
from outlast.operations.arguments import accepted_by
from outlast.operations.fetch import What, fetch_run
from outlast.operations.locate import Located, locate
from outlast.operations.target import find_target
from outlast.settings import Settings

#: What a script of Xihe takes a trained model by.
PRETRAINED = "pretrain_url"
#: Where a plain script finds the results, and the option that it may take them by.
PLACE = "of"
VARIABLE = "OUTLAST_OF"
_KINDS: tuple[What, ...] = ("outputs", "checkpoint")


def with_results(
    request: RunRequest, settings: Settings, tell: Callable[[str], None] = lambda words: None
) -> RunRequest:
    """The same request with the results of the run it evaluates among its inputs; `of` becomes a whole id.

    A plain script finds them at `of`, in `OUTLAST_OF`, and as `--of` if it takes that; under a contract that names its
    inputs they are passed as `--pretrain_url`.
    """
    if request.of is None:
        return request
    found = locate(settings, request.of)
    target = find_target(request.target, request.cwd)
    if target.is_job:
        raise SpecError("--of needs a script; an OpenPAI job file names its inputs itself")
    contract = request.contract or (target.toml.values.get(("run", "contract")) if target.toml else None) or "plain"
    tell(f"bringing the results of {found.run}")
    folder = bring_results(settings, found)
    if contract != "plain":
        # The option means the trained model: the outputs where there are some.
        model = next(path for path in (folder / kind for kind in _KINDS) if path.is_dir())
        return dataclasses.replace(request, of=found.run, data=(*request.data, f"{PRETRAINED}={model}"))
    takes_it = PLACE in accepted_by(target.folder / target.script).options
    said = any(word == f"--{PLACE}" or word.startswith(f"--{PLACE}=") for word in request.args)
    return dataclasses.replace(
        request,
        of=found.run,
        data=(*request.data, f"{PLACE}={folder}"),
        env=(*request.env, f"{VARIABLE}={PLACE}"),
        params=(*request.params, *([f"{PLACE}={PLACE}"] if takes_it and not said else ())),
    )


def bring_results(settings: Settings, found: Located) -> Path:
    """A folder with the outputs and the last checkpoint of a run as they are now; `NotFoundError` without either."""
    folder = found.folder()
    last = folder.checkpoints[-1] if folder.checkpoints else "none"
    is_final = "final" if folder.last in folder.ends and folder.ends[folder.last].reason == "finished" else "open"
    kept = Home(settings.home).cache / "inputs" / f"of-{found.run}-{last}-{is_final}"
    whole = kept / "whole"
    if not whole.exists():
        _bring(settings, found.run, kept)
    os.utime(whole)  # asked for just now: gc leaves it alone
    return kept / "data"


def _bring(settings: Settings, run: str, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=kept.parent, prefix=f".{kept.name}-"))
    try:
        for what in _KINDS:
            with contextlib.suppress(NotFoundError):  # the other kind may be there
                fetch_run(settings, run, aside / "data" / what, what)
        if not (aside / "data").is_dir():
            raise NotFoundError(
                f"run {run} has neither outputs nor a checkpoint yet",
                hint=f"see how far it is with: outlast show {run}",
            )
        _write_protect(aside / "data")
        (aside / "whole").touch()
        aside.chmod(0o755)
        if not kept.exists():
            aside.rename(kept)
    except FileExistsError:
        pass  # another command has brought the same bytes at the same moment
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _write_protect(folder: Path) -> None:
    """Without a sandbox a script sees links to these very files."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
