"""From a submitted document to a run: its code is read from this server's HDFS with its user's own rights."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from outlast.errors import NotFoundError, SpecError
from outlast.inside.sandbox import find_bwrap, usable
from outlast.model.ids import new_run_id
from outlast.model.request import RunRequest
from outlast.operations.locate import find_row
from outlast.operations.openpai import CODE_LIMIT_BYTES
from outlast.platforms.local.machine import Machine
from outlast.server.accounts.people import Role
from outlast.server.fences import check_request
from outlast.server.gateways.openpai.asked import Asked
from outlast.server.gateways.openpai.book import JobBook, JobRow
from outlast.server.gateways.openpai.clusters import require_cluster
from outlast.server.gateways.openpai.documents import ASIDE, Submitted
from outlast.server.gateways.openpai.refusing import PaiRefusal
from outlast.server.gateways.openpai.tokens import create_job_token
from outlast.server.gateways.webhdfs.guarded import GuardedFileSystem
from outlast.server.gateways.webhdfs.permissions import Who
from outlast.server.submitting import long_names, start_request
from outlast.settings import Settings
from outlast.webhdfs.filesystem import FILE, FOLDER, FileSystem
from outlast.webhdfs.refusals import Refusal

#: The job reads and writes the server's HDFS with this token of its user; nobody else sees its value.
TOKEN_VARIABLE = "WEBHDFS_TOKEN"


def start_job(asked: Asked, submitted: Submitted) -> JobRow:
    """Start a job. When this returns there is a run; when it raises there is neither run nor job."""
    asked.require(Role.MEMBER)
    facts = submitted.facts
    require_cluster(asked, facts.virtual_cluster)
    book, run = JobBook(asked.state.database), new_run_id()
    row = JobRow(facts, run, time.time(), config=submitted.config)
    with long_names(), contextlib.ExitStack() as undoing, _folder(asked, submitted) as folder:
        request = _request(asked, submitted, folder)
        if not book.claim(row, lambda other: run_is_there(asked.held.settings, other)):
            raise PaiRefusal(409, "ConflictJobError", f"Job name {facts.framework} already exists.")
        undoing.callback(book.drop, facts.framework)
        if asked.actor.id:
            text, key_id = create_job_token(asked, facts.name)
            undoing.callback(asked.state.accounts.keys.revoke, "token", key_id)
            request = replace(request, secrets=(TOKEN_VARIABLE,), secret_values={TOKEN_VARIABLE: text})
        run = start_request(asked.state, asked.held, asked.actor, request, run)
        undoing.pop_all()
    book.settle(facts.framework, run)
    return replace(row, run=run)


def run_is_there(settings: Settings, run: str) -> bool:
    try:
        find_row(settings, run)
    except NotFoundError:
        return False
    return True


def files_of(asked: Asked) -> GuardedFileSystem:
    """The server's HDFS with the rights of the one who asks."""
    who = Who(asked.actor.name, frozenset(asked.actor.groups), asked.actor.role is Role.ADMIN)
    return GuardedFileSystem(asked.hdfs, who, lambda _name: False)


@contextlib.contextmanager
def _folder(asked: Asked, submitted: Submitted) -> Iterator[Path]:
    """The job file and its code, until the run has a pack of them."""
    with tempfile.TemporaryDirectory(dir=asked.held.home.cache, prefix="openpai-") as name:
        folder = Path(name)
        if submitted.code_path:
            _copy(files_of(asked), submitted.code_path, folder)
        yield folder


def _copy(files: FileSystem, path: str, folder: Path) -> None:
    """A folder of HDFS to this machine. As on a cluster, no more than 200 MB: code is small, data stays."""
    left = CODE_LIMIT_BYTES
    try:
        if files.kind(path) != FOLDER:
            raise SpecError(f"codeDir {path} is not a folder of this server's HDFS", hint="upload the code first")
        ahead = [(path, folder)]
        while ahead:
            source, target = ahead.pop()
            for each in files.list(source):
                place, to = f"{source}/{each.name}", target / each.name
                if each.kind == FOLDER and not (source == path and each.name == ASIDE):
                    to.mkdir()
                    ahead.append((place, to))
                elif each.kind == FILE:
                    left -= each.size_bytes
                    if left < 0:
                        raise SpecError(f"codeDir {path} is larger than {CODE_LIMIT_BYTES:,} bytes")
                    _copy_file(files, place, to)
    except Refusal as refusal:
        raise SpecError(f"codeDir {path}: {refusal.message}") from None


def _copy_file(files: FileSystem, path: str, to: Path) -> None:
    with contextlib.closing(files.open(path)) as opened, to.open("xb") as file:
        for piece in opened.pieces(0, opened.size_bytes):
            file.write(piece)


def _request(asked: Asked, submitted: Submitted, folder: Path) -> RunRequest:
    settings = asked.held.settings_of(asked.actor)
    is_admin = asked.actor.role is Role.ADMIN
    request = RunRequest(
        target=str(submitted.write(folder)), cwd=folder, user=asked.actor.name,
        env=(f"PAI_DEFAULT_FS_URI=hdfs://{urlsplit(asked.origin).netloc}",),
        gpus=_gpus(submitted, settings), sandbox=None if is_admin else _sandbox(settings), **submitted.words,
    )  # fmt: skip
    if not is_admin:
        check_request(request, settings, folder, {settings.store, *asked.held.runs.stores()})
    return request


def _gpus(submitted: Submitted, settings: Settings) -> int | None:
    """As many as the job asks for, or all that are here; they count for the quota."""
    wanted = submitted.facts.gpu_count
    if not wanted or settings.platform != "local":
        return wanted or None
    return min(wanted, Machine.look(settings.home / "local" / "machine.json", remember=False).capacity.gpus)


def _sandbox(settings: Settings) -> str | None:
    """A member's job stays in the sandbox even where its image is here: containers would run without one."""
    return "on" if settings.sandbox != "off" and usable(find_bwrap())[0] else None
