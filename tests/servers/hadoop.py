"""A real HDFS for tests: a NameNode and a DataNode on loopback, one pair for all test processes of a session.

def test_something(hadoop):
    store = HdfsStore(hadoop.access, hadoop.authority, hadoop.folder())
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import http.client
import json
import os
import secrets
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

import pytest

from outlast.inside.stores.access import Access
from servers.hadoop_parts import cache_folder, class_path, locked
from servers.ports import free_ports

#: Whoever starts the NameNode is its superuser; other names are ordinary users.
SUPERUSER = "keeper"
BLOCK_BYTES = 1 << 20
_START_LIMIT_S = 120.0
_OPENED = ("java.lang", "java.util", "java.net", "java.nio", "java.io", "java.security", "sun.nio.ch")
_KERBEROS = "java.security.jgss/sun.security.krb5=ALL-UNNAMED"
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


class Hadoop:
    """One running HDFS. `authority` is host:port of the NameNode's HTTP door."""

    def __init__(self, folder: Path, authority: str) -> None:
        self.authority = authority
        self._folder = folder

    @property
    def url(self) -> str:
        return f"http://{self.authority}"

    @property
    def access(self) -> Access:
        return self.access_of(SUPERUSER)

    def access_of(self, user: str) -> Access:
        return Access("hdfs", user=user)

    def folder(self) -> str:
        """A path that nobody uses; it does not exist yet."""
        return f"/tests/{secrets.token_hex(6)}"

    @functools.cached_property
    def data_node(self) -> str:
        """host:port of the DataNode's HTTP door, as the NameNode sends clients there."""
        connection = http.client.HTTPConnection(self.authority, timeout=150)
        connection.request("PUT", "/webhdfs/v1/tests/any?op=CREATE&user.name=" + SUPERUSER)
        location = connection.getresponse().headers["Location"]
        connection.close()
        return urlsplit(location).netloc

    def administer(self, *arguments: str) -> None:
        """Run `hdfs dfsadmin`: what WebHDFS itself cannot do. Takes a JVM's start."""
        subprocess.run(
            java(self._folder, "org.apache.hadoop.hdfs.tools.DFSAdmin", *arguments),
            env=_environ(), check=True, capture_output=True, timeout=_START_LIMIT_S,
        )  # fmt: skip


