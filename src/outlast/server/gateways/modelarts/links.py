"""Links to a job's output that carry their own proof, as signed links of OBS do."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request
from starlette.responses import Response

from outlast.server.accounts.pairs import Pairs
from outlast.server.gateways.modelarts.book import JobBook
from outlast.server.gateways.modelarts.jobs import see
from outlast.server.gateways.modelarts.logs import LINK_S, open_log
from outlast.server.gateways.modelarts.refusing import GatewayRoute, NotLetIn, Refusal
from outlast.server.holding import Held
from outlast.server.ranges import attachment, by_pieces, send_part
from outlast.server.state import state_of

router = APIRouter(prefix="/modelarts/logs", route_class=GatewayRoute, include_in_schema=False)


def make(pairs: Pairs, job: str, node: int = 0, *, download: bool) -> str:
    """A path that works for a while, for whoever has it."""
    until = int(time.time()) + LINK_S
    kind = "file" if download else "text"
    seal = pairs.seal(_sealed(job, node, until, kind))
    return f"/modelarts/logs/{job}?node={node}&expires={until}&kind={kind}&seal={seal}"


def _sealed(job: str, node: int, until: int, kind: str) -> str:
    return f"{job} {node} {until} {kind}"


@router.get("/{job}")
def read_log(
    request: Request, held: Held, job: str, node: int = 0, expires: int = 0, kind: str = "text", seal: str = ""
) -> Response:
    """The output of a job's machine, by range too."""
    pairs: Pairs = request.app.state.modelarts
    if not pairs.is_sealed(_sealed(job, node, expires, kind), seal) or time.time() > expires:
        raise NotLetIn("this link has run out, or was changed")
    row = JobBook(state_of(request).database).by_id(job)
    text = open_log(see(held.settings, row), node) if row is not None else None
    if row is None or text is None:
        raise Refusal("2819", "the output is gone", status=404)
    headers = attachment(f"modelarts-job-{row.id}-worker-{node}.log") if kind == "file" else {}
    media_type = "application/octet-stream" if kind == "file" else "text/plain; charset=utf-8"
    return send_part(request, text.size_bytes, by_pieces(text.get), media_type=media_type, headers=headers)
