"""The server as a process: `python -m outlast.webhdfs --root FOLDER`. Ends with SIGTERM or Ctrl-C."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import sys
from pathlib import Path

from outlast.webhdfs.folder import FolderFileSystem
from outlast.webhdfs.notes import Notes
from outlast.webhdfs.server import WebHdfsServer

DEFAULT_PORT = 50070


def main(arguments: list[str] | None = None) -> int:
    """Serve until told to end. Exit codes: 0 done, 2 the folder or the port cannot be used."""
    given = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    ending = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ending)  # before any thread: they inherit it, and only `sigwait` gets them
    with contextlib.ExitStack() as held:
        try:
            files = FolderFileSystem(given.root, Notes(given.notes))
            held.callback(files.close)
            server = WebHdfsServer(lambda user, _said_by: files.as_user(user), given.port, given.host)
        except OSError as error:
            sys.stderr.write(_complaint(error, given) + "\n")
            return 2
        held.callback(server.stop)
        server.start()
        sys.stdout.write(f"{given.root} is served as WebHDFS at {server.url}; end with Ctrl-C\n")
        sys.stdout.flush()
        if given.ready is not None:
            os.write(given.ready, f"{server.port}\n".encode())
            os.close(given.ready)
        signal.sigwait(ending)
    return 0


def _complaint(error: OSError, given: argparse.Namespace) -> str:
    reason = (error.strerror or str(error)).lower()
    if not given.root.is_dir():
        return f"no folder {given.root} to serve; make it with: mkdir -p {given.root}"
    if isinstance(error.filename, str) and error.filename:
        return f"cannot serve {given.root}: {error.filename}: {reason}"
    return f"cannot listen on {given.host}:{given.port} ({reason}); choose another port with --port"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m outlast.webhdfs", description="Serve a folder as WebHDFS")
    parser.add_argument("--root", type=Path, required=True, help="the folder to serve")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="0 takes any free one (default: %(default)s)")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument("--notes", type=Path, help="keep owners, permissions and the like in this file; else in memory")
    parser.add_argument("--ready", type=int, help=argparse.SUPPRESS)  # a pipe to write the port to
    return parser


if __name__ == "__main__":
    sys.exit(main())
