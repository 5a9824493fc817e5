"""The files of a Hadoop 2.7: jars out of one sdist, the rest from Debian, kept between test runs."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_SDIST = "pyspark-2.4.8.tar.gz"
_SHA256 = "3a19b71b8dc8dd91ebc943604a05e1ab01bce052456d42937035632d852d78dc"
_JARS = frozenset(
    """activation-1.1.1 commons-cli-1.2 commons-codec-1.10 commons-collections-3.2.2 commons-configuration-1.6
    commons-io-2.4 commons-lang-2.6 commons-logging-1.1.3 guava-14.0.1 hadoop-annotations-2.7.3 hadoop-auth-2.7.3
    hadoop-common-2.7.3 hadoop-hdfs-2.7.3 htrace-core-3.1.0-incubating httpclient-4.5.6 httpcore-4.4.10
    jackson-core-asl-1.9.13 jackson-mapper-asl-1.9.13 javax.servlet-api-3.1.0 jaxb-api-2.2.2 jetty-6.1.26
    jetty-util-6.1.26 leveldbjni-all-1.8 log4j-1.2.17 netty-3.9.9.Final netty-all-4.1.47.Final protobuf-java-2.5.0
    slf4j-api-1.7.16 slf4j-log4j12-1.7.16 xercesImpl-2.9.1""".split()
)
#: What Spark's folder has not: Hadoop 2.7 wants the first Jersey. File -> Debian package.
_DEBIAN = {
    "jersey1-core.jar": "libjersey1-core-java",
    "jersey1-server.jar": "libjersey1-server-java",
    "jersey1-servlet.jar": "libjersey1-servlet-java",
    "jsr311-api.jar": "libjsr311-api-java",
    "commons-daemon.jar": "libcommons-daemon-java",
}
_JAVA_FOLDER = Path("/usr/share/java")
_INSTALLER = Path(__file__).parents[2] / "tools" / "install-system-packages"


def class_path() -> list[str]:
    """Every jar, fetched and installed as needed. Skips only where Java is missing and we may not install it."""
    if missing := _missing_packages():
        if os.geteuid() == 0:
            done = subprocess.run(["bash", str(_INSTALLER)], capture_output=True, text=True, check=False)
            if missing := _missing_packages():
                raise RuntimeError(f"could not install {' '.join(missing)} for HDFS:\n{done.stdout}{done.stderr}")
        else:
            pytest.skip("HDFS needs these Debian packages: " + " ".join(missing))
    return [str(cache_folder() / "jars" / f"{name}.jar") for name in sorted(_fetched_jars())] + [
        str(_JAVA_FOLDER / name) for name in _DEBIAN
    ]


def cache_folder() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "outlast-tests" / "hadoop-2.7.3"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file that the kernel releases when this process ends."""
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _missing_packages() -> list[str]:
    missing = [package for name, package in _DEBIAN.items() if not (_JAVA_FOLDER / name).exists()]
    return missing if shutil.which("java") else ["openjdk-17-jre-headless", *missing]


def _fetched_jars() -> frozenset[str]:
    jars = cache_folder() / "jars"
    with locked(cache_folder() / "lock"):
        if not jars.exists():
            aside = cache_folder() / "jars.part"
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir()
            archive = cache_folder() / _SDIST
            _download(archive)
            _extract(archive, aside)
            aside.rename(jars)
            archive.unlink()
    return _JARS


def _download(target: Path) -> None:
    """From the index that pip is set up for; not with pip, which would try to build it."""
    page_url = f"{_index()}/{_SDIST.partition('-')[0]}/"
    try:
        with urllib.request.urlopen(page_url, timeout=150) as page:
            link = re.search(rf'href="([^"#]*/{re.escape(_SDIST)})[#"]', page.read().decode())
        if link is None:
            raise RuntimeError(f"{page_url} offers no {_SDIST}, which holds the jars of HDFS")
        digest = hashlib.sha256()
        url = urllib.parse.urljoin(page_url, link[1])
        with urllib.request.urlopen(url, timeout=150) as source, target.open("wb") as file:
            while piece := source.read(1 << 20):
                digest.update(piece)
                file.write(piece)
    except OSError as error:
        raise RuntimeError(f"cannot fetch {_SDIST}, which holds the jars of HDFS, from {page_url}: {error}") from None
    if digest.hexdigest() != _SHA256:
        target.unlink()
        raise RuntimeError(f"{_SDIST} has the SHA-256 {digest.hexdigest()} instead of {_SHA256}")


def _index() -> str:
    if set_up := os.environ.get("PIP_INDEX_URL"):
        return set_up.rstrip("/")
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False
    )
    if asked.returncode == 0:
        return asked.stdout.strip().rstrip("/")
    from pip._internal.models.index import PyPI

    return str(PyPI.simple_url)


def _extract(archive: Path, folder: Path) -> None:
    wanted = {f"{name}.jar" for name in _JARS}
    with tarfile.open(archive, "r|gz") as members:
        for member in members:
            name = Path(member.name).name
            if member.isfile() and name in wanted and "/deps/jars/" in member.name:
                with (folder / name).open("wb") as file:
                    shutil.copyfileobj(members.extractfile(member), file)
    if absent := wanted - {path.name for path in folder.iterdir()}:
        raise RuntimeError(f"{_SDIST} holds no {' '.join(sorted(absent))}")
