"""Opening the tree that an address lies in. A client is imported only when it is used."""

from __future__ import annotations

from typing import Mapping, Optional

from ..errors import AccessDenied
from ..stores.access import Access
from .address import BUCKETS, Address
from .base import Tree


def open_tree(address: Address, access: Optional[Access] = None, maps: Optional[Mapping[str, str]] = None) -> Tree:
    """The tree of an address, or the folder that plays it by `maps`. Nothing is asked of a server yet."""
    if address.scheme == "file":
        from .local import LocalTree

        return LocalTree()
    if maps:
        from .mapped import MappedTree, folder_playing

        folder = folder_playing(address, maps)
        if folder is not None:
            return MappedTree(folder, "%s://%s" % (address.scheme, address.authority))
    if address.scheme in BUCKETS:
        from ..s3.tree import S3Tree

        if access is None:
            from .moxtree import MoxTree, find_moxing

            moxing = find_moxing()
            if moxing is not None:
                return MoxTree(moxing, address.authority)
            raise AccessDenied("no keys are known for %s://; log in with: outlast login %s" % ((address.scheme,) * 2))
        return S3Tree(access, address.authority)
    from ..hdfs.tree import HdfsTree

    return HdfsTree(access or Access("hdfs"), address.authority)
