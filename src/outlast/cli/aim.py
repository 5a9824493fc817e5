"""`outlast aim`: Aim's own page over the repository that a run kept."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import IO, Annotated
from urllib.parse import urlsplit

import typer

from outlast.cli.command import EXIT_CODES, new_app, open_client, verb
from outlast.cli.interrupt import Interrupts
from outlast.cli.options import RunRef
from outlast.errors import PlatformError

app = new_app()

#: Aim needs some seconds to start; much longer means that it will not.
_PATIENCE_S = 90.0
_GRACE_S = 5.0


@verb(
    app,
    "aim",
    about="Fetches the Aim repository that the run's script wrote (start the run with --aim) and opens Aim's page over "
    "it on this machine alone, until Ctrl-C. While the run goes on it is the repository of the last checkpoint.",
    examples=[
        ("outlast aim mnist", "open the page"),
        ("outlast aim mnist --to ./aim-mnist", "only bring the repository there; needs no Aim"),
    ],
    exits={code: EXIT_CODES[code] for code in (0, 2, 10, 12)},
)
def aim(
    run: RunRef,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FOLDER", help="Bring the repository to this folder and open nothing",
                     show_default=False),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="Port of the page (default: a free one)",
                                 show_default=False)
    ] = None,
) -> int:  # fmt: skip
    from outlast.cli.waiting import Waiting
    from outlast.operations.aim import aim_command, start_aim

    client = open_client()
    if to is not None:
        path = client.runs.aim(run, Path(to))
        print(f"brought to {to}; open it with: aim up --repo {path}")
        return 0
    command = aim_command()
    with Waiting("fetching the repository"):
        path = client.runs.aim(run)
    with tempfile.TemporaryFile() as said, Interrupts() as interrupts:
        process, address = start_aim(command, path, port, said)
        try:
            with Waiting("Aim is starting"):
                is_open = _wait_until_open(process, said, address, interrupts)
            if is_open:
                print(f"Aim shows {run} at {address}; Ctrl-C ends it", flush=True)
                while process.poll() is None and not interrupts.wait(0.5):
                    pass
        finally:
            _end(process)
    return 0


def _wait_until_open(process: subprocess.Popen[bytes], said: IO[bytes], address: str, interrupts: Interrupts) -> bool:
    """True once the page answers, False when the user has had enough."""
    port = urlsplit(address).port or 0
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines() or ["it said nothing"]
            raise PlatformError(f"Aim ended with exit code {process.returncode}: {lines[-1]}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
            return True
        if interrupts.wait(0.1):
            return False
    raise PlatformError(f"Aim does not answer at {address}", hint="try it by hand: aim up --repo PATH")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Aim's page is a group of processes; all of them go."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
