"""Temporary links to objects: anybody who holds one may use it until it ends."""

from __future__ import annotations

import contextlib
import datetime
from dataclasses import dataclass

from outlast.errors import NotFoundError, SpecError
from outlast.inside.signing.v4 import LONGEST_LINK_S
from outlast.inside.stores.access import V4
from outlast.model.quantities import format_duration, parse_duration
from outlast.operations.buckets import open_bucket, read_object_address
from outlast.settings import Settings
from outlast.store.registry import outside_errors


@dataclass(frozen=True)
class Link:
    """A link, what it allows, and until when."""

    url: str
    address: str
    method: str  # GET or PUT
    ends_at: str
    expires_s: int
    notices: tuple[str, ...] = ()


def sign_link(settings: Settings, text: str, *, expires: str = "1h", put: bool = False) -> Link:
    """A link to read an object, or with `put` to write it. An object to be read must exist."""
    expires_s = _seconds(expires)
    address = read_object_address(settings, text)
    if not address.path or address.into:
        raise SpecError(f"{text} names no object", hint="a link leads to one file, like obs://bucket/model.ckpt")
    with contextlib.closing(open_bucket(settings, address)) as client, outside_errors():
        access = client.access
        kind = access.signature or (V4 if access.kind == "s3" else access.kind)
        if kind == V4 and expires_s > LONGEST_LINK_S:
            raise SpecError(
                f"a link of {format_duration(expires_s)} is too long", hint="this store allows at most 7d: --expires 7d"
            )
        if not put and client.head(address.path) is None:
            raise NotFoundError(f"there is no {address}", hint=f"see what is there: outlast ls {address.root}/")
        method = "PUT" if put else "GET"
        url = client.presign(method, address.path, expires_s)
    ends_at = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=expires_s)
    notices = ("the keys are temporary: the link ends with them if that is sooner",) if access.token else ()
    return Link(url, str(address), method, ends_at.isoformat(timespec="seconds"), expires_s, notices)


def _seconds(expires: str) -> int:
    try:
        seconds = int(parse_duration(expires))
    except ValueError:
        raise SpecError(f"--expires {expires!r} is not a time", hint="write it like 30m, 1h or 7d") from None
    if seconds < 1:
        raise SpecError(f"--expires {expires} is too short", hint="the least is 1s")
    return seconds
