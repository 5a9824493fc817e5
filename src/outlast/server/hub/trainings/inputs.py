"""What a training reads, found before anything is queued: its code at one commit, its inputs at theirs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from outlast.errors import NotFoundError, OutlastError
from outlast.hub.bare import Bare
from outlast.hub.hub import Hub
from outlast.hub.repository import Repository
from outlast.model.visitor import Visitor
from outlast.server.hub.trainings.envelope import BAD_PARAM, Refusal
from outlast.server.hub.trainings.wishes import Ref, Wish


@dataclass(frozen=True)
class Pinned:
    """The commit of the code, and the inputs as a run names them: `key=kind:owner/name/file@commit`."""

    commit: str
    data: tuple[str, ...]


def pin(hub: Hub, visitor: Visitor, project: Repository, wish: Wish) -> Pinned:
    """Find everything that a training names; `Refusal` for what is not there or may not be seen."""
    bare = hub.bare(project)
    try:
        commit = bare.commit()
    except NotFoundError:
        raise Refusal(BAD_PARAM, f"{project.path} is empty", hint="push the code first") from None
    script = "/".join(filter(None, (wish.code_dir, wish.boot_file)))
    if not _is_file(bare, commit, script):
        raise Refusal(BAD_PARAM, f"boot_file: {project.path} has no file {script!r} at its newest commit")
    return Pinned(commit, tuple(_inputs(hub, visitor, wish)))


def refuse_lfs(bare: Bare, commit: str) -> None:
    """On Xihe a project with LFS files cannot be copied to where it would be trained."""
    items = bare.items(commit, recursive=True)
    pointers = bare.pointers(items)
    kept = [each.path for each in items if each.oid in pointers]
    if kept:
        more = f" and {len(kept) - 1} more" if len(kept) > 1 else ""
        raise Refusal(
            BAD_PARAM, f"the project keeps {kept[0]}{more} in LFS, and a project that is trained holds code only",
            hint="move such files to a model or dataset repository, and name that as an input",
        )  # fmt: skip


def _inputs(hub: Hub, visitor: Visitor, wish: Wish) -> Iterator[str]:
    for kind, field, refs in (("model", "models", wish.models), ("dataset", "datasets", wish.datasets)):
        for number, ref in enumerate(refs):
            yield _input(hub, visitor, kind, f"{field}[{number}]", ref)


def _input(hub: Hub, visitor: Visitor, kind: str, where: str, ref: Ref) -> str:
    try:
        found = hub.find(visitor, ref.owner, ref.name)
    except OutlastError:
        found = None
    if found is None or found.kind != kind:
        raise Refusal(BAD_PARAM, f"{where}: there is no {kind} {ref.owner[:64]}/{ref.name[:64]} that you may use")
    bare = hub.bare(found)
    try:
        commit = bare.commit()
        bare.items(commit, ref.file)
    except OutlastError as error:
        raise Refusal(BAD_PARAM, f"{where}: {found.path}: {error.message}", hint=error.hint) from None
    inner = f"/{ref.file}" if ref.file else ""
    return f"{ref.key}={found.asset}{inner}@{commit}"


def _is_file(bare: Bare, commit: str, path: str) -> bool:
    try:
        found = bare.items(commit, path)
    except OutlastError:
        return False
    return len(found) == 1 and found[0].path == path and found[0].size_bytes is not None
