"""A second, stricter S3 server for the long tests: Ceph's gateway on loopback, with everything it keeps in memory.

def test_something(ceph):
    client = S3Client(ceph.access, ceph.bucket())
"""

from __future__ import annotations

import functools
import os
import secrets
import shutil
import subprocess
import tempfile
import time
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import pytest

from outlast.inside.stores.access import Access
from servers.ports import free_ports
from servers.seaweed import REGION, end_with_parent, make_certificate, make_up_keys

#: Program -> Debian package; only the long tests need them.
_PROGRAMS = {"ceph": "ceph-common", "ceph-mon": "ceph-mon", "ceph-osd": "ceph-osd", "radosgw": "radosgw"}
_INSTALLER = Path(__file__).parents[2] / "tools" / "install-system-packages"
_START_LIMIT_S = 120.0
_MEMORY_BYTES = 6 << 30


class Ceph:
    """A monitor, one object daemon and the gateway; tests of `Seaweed` work with it, too.

    `endpoint` speaks plain HTTP, `tls_endpoint` the same over TLS with the certificate in `ca_file`. `access` owns the
    buckets, `stranger` is another user.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key, self.secret = make_up_keys()
        self._stranger_keys = make_up_keys()
        self._running: list[subprocess.Popen[bytes]] = []
        self.ca_file = str(folder / "cert.pem")
        make_certificate(folder)
        monitor, older, plain, tls = free_ports(4)
        self.endpoint = f"http://127.0.0.1:{plain}"
        self.tls_endpoint = f"https://127.0.0.1:{tls}"
        self._monitor = f"[v2:127.0.0.1:{monitor},v1:127.0.0.1:{older}]"
        try:
            self._start(f"beast endpoint=127.0.0.1:{plain} ssl_endpoint=127.0.0.1:{tls} "
                        f"ssl_certificate={self.ca_file} ssl_private_key={folder / 'key.pem'}")  # fmt: skip
        except BaseException:
            self.stop()
            raise

    @property
    def access(self) -> Access:
        return Access("s3", self.endpoint, REGION, self.key, self.secret, path_style=True)

    @property
    def stranger(self) -> Access:
        return self.access._replace(key=self._stranger_keys[0], secret=self._stranger_keys[1])

    @functools.cached_property
    def boto(self) -> Any:
        """A boto3 client of it; the independent judge of what our client did."""
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3", endpoint_url=self.endpoint, region_name=REGION, aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
            # This release knows no CRC and refuses the chunked bodies that carry one.
            config=Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required"),
        )  # fmt: skip

    def bucket(self, prefix: str = "test") -> str:
        """A new, empty bucket."""
        name = f"{prefix}-{secrets.token_hex(5)}"
        self.boto.create_bucket(Bucket=name)
        return name

    def stop(self) -> None:
        if "boto" in vars(self):
            self.boto.close()
        for process in reversed(self._running):
            process.kill()
            process.wait()

    def _start(self, doors: str) -> None:
        cluster, daemon = str(uuid.uuid4()), str(uuid.uuid4())
        self._write_settings(cluster, doors)
        self._run("monmaptool", "--create", "--fsid", cluster, "--addv", "a", self._monitor, "monmap")
        self._run("ceph-mon", "--mkfs", "-i", "a", "--monmap", "monmap")
        self._launch("ceph-mon", "-i", "a")
        self._run("ceph", "--connect-timeout", "60", "osd", "new", daemon)
        self._run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", daemon)
        self._launch("ceph-osd", "-i", "0")
        for name, (key, secret) in {"owner": (self.key, self.secret), "stranger": self._stranger_keys}.items():
            self._run(
                "radosgw-admin", "user", "create", f"--uid={name}", f"--display-name={name}",
                f"--access-key={key}", f"--secret-key={secret}",
            )  # fmt: skip
        self._launch("radosgw", "-n", "client.admin")
        self._wait()

    def _write_settings(self, cluster: str, doors: str) -> None:
        for name in ("mon", "osd", "run"):
            (self.folder / name).mkdir()
        settings = {
            "fsid": cluster, "mon initial members": "a", "mon host": self._monitor, "public addr": "127.0.0.1",
            "auth cluster required": "none", "auth service required": "none", "auth client required": "none",
            # The gateway asks for an encrypted way to the monitor, which there is not without keys.
            "ms mon client mode": "crc",
            "mon data": self.folder / "mon", "osd data": self.folder / "osd", "run dir": self.folder / "run",
            "rgw data": self.folder / "run", "crash dir": self.folder / "run", "pid file": "",
            "admin socket": self.folder / "run" / "$name.$pid.asok", "log file": self.folder / "$name.log",
            "mon cluster log file": self.folder / "cluster.log",
            "osd objectstore": "memstore", "memstore device bytes": _MEMORY_BYTES,
            "osd pool default size": 1, "osd pool default min size": 1, "mon allow pool size one": "true",
            "osd pool default pg num": 4, "osd pool default pgp num": 4, "osd crush chooseleaf type": 0,
            # Decisions of a monitor that has nobody to agree with need not wait; starting takes half the time.
            "paxos propose interval": 0.05, "paxos min wait": 0.01,
            "rgw frontends": doors, "debug rgw": 0,
        }  # fmt: skip
        lines = [f"{name} = {value}" for name, value in settings.items()]
        (self.folder / "ceph.conf").write_text("\n".join(["[global]", *lines, ""]))

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [program, *self._settings(program), *arguments],
            cwd=self.folder, capture_output=True, text=True, timeout=_START_LIMIT_S, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{program} failed:\n{done.stdout[-1000:]}{done.stderr[-1000:]}")

    def _launch(self, program: str, *arguments: str) -> None:
        with (self.folder / f"{program}.out").open("wb") as output:
            self._running.append(
                subprocess.Popen(
                    [program, *self._settings(program), *arguments, "-f"],
                    cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                    preexec_fn=end_with_parent,  # noqa: PLW1509 - one call into a library that is loaded already
                )
            )  # fmt: skip

    def _settings(self, program: str) -> list[str]:
        return [] if program == "monmaptool" else ["-c", str(self.folder / "ceph.conf")]

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_LIMIT_S
        while time.monotonic() < deadline and all(process.poll() is None for process in self._running):
            try:
                with urllib.request.urlopen(self.endpoint, timeout=5):
                    return
            except OSError:
                time.sleep(0.05)
        words = [path.read_text("utf-8", "replace")[-1000:] for path in sorted(self.folder.glob("*.out"))]
        raise RuntimeError("Ceph did not start:\n" + "\n".join(words))


@pytest.fixture(scope="session")
def ceph():
    """The Ceph of this test process."""
    _install()
    folder = Path(tempfile.mkdtemp(prefix="ceph-"))  # not below pytest's: a socket's path must stay short
    server = Ceph(folder)
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


def _install() -> None:
    missing = _missing_packages()
    if missing and os.geteuid() == 0:
        done = subprocess.run(["bash", str(_INSTALLER), "soak"], capture_output=True, text=True, check=False)
        if missing := _missing_packages():
            raise RuntimeError(f"could not install {' '.join(missing)} for Ceph:\n{done.stdout}{done.stderr}")
    if missing:
        pytest.skip("Ceph needs these Debian packages: " + " ".join(missing))


def _missing_packages() -> list[str]:
    return [package for program, package in _PROGRAMS.items() if not shutil.which(program)]
