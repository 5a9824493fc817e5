"""From the body of a request to a run: what the words mean here, and whether this user may say them."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Iterator
from pathlib import Path

from outlast.errors import NotFoundError, UsageError
from outlast.keeper.inbox import drop_marker
from outlast.model.request import RunRequest
from outlast.model.spec import Input
from outlast.operations.locate import locate
from outlast.operations.repositories import bring_project
from outlast.operations.submit import submit_run
from outlast.operations.target import find_target
from outlast.server.accounts import quotas, usage
from outlast.server.accounts.people import Actor, Role
from outlast.server.bodies import InputBody, RunBody
from outlast.server.fences import check_request, require_inside
from outlast.server.holding import Holding
from outlast.server.hub.visits import visitor_of
from outlast.server.refusals import NotAllowed
from outlast.server.state import ServerState
from outlast.server.submits import Submits

#: Before a digest, in `data`: what was uploaded under it.
UPLOAD = "upload:"


@contextlib.contextmanager
def long_names() -> Iterator[None]:
    """A name that no file can have is the caller's mistake, wherever it is noticed."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise UsageError("a path in this request is too long to exist", hint="see target, checkpoint, output") from None


def request_of(holding: Holding, actor: Actor, body: RunBody) -> RunRequest:
    """The request that a body means for this user, checked against what they may use."""
    if body.code is not None and body.project is not None:
        raise UsageError("code and project are both given, and the code can only be one of them")
    words = body.model_dump(include=set(RunBody.model_fields) - {"code", "project", "folder", "inputs"})
    folder = Path.cwd()
    if body.code is not None:
        folder = holding.uploads.folder(actor.name, body.code, body.folder)
        require_inside(body.target, folder)
        words["target"] = str(folder / body.target)
    elif body.project is not None:
        folder, words["code_asset"] = bring_project(holding.settings, visitor_of(actor), body.project)
        require_inside(body.target, folder)
        words["target"] = str(folder / body.target)
    if body.of is not None:
        words["of"] = holding.runs.find(actor, body.of).id
    words["data"] = [_source(holding, actor, text) for text in body.data]
    if body.inputs is not None:
        words["inputs"] = [_input(holding, actor, each) for each in body.inputs]
    lists = {name: tuple(value) for name, value in words.items() if isinstance(value, list)}
    request = RunRequest(**(words | lists), cwd=folder, visitor=visitor_of(actor))
    if actor.role is not Role.ADMIN:
        _check(holding, actor, body, request)
    return request


def _source(holding: Holding, actor: Actor, text: str) -> str:
    """`mnist=upload:SHA256` as the path that it lies at."""
    name, equals, source = text.partition("=") if not text.startswith(UPLOAD) else ("", "", text)
    if not source.startswith(UPLOAD):
        return text
    return f"{name}{equals}{holding.uploads.content(actor.name, source.removeprefix(UPLOAD))}"


def _input(holding: Holding, actor: Actor, given: InputBody) -> Input:
    """An input that the caller has found, with its bytes where they were uploaded to."""
    source = _source(holding, actor, given.source)
    if source != given.source:
        source = Path(source).as_uri()
    return Input(name=given.name, source=source, path=given.path, writable=given.writable)


def _check(holding: Holding, actor: Actor, body: RunBody, request: RunRequest) -> None:
    if body.code is None and body.project is None:
        raise NotAllowed("code is missing; paths of the server's machine are for admins", hint="upload the code first")
    # Before anything is looked up: an error must not tell whether a path of this machine exists.
    toml = find_target(request.target, request.cwd).toml
    listed = [each.source for each in (toml.data if toml and body.inputs is None else ())]
    for text in (*body.data, *(f"={each.source}" for each in body.inputs or ()), *listed):
        source = text.partition("=")[2] or text
        if source.startswith(("/", "~", "file:")) or ".." in source.split("/"):
            raise NotAllowed(f"data {source} is on the server's machine", hint="upload it first: POST /api/v1/uploads")
    stores = {holding.settings.store, *holding.runs.stores()}
    own, project = holding.uploads.folder_of(actor.name), request.cwd if body.project is not None else None
    check_request(request, holding.settings_of(actor), own, stores, project)


def start_request(
    state: ServerState, holding: Holding, actor: Actor, request: RunRequest, wanted: str | None = None,
    notify: Callable[[str], None] | None = None,
) -> str:  # fmt: skip
    """Start a run of `actor` within the quotas of their groups and return its id, which is `wanted` if that is free.

    The caller has checked what the request names. `notify` is told what is worth a second look.
    """
    settings = holding.settings_of(actor)
    groups = state.accounts.groups.of(actor.id) if actor.id else []
    quotas.check(usage.measure(settings, groups), quotas.Use(1, usage.cards_of(vars(request))))
    run = submit_run(request, settings, wanted=wanted, notify=notify).id
    state.accounts.audit.add(actor.name, "run.submit", run)
    return run


def submit(
    state: ServerState, holding: Holding, actor: Actor, body: RunBody, key: str | None, notify: Callable[[str], None]
) -> str:
    """Start a run and return its id; with a key at most once, however often it is asked for."""
    settings = holding.settings_of(actor)

    @long_names()
    def start(wanted: str | None) -> str:
        return start_request(state, holding, actor, request_of(holding, actor, body), wanted, notify)

    def exists(run: str) -> bool:
        try:
            found = locate(settings, run)
        except NotFoundError:
            return False
        # The first try may have been killed just before it said so.
        drop_marker(holding.home, found.run, found.url)
        return True

    if key is None:
        return start(None)
    submits = Submits(holding.home.path / "submits")
    return submits.once(actor.name, key, body.model_dump(mode="json"), start, exists)
