"""What an access can do, found out by doing it: the real calls behind `outlast login` and `outlast whoami --check`."""

from __future__ import annotations

import contextlib
import json
import secrets
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from outlast.errors import CredentialError, OutlastError, SpecError, StoreError
from outlast.inside.errors import AccessDenied, InsideError, NotFound, RequestError
from outlast.inside.net.drive import finish
from outlast.inside.net.retry import Policy
from outlast.inside.s3.client import S3Client
from outlast.inside.s3.wire import Fault, buckets_of, fault_in
from outlast.inside.signing.v4 import EMPTY_SHA256
from outlast.inside.stores.access import Access
from outlast.model.quantities import format_duration
from outlast.operations.knock import knock, knock_at_store
from outlast.store.registry import outside_errors

#: Somebody is waiting: a second try bridges a hiccup, more would only hide trouble.
_POLICY = Policy(tries=2, total_s=10.0)
#: Servers refuse a signature that is a quarter of an hour off; a difference above this is worth a word.
_SKEW_NOTICE_S = 60.0
_ANY_ANSWER = range(200, 500)


@dataclass(frozen=True)
class Abilities:
    """What was found. None stands for what was not tried or cannot be known."""

    buckets: tuple[str, ...] | None = None
    bucket: str = ""
    can_list: bool | None = None
    can_read: bool | None = None
    can_write: bool | None = None
    conditional: bool | None = None  # refuses to overwrite when asked
    skew_s: float | None = None
    folder: str = ""  # hdfs: the user's own folder
    notices: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The same in words, one fact to a line."""
        said = []
        if self.folder:
            said.append(f"own folder: {self.folder}")
        if self.buckets is not None:
            names = ", ".join(self.buckets[:5]) + (", …" if len(self.buckets) > 5 else "")
            said.append(f"buckets: {len(self.buckets)}" + (f" ({names})" if names else ""))
        if self.bucket:
            doing = {"list": self.can_list, "read": self.can_read, "write": self.can_write}
            said.append(f"in {self.bucket}: " + ", ".join(f"{verb} {_yes(can)}" for verb, can in doing.items()))
        if self.conditional is not None:
            said.append(f"refuses to overwrite when asked: {_yes(self.conditional)}")
        return [*said, *self.notices]


def check_access(access: Access, bucket: str = "") -> Abilities:
    """Use an access and say what it can do. Every way it can fail is one error with the next step.

    With a bucket, a small object is written there, read and removed again.
    """
    if access.kind == "hdfs":
        return _check_hdfs(access)
    with outside_errors():
        return _check_store(access, bucket)


def _check_store(access: Access, bucket: str) -> Abilities:
    skew_s = knock_at_store(access).skew_s
    notices = _skew_notice(skew_s)
    buckets = _list_buckets(access, skew_s)
    found = Abilities(buckets, skew_s=skew_s, notices=notices)
    if not bucket:
        if buckets is None:
            raise CredentialError(
                f"key {short(access.key)} may not list buckets, so nothing shows that it works",
                hint="name a bucket that it may use with --bucket NAME, or keep it unchecked with --no-check",
            )
        return found
    client = S3Client(access, bucket, _POLICY)
    try:
        return _try_bucket(client, found)
    finally:
        client.close()


def _list_buckets(access: Access, skew_s: float | None) -> tuple[str, ...] | None:
    """The account's buckets; None when the key is good but may not list them."""
    client = S3Client(access, policy=_POLICY)
    try:
        answer = finish(client.server.call("GET", ok=_ANY_ANSWER, payload=EMPTY_SHA256))
    finally:
        client.close()
    if answer.status == 200:
        return tuple(buckets_of(answer.body))
    fault = fault_in(answer.body)
    if fault.code == "AccessDenied":
        return None
    raise _refused(access, fault, answer.status, skew_s)


def _refused(access: Access, fault: Fault, status: int, skew_s: float | None) -> OutlastError:
    key, where = short(access.key), access.endpoint
    region = fault.fields.get("Region", "")
    if fault.code == "InvalidAccessKeyId":
        return CredentialError(
            f"{where} does not know the key {key}", hint="check --key for a missing letter, and that it is active there"
        )
    if fault.code == "SignatureDoesNotMatch":
        return CredentialError(f"the secret does not belong to key {key}", hint="copy the secret again, whole")
    if fault.code in ("InvalidToken", "ExpiredToken"):
        return CredentialError(
            f"the temporary key {key} is not accepted ({fault.code})", hint="get a new one and give its token too"
        )
    if fault.code == "RequestTimeTooSkewed":
        return CredentialError(
            f"this machine's clock is {_off(skew_s)}, and {where} refuses its signatures",
            hint="set the clock (timedatectl set-ntp true), then log in again",
        )
    if region and region != access.region:
        return SpecError(f"{where} belongs to region {region}, not {access.region}", hint=f"give --region {region}")
    said = " ".join(part for part in (str(status), fault.code, fault.message) if part)
    return StoreError(f"{where} refused the keys: {said}", hint="check endpoint, region and --signature")


