"""WebHDFS at the server's door against nginx, which takes and gives the same file on the same machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.common import Result, home
from bench.serving import _server

SIZE_BYTES = 1 << 30
ROUNDS = 3
TARGET = 0.8
_CONFIG = """
daemon off; worker_processes auto; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; sendfile on; tcp_nopush on; client_max_body_size 0;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{ listen 127.0.0.1:{port}; root {folder}/files; location / {{ dav_methods PUT; create_full_put_path on; }} }}
}}
"""


def measure(size_bytes: int = SIZE_BYTES) -> list[Result]:
    """Megabytes per second of curl with both servers, in turns: what else the machine does meets them alike."""
    nginx = os.environ.get("NGINX") or shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if nginx is None:
        print("  nginx is missing; install it with: apt-get install nginx, or name it in NGINX")
        return []
    # Beside the homes of the other measurements: on the disk, where uploads go in real life.
    with home() as (_, environ), tempfile.TemporaryDirectory(prefix="outlast-bench-") as name:
        folder = Path(name)
        file = folder / "file"
        file.write_bytes(os.urandom(1 << 20) * (size_bytes >> 20))
        with _server(environ) as (port, _), _nginx(nginx, folder) as peer:
            ours, theirs = f"http://127.0.0.1:{port}/webhdfs/v1/bench", f"http://127.0.0.1:{peer}/bench"
            ups = _turns(lambda: _upload(_second_step(ours), file), lambda: _upload(theirs, file))
            downs = _turns(lambda: _download(f"{ours}?op=OPEN"), lambda: _download(theirs))
    shown = f"{size_bytes >> 20} MiB"
    return [_result(f"WebHDFS: upload of {shown}", *ups), _result(f"WebHDFS: download of {shown}", *downs)]


def _turns(ours: Callable[[], float], theirs: Callable[[], float]) -> tuple[float, float]:
    pairs = [(ours(), theirs()) for _ in range(ROUNDS + 1)][1:]  # the first warms both up
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def _result(name: str, ours: float, theirs: float) -> Result:
    ratio = ours / theirs
    return Result(name, ratio, "of nginx", f"at least {TARGET}", ratio >= TARGET, {"MB/s": ours, "nginx MB/s": theirs})


def _second_step(address: str) -> str:
    command = ["curl", "-sS", "-o", os.devnull, "-w", "%{redirect_url}", "-X", "PUT"]
    asked = subprocess.run(
        [*command, f"{address}?op=CREATE&overwrite=true"], capture_output=True, text=True, check=True
    )
    return asked.stdout


def _upload(address: str, file: Path) -> float:
    return _curl("%{speed_upload}", "-T", str(file), address)


def _download(address: str) -> float:
    return _curl("%{speed_download}", "-L", address)


def _curl(figure: str, *arguments: str) -> float:
    """Megabytes per second, of a transfer that went well."""
    command = ["curl", "-sS", "--fail", "-o", os.devnull, "-w", figure, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout) / 1e6


@contextlib.contextmanager
def _nginx(program: str, folder: Path) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    (folder / "files").mkdir()
    folder.chmod(0o777)  # its workers are another user's when root starts it
    (folder / "files").chmod(0o777)
    config = folder / "nginx.conf"
    config.write_text(_CONFIG.format(folder=folder, port=port))
    process = subprocess.Popen([program, "-p", str(folder), "-c", str(config)], stderr=subprocess.DEVNULL)
    try:
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            assert process.poll() is None, (folder / "error.log").read_text()
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()
