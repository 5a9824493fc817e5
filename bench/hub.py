"""The hub beside nginx and `git daemon`: `python -m bench.hub --size-mib 64 --files 500` for a quick look.

Large files go up and down with curl, the same client for both servers; clones are made with git. Both take turns, and
everything lies in one folder, in memory where there is room.
"""

from __future__ import annotations

import argparse
import contextlib
import getpass
import hashlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.common import Result, timed

ROUNDS = 5
_INSTALLER = Path(__file__).parents[1] / "tools" / "install-system-packages"
_NGINX = """
user {user}; daemon off; pid {folder}/nginx.pid; error_log stderr crit; worker_processes 1;
events {{ worker_connections 64; }}
http {{
  access_log off; client_max_body_size 0; sendfile on; client_body_temp_path {folder}/body;
  server {{ listen 127.0.0.1:{port}; root {folder}/www; location / {{ dav_methods PUT; create_full_put_path on; }} }}
}}
"""


def measure(size_bytes: int = 1 << 30, files: int = 5000, rounds: int = ROUNDS) -> list[Result]:
    """LFS against nginx, clones against `git daemon`; what is not installed is left out."""
    memory = Path("/dev/shm")
    room = memory.is_dir() and shutil.disk_usage(memory).free > 6 * size_bytes
    with tempfile.TemporaryDirectory(prefix="outlast-bench-", dir=memory if room else None) as folder:
        place = Path(folder)
        with _hub(place) as (url, token):
            counts = sorted({min(1000, files), files})
            clones = [_clones(place, url, token, count, rounds) for count in counts]
            return [*_large(place, url, token, size_bytes, rounds), *clones]


def _large(place: Path, url: str, token: str, size_bytes: int, rounds: int) -> Iterator[Result]:
    if _find_nginx() is None:
        print("  nginx is not installed: LFS is not compared")
        return
    sources = [_source(place / f"source-{number}", size_bytes) for number in range(rounds)]
    back = place / "back"
    with _nginx(place) as peer:
        times: dict[str, list[float]] = {"up": [], "nginx up": [], "down": [], "nginx down": []}
        for number, (source, oid) in enumerate(sources):
            address = f"{url}/bench/model.git/info/lfs/objects/{oid}/{size_bytes}"
            theirs = f"{peer}/{number}"
            times["up"].append(_curl(address, token, "--upload-file", str(source)))
            times["nginx up"].append(_curl(theirs, "", "--upload-file", str(source)))
            times["down"].append(_curl(address, token, "--output", str(back)))
            times["nginx down"].append(_curl(theirs, "", "--output", str(back)))
    mid = {name: statistics.median(values) for name, values in times.items()}
    for way in ("up", "down"):
        share = mid[f"nginx {way}"] / mid[way]
        name = f"hub: LFS {way}load of {size_bytes >> 20} MiB, beside nginx"
        peers = {"nginx s": mid[f"nginx {way}"], "outlast s": mid[way]}
        yield Result(name, share, "of nginx's speed", "at least 0.8", share >= 0.8, peers, "medians; hashed on arrival")


