"""Where a container finds its boot file: in the store that its stint works on, behind a link that bare urllib can open.

In a bucket the link is signed and leads to that one object; in HDFS it carries the user's name, as all links there
do, or a token, which nobody else may see.
"""

from __future__ import annotations

import abc
import contextlib
import posixpath

from outlast.errors import SpecError
from outlast.inside.errors import InsideError
from outlast.inside.hdfs import wire
from outlast.inside.hdfs.client import HdfsClient
from outlast.inside.hdfs.nodes import Nodes, endpoint_of
from outlast.inside.move.address import BUCKETS, Address, parse
from outlast.inside.net.retry import HURRIED, Again, retrying
from outlast.inside.s3.client import S3Client
from outlast.inside.signing.v4 import LONGEST_LINK_S
from outlast.inside.stores.access import Access

#: A job that waits in the queue for longer than this finds its link ended, and its stint is started anew.
LINK_S = LONGEST_LINK_S


class Shelf(abc.ABC):
    """Files of a store that containers fetch. Errors are those of the inside half."""

    @abc.abstractmethod
    def keep(self, key: str, body: bytes) -> None:
        """Put a file that is named by its content, unless it is there already."""

    @abc.abstractmethod
    def link(self, key: str) -> str:
        """An address at which anybody finds that file."""


class BucketShelf(Shelf):
    """`s3://` and `obs://`."""

    def __init__(self, access: Access, address: Address) -> None:
        self._client = S3Client(access, address.authority, HURRIED)
        self._prefix = address.path.strip("/")

    def keep(self, key: str, body: bytes) -> None:
        found = self._client.head(self._path(key))
        if found is None or found.size_bytes != len(body):
            self._client.put(self._path(key), body)

    def link(self, key: str) -> str:
        return self._client.presign("GET", self._path(key), LINK_S)

    def _path(self, key: str) -> str:
        return posixpath.join(self._prefix, key)


class HdfsShelf(Shelf):
    """`hdfs://`, over WebHDFS."""

    def __init__(self, access: Access, address: Address) -> None:
        self._client = HdfsClient(access, address.authority, HURRIED)
        self._nodes = Nodes(access, address.authority)
        self._endpoint = endpoint_of(access, address.authority).rstrip("/")
        self._root = posixpath.join("/", address.path.strip("/"))

    def keep(self, key: str, body: bytes) -> None:
        found = self._client.status(self._path(key))
        if found is None or found.size_bytes != len(body):
            self._client.write(self._path(key), lambda: iter((body,)))

    def link(self, key: str) -> str:
        return self._endpoint + wire.target_of("", self._path(key), "OPEN", self._nodes.who, {})

    def keep_private(self, key: str, body: bytes) -> None:
        """Put a file that is its owner's alone from its first byte on."""
        path = self._path(key)
        self._client.make_folders(posixpath.dirname(path))

        def attempt() -> None:
            parameters: dict[str, wire.Parameter] = {"overwrite": True, "permission": "600"}
            with self._nodes.transfer("PUT", path, "CREATE", parameters, iter((body,))):
                return

        retrying(HURRIED, attempt)

    def discard(self, key: str) -> None:
        """Remove a file that is of no more use; one that cannot be removed now goes with its run."""
        with contextlib.suppress(InsideError, Again):
            self._client.delete(self._path(key))

    def _path(self, key: str) -> str:
        return posixpath.join(self._root, key)


def open_shelf(url: str, access: Access | None) -> Shelf:
    """The shelf of a store. `SpecError` for one that no container of a cluster can reach."""
    address = parse(url)
    access = access or Access(address.scheme)
    if address.scheme in BUCKETS:
        return BucketShelf(access, address)
    if address.scheme == "hdfs":
        return HdfsShelf(access, address)
    raise SpecError(
        f"stints on openpai cannot reach the store {url}",
        hint="give the account a store in HDFS or a bucket: outlast login openpai --set store=hdfs://namenode:50070/outlast",
    )
