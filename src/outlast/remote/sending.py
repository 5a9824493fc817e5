"""Sending code and data to a server: by parts, each only once, and nothing that is there already."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from outlast.errors import SpecError
from outlast.inside.net.connection import FilePart
from outlast.keeper.home import Home
from outlast.model.quantities import format_size
from outlast.remote.server import Server
from outlast.store.archive import PackFile, PackPlan, write_pack

Tell = Callable[[str], None]


def send_file(server: Server, path: Path, *, kind: str, name: str = "", tell: Tell, what: str) -> str:
    """Send a file, or an archive that stands for a folder, and return its digest. What is there is not sent again."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        size_bytes = os.fstat(file.fileno()).st_size
        body = {"sha256": sha256, "size_bytes": size_bytes, "kind": kind, "name": name}
        upload = server.ask("POST", "/uploads", body, again=True)
        if upload["complete"]:
            return sha256
        for count, number in enumerate(upload["missing"]):
            tell(f"sending {what}: part {count + 1} of {len(upload['missing'])}, {format_size(size_bytes)} in all")
            start = (number - 1) * upload["part_bytes"]
            part = FilePart(file.fileno(), start, min(upload["part_bytes"], size_bytes - start))
            server.send_part(f"/uploads/{sha256}/parts/{number}", part, _digest(part))
    server.ask("POST", f"/uploads/{sha256}/complete", again=True)
    return sha256


def send_pack(server: Server, home: Home, plan: PackPlan, *, tell: Tell, what: str) -> str:
    """Pack files and send them as a folder. The same files make the same archive, so they are sent once."""
    with home.explained():
        temporary = tempfile.TemporaryDirectory(dir=home.cache, prefix="pack-")
    with temporary as folder:
        archive = Path(folder) / "pack.tar"
        write_pack(plan, archive)
        return send_file(server, archive, kind="folder", tell=tell, what=what)


def send_data(server: Server, home: Home, source: Path, *, tell: Tell) -> str:
    """Send one input: a file as it is, a folder with everything that lies in it."""
    if source.is_file():
        return send_file(server, source, kind="file", name=source.name, tell=tell, what=source.name)
    tell(f"packing {source}")
    plan = PackPlan(source, tuple(sorted(_everything(source), key=lambda each: os.fsencode(each.path))))
    return send_pack(server, home, plan, tell=tell, what=source.name)


def _everything(root: Path) -> Iterator[PackFile]:
    """Every file below a folder. Links are followed: what they lead to may be nowhere on the other machine."""
    seen = {os.path.realpath(root)}
    for place, folders, names in os.walk(root, followlinks=True):
        base = Path(place)
        fresh = [name for name in sorted(folders) if os.path.realpath(base / name) not in seen]
        seen.update(os.path.realpath(base / name) for name in fresh)
        folders[:] = fresh
        if not fresh and not names and base != root:
            yield PackFile(base.relative_to(root).as_posix(), 0, is_folder=True)
        for name in names:
            path = base / name
            if path.is_file():
                found = path.stat()
                yield PackFile(path.relative_to(root).as_posix(), found.st_size, os.access(path, os.X_OK))
            elif path.is_symlink():
                raise SpecError(f"{path} is a link that leads nowhere", hint="remove it, or mend it")


def _digest(part: FilePart) -> str:
    digest = hashlib.sha256()
    at, end = part.offset, part.offset + part.length
    while at < end and (piece := os.pread(part.descriptor, min(1 << 20, end - at), at)):
        digest.update(piece)
        at += len(piece)
    return digest.hexdigest()
