"""Job files of other systems as an outlast.toml: what `outlast import` writes."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import Response

from outlast.errors import SpecError
from outlast.operations.import_modelarts import import_modelarts
from outlast.operations.import_openpai import import_openpai
from outlast.operations.tomlfile import FILE_NAME
from outlast.server.answers import answer
from outlast.server.auth import Member
from outlast.server.bodies import ImportBody
from outlast.server.holding import Held
from outlast.settings import Settings

router = APIRouter(tags=["imports"])


@router.post("/imports", summary="Import a job file")
def import_job(actor: Member, held: Held, body: ImportBody) -> Response:
    """An outlast.toml that does what a job of OpenPAI or ModelArts does. Nothing is kept or started.

    `notes` say what is left to do; of an OpenPAI job, why it still needs its own file, if it does.
    """
    # In a folder of its own: what the job says about places of its machine must not be looked up on ours.
    with tempfile.TemporaryDirectory(dir=held.home.cache, prefix="job-") as temporary:
        folder = Path(temporary) / "code"
        if body.code is not None:
            shutil.copytree(held.uploads.folder(actor.name, body.code), folder, symlinks=True)
        _write(folder / body.name, body.text)
        if not (folder / ".vscode" / "settings.json").is_file():  # otherwise a folder above may count as the workspace
            _write(folder / ".vscode" / "settings.json", "{}")
        try:
            toml, notes = _imported(held.settings_of(actor), body.kind, folder / body.name, folder / FILE_NAME)
        except SpecError as error:
            raise SpecError(_here(error.message, folder), hint=_here(error.hint, folder)) from None
    return answer({"toml": toml, "notes": [_here(each, folder) for each in notes]})


def _imported(settings: Settings, kind: str, job: Path, toml: Path) -> tuple[str, list[str]]:
    if kind == "modelarts":
        made = import_modelarts(settings, job, toml, force=True)
        return made.text, list(made.notices)
    imported = import_openpai(settings, job, toml, force=True)
    return imported.text, [f"it still needs the job file: {imported.why}"] if imported.why else []


def _write(path: Path, text: str) -> None:
    """Write a file of its own, whatever the code has under that name: it may be a link."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")


def _here(text: str, folder: Path) -> str:
    """Without the place where it was read: it is gone by now."""
    return text.replace(f"{folder}/", "").replace(str(folder), "the code")
