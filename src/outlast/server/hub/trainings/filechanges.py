"""Files of one's own repositories written and removed at Xihe's own addresses: one commit each, on the main branch."""

from __future__ import annotations

import base64
import binascii

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.errors import NotFoundError
from outlast.hub.bare import Bare, Item
from outlast.hub.changes import branch_tip, check_file_path, commit_changes
from outlast.hub.gitprocess import PLAIN_LIMIT_BYTES
from outlast.hub.pointers import read_pointer
from outlast.hub.repository import Repository
from outlast.server.hub.room import require_room
from outlast.server.hub.trainings.access import Asking
from outlast.server.hub.trainings.desk import Desk
from outlast.server.hub.trainings.envelope import BAD_BODY, BAD_PARAM, Refusal, told
from outlast.server.hub.trainings.repositories import Kind, KindRoute, find
from outlast.server.hub.trainings.routes import json_body

router = APIRouter(prefix="/v1/repo", route_class=KindRoute, include_in_schema=False)

_PROGRAMS = (".exe", ".bat", ".com", ".so", ".dll")
#: A folder of so many files is removed with git.
_MANY_FILES = 100


@router.post("/{kind}/{name}/file/{path:path}")
async def create(request: Request, desk: Asking, kind: Kind, name: str, path: str) -> Response:
    """A new file."""
    data = _content(await json_body(request))
    await run_in_threadpool(_put, desk, kind, name, path, data, is_new=True)
    return told("success", 201)


@router.put("/{kind}/{name}/file/{path:path}")
async def update(request: Request, desk: Asking, kind: Kind, name: str, path: str) -> Response:
    """Another content for a file that is there."""
    data = _content(await json_body(request))
    await run_in_threadpool(_put, desk, kind, name, path, data, is_new=False)
    return told("success", 202)


@router.delete("/{kind}/{name}/file/{path:path}")
def remove(desk: Asking, kind: Kind, name: str, path: str) -> Response:
    repository = _own(desk, kind, name)
    if not _is_file(desk.shared.hub.bare(repository), path):
        raise Refusal("unavailable_repo_file", f"{path} is a folder", hint="remove it as one: DELETE …/dir/PATH")
    _commit(desk, repository, {}, path, f"Remove {path}")
    return Response(status_code=204)


@router.delete("/{kind}/{name}/dir/{path:path}")
def remove_folder(desk: Asking, kind: Kind, name: str, path: str) -> Response:
    """Remove a folder that holds less than a hundred files."""
    repository = _own(desk, kind, name)
    bare = desk.shared.hub.bare(repository)
    if _is_file(bare, path):
        raise Refusal("unavailable_repo_file", f"{path} is a file", hint="remove it as one: DELETE …/file/PATH")
    if len(bare.items(bare.commit(), path, recursive=True)) >= _MANY_FILES:
        reason = f"{path} holds {_MANY_FILES} files or more"
        raise Refusal("repofile_too_many_files_to_delete", reason, hint="remove it with git")
    _commit(desk, repository, {}, path.strip("/"), f"Remove {path}")
    return Response(status_code=204)


def _put(desk: Desk, kind: str, name: str, path: str, data: bytes, *, is_new: bool) -> None:
    repository = _own(desk, kind, name)
    check_file_path(path)
    if path.lower().endswith(_PROGRAMS):
        raise Refusal(BAD_PARAM, f"{path} is a program", hint=f"not taken here: {', '.join(_PROGRAMS)}")
    bare = desk.shared.hub.bare(repository)
    there = _find_file(bare, path)
    if is_new and there is not None:
        raise Refusal("duplicate_creating", f"{path} is there already", hint="change it with PUT")
    if not is_new and there is None:
        raise NotFoundError(f"there is no {path}", hint="make it with POST")
    if read_pointer(data) is not None or (there is not None and bare.pointer(there) is not None):
        raise Refusal("update_lfs_file", f"{path} is kept in LFS", hint="change it with git lfs")
    require_room(desk.state, desk.shared.hub, repository, len(data))
    mode = 0o755 if there is not None and there.mode == "100755" else 0o644
    _commit(desk, repository, {path: (data, mode)}, None, f"{'Add' if is_new else 'Change'} {path}")


def _commit(
    desk: Desk, repository: Repository, files: dict[str, tuple[bytes, int]], removed: str | None, message: str
) -> None:
    bare = desk.shared.hub.bare(repository)
    branch, tip = branch_tip(bare)
    gone = [removed] if removed is not None else []
    commit = commit_changes(bare, files, gone, message, desk.actor.name, branch=branch, tip=tip)
    desk.state.accounts.audit.add(desk.actor.name, "repository.commit", repository.path, commit=commit)


def _own(desk: Desk, kind: str, name: str) -> Repository:
    """These addresses know one's own repositories alone: they have no place for an owner."""
    found = find(desk, kind, desk.actor.name, name)
    return desk.shared.hub.find_own(desk.visitor, found.owner, found.name)


def _find_file(bare: Bare, path: str) -> Item | None:
    try:
        found = bare.items(bare.commit(), path)
    except NotFoundError:
        return None
    return found[0] if _is_one(found, path) else None


def _is_file(bare: Bare, path: str) -> bool:
    """Whether a path is a file, or a folder; `NotFoundError` when there is neither."""
    return _is_one(bare.items(bare.commit(), path), path)


def _is_one(found: list[Item], path: str) -> bool:
    return len(found) == 1 and found[0].path == path.strip("/") and found[0].size_bytes is not None


def _content(body: object) -> bytes:
    """The bytes that a body carries, plain or in base64."""
    text = body.get("content", "") if isinstance(body, dict) else None
    is_encoded = body.get("base64_encoded", False) if isinstance(body, dict) else None
    if not isinstance(text, str) or not isinstance(is_encoded, bool):
        raise Refusal(BAD_BODY, "the body must be one JSON object; content is a text, base64_encoded true or false")
    try:
        data = base64.b64decode(text, validate=True) if is_encoded else text.encode()
    except (binascii.Error, ValueError):
        raise Refusal(BAD_BODY, "content: is not base64") from None
    if len(data) > PLAIN_LIMIT_BYTES:
        raise Refusal(BAD_PARAM, f"content: {len(data)} bytes, {PLAIN_LIMIT_BYTES} at most", hint="push it with git")
    return data
