"""The routes for admins: users, groups, queues, and the log of what was done."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from outlast.server.accounts.bodies import GroupBody, NameInPath, NewUser, QueueBody, UserChange
from outlast.server.accounts.people import Actor, Quota, Role
from outlast.server.accounts.routes import State
from outlast.server.answers import answer
from outlast.server.auth import Admin, Current
from outlast.server.refusals import NotAllowed
from outlast.server.state import ServerState

router = APIRouter(tags=["administration"])


@router.get("/users")
def list_users(actor: Current, state: State) -> Response:
    """Everybody for an admin; for others those who share a group with them."""
    found = [user for user in state.accounts.users.list() if actor.may_see(user.name)]
    return answer({"items": [user.to_json() for user in found]})


@router.post("/users", status_code=201)
def add_user(body: NewUser, actor: Admin, state: State) -> Response:
    """Make an account. Without a password the answer carries `link`, a path that lets its user choose one, once."""
    if actor.via == "local" and body.role is not Role.ADMIN and not state.accounts.users.exist():
        raise NotAllowed("the first account must be an admin's", hint='send "role": "admin"')
    user = state.accounts.users.add(body.name, body.role, body.password, restore=body.restore)
    _note(state, actor, "user.add", user.name, role=user.role)
    link = {} if body.password is not None else {"link": _link(state, user.name)}
    return answer(user.to_json() | link, 201)


@router.patch("/users/{name}")
def change_user(name: NameInPath, body: UserChange, actor: Admin, state: State) -> Response:
    """Give a user another role or password."""
    user = state.accounts.users.change(name, role=body.role, password=body.password)
    _note(state, actor, "user.change", name, role=body.role, password=body.password is not None)
    return answer(user.to_json())


@router.delete("/users/{name}")
def remove_user(name: NameInPath, actor: Admin, state: State) -> Response:
    """Shut an account: its tokens and sessions end at once, its runs stay."""
    user = state.accounts.users.remove(name)
    _note(state, actor, "user.remove", name)
    return answer(user.to_json())


@router.post("/users/{name}/link", status_code=201)
def make_link(name: NameInPath, actor: Admin, state: State) -> Response:
    """A path that lets a user choose a password, once, within two days."""
    state.accounts.users.get_active(name)
    _note(state, actor, "user.link", name)
    return answer({"link": _link(state, name)}, 201)


@router.get("/groups")
def list_groups(actor: Current, state: State) -> Response:
    """All groups for an admin; for others their own."""
    found = state.accounts.groups.list()
    mine = [group for group in found if actor.role is Role.ADMIN or group.name in actor.groups]
    return answer({"items": [group.to_json() for group in mine]})


@router.put("/groups/{name}")
def put_group(name: NameInPath, body: GroupBody, actor: Admin, state: State) -> Response:
    """Make a group, or give it this quota and queue; what is left out has no limit."""
    quota = Quota(body.max_stints, body.max_accelerators, body.max_stored_bytes)
    group = state.accounts.groups.put(name, quota, body.queue)
    _note(state, actor, "group.set", name, **body.model_dump(exclude_none=True))
    return answer(group.to_json())


@router.delete("/groups/{name}")
def remove_group(name: NameInPath, actor: Admin, state: State) -> Response:
    """Dissolve a group; its members and their runs stay."""
    state.accounts.groups.remove(name)
    _note(state, actor, "group.remove", name)
    return answer({"ok": True})


@router.put("/groups/{name}/members/{user}")
def join_group(name: NameInPath, user: NameInPath, actor: Admin, state: State) -> Response:
    """Let a user belong to a group."""
    group = state.accounts.groups.join(name, user)
    _note(state, actor, "group.join", name, user=user)
    return answer(group.to_json())


@router.delete("/groups/{name}/members/{user}")
def leave_group(name: NameInPath, user: NameInPath, actor: Admin, state: State) -> Response:
    """Take a user out of a group."""
    group = state.accounts.groups.leave(name, user)
    _note(state, actor, "group.leave", name, user=user)
    return answer(group.to_json())


@router.get("/queues")
def list_queues(actor: Current, state: State) -> Response:
    """All queues with their weights; the groups in them are told to admins and to their members."""
    found = [queue.to_json() for queue in state.accounts.queues.list()]
    for queue in found:
        queue["groups"] = [name for name in queue["groups"] if actor.role is Role.ADMIN or name in actor.groups]
    return answer({"items": found})


@router.put("/queues/{name}")
def put_queue(name: NameInPath, body: QueueBody, actor: Admin, state: State) -> Response:
    """Make a queue, or give it this weight."""
    queue = state.accounts.queues.put(name, body.weight)
    _note(state, actor, "queue.set", name, weight=body.weight)
    return answer(queue.to_json())


@router.delete("/queues/{name}")
def remove_queue(name: NameInPath, actor: Admin, state: State) -> Response:
    """Take away a queue that no group waits in."""
    state.accounts.queues.remove(name)
    _note(state, actor, "queue.remove", name)
    return answer({"ok": True})


@router.get("/audit")
def read_audit(
    actor: Admin,
    state: State,
    before: Annotated[int | None, Query(ge=1, lt=2**31, description="only entries older than this one")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Who did what, newest first; `next` is the `before` of the following page, or null."""
    found = state.accounts.audit.list(before=before, limit=limit + 1)
    more = found[limit - 1].id if len(found) > limit else None
    return answer({"items": [entry.to_json() for entry in found[:limit]], "next": more})


def _note(state: ServerState, actor: Actor, action: str, target: str, **detail: object) -> None:
    """Write down what was done, and let it hold at once: rights here, shares of the queues in the keeper."""
    state.accounts.audit.add(actor.name, action, target, **detail)
    state.accounts.share_out(state.settings)
    state.recent.clear()


def _link(state: ServerState, name: str) -> str:
    return f"/welcome?code={state.accounts.make_link(name)}"
