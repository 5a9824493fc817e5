"""The folders above the stores: `/stores` holds kinds, and each kind its buckets or name nodes."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from outlast.errors import OutlastError
from outlast.inside.move.address import BUCKETS, parse
from outlast.operations.login import Identity, whoami
from outlast.operations.places import list_place
from outlast.server.gateways.webhdfs.permissions import KEEPER
from outlast.server.gateways.webhdfs.stores.naming import FILE, STORES, name_of
from outlast.server.gateways.webhdfs.stores.plain import PlainFileSystem
from outlast.settings import Settings
from outlast.store.maps import load_maps
from outlast.webhdfs.filesystem import FOLDER, Status, Summary
from outlast.webhdfs.refusals import Refusal

log = logging.getLogger(__name__)


class Shelves(PlainFileSystem):
    """What the Stores page knows, for looking only. All buckets of an account are listed to admins alone, as there:
    others name the bucket."""

    def __init__(self, settings: Settings, is_admin: bool) -> None:
        self._settings = settings
        self._is_admin = is_admin
        self.lock = threading.RLock()

    def look(self, path: str) -> Status | None:
        is_there = path == STORES or path in [f"{STORES}/{kind}" for kind in self._kinds()]
        return shelf() if is_there else None

    def list(self, path: str) -> Sequence[Status]:
        if self.look(path) is None:
            raise Refusal("FileNotFoundException", f"File {path} does not exist.")
        names = self._kinds() if path == STORES else self._names(path.rpartition("/")[2])
        return [shelf(name) for name in sorted(names, key=str.encode)]

    def summary(self, path: str) -> Summary:
        """Of the folders here alone: what the stores hold is not counted."""
        return Summary(len(self.list(path)) + 1, 0, 0, 0)

    def make_folders(self, path: str, permission: int) -> None:
        if self.look(path) is None:
            raise Refusal("AccessControlException", f"{path} is no store of this server; an admin adds one")

    def delete(self, path: str, recursive: bool) -> bool:
        if self.look(path) is None:
            return False
        raise Refusal("AccessControlException", f"{path} holds the stores of this server")

    def rename(self, source: str, target: str) -> bool:
        raise Refusal("AccessControlException", f"{source} holds the stores of this server")

    def rename_exactly(self, source: str, target: str, overwrite: bool) -> None:
        self.rename(source, target)

    def _kinds(self) -> set[str]:
        known = {access.kind for access in self._accesses()} | {parse(root).scheme for root in self._maps()}
        return known | ({FILE} if self._is_admin else set())

    def _names(self, kind: str) -> set[str]:
        """The folders of a kind. One whose server does not answer is left out, unless there is no other."""
        names = {name_of(root.authority) for root in map(parse, self._maps()) if root.scheme == kind}
        troubles = list[OutlastError]()
        for access in self._accesses():
            try:
                names.update(self._of_access(access) if access.kind == kind else ())
            except OutlastError as error:
                log.warning("cannot list %s: %s", access.endpoint, error.message)
                troubles.append(error)
        if troubles and not names:
            raise troubles[0]
        return names

    def _of_access(self, access: Identity) -> Iterator[str]:
        named = access.profile if access.profile != access.kind else ""
        if access.kind not in BUCKETS:
            authority = urlsplit(access.endpoint).netloc
            yield from [name_of(authority, named)] if authority else []
        elif self._is_admin:
            listing = list_place(self._settings, f"{access.kind}://", profile=named)
            yield from (name_of(item.path, named) for item in listing.items)

    def _accesses(self) -> Iterable[Identity]:
        return whoami(self._settings, os.environ)

    def _maps(self) -> dict[str, str]:
        return load_maps(self._settings.home)


def shelf(name: str = "") -> Status:
    """A folder that only the server changes."""
    return Status(FOLDER, 0, KEEPER, KEEPER, 0o555, 0, 0, 0, 0, 0, 0, name)
