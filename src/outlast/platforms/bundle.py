"""The inside half as it travels: one zip, or the same files in a folder where a folder can be reached.

Both are named by the digest of their content, so a stint keeps the version it was planned with when Outlast is
upgraded under it. Measured here: a runner imports from the folder, which keeps compiled files, in a third of the
time it takes from the zip.
"""

from __future__ import annotations

import compileall
import hashlib
import os
import shutil
import tempfile
import zipfile
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_MAIN = b"import sys\n\nfrom outlast.inside.__main__ import main\n\nif __name__ == '__main__':\n    sys.exit(main())\n"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can hold


def inside_bundle(cache: Path) -> Path:
    """A zip that runs one stint: `python outlast-inside-….zip place.json`. Made once, the same bytes everywhere."""
    files = inside_files()
    target = cache / "inside" / f"outlast-inside-{_digest(files)}.zip"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=target.parent, suffix=".tmp", delete=False) as aside:
            _write_zip(files, aside.name)
        Path(aside.name).chmod(0o644)
        Path(aside.name).replace(target)
    return target


def inside_folder(cache: Path, *, create: bool = True) -> Path:
    """The same files unpacked, with compiled ones for our own interpreter: `python <folder> place.json`.

    Without `create` it is only named.
    """
    files = inside_files()
    target = cache / "inside" / f"outlast-inside-{_digest(files)}"
    if target.is_dir() or not create:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=target.parent, suffix=".tmp"))
    try:
        for name, content in files.items():
            path = aside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        # Checked by content, not by time: the folder is renamed and may be copied.
        mode = compileall.PycInvalidationMode.UNCHECKED_HASH if hasattr(compileall, "PycInvalidationMode") else None
        compileall.compile_dir(str(aside), quiet=2, invalidation_mode=mode, stripdir=str(aside), prependdir=str(target))
        aside.chmod(0o755)
        _rename(aside, target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return target


def _rename(aside: Path, target: Path) -> None:
    try:
        aside.rename(target)
    except OSError:
        # Somebody else was faster: theirs has the same content.
        if not target.is_dir():
            raise


def inside_files() -> dict[str, bytes]:
    """Everything that travels, by its name in the archive."""
    found = {"__main__.py": _MAIN}
    names = [_PACKAGE / "__init__.py", _PACKAGE / "callbacks.py"]
    for folder, _, files in os.walk(_PACKAGE / "inside"):
        names += [Path(folder, name) for name in files if not folder.endswith("__pycache__")]
    for path in sorted(names):
        if path.is_file() and path.suffix != ".pyc":
            found["outlast/" + path.relative_to(_PACKAGE).as_posix()] = path.read_bytes()
    return found


def _digest(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _write_zip(files: dict[str, bytes], target: str) -> None:
    # Stored, not deflated: importing from it is faster, and it is small anyway.
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