def _try_bucket(client: S3Client, found: Abilities) -> Abilities:
    with contextlib.suppress(AccessDenied):  # asking whether a bucket exists is a right of its own
        if not client.head_bucket():
            raise SpecError(f"there is no bucket {client.bucket}", hint=f"make it with: outlast mb {client.url}")
    first = _first_key(client)
    found = replace(found, bucket=client.bucket, can_list=first is not None, can_read=_can_read(client, first))
    found = _try_writing(client, found)
    if not (found.can_list or found.can_read or found.can_write):
        raise CredentialError(
            f"key {short(client.access.key)} is good, but may not use the bucket {client.bucket}",
            hint="check the name, or ask its owner for access",
        )
    return found


def _first_key(client: S3Client) -> str | None:
    """The name of any object, empty when there is none, None when that may not be known."""
    try:
        return next((item.path for item in client.list("") if item.size_bytes), "")
    except AccessDenied:
        return None


def _can_read(client: S3Client, key: str | None) -> bool | None:
    try:
        return client.get(key, 0, 1) is not None if key else None
    except AccessDenied:
        return False
    except NotFound:
        return None


def _try_writing(client: S3Client, found: Abilities) -> Abilities:
    """Write a new object, try to overwrite it conditionally, read it, remove it."""
    key = f".outlast-check-{secrets.token_hex(8)}"
    try:
        conditional = _put_new(client, key)
    except AccessDenied:
        return replace(found, can_write=False)
    notices = list(found.notices)
    try:
        readable = client.get(key) is not None
    except AccessDenied:
        readable = False
    try:
        client.delete([key])
    except InsideError:
        notices.append(f"this key may not remove what it wrote: {client.url}/{key} stays")
    if not conditional:
        notices.append("a run folder works there too, but every claim in it takes some seconds")
    return replace(found, can_write=True, can_read=readable, conditional=conditional, notices=tuple(notices))


def _put_new(client: S3Client, key: str) -> bool:
    """Write an object; True when the store then refuses to write it again "if absent"."""
    try:
        client.put(key, b"first", if_absent=True)
        return not client.put(key, b"second", if_absent=True)
    except AccessDenied:
        raise
    except RequestError:
        # Some stores answer the condition itself with "not implemented".
        client.put(key, b"first")
        return False


def _check_hdfs(access: Access) -> Abilities:
    who = urlencode({"delegation": access.token} if access.token else {"user.name": access.user})
    greeting = knock(access, f"/webhdfs/v1/?op=GETHOMEDIRECTORY&{who}")
    if b"Hadoop IPC port" in greeting.body:
        raise StoreError(
            f"{access.endpoint} is the port for programs of Hadoop itself, not for WebHDFS",
            hint="give the port of the name node's web page, usually 9870 (Hadoop 3) or 50070 (Hadoop 2)",
            retryable=False,
        )
    if greeting.status in (401, 403):
        raise CredentialError(
            f"{access.endpoint} does not let {access.user!r} in ({greeting.status})",
            hint="give another --user NAME, or a token with --secret-stdin",
        )
    try:
        folder = str(json.loads(greeting.body)["Path"])
    except (ValueError, KeyError, TypeError):
        raise StoreError(
            f"{access.endpoint} answers with {greeting.status}, but not like WebHDFS",
            hint="give the address of the name node's web page, like http://namenode:9870",
            retryable=False,
        ) from None
    status = knock(access, f"/webhdfs/v1{quote(folder)}?op=GETFILESTATUS&{who}").status
    missing = f"{folder} does not exist yet; make it with: outlast mb {_hdfs_url(access)}{folder}"
    notices = () if status == 200 else (missing,)
    return Abilities(folder=folder, skew_s=greeting.skew_s, notices=notices)


def _hdfs_url(access: Access) -> str:
    return "hdfs://" + access.endpoint.partition("://")[2]


def _skew_notice(skew_s: float | None) -> tuple[str, ...]:
    if skew_s is None or abs(skew_s) < _SKEW_NOTICE_S:
        return ()
    return (f"this machine's clock is {_off(skew_s)}; set it, or temporary links will end at the wrong time",)


def _off(skew_s: float | None) -> str:
    if skew_s is None:
        return "wrong"
    return f"{format_duration(abs(skew_s))} {'fast' if skew_s > 0 else 'slow'}"


def _yes(can: bool | None) -> str:
    return {True: "yes", False: "no", None: "unknown"}[can]


def short(key: str) -> str:
    """Enough of a key's id to tell it from others."""
    return f"{key[:4]}…{key[-4:]}" if len(key) > 11 else key and f"{key[:3]}…"
