"""Where a url leads: a folder that plays the bucket, the user's store, or this machine."""

from __future__ import annotations

import os
import re
import sys
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple, Union

from outlast.inside.errors import AccessDenied
from outlast.inside.move.address import Address, parse
from outlast.inside.move.base import Tree
from outlast.inside.move.local import LocalTree
from outlast.inside.move.mapped import folder_playing, maps_in
from outlast.inside.move.trees import open_tree
from outlast.inside.stores.access import V2, Access, from_environ

Url = Union[str, "os.PathLike[str]"]
_SCHEMES = ("obs://", "s3://", "hdfs://")
_NAMED_AT_MOST = 10_000  # a script may look at every sample of its data; the folders it names come first

#: By process, because connections must not be shared with a child that was forked.
_trees: Dict[Tuple[int, str], Tree] = {}
_given: Dict[str, Any] = {}  # what `set_auth` was called with
_named: Set[str] = set()


class Spot(NamedTuple):
    """Where a url leads."""

    url: str  # as the script wrote it
    tree: Tree
    path: str  # in the tree, without a slash at its end
    into: bool  # the url ended with one: only a folder can be meant

    @property
    def is_local(self) -> bool:
        return isinstance(self.tree, LocalTree)

    @property
    def whole(self) -> str:
        """The same place always gives the same text, whichever of its two names a bucket is called by."""
        return "%s/%s" % (re.sub("^s3:", "obs:", self.tree.url), self.path.lstrip("/"))


def say(sentence: str) -> None:
    """A line as the real module writes them. Printed, not logged: the script's own logging is left alone."""
    if os.environ.get("MOX_SILENT_MODE") != "1":
        sys.stderr.write("INFO:root:%s\n" % sentence)
        sys.stderr.flush()


def is_remote(url: Any) -> bool:
    """True for what is no path of this machine."""
    return isinstance(url, str) and url.startswith(_SCHEMES)


def find(url: Url) -> Spot:
    """Where a url leads; nothing is asked of a store yet. Slashes that follow each other count as one."""
    text = os.fspath(url)
    if not is_remote(text):
        return Spot(text, LocalTree(), os.path.abspath(text), text.endswith("/"))
    scheme, _, rest = text.partition("://")
    address = parse(scheme + "://" + re.sub("/{2,}", "/", rest))
    at = os.getpid(), address.root
    if at not in _trees:
        _trees[at] = _open(address)
    return Spot(text, _trees[at], address.path, address.into)


def below(url: str, relative: str) -> str:
    """The url of something in a folder."""
    return url + relative if url.endswith("/") else url + "/" + relative


def name_asked(spot: Spot) -> None:
    """Remember that the script looked for this itself."""
    if not spot.is_local and len(_named) < _NAMED_AT_MOST:
        _named.add(spot.whole)


def was_asked(whole: str) -> bool:
    """True when the script looked for this place, or for something in it."""
    return any(each == whole or each.startswith(whole + "/") for each in _named)


def _open(address: Address) -> Tree:
    maps = maps_in(os.environ)
    if folder_playing(address, maps) is not None:
        return open_tree(address, None, maps)
    access = _access(address.scheme)
    if access is None:
        bucket = "%s://%s" % ("obs" if address.scheme == "s3" else address.scheme, address.authority)
        raise AccessDenied(
            "no keys for %s are known here; let a folder play it with: outlast store map %s ./folder, "
            "or log in with: outlast login obs" % (bucket, bucket)
        )
    return open_tree(address, access)


def _access(scheme: str) -> Optional[Access]:
    """Whose keys open addresses of a scheme; what the script gave to `set_auth` replaces what the environment says."""
    if scheme == "hdfs":
        return from_environ("hdfs", os.environ) or Access("hdfs")
    kinds: List[str] = ["obs", "s3"] if scheme == "s3" else ["obs"]
    for kind in kinds:
        text = os.environ.get("OUTLAST_%s_ACCESS" % kind.upper())
        access = Access.from_json(text) if text else from_environ(kind, os.environ)
        if access is not None:
            return _amended(access)
    return _amended(Access("obs")) if _given.get("ak") and _given.get("sk") else None


def _amended(access: Access) -> Access:
    if _given.get("ak") and _given.get("sk"):
        access = access._replace(key=_given["ak"], secret=_given["sk"], token="")
    access = access._replace(endpoint=_endpoint(access.endpoint))
    if _given.get("ssl_verify") is not None:
        access = access._replace(verify=bool(_given["ssl_verify"]))
    if _given.get("path_style") is not None:
        access = access._replace(path_style=bool(_given["path_style"]))
    # The client of OBS signs as AWS did before V4 whenever the bucket stands in the path or the server is a number.
    by_path = _given.get("path_style") or ("server" in _given and _is_number(access.endpoint))
    return access._replace(signature=V2) if by_path and not access.signature else access


def _endpoint(known: str) -> str:
    scheme, _, host = known.rpartition("://")
    if _given.get("server"):
        scheme, _, host = str(_given["server"]).rpartition("://")
    if _given.get("port"):
        host = "%s:%d" % (re.sub(r":\d+$", "", host), int(_given["port"]))
    if _given.get("is_secure") is not None:
        scheme = "https" if _given["is_secure"] else "http"
    return "%s://%s" % (scheme or "https", host) if host else known


def _is_number(endpoint: str) -> bool:
    return re.match(r"^\w+://(\d+\.){3}\d+(:\d+)?/?$", endpoint) is not None


def set_auth(
    ak: Optional[str] = None,
    sk: Optional[str] = None,
    server: Optional[str] = None,
    port: Optional[int] = None,
    is_secure: Optional[bool] = None,
    ssl_verify: Optional[bool] = None,
    long_conn_mode: Optional[bool] = None,
    path_style: Optional[bool] = None,
    retry: Optional[int] = None,
    retry_wait: Optional[float] = None,
    client_timeout: Optional[float] = None,
    list_max_keys: Optional[int] = None,
) -> None:
    """Say how OBS is reached; what is left out stays. Retries, times and page sizes are the mover's own affair."""
    given = {"ak": ak, "sk": sk, "server": server, "port": port, "is_secure": is_secure}
    given.update(ssl_verify=ssl_verify, path_style=path_style)
    _given.update({name: value for name, value in given.items() if value is not None})
    _trees.clear()
