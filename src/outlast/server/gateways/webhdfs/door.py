"""The WebHDFS protocol as an ASGI application: the calls and answers that a single run's server has, for many users.

Bytes stream in both directions; a connection that waits for its client holds no thread unless it uploads, and of
uploads each user has a few at a time, so that nobody's slow ones keep others out.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections import defaultdict
from urllib.parse import unquote, urlencode

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from outlast.server.accounts.people import Role
from outlast.server.gateways.webhdfs import bodies
from outlast.server.gateways.webhdfs.bodies import Arriving, TooSlow
from outlast.server.gateways.webhdfs.callers import Caller, delegated, find_caller
from outlast.server.gateways.webhdfs.guarded import GuardedFileSystem
from outlast.server.gateways.webhdfs.stores.naming import STORES, is_in_stores
from outlast.server.gateways.webhdfs.stores.opening import Stores, may_use, store_errors
from outlast.server.gateways.webhdfs.stores.shelves import shelf
from outlast.server.state import ServerState
from outlast.webhdfs import exchange, protocol
from outlast.webhdfs.exchange import Answer, Stream
from outlast.webhdfs.folder import FolderFileSystem
from outlast.webhdfs.protocol import PREFIX, Call
from outlast.webhdfs.refusals import Refusal, Torn

#: Uploads and calls of stores at the same time, of everybody and of one user; more of them wait.
MOST_UPLOADS, MOST_OF_ONE = 64, 16
#: A token that GETDELEGATIONTOKEN gives lasts so long.
DELEGATION_S = 86400.0
#: Where WebHDFS is looked for: by Hadoop's clients, and by OpenPAI's through its reverse proxy.
ALIASES = ("/webhdfs/v1", "/webhdfs/api/v1", "/webhdfs/webhdfs/v1")
AS = "/as/"

log = logging.getLogger(__name__)


class Door:
    """One folder, the server's stores beside it, and everybody who may come in."""

    def __init__(self, state: ServerState, files: FolderFileSystem, stores: Stores) -> None:
        self._state = state
        self._files = files
        self._stores = stores
        self._turns: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(MOST_OF_ONE))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except TooSlow as error:
            answer = exchange.refused(Refusal("IOException", str(error)))._replace(status=408)
        except Torn as error:
            log.debug("%s %s: %s", request.method, request.url.path, error)
            return  # nobody is there to hear it
        await _send(answer, request.method == "HEAD", receive, send)

    async def _answer(self, request: Request) -> Answer:
        prefix, target = _target(request)
        try:
            # A page in a browser must not reach files through its user; no client of HDFS sends this header.
            if "origin" in request.headers:
                raise Refusal("AccessControlException", "requests of web pages are refused")
            call = protocol.parse(request.method, target)
            if call is None:
                return Answer(404, b"not WebHDFS; paths begin with /webhdfs/v1\n", "text/plain")
            caller = await find_caller(request, self._state, call, prefix.removeprefix(AS))
            return await self._do(request, call._replace(user=caller.name), caller, prefix)
        except Refusal as refusal:
            return exchange.refused(refusal)
        except Torn:
            raise
        except HTTPException as error:  # the body is larger than any may be
            return exchange.refused(Refusal("IOException", error.detail))._replace(status=error.status_code)
        except Exception:
            log.exception("%s %s", request.method, request.url.path)
            return exchange.refused(Refusal("RuntimeException", "the server failed; its log says why"))

    async def _do(self, request: Request, call: Call, caller: Caller, prefix: str) -> Answer:
        if request.method not in ("GET", "HEAD"):
            caller.require_change()
        if call.operation == "GETDELEGATIONTOKEN" and caller.actor.id:
            return await run_in_threadpool(self._delegate, caller)
        origin = protocol.origin_of(request.url.scheme, request.headers.get("host", ""), "http://127.0.0.1") + prefix
        body = Arriving(request.scope, request.receive, asyncio.get_running_loop())
        work = functools.partial(self._work, call, caller, body, origin)
        try:
            if not (call.is_data and call.operation in ("CREATE", "APPEND")) and not is_in_stores(call.path):
                answer = await run_in_threadpool(work)
            else:
                async with self._turns[caller.actor.name]:
                    answer = await anyio.to_thread.run_sync(work, limiter=self._limiter)
        finally:
            await body.close()
        token = delegated(request)
        if token and answer.status == 307:  # some clients do not repeat it
            answer = answer._replace(location=f"{answer.location}&{urlencode({'delegation': token})}")
        return answer

    def _work(self, call: Call, caller: Caller, body: Arriving, origin: str) -> Answer:
        """One call in a worker thread. `/stores` means the server's stores, unless the tree has a folder of that name:
        what was there before there were any stays reachable until it is renamed."""
        are_mounted = self._files.glance(STORES) is None
        if are_mounted and is_in_stores(call.path):
            with store_errors(call.path):
                return exchange.answer(call, self._stores.view(call.path, caller.actor), body, origin)
        beside = shelf(STORES[1:]) if are_mounted and may_use(caller.actor) else None
        files = GuardedFileSystem(self._files, caller.who, self._is_account, beside)
        return exchange.answer(call, files, body, origin)

    @functools.cached_property
    def _limiter(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(MOST_UPLOADS)

    def _is_account(self, name: str) -> bool:
        return any(user.name == name for user in self._state.accounts.users.list())

    def _delegate(self, caller: Caller) -> Answer:
        """A token of one's own for clients that want one; an admin's proxying user gets none of theirs."""
        if caller.actor.role is Role.ADMIN and caller.name != caller.actor.name:
            raise Refusal("AccessControlException", f"{caller.actor.name} gets no token of {caller.name}")
        accounts = self._state.accounts
        text, key = accounts.keys.create("token", caller.actor.id, name="webhdfs", lasts_s=DELEGATION_S)
        accounts.audit.add(caller.actor.name, "token.create", key.id, user=caller.actor.name, name="webhdfs")
        return Answer(200, protocol.document("Token", {"urlString": text}), exchange.JSON)


def _target(request: Request) -> tuple[str, str]:
    """(what stands before `/webhdfs`, the rest as every client of HDFS writes it)."""
    path = request.scope.get("raw_path", b"").decode("latin-1").partition("?")[0]
    prefix = ""
    if path.startswith(AS):
        token, _, rest = path[len(AS) :].partition("/")
        prefix, path = AS + unquote(token), "/" + rest
    for alias in ALIASES:
        if path == alias or path.startswith(alias + "/"):
            path = PREFIX + path[len(alias) :]
            break
    return prefix, f"{path}?{request.url.query}"


async def _send(answer: Answer, is_head: bool, receive: Receive, send: Send) -> None:
    size = len(answer.body) if answer.stream is None else answer.stream.size_bytes
    headers = [(b"content-type", answer.kind.encode()), (b"content-length", str(size).encode())]
    if answer.location:
        headers.append((b"location", answer.location.encode()))
    if answer.status == 408:
        headers.append((b"connection", b"close"))
    try:
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        if answer.stream is not None and not is_head:
            await _send_stream(answer.stream, receive, send)
        await send({"type": "http.response.body", "body": b"" if is_head or answer.stream else answer.body})
    finally:
        if answer.stream is not None:
            answer.stream.opened.close()


async def _send_stream(stream: Stream, receive: Receive, send: Send) -> None:
    """All of it, or a connection that breaks: nothing cut off looks whole. Stops when the client is gone."""
    left, pieces = stream.size_bytes, stream.opened.pieces(stream.start, stream.size_bytes)
    leaving = asyncio.ensure_future(_until_gone(receive))
    try:
        while left and not leaving.done():
            piece = await run_in_threadpool(next, pieces, b"")
            if not piece:
                raise OSError("the file became shorter while it was sent")
            left -= len(piece)
            async with asyncio.timeout(bodies.PIECE_LIMIT_S):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
    finally:
        leaving.cancel()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
