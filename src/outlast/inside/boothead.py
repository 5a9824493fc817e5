"""Outlast's boot file: does one stint of a run on a borrowed machine. Needs Python 3.7 and nothing else.

    python outlast-boot-<digest>.py              the stint is told by variables, OUTLAST_BOOT and OUTLAST_SECRET_*
    python outlast-boot-<digest>.py vars.json    the same variables in a private file, which is removed once read

Options that a platform adds on its own are ignored. Exit code 0: how the stint ended is recorded in its run folder.
"""

# No `annotations` from the future: an interpreter that is too old shall reach the line that says so.
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from typing import Dict

DIGEST = ""
FILES = ""

_ROOMY_BYTES = 1 << 30


def work_root() -> str:
    """Where there is room to work: as told, else the roomiest usual place, else wherever something can be written.

    The current folder comes last: where it is a mounted bucket it claims endless room and is slow.
    """
    told = os.environ.get("OUTLAST_WORK")
    if told and _is_writable(told):
        return told
    usual = [path for path in ("/cache", os.environ.get("TMPDIR"), "/tmp") if path and _is_writable(path)]
    roomy = [path for path in usual if _free_bytes(path) >= _ROOMY_BYTES]
    rest = usual + [path for path in (os.getcwd(),) if _is_writable(path)]
    if not rest:
        sys.exit("outlast: there is no folder to write to; name one in OUTLAST_WORK")
    return max(roomy or rest, key=_free_bytes)


def _is_writable(path: str) -> bool:
    try:
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False


def _free_bytes(path: str) -> int:
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return 0


def own_folder(root: str) -> str:
    """A folder below the root that only we can enter; one that somebody else put there is left alone."""
    path = os.path.join(os.path.abspath(root), "outlast-%d" % os.geteuid())
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        found = os.lstat(path)
        if found.st_uid != os.geteuid() or found.st_mode & 0o170077 != 0o040000:
            return tempfile.mkdtemp(prefix="outlast-", dir=root)
    return path


def unpack(into: str) -> str:
    """The folder that holds the package `outlast`; unpacked once, and again when a cleaner took a part of it."""
    files = json.loads(_unpressed(base64.b85decode(FILES)).decode("utf-8"))
    target = os.path.join(into, "boot-" + DIGEST)
    if _is_whole(target, files):
        return target
    aside = tempfile.mkdtemp(prefix="boot-", dir=into)
    for name, text in files.items():
        path = os.path.join(aside, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text.encode("utf-8"))
    try:
        os.rename(aside, target)
        return target
    except OSError:  # there is one already: whole, made at the same time; or torn, then ours stays where it is
        if not _is_whole(target, files):
            return aside
        shutil.rmtree(aside, ignore_errors=True)
        return target


def _is_whole(folder: str, files: Dict[str, str]) -> bool:
    try:
        return all(
            os.path.getsize(os.path.join(folder, name)) == len(text.encode("utf-8")) for name, text in files.items()
        )
    except OSError:
        return False


def _unpressed(data: bytes) -> bytes:
    try:
        import bz2
    except ImportError:  # an interpreter that was built where the library's headers were missing
        return subprocess.run(["bzip2", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return bz2.decompress(data)


def main() -> int:
    folder = own_folder(work_root())
    sys.path.insert(0, unpack(folder))
    from outlast.inside.boot import boot

    return boot(folder, sys.argv[1:], os.path.dirname(os.path.abspath(__file__)))


if __name__ == "__main__":
    if sys.version_info < (3, 7):
        sys.exit("outlast needs Python 3.7 or later; this is %d.%d" % sys.version_info[:2])
    sys.exit(main())
