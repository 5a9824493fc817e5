"""Buckets as users name them: `obs://bucket`, `s3://bucket`, `/bucket` as in forms of ModelArts, or the bare name."""

from __future__ import annotations

import os

from outlast.errors import CredentialError, SpecError
from outlast.inside.move.address import BUCKETS, Address, parse
from outlast.inside.move.mapped import folder_playing
from outlast.inside.s3.client import S3Client
from outlast.inside.stores.access import Access
from outlast.settings import Settings
from outlast.store.maps import load_maps
from outlast.store.profiles import find_access, locate_access
from outlast.store.registry import outside_errors


def read_address(text: str) -> Address:
    """An address of any kind; what is wrong with it comes as a `SpecError`."""
    with outside_errors():
        return parse(text)


def read_object_address(settings: Settings, text: str) -> Address:
    """An address in a bucket. `/bucket/path` means OBS; a bare name means the kind of store that is logged in to."""
    if "://" not in text:
        kind = "obs" if text.startswith("/") else _kind_at_hand(settings, text)
        text = f"{kind}://{text.lstrip('/')}"
    address = read_address(text)
    if address.scheme not in BUCKETS:
        raise SpecError(f"{text} lies in no bucket", hint="this works for obs:// and s3:// only")
    return address


def read_bucket(settings: Settings, text: str) -> Address:
    """The address of a whole bucket."""
    address = read_object_address(settings, text)
    if address.path:
        hint = f"give {address.root}: a policy holds for the whole bucket"
        raise SpecError(f"{text} names something in a bucket, not the bucket", hint=hint)
    return address


def access_to(settings: Settings, address: Address) -> Access | None:
    """The access that opens an address; None on this machine, which needs none."""
    if address.scheme == "file":
        return None
    return find_access(address.scheme, address.profile, os.environ, settings.home)


def open_bucket(settings: Settings, address: Address) -> S3Client:
    """A client of the bucket of an address; `SpecError` where only a folder plays it."""
    folder = folder_playing(address, load_maps(settings.home))
    if folder is not None:
        raise SpecError(
            f"{address.root} is played by the folder {folder}, which has no policies and no links",
            hint=f"for the real bucket: outlast store unmap {address.root}",
        )
    access = access_to(settings, address)
    assert access is not None, "buckets are never on this machine"
    with outside_errors():
        return S3Client(access, address.authority)


def _kind_at_hand(settings: Settings, text: str) -> str:
    found = []
    for kind in ("obs", "s3"):
        try:
            access = locate_access(kind, "", os.environ, settings.home).access
        except CredentialError:
            continue
        found.append(access.kind)
    kinds = list(dict.fromkeys(found))
    if len(kinds) == 1:
        return kinds[0]
    why = "both obs:// and s3:// are known here" if kinds else "no access to a store is known"
    raise SpecError(f"cannot tell which store {text!r} is in: {why}", hint=f"write obs://{text} or s3://{text}")
