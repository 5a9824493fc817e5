"""An S3 server that keeps nothing, so that a benchmark measures clients: `python -m bench.nulls3 --port 9000 small`.

It checks every signature, drops what is sent to it in the kernel, and serves any size from one block of memory. What
was sent is remembered by name, size and tag (`HEAD` answers), and not listed. A few processes share the connections,
dealt out in turn.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import multiprocessing
import os
import select
import signal
import socket
import ssl
import subprocess
import time
from pathlib import Path

from bench.answers import Answers
from bench.connections import Connection, TlsConnection
from bench.datasets import DATASETS, Block, Dataset
from bench.shelf import Counts, Shelf

KEY, SECRET = "BENCHKEY", "benchsecret"
_PR_SET_PDEATHSIG = 1


class NullS3:
    """A running server; leaving the context ends it."""

    def __init__(
        self, datasets: dict[str, Dataset], block: Block, workers: int = 2, tls: Path | None = None, port: int = 0
    ) -> None:
        """`tls`: a folder for a certificate made on the spot."""
        self.key, self.secret, self.region = KEY, SECRET, "us-east-1"
        self._shelf = Shelf(workers)
        self._answers = (datasets, self._shelf, self.key, self.secret)
        self._block = block
        self._tls: ssl.SSLContext | None = None
        self.ca_file = ""
        if tls is not None:
            self.ca_file = str(make_certificate(tls))
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(self.ca_file, tls / "key.pem")
        self._listener = socket.create_server(("127.0.0.1", port), backlog=1024)
        self._listener.setblocking(False)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._listener.getsockname()[1]}"
        doors = [socket.socketpair() for _ in range(workers)]
        fork = multiprocessing.get_context("fork")
        self._processes = [
            fork.Process(target=self._run, args=(number, doors), daemon=True) for number in range(workers)
        ]
        for process in self._processes:
            process.start()
        self._listener.close()
        for near, far in doors:
            near.close()
            far.close()

    @property
    def counts(self) -> Counts:
        return self._shelf.counts

    def cpu_s(self) -> float:
        """Processor seconds of its processes until now."""
        ticks = 0
        for process in self._processes:
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.join()

    def __enter__(self) -> NullS3:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, number: int, doors: list[tuple[socket.socket, socket.socket]]) -> None:
        """One process: the first takes connections in and deals them out, itself included."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # A benchmark that is killed takes its servers with it.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        self._shelf.own(number)
        answers = Answers(*self._answers)
        poll = select.epoll()
        connections: dict[int, Connection] = {}
        door = self._listener if number == 0 else doors[number][1]
        poll.register(door, select.EPOLLIN)
        turn = 0
        while True:
            for fd, _ in poll.poll():
                connection = connections.get(fd)
                if connection is not None:
                    _serve(poll, connections, connection, fd)
                    continue
                if number:
                    _, fds, _, _ = socket.recv_fds(door, 1, 1)
                    taken = socket.socket(fileno=fds[0])
                else:
                    taken, _ = door.accept()
                    turn = (turn + 1) % len(doors)
                    if turn:
                        socket.send_fds(doors[turn][0], [b"x"], [taken.fileno()])
                        taken.close()
                        continue
                made = self._connection(taken, answers)
                connections[made.sock.fileno()] = made
                poll.register(made.sock, select.EPOLLIN)

    def _connection(self, taken: socket.socket, answers: Answers) -> Connection:
        if self._tls is None:
            return Connection(taken, answers, self._block)
        taken.setblocking(False)
        wrapped = self._tls.wrap_socket(taken, server_side=True, do_handshake_on_connect=False)
        return TlsConnection(wrapped, answers, self._block)


def _serve(poll: select.epoll, connections: dict[int, Connection], connection: Connection, fd: int) -> None:
    was_sending = connection.is_sending
    try:
        if was_sending:
            connection.writable()
            goes_on = True
        else:
            goes_on = connection.readable()
    except OSError:
        goes_on = False
    if not goes_on:
        poll.unregister(fd)
        del connections[fd]
        connection.sock.close()
    elif connection.is_sending != was_sending:
        poll.modify(fd, select.EPOLLOUT if connection.is_sending else select.EPOLLIN)


def make_certificate(folder: Path) -> Path:
    """A certificate for 127.0.0.1 signed by itself; its key lies beside it."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return folder / "cert.pem"


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve datasets, each as the bucket of its name, until interrupted.")
    parser.add_argument("datasets", nargs="*", choices=[[], *DATASETS], help="what to show (default: nothing)")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tls", type=Path, help="speak TLS; folder for the certificate")
    options = parser.parse_args()
    block = Block()
    datasets = {name: DATASETS[name](block) for name in options.datasets}
    with NullS3(datasets, block, options.workers, options.tls, options.port) as server:
        print(f"{server.url} key {server.key} secret {server.secret} region {server.region}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                time.sleep(3600)
        print(server.counts)


if __name__ == "__main__":
    main()
