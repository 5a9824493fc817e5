"""Who asks, at Xihe's address for it: clients learn whose token they have."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from outlast.server.hub.trainings.access import Asking
from outlast.server.hub.trainings.envelope import NOT_EXISTS, Refusal, XiheRoute, told

router = APIRouter(prefix="/v1", route_class=XiheRoute, include_in_schema=False)


@router.get("/user")
def show(desk: Asking, account: str = "") -> Response:
    """The account that the token belongs to. Of others nothing is told: there are no profiles here."""
    own = desk.actor.name
    if account not in ("", own):
        raise Refusal(NOT_EXISTS, f"nothing is told of the account {account[:60]!r} here", status=404)
    return told({"account": own, "email": "", "bio": "", "avatar_id": "", "follower_count": 0, "following_count": 0})
