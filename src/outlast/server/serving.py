"""Starting and stopping the server: everything is checked before the first request can come."""

from __future__ import annotations

import functools
import logging
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from outlast.errors import UsageError
from outlast.keeper.wake import ensure_keeper
from outlast.server.app import create_app
from outlast.server.auth import is_loopback
from outlast.server.backstage.company import Company, back_door
from outlast.server.backstage.parting import leave_with_parent
from outlast.server.intake import IntakeProtocol
from outlast.server.state import ServerState
from outlast.settings import Settings

#: Requests that are under way get so long to end; followers of a log come back by themselves.
_GRACE_S = 5
_BACKLOG = 2048


@dataclass(frozen=True)
class Serving:
    """Where and how to serve."""

    host: str = "127.0.0.1"
    port: int = 8700  # 0: any that is free
    processes: int = 1
    certificate: str | None = None  # files in PEM form: serve over TLS
    key: str | None = None


def serve(settings: Settings, serving: Serving, tell: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; then requests that are under way may end.

    Refuses to listen beyond loopback as long as there are no users: everybody would be admin.
    """
    _check_files(serving)
    state = ServerState.open(settings)
    listening: socket.socket | None = None
    try:
        has_users = state.accounts.users.exist()
        if not has_users and not is_loopback(serving.host):
            raise UsageError(
                f"listening on {serving.host} needs accounts, and there are none: everybody could do everything",
                hint="make the first one with: outlast user add NAME --role admin",
            )
        listening = _listen(serving.host, serving.port)
        address = _address(serving, listening)
        _tell_start(state, serving, address, has_users, tell)
        _run(settings, serving, state, listening)
        tell("stopped; runs go on without the server")
    finally:
        if listening is not None:
            listening.close()
        state.close()


def _tell_start(
    state: ServerState, serving: Serving, address: str, has_users: bool, tell: Callable[[str], None]
) -> None:
    state.accounts.note("address", address)
    state.accounts.share_out(state.settings)
    ensure_keeper(state.settings.home)  # runs that were open when the machine went down go on
    tell(f"serving {state.settings.home} on {address} (stop with Ctrl-C)")
    if not is_loopback(serving.host) and serving.certificate is None:
        tell("notice: without --cert passwords travel unencrypted; put a TLS proxy in front, or give --cert and --key")
    if not has_users:
        tell("no accounts yet: whoever can open this port on this machine is admin")
        link = f"{address}/welcome?code={state.accounts.make_link(None)}"
        tell(f"make the first account with this link, which works once: {link}")


def _run(settings: Settings, serving: Serving, state: ServerState, listening: socket.socket) -> None:
    # What each process reads; one process gets its state directly.
    os.environ["OUTLAST_HOME"] = str(settings.home)
    os.environ["OUTLAST_DATABASE"] = settings.database
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    # uvicorn raises the signal once more when it has stopped; that is how the caller would be ended too.
    before = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        if serving.processes > 1:
            with back_door() as (back, address):
                config = _configure(serving, functools.partial(app_of_child, address), factory=True)
                Company(config, listening, back).run()
        else:
            uvicorn.Server(_configure(serving, create_app(state, console=True))).run([listening])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _configure(serving: Serving, app: Callable[..., Any], *, factory: bool = False) -> uvicorn.Config:
    return uvicorn.Config(
        app, factory=factory, workers=serving.processes, log_config=None, access_log=False, server_header=False,
        timeout_graceful_shutdown=_GRACE_S, timeout_worker_healthcheck=30, backlog=_BACKLOG,
        ssl_certfile=serving.certificate, ssl_keyfile=serving.key, http=IntakeProtocol,
    )  # fmt: skip


def app_of_child(pages: str) -> FastAPI:
    """The application of one of several processes; `pages` is where the process listens that makes them."""
    leave_with_parent()
    return create_app(ServerState.open(Settings.load(os.environ)), pages=pages)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, OverflowError) as error:
        words = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot listen on {host}: {words}", hint="give an address of this machine") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        words = (error.strerror or str(error)).lower()
        raise UsageError(
            f"cannot listen on {host} port {port}: {words}", hint="choose another one with --port; 0 means any"
        ) from None
    listening.set_inheritable(True)
    return listening


def _address(serving: Serving, listening: socket.socket) -> str:
    host = f"[{serving.host}]" if ":" in serving.host else serving.host
    if serving.host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    scheme = "http" if serving.certificate is None else "https"
    return f"{scheme}://{host}:{listening.getsockname()[1]}"


def _check_files(serving: Serving) -> None:
    if (serving.certificate is None) != (serving.key is None):
        raise UsageError("a certificate and its key belong together", hint="give both --cert and --key")
    for path in filter(None, (serving.certificate, serving.key)):
        if not Path(path).is_file():
            raise UsageError(f"no such file: {path}", hint="--cert and --key take files in PEM form")