def _clones(place: Path, url: str, token: str, files: int, rounds: int) -> Result:
    """One repository, twice: pushed to the hub, and the hub's own folder behind `git daemon`."""
    source, repository = place / f"many-{files}", f"bench/data-{files}"
    _make_repository(place, repository)
    source.mkdir()
    for number in range(files):
        target = source / f"{number % 50}" / f"{number}.txt"
        target.parent.mkdir(exist_ok=True)
        target.write_text(f"sample {number}\n" * 20)
    own = url.replace("://", f"://bench:{token}@")
    for words in (
        ["init", "-q", "-b", "main"],
        ["add", "-A"],
        ["commit", "-qm", "x"],
        ["push", "-q", f"{own}/{repository}.git", "main"],
    ):
        subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@b", *words], cwd=source, check=True)
    port = _free_port()
    base = place / "home" / "hub" / repository
    daemon = subprocess.Popen(
        ["git", "daemon", "--export-all", f"--base-path={base}", f"--port={port}", "--listen=127.0.0.1", str(base)],
        stderr=subprocess.DEVNULL,
    )
    ours, theirs = [], []
    try:
        _await(port)
        for _ in range(rounds):
            ours.append(_clone(f"{own}/{repository}.git", place / "clone"))
            theirs.append(_clone(f"git://127.0.0.1:{port}/repository.git", place / "clone"))
    finally:
        daemon.terminate()
        daemon.wait()
    ratio = statistics.median(ours) / statistics.median(theirs)
    peers = {"git daemon s": statistics.median(theirs), "outlast s": statistics.median(ours)}
    name = f"hub: clone of {files} small files, beside git daemon"
    return Result(name, ratio, "times its time", "at most 1.3", ratio <= 1.3, peers, "medians of alternating clones")


@contextlib.contextmanager
def _hub(place: Path) -> Iterator[tuple[str, str]]:
    """A server of its own with one user and a repository for large files."""
    from outlast.server.accounts.book import Accounts
    from outlast.server.accounts.people import Role
    from outlast.server.database import Database
    from outlast.settings import Settings

    environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
    environ["OUTLAST_HOME"] = str(place / "home")
    settings = Settings.load(environ)
    _make_repository(place, "bench/model")
    with contextlib.closing(Database(settings.database)) as database:
        accounts = Accounts(database)
        token = accounts.keys.create("token", accounts.users.add("bench", Role.MEMBER).id)[0]
    port = _free_port()
    command = [sys.executable, "-m", "outlast.cli.entry", "serve", "--port", str(port)]
    server = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL)
    try:
        _await(port)
        yield f"http://127.0.0.1:{port}", token
    finally:
        server.terminate()
        server.wait()


def _make_repository(place: Path, path: str) -> None:
    from outlast.model.visitor import Visitor
    from outlast.operations.hubs import open_hub
    from outlast.settings import Settings

    settings = Settings.load({"OUTLAST_HOME": str(place / "home")})
    open_hub(settings).create(Visitor("bench"), path, "model")


def _find_nginx() -> str | None:
    """Debian's nginx, installed when that is possible; it lies where ordinary users do not look."""
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin"))
    if shutil.which("nginx", path=path) is None:
        subprocess.run([str(_INSTALLER), "bench"], check=False)
    return shutil.which("nginx", path=path)


@contextlib.contextmanager
def _nginx(place: Path) -> Iterator[str]:
    port = _free_port()
    folder = place / "nginx"
    (folder / "www").mkdir(parents=True)
    folder.chmod(0o755)
    (folder / "nginx.conf").write_text(_NGINX.format(folder=folder, port=port, user=getpass.getuser()))
    server = subprocess.Popen([_find_nginx() or "nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)])
    try:
        _await(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _source(path: Path, size_bytes: int) -> tuple[Path, str]:
    digest = hashlib.sha256()
    with path.open("wb") as out:
        for _ in range(size_bytes >> 20):
            block = os.urandom(1 << 20)
            digest.update(block)
            out.write(block)
    return path, digest.hexdigest()


def _curl(address: str, token: str, *words: str) -> float:
    own = ["--header", f"Authorization: Bearer {token}"] if token else []
    return timed(["curl", "--silent", "--show-error", "--fail", *own, *words, address])


def _clone(address: str, into: Path) -> float:
    took = timed(["git", "clone", "-q", address, str(into)])
    shutil.rmtree(into)
    return took


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _await(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise SystemExit(f"nothing answers at port {port}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size-mib", type=int, default=1024)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    for result in measure(given.size_mib << 20, given.files, given.rounds):
        print(f"{result.name}: {result.value:.3g} {result.unit} (target: {result.target}); {result.peers}")
