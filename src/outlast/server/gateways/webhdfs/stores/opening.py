"""From a path and the one who asks to the file system that serves it, with the rules of the API and its Stores page."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from outlast.errors import CredentialError, NotFoundError, OutlastError
from outlast.inside.errors import AccessDenied, InsideError, NotFound, StoreFull
from outlast.inside.move.mapped import folder_playing
from outlast.inside.move.trees import open_tree
from outlast.keeper.home import Home
from outlast.operations.buckets import access_to
from outlast.server.accounts.audit import Audit
from outlast.server.accounts.people import Actor, Role
from outlast.server.gateways.webhdfs.permissions import KEEPER
from outlast.server.gateways.webhdfs.stores.claims import Claims
from outlast.server.gateways.webhdfs.stores.guarded import StoreFileSystem
from outlast.server.gateways.webhdfs.stores.naming import FILE, Spot, read_spot
from outlast.server.gateways.webhdfs.stores.placed import TreeFileSystem
from outlast.server.gateways.webhdfs.stores.shelves import Shelves
from outlast.settings import Settings
from outlast.store.maps import load_maps
from outlast.webhdfs.filesystem import FileSystem
from outlast.webhdfs.folder import FolderFileSystem
from outlast.webhdfs.refusals import Refusal, absent

#: Buckets and name nodes to which connections are kept.
_TREES = 64


class Stores:
    """Everything below `/stores`. Accesses and maps are read anew for every call: what an admin adds is there then."""

    def __init__(self, settings: Settings, walls: Callable[[], Iterable[str]], audit: Audit) -> None:
        self._settings = settings
        self._walls = walls
        self._audit = audit
        self._claims = Claims(Home(settings.home).path / "hdfs" / "claims")
        self._open_tree = functools.lru_cache(maxsize=_TREES)(open_tree)  # each keeps its connections
        self._folders: dict[str, FolderFileSystem] = {}
        self._lock = threading.Lock()

    def view(self, path: str, actor: Actor) -> FileSystem:
        """What `actor` finds at a path, and around it. `Refusal` for one who may not use stores at all."""
        if not may_use(actor):
            raise Refusal("AccessControlException", f"stores need the role member; {actor.name} is {actor.role}")
        is_admin = actor.role is Role.ADMIN
        try:
            spot = read_spot(path)
        except InsideError:
            raise absent(path) from None
        if spot is None:
            return Shelves(self._settings, is_admin)
        if spot.root.scheme == FILE and not is_admin:
            raise Refusal("AccessControlException", f"{path} is on the server's machine, which is for admins")

        def record(action: str, address: str, more: dict[str, str]) -> None:
            self._audit.add(actor.name, action, address, **more)

        return StoreFileSystem(spot, self._open(spot), None if is_admin else tuple(self._walls()), record)

    def close(self) -> None:
        with self._lock:
            for files in self._folders.values():
                files.close()
            self._folders.clear()

    def _open(self, spot: Spot) -> FileSystem:
        folder = folder_playing(spot.root, load_maps(self._settings.home))
        if folder is not None:
            return self._played(folder)
        access = access_to(self._settings, spot.root)
        return TreeFileSystem(spot, self._open_tree(spot.root, access), self._claims)

    def _played(self, folder: str) -> FolderFileSystem:
        """A folder that plays a bucket. One file system for all its users: it knows who is writing to what."""
        with self._lock, contextlib.suppress(OSError):
            if folder not in self._folders:
                self._folders[folder] = FolderFileSystem(Path(folder), user=KEEPER, keeper=KEEPER)
            return self._folders[folder]
        raise Refusal("IOException", "the folder that plays this store is missing on the server")


def may_use(actor: Actor) -> bool:
    """Whether stores are there for somebody; the API has the same rule."""
    return actor.role.reaches(Role.MEMBER)


@contextlib.contextmanager
def store_errors(path: str) -> Iterator[None]:
    """Within this block the errors of stores come out in Hadoop's words."""
    try:
        yield
    except Refusal as refusal:
        raise Refusal(refusal.name, _told_of(path, refusal.message)) from None
    except (NotFound, NotFoundError):
        raise absent(path) from None
    except (AccessDenied, CredentialError) as error:
        raise Refusal("AccessControlException", str(error)) from None
    except StoreFull as error:
        raise Refusal("DiskOutOfSpaceException", str(error)) from None
    except (InsideError, OutlastError) as error:
        raise Refusal("IOException", str(error)) from None


def _told_of(path: str, message: str) -> str:
    """What a store says of a path within it, said of the path that was asked for."""
    with contextlib.suppress(InsideError):
        spot = read_spot(path)
        if spot is not None and spot.inner != "/" and path not in message:
            return message.replace(spot.inner, path, 1)
    return message
