"""Letting everyone read a bucket, and taking that back."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from outlast.errors import CredentialError, StoreError
from outlast.inside.errors import AccessDenied
from outlast.inside.s3.client import S3Client
from outlast.inside.stores.access import OBS
from outlast.operations.buckets import open_bucket, read_bucket
from outlast.settings import Settings
from outlast.store import policy
from outlast.store.registry import outside_errors


@dataclass(frozen=True)
class Publication:
    """A bucket's policy, and what it means or would mean for everyone."""

    bucket: str  # as an address
    public: bool  # everyone may read, or will when this is done
    changes: bool  # False: the policy is so already
    policy: str  # as it is or will be; empty for none
    address: str  # where everyone finds the bucket
    warnings: tuple[str, ...] = ()


def publish(settings: Settings, bucket: str, *, dry_run: bool = False) -> Publication:
    """Let everyone list a bucket and read everything in it, now and later; never write. Other statements stay.

    With `dry_run` only say what would be set. Afterwards the policy is read back: `StoreError` if it did not hold.
    """
    address = read_bucket(settings, bucket)
    with contextlib.closing(open_bucket(settings, address)) as client, outside_errors():
        before = client.get_policy()
        native = client.access.kind == "obs" and client.access.signature in ("", OBS)
        changes = not policy.is_published(before)
        after = policy.with_public_read(before, client.bucket, native)
        if changes and not dry_run:
            _set(client, after)
        return Publication(
            bucket=address.root,
            public=True,
            changes=changes,
            policy=after,
            address=public_address(client),
            warnings=_warnings(before),
        )


def unpublish(settings: Settings, bucket: str, *, dry_run: bool = False) -> Publication:
    """Take back what `publish` set. Statements of other origin stay, and those that still let everyone in are named."""
    address = read_bucket(settings, bucket)
    with contextlib.closing(open_bucket(settings, address)) as client, outside_errors():
        before = client.get_policy()
        changes = policy.is_published(before)
        after = policy.without_public_read(before)
        if changes and not dry_run:
            _set(client, after)
        reading, writing = policy.open_to_all(before)
        return Publication(
            bucket=address.root,
            public=bool(reading or writing),
            changes=changes,
            policy=after or "",
            address=public_address(client),
            warnings=_warnings(before),
        )


def public_address(client: S3Client) -> str:
    """The URL under which a browser finds a bucket."""
    server = client.server
    scheme = "https" if server.http.secure else "http"
    return f"{scheme}://{server.http.authority}{server.path_of('').rstrip('/')}/"


def _set(client: S3Client, after: str | None) -> None:
    try:
        if after is None:
            client.delete_policy()
        else:
            client.put_policy(after)
    except AccessDenied:
        raise CredentialError(
            f"these keys may not change the policy of {client.url}",
            hint="use the keys of its owner; some stores also forbid public buckets for the whole account",
        ) from None
    if policy.is_published(client.get_policy()) != policy.is_published(after):
        raise StoreError(f"{client.url} took the policy, but does not show it", retryable=True)


def _warnings(before: str | None) -> tuple[str, ...]:
    reading, writing = policy.open_to_all(before)
    said = [f"statement {name!r}, which outlast did not set, lets everyone read" for name in reading]
    said += [
        f"statement {name!r}, which outlast did not set, lets everyone change or remove files; take it out in the "
        "store's console unless you mean it"
        for name in writing
    ]
    return tuple(said)
