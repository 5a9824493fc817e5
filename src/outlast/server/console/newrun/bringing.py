"""Code that is here already becomes an upload of the visitor: that of an earlier run, and that beside a job file."""

from __future__ import annotations

import asyncio
import hashlib
import io
import itertools
import os
import shutil
import tarfile
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

from outlast.errors import SpecError
from outlast.inside import layout
from outlast.operations.import_modelarts import import_modelarts
from outlast.operations.import_openpai import import_openpai
from outlast.operations.tomlfile import FILE_NAME, read_toml
from outlast.server.accounts.people import Actor
from outlast.server.console.calls import calls
from outlast.server.console.hub.repository import api_of, short
from outlast.server.console.newrun.wanted import Code, Wanted, from_toml
from outlast.server.holding import Holding
from outlast.server.uploads import PART_BYTES

_MOST_JOB_BYTES = 1 << 20
#: So many files of the code are offered as the one to start.
_MOST_PATHS = 2000


async def code_of_run(holding: Holding, actor: Actor, ref: str) -> tuple[dict[str, object], Code]:
    """The spec of a run that the visitor may see, and its code as an upload of theirs."""
    found = await asyncio.to_thread(holding.seen, actor, ref)
    spec = (await asyncio.to_thread(found.folder)).spec
    sha256, size_bytes = str(spec["code"]["sha256"]), int(spec["code"]["size_bytes"])
    key = layout.blob_key(sha256)

    def part(start: int, length: int) -> bytes:
        return found.store.get_range(key, start, length)

    return spec, await _hold(holding, actor, found.run, sha256, size_bytes, part)


async def code_of_project(project: str) -> Code:
    """A project of the hub that the visitor may see, `owner/name@revision`, pinned to its commit."""
    path, _, revision = project.partition("@")
    owner, _, name = path.partition("/")
    listed = await calls().get(api_of(owner, name, "items"), revision=revision, recursive=True)
    paths = sorted(str(each["path"]) for each in listed["items"] if each["kind"] == "file")
    commit = str(listed["commit"])
    return Code("", f"{path}@{short(commit)}", tuple(paths[:_MOST_PATHS]), f"{path}@{commit}")


async def job_as_form(holding: Holding, actor: Actor, name: str, data: bytes, form: Wanted) -> tuple[Wanted, list[str]]:
    """The form that does what a job file of OpenPAI or ModelArts does, and what should be known of it.

    A job that needs its own file (roles, a shell) gets it: the file joins the code.
    """
    if len(data) > _MOST_JOB_BYTES:
        raise SpecError(f"{name} is no job: it is larger than 1 MiB", hint="choose the job file itself")
    if Path(name).name != name or not name.endswith((".json", ".jsonc", ".yaml", ".yml")):
        raise SpecError(f"{name} is no job file", hint="it ends with .json, .yaml or .yml")
    filled, notices, packed = await asyncio.to_thread(_read_job, holding, actor, name, data, form)
    if packed is None:
        return filled, notices
    body = packed

    def part(start: int, length: int) -> bytes:
        return body[start : start + length]

    label = form.code.name if form.code else name
    code = await _hold(holding, actor, label, hashlib.sha256(body).hexdigest(), len(body), part)
    return replace(filled, target=name, code=code), notices


def _read_job(
    holding: Holding, actor: Actor, name: str, data: bytes, form: Wanted
) -> tuple[Wanted, list[str], bytes | None]:
    """The form, notices, and the code together with the job file where that is needed."""
    settings = holding.settings_of(actor)
    with tempfile.TemporaryDirectory(dir=holding.home.cache, prefix="job-") as temporary:
        folder = Path(temporary) / "code"
        if form.code is not None and form.code.project:
            raise SpecError("a job file joins code that was uploaded, not a project of the hub", hint="upload the code")
        if form.code is not None:
            content = holding.uploads.content(actor.name, form.code.sha256)
            shutil.copytree(content, folder, symlinks=True, copy_function=_share)
        _write_alone(folder / name, data)
        if not (folder / ".vscode/settings.json").is_file():  # otherwise a folder above may count as the workspace
            _write_alone(folder / ".vscode/settings.json", b"{}")
        job, toml = folder / name, folder / FILE_NAME
        toml.unlink(missing_ok=True)
        if _is_modelarts(data):
            made = import_modelarts(settings, job, toml)
            return from_toml(read_toml(toml), form), list(made.notices), None
        imported = import_openpai(settings, job, toml)
        filled = from_toml(read_toml(toml), form)
        if not imported.why:
            return filled, [], None
        toml.unlink()
        why = imported.why.replace(str(folder), "the code")
        return filled, [f"the job file itself is started, since {why}"], _packed(folder)


def _is_modelarts(data: bytes) -> bool:
    """OpenPAI names its roles; what ModelArts and its ToolKit write does not."""
    return not any(word in data for word in (b"taskRoles", b"protocolVersion"))


def _share(source: str, target: str) -> None:
    """Not a copy: what was uploaded never changes, and what replaces a file here unlinks it first."""
    os.link(source, target, follow_symlinks=False)


def _write_alone(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise SpecError(f"{path.name} cannot be put beside the code: {error.strerror}") from None


def _packed(folder: Path) -> bytes:
    """A folder as a tar; the same folder gives the same bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            archive.add(path, str(path.relative_to(folder)), recursive=False, filter=_plain)
    return packed.getvalue()


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = int(member.mtime)
    return member


async def _hold(
    holding: Holding, actor: Actor, name: str, sha256: str, size_bytes: int, part: Callable[[int, int], bytes]
) -> Code:
    """Make an upload of bytes that are here; announced like any other, so that quotas count it."""
    announced = {"sha256": sha256, "size_bytes": size_bytes, "kind": "folder"}
    begun = await calls().post("/uploads", announced)
    for number in begun["missing"]:
        start = (number - 1) * PART_BYTES
        data = await asyncio.to_thread(part, start, min(PART_BYTES, size_bytes - start))
        await holding.uploads.put_part(actor.name, sha256, number, _pieces(data))
    content = await asyncio.to_thread(holding.uploads.complete, actor.name, sha256)
    paths = await asyncio.to_thread(_paths, content)
    return Code(sha256, name, paths)


def _paths(content: Path) -> tuple[str, ...]:
    found = (str(path.relative_to(content)) for path in content.rglob("*") if path.is_file())
    return tuple(itertools.islice(sorted(found), _MOST_PATHS))


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    yield data
