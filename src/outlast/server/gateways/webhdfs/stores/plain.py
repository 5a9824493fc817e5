"""What stores have no notion of: owners, permissions, replicas, attributes. All of it is refused in one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from outlast.webhdfs.filesystem import FileSystem, NewFile, Opened
from outlast.webhdfs.refusals import Refusal


class PlainFileSystem(FileSystem):
    """Looks and lists; whatever else it can do, those who derive from it say."""

    def open(self, path: str) -> Opened:
        raise unsupported("OPEN", path)

    def create(self, path: str, pieces: Iterable[bytes], how: NewFile) -> None:
        raise unsupported("CREATE", path)

    def append(self, path: str, pieces: Iterable[bytes]) -> None:
        raise unsupported("APPEND", path)

    def concat(self, path: str, sources: Sequence[str]) -> None:
        raise unsupported("CONCAT", path)

    def truncate(self, path: str, size_bytes: int) -> None:
        raise unsupported("TRUNCATE", path)

    def make_folders(self, path: str, permission: int) -> None:
        raise unsupported("MKDIRS", path)

    def delete(self, path: str, recursive: bool) -> bool:
        raise unsupported("DELETE", path)

    def move(self, source: str, target: str) -> None:
        raise unsupported("RENAME", source)

    def set_permission(self, path: str, permission: int) -> None:
        raise unsupported("SETPERMISSION", path)

    def set_owner(self, path: str, owner: str, group: str) -> None:
        raise unsupported("SETOWNER", path)

    def set_times(self, path: str, modified_ms: int, accessed_ms: int) -> None:
        raise unsupported("SETTIMES", path)

    def set_replication(self, path: str, replication: int) -> bool:
        raise unsupported("SETREPLICATION", path)

    def check_access(self, path: str, action: str) -> None:
        if self.kind(path) is None:
            raise Refusal("FileNotFoundException", "Path not found")

    def attributes(self, path: str) -> dict[str, bytes | None]:
        raise unsupported("GETXATTRS", path)

    def set_attribute(self, path: str, name: str, value: bytes | None, flags: frozenset[str]) -> None:
        raise unsupported("SETXATTR", path)

    def remove_attribute(self, path: str, name: str) -> None:
        raise unsupported("REMOVEXATTR", path)


def unsupported(operation: str, path: str) -> Refusal:
    return Refusal("UnsupportedOperationException", f"{operation} is not possible at {path}: its store cannot do that")