class Daemons:
    """The two processes, with all their files below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: list[subprocess.Popen[bytes]] = []
        rpc_port, http_port = free_ports(2)
        self.hadoop = Hadoop(folder, f"127.0.0.1:{http_port}")
        _write_settings(folder, f"127.0.0.1:{rpc_port}", self.hadoop.authority)

    def start(self) -> None:
        try:
            self._format()
            self._launch("namenode", "org.apache.hadoop.hdfs.server.namenode.NameNode")
            self._launch("datanode", "org.apache.hadoop.hdfs.server.datanode.DataNode")
            self._wait()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _format(self) -> None:
        """An empty file system is made once and then copied: that saves a JVM's start for every session."""
        made = cache_folder() / "empty-name-folder"
        # A lock of its own: the program that formats waits for the one on the jars, which it may have to fetch.
        with locked(cache_folder() / "format.lock"):
            if not made.exists():
                self._launch("format", "org.apache.hadoop.hdfs.server.namenode.NameNode", "-format", "-force")
                process = self._running.pop()
                if process.wait(timeout=_START_LIMIT_S):
                    raise RuntimeError("HDFS could not be formatted:\n" + self._last_words("format"))
                (self.folder / "name").rename(made)
        shutil.copytree(made, self.folder / "name")

    def _launch(self, name: str, main: str, *arguments: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self._running.append(
                subprocess.Popen(
                    java(self.folder, main, *arguments),
                    cwd=self.folder, env=_environ(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    preexec_fn=_end_with_parent,  # noqa: PLW1509 - one call into a library that is loaded already
                )
            )  # fmt: skip

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_LIMIT_S
        while time.monotonic() < deadline:
            if any(process.poll() is not None for process in self._running):
                break
            if _live_data_nodes(self.hadoop.url) == 1:
                return
            time.sleep(0.1)
        words = "\n".join(self._last_words(name) for name in ("namenode", "datanode"))
        raise RuntimeError("HDFS did not start:\n" + words)

    def _last_words(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return "\n".join(path.read_text("utf-8", "replace").splitlines()[-20:]) if path.exists() else ""


@pytest.fixture(scope="session")
def hadoop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hadoop]:
    """The HDFS of this session. Its first user starts it, and ends it when the other processes need it no more."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    address = shared / "hadoop.address"
    with (shared / "hadoop.lock").open("ab") as lock:
        daemons = _join(lock, address, shared / "hadoop")
        yield daemons.hadoop if daemons else Hadoop(shared / "hadoop", address.read_text())
        if daemons:
            fcntl.flock(lock, fcntl.LOCK_EX)  # granted when nobody holds it shared any more
            address.unlink()
            daemons.stop()


def _join(lock: BinaryIO, address: Path, folder: Path) -> Daemons | None:
    """Hold the lock shared while HDFS runs; returns the daemons when it was us who started them.

    Only who finds none running asks for the lock alone: the others hold it to the end of their session.
    """
    while True:
        fcntl.flock(lock, fcntl.LOCK_SH)
        if address.exists():
            return None
        fcntl.flock(lock, fcntl.LOCK_UN)
        fcntl.flock(lock, fcntl.LOCK_EX)
        daemons = None
        if not address.exists():
            folder.mkdir()
            daemons = Daemons(folder)
            daemons.start()
            address.write_text(daemons.hadoop.authority)
        # Changing from alone to shared may let somebody else in between, who may even stop what we saw.
        fcntl.flock(lock, fcntl.LOCK_SH)
        if address.exists():
            return daemons


def _write_settings(folder: Path, rpc: str, http: str) -> None:
    settings = {
        "fs.defaultFS": f"hdfs://{rpc}",
        "dfs.namenode.http-address": http,
        "dfs.namenode.name.dir": (folder / "name").as_uri(),
        "dfs.datanode.data.dir": (folder / "data").as_uri(),
        "dfs.datanode.address": "127.0.0.1:0",
        "dfs.datanode.http.address": "127.0.0.1:0",
        "dfs.datanode.ipc.address": "127.0.0.1:0",
        "dfs.datanode.hostname": "127.0.0.1",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.replication": "1",
        # Small, so that a file of a few MiB already spans several blocks.
        "dfs.blocksize": str(BLOCK_BYTES),
        "dfs.namenode.fs-limits.min-block-size": "1024",
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.edits.noeditlogchannelflush": "true",
        "dfs.datanode.scan.period.hours": "-1",
        "dfs.datanode.du.reserved": "0",
        "hadoop.tmp.dir": str(folder / "tmp"),
    }
    properties = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>\n" for name, value in settings.items()
    )
    (folder / "conf").mkdir()
    for name in ("core-site.xml", "hdfs-site.xml"):
        (folder / "conf" / name).write_text(f"<configuration>\n{properties}</configuration>\n")
    (folder / "conf" / "log4j.properties").write_text(
        "log4j.rootLogger=WARN,console\nlog4j.appender.console=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.console.layout=org.apache.log4j.PatternLayout\n"
        "log4j.appender.console.layout.ConversionPattern=%d %p %c: %m%n\n"
    )
    # The servers refuse to start without these pages, which the jars do not carry.
    for page in ("hdfs", "datanode"):
        place = folder / "stub" / "webapps" / page / "WEB-INF"
        place.mkdir(parents=True)
        (place / "web.xml").write_text("<web-app/>\n")


def java(folder: Path, main: str, *arguments: str) -> list[str]:
    """The command that runs a class of Hadoop: small, quick to start, and at peace with Java 17."""
    return [
        "java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
        "-Djava.net.preferIPv4Stack=true",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
        f"--add-opens={_KERBEROS}", f"--add-exports={_KERBEROS}",
        "-cp", ":".join([str(folder / "conf"), str(folder / "stub"), *class_path()]), main, *arguments,
    ]  # fmt: skip


def _environ() -> dict[str, str]:
    return {**os.environ, "HADOOP_USER_NAME": SUPERUSER}


def _live_data_nodes(url: str) -> int:
    try:
        with urllib.request.urlopen(
            f"{url}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState", timeout=5
        ) as answer:
            return int(json.load(answer)["beans"][0]["NumLiveDataNodes"])
    except (OSError, ValueError, LookupError):
        return 0


def _end_with_parent() -> None:
    """A test process that is killed takes its servers with it."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
