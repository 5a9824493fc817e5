"""Results of a training, `train.log` and `output.tar.gz`, by links that carry their own proof as those of OBS do."""

from __future__ import annotations

import time
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from outlast.errors import NotFoundError
from outlast.inside import layout
from outlast.inside.contracts.modelarts import output_place
from outlast.inside.contracts.xihe import OUTPUT
from outlast.inside.errors import NotFound
from outlast.inside.records import Manifest
from outlast.operations.aim_place import GIVEN_PLACE
from outlast.operations.faults import spoken
from outlast.operations.locate import Located, locate
from outlast.server.accounts.pairs import Pairs
from outlast.server.archives import Stored, archive
from outlast.server.holding import Held
from outlast.server.hub.trainings.envelope import BAD_PARAM, NO_LOG, NO_OUTPUT, NO_TOKEN, Refusal, XiheRoute
from outlast.server.hub.trainings.progress import COMPLETED, Seen
from outlast.server.logtext import LogText
from outlast.server.ranges import attachment, by_pieces, send_part
from outlast.server.state import state_of

router = APIRouter(prefix="/v1/train/results", route_class=XiheRoute, include_in_schema=False)

#: As long as upstream's signed links.
LINK_S = 3600
_FOLDERS = {"output": output_place(OUTPUT), "aim": GIVEN_PLACE}


def sealed_path(home: Path, seen: Seen, kind: str) -> str:
    """A path to a result, for whoever has it: the log of whatever is over, packed folders of what is completed."""
    if kind == "log":
        if not seen.is_done:
            raise Refusal(NO_LOG, f"the log is ready when the training is over; it is {seen.status}")
        if seen.log_text() is None:
            raise Refusal(NO_LOG, "this training has printed nothing")
    elif kind in _FOLDERS:
        if seen.status != COMPLETED:
            raise Refusal(NO_OUTPUT, f"the {kind} is ready when the training is Completed; it is {seen.status}")
        if seen.found is None or not _files(seen.found, kind):
            raise Refusal(NO_OUTPUT, f"this training has left no {kind}")
    else:
        raise Refusal(BAD_PARAM, f"unknown result {kind[:40]!r}", hint="known: log, output, aim")
    until, run = int(time.time()) + LINK_S, seen.training.run
    seal = Pairs(home).seal(f"training {run} {kind} {until}")
    return f"/v1/train/results/{run}/{kind}?expires={until}&seal={seal}"


@router.get("/{run}/{kind}")
async def download(request: Request, held: Held, run: str, kind: str, expires: int = 0, seal: str = "") -> Response:
    """The bytes behind a link."""
    pairs = Pairs(state_of(request).settings.home)
    if not pairs.is_sealed(f"training {run} {kind} {expires}", seal) or time.time() > expires:
        raise Refusal(NO_TOKEN, "this link has run out, or was changed", status=401)
    found = await run_in_threadpool(locate, held.settings, run)
    if kind == "log":
        text = await run_in_threadpool(LogText.read, found)
        return send_part(
            request, text.size_bytes, by_pieces(text.get), media_type="application/octet-stream",
            headers=attachment("train.log"),
        )  # fmt: skip
    files = await run_in_threadpool(_files, found, kind)
    if not files:
        raise NotFoundError(f"the {kind} of {run} is gone")
    packed = _zipped(archive(found.store, files))
    return StreamingResponse(packed, media_type="application/gzip", headers=attachment(f"{kind}.tar.gz"))


def _files(found: Located, kind: str) -> list[Stored]:
    """The final files of an output, named from its folder on."""
    place = _FOLDERS[kind] + "/"
    with spoken(f"outputs of {found.run}"):
        try:
            manifest = Manifest.from_bytes(found.store.get(layout.outputs_key(found.run)))
        except NotFound:
            return []
    return [
        Stored(f"{kind}/{path[len(place) :]}", file["sha256"], int(file["size"]), int(file.get("mode", 0o644)))
        for path, file in sorted(manifest.files.items())
        if path.startswith(place)
    ]


async def _zipped(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same bytes as gzip; quick rather than small, since weights hardly shrink."""
    packer = zlib.compressobj(level=1, wbits=31)
    async for piece in pieces:
        if packed := await run_in_threadpool(packer.compress, piece):
            yield packed
    yield packer.flush()
