"""The Aim processes of this server: one for each training that somebody looks at, ended when nobody does any more."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

import httpx
from starlette.concurrency import run_in_threadpool

from outlast.errors import OutlastError, PlatformError
from outlast.operations.aim import fetch_repository
from outlast.server.aim.process import aim_in_sandbox, environ
from outlast.settings import Settings

#: Each takes some 200 MB.
MOST_VIEWERS = 4
IDLE_S = 600.0
#: Aim needs some seconds to start, a minute on a busy machine.
_PATIENCE_S = 180.0
_LOOK_S = 0.1
_GRACE_S = 5.0
_PREFIX = "outlast-aim-"


class Viewer:
    """Aim over the repository of one run, as it was when it was opened."""

    def __init__(self, settings: Settings, run: str, base: str) -> None:
        self.run = run
        self.base = base
        self.is_open = False
        self.failure: OutlastError | None = None
        self.used_at = time.monotonic()
        self._settings = settings
        # Not in the home: the address of a socket has at most a hundred letters.
        self._folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self.socket = self._folder / "door" / "aim"
        self._door = httpx.AsyncHTTPTransport(uds=str(self.socket))
        self._living = asyncio.create_task(self._live())

    @property
    def is_over(self) -> bool:
        return self._living.done()

    async def ask(self, method: str, path: bytes, headers: dict[str, str], body: bytes) -> httpx.Response:
        """Aim's answer, whose body is still to come. Without a client's memory: no cookies, no redirects."""
        extensions = {"timeout": httpx.Timeout(_PATIENCE_S).as_dict()}
        address = httpx.URL("http://aim", raw_path=path)
        request = httpx.Request(method, address, headers=headers, content=body, extensions=extensions)
        try:
            return await self._door.handle_async_request(request)
        except httpx.HTTPError as error:
            raise PlatformError(f"Aim does not answer: {error}", hint="open it again") from None

    def end(self) -> None:
        self._living.cancel()

    async def _live(self) -> None:
        try:
            self.socket.parent.mkdir()
            repository = self._folder / "repository"
            await run_in_threadpool(fetch_repository, self._settings, self.run, repository)
            await self._serve(repository)
        except OutlastError as error:
            self.failure = error
        except OSError as error:
            self.failure = PlatformError(f"Aim cannot be started: {error.strerror or error}")
        finally:
            self.is_open = False
            await self._door.aclose()
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _serve(self, repository: Path) -> None:
        hidden = [self._settings.home, Path.home()]
        command = aim_in_sandbox(self._folder, repository, self.socket, self.base, hidden)
        with (self._folder / "said").open("w+b") as said:
            # Started by the loop's own thread: the sandbox ends with the thread that it was started by.
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.DEVNULL, stdout=said, stderr=said, env=environ(),
                start_new_session=True,
            )  # fmt: skip
            try:
                await self._wait_until_open(process)
                self.is_open = True
                while process.returncode is None and time.monotonic() - self.used_at < IDLE_S:
                    await asyncio.sleep(_LOOK_S * 10)
            finally:
                await _end(process)

    async def _wait_until_open(self, process: asyncio.subprocess.Process) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            if process.returncode is not None:
                lines = (self._folder / "said").read_text(errors="replace").strip().splitlines() or ["it said nothing"]
                raise PlatformError(f"Aim ended with exit code {process.returncode}: {lines[-1][:300]}")
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_unix_connection(str(self.socket))
                writer.close()
                return
            await asyncio.sleep(_LOOK_S)
        raise PlatformError("Aim does not answer", hint="try it by hand: outlast aim RUN")


class Viewers:
    """Those that are open in this process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._known: dict[str, Viewer] = {}
        _sweep()

    def find(self, run: str, base: str) -> Viewer:
        """The viewer of a run, begun when there is none. One that failed says so once, then it is begun anew."""
        viewer = self._known.get(run)
        if viewer is None or (viewer.is_over and viewer.failure is None):
            self._make_room()
            viewer = self._known[run] = Viewer(self._settings, run, base)
        elif viewer.is_over:
            del self._known[run]
        viewer.used_at = time.monotonic()
        return viewer

    def _make_room(self) -> None:
        """Those that are over go; of the others the one that was not looked at for longest, if there are too many."""
        self._known = {run: each for run, each in self._known.items() if not each.is_over}
        while len(self._known) >= MOST_VIEWERS:
            longest = min(self._known.values(), key=lambda each: each.used_at)
            longest.end()
            del self._known[longest.run]


def _sweep() -> None:
    """Remove what servers left behind that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        pid = folder.name[len(_PREFIX) :].partition("-")[0]
        if pid.isdecimal() and not Path("/proc", pid).exists() and folder.stat().st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Aim is several processes in one sandbox; all of them go with it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE_S)
