"""What an account on ModelArts consists of, and what follows from it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from outlast.errors import SpecError
from outlast.inside.move.address import Address, parse
from outlast.inside.stores.access import Access
from outlast.platforms import trust
from outlast.platforms.base import Field
from outlast.platforms.modelarts.session import Credentials, Session
from outlast.store.profiles import find_access, obs_endpoint
from outlast.store.registry import outside_errors

if TYPE_CHECKING:
    from outlast.platforms.accounts import Account

REGION = "cn-north-4"
FLAVOR = "modelarts.p3.large.public.free"
ENGINE = "pytorch_1.8.0-cuda_10.2-py_3.7-ubuntu_18.04-x86_64"

FIELDS: tuple[Field, ...] = (
    Field("region", "Region", REGION, help="the part after 'modelarts.' in the address of its console"),
    Field("key", "Access key id (AK)", required=False, help="console, My Credentials, Access Keys; or give user"),
    Field("secret", "Secret access key (SK)", required=False, secret=True),
    Field("store", "Store", help="a place in OBS of the same region, like obs://my-bucket/outlast"),
    Field("flavor", "Flavor", FLAVOR, help="the kind of machine; outlast platforms --check lists them"),
    Field("engine", "Engine", ENGINE, help="the id of a preset engine, or the address of an image"),
    Field("project", "Project id", required=False, help="found by the region when left out"),
    Field("token", "Security token", required=False, secret=True, help="of temporary keys"),
    Field("user", "IAM user", required=False, help="the other way in, instead of an access key"),
    Field("password", "Password", required=False, secret=True),
    Field("domain", "Account name", required=False, help="of the IAM user; the same as the user's when left out"),
    Field("endpoint", "Endpoint", required=False, help="follows from the region when left out"),
    Field("iam", "IAM endpoint", required=False, help="follows from the region or the endpoint when left out"),
    Field("pool", "Dedicated pool id", required=False),
    Field("api", "Generation of the API", required=False, help="v1 or v2; found out when left out"),
    *trust.FIELDS,
)


def open_session(
    account: Account, clock: Callable[[], float] = time.time, sleep: Callable[[float], None] = time.sleep
) -> Session:
    """What an account says, with what follows from its region. `SpecError` when it says too little."""
    credentials = Credentials(
        account["key"], account["secret"], account["token"], account["user"], account["password"], account["domain"]
    )
    if not credentials.are_given:
        raise SpecError(
            f"account {account.name!r} has neither an access key with its secret nor a user with a password",
            hint=f"outlast login modelarts --profile {account.name}",
        )
    region, endpoint = account["region"] or REGION, account["endpoint"].rstrip("/")
    with outside_errors():
        return Session(
            credentials, endpoint=endpoint or f"https://modelarts.{region}.myhuaweicloud.com", region=region,
            iam=account["iam"].rstrip("/") or endpoint or f"https://iam.{region}.myhuaweicloud.com",
            project=account["project"], trust=trust.read_trust(account), clock=clock, sleep=sleep,
        )  # fmt: skip


def require_store(account: Account) -> None:
    """`SpecError` unless the account has a place that jobs can be started from."""
    store = account["store"]
    if store.partition("://")[0] not in ("obs", "s3"):
        said = f"its store {store!r} is none" if store else "it has no store"
        raise SpecError(
            f"{account.name} starts jobs from a place in OBS, and {said}",
            hint=f"outlast login modelarts --profile {account.name} --set store=obs://my-bucket/outlast",
        )


def own_access(account: Account) -> Access | None:
    """The account's own keys for its store: in the cloud they open OBS too. None: the store has keys of its own."""
    if account["endpoint"] or not account["key"] or read_store(account).profile:
        return None
    region = account["region"] or REGION
    return Access("obs", obs_endpoint(region), region, account["key"], account["secret"], account["token"])


def store_access(account: Account, home: Path) -> Access:
    """How the account's store is opened: with its own keys, or as every store of that address here."""
    address = read_store(account)
    return own_access(account) or find_access(address.scheme, address.profile, os.environ, home)


def read_store(account: Account) -> Address:
    with outside_errors():
        return parse(account["store"])
