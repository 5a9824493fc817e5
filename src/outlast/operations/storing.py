"""Stores in the client: the verbs of `Client.stores`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.operations.links import Link
    from outlast.operations.maps import StoreMap
    from outlast.operations.projects import Project
    from outlast.operations.publish import Publication


class Stores:
    """Housekeeping in stores: folders of a project, public buckets, temporary links, folders that play buckets."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def init(self, address: str, *, dry_run: bool = False) -> Project:
        """Make the folders that a project needs, and the bucket if it is missing; with `dry_run` only say which.

        client.stores.init("obs://my-bucket/mnist")
        """
        from outlast.operations.projects import init_store

        return init_store(self._settings, address, dry_run=dry_run)

    def publish(self, bucket: str, *, dry_run: bool = False) -> Publication:
        """Let everyone read a bucket, never write; with `dry_run` only show the policy."""
        from outlast.operations.publish import publish

        return publish(self._settings, bucket, dry_run=dry_run)

    def unpublish(self, bucket: str, *, dry_run: bool = False) -> Publication:
        """Take back what `publish` set, and nothing else."""
        from outlast.operations.publish import unpublish

        return unpublish(self._settings, bucket, dry_run=dry_run)

    def sign(self, address: str, *, expires: str = "1h", put: bool = False) -> Link:
        """A temporary link to read one object, or with `put` to write it.

        print(client.stores.sign("obs://my-bucket/model.ckpt", expires="2d").url)
        """
        from outlast.operations.links import sign_link

        return sign_link(self._settings, address, expires=expires, put=put)

    def map(self, address: str, folder: str | os.PathLike[str]) -> StoreMap:
        """Let a folder play a bucket or a name node, for commands and for scripts; it is made if it is missing.

        client.stores.map("obs://my-bucket", "./bucket")
        """
        from outlast.operations.maps import map_store

        return map_store(self._settings, address, folder)

    def unmap(self, address: str) -> StoreMap:
        """End a map; the folder stays as it is."""
        from outlast.operations.maps import unmap_store

        return unmap_store(self._settings, address)

    def maps(self) -> list[StoreMap]:
        """The folders that play buckets."""
        from outlast.operations.maps import list_maps

        return list_maps(self._settings)
