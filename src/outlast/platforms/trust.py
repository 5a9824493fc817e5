"""Which certificates the server of a platform is believed by: two fields that accounts have in common.

A lab's own server often has a certificate of the lab's own authority. The file that names it is kept with the account,
because the keeper, which has another environment, asks the same server.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from outlast.errors import SpecError
from outlast.inside.net.http import tls_context
from outlast.platforms.base import Field
from outlast.store.registry import outside_errors

if TYPE_CHECKING:
    from outlast.platforms.accounts import Account

FIELDS: tuple[Field, ...] = (
    Field("ca_file", "Certificates", required=False, help="a file with those to trust; the system's when left out"),
    Field("insecure", "Do not check the certificate", required=False, help="yes or no; no when left out"),
)
_YES, _NO = ("yes", "true", "1", "on"), ("", "no", "false", "0", "off")


class Trust(NamedTuple):
    """How a server has to prove who it is."""

    ca_file: str = ""
    verify: bool = True

    def context(self) -> ssl.SSLContext:
        with outside_errors():
            return tls_context(self.ca_file, self.verify)


SYSTEMS = Trust()


def read_trust(account: Account) -> Trust:
    """What an account says of it; `SpecError` for words that mean neither yes nor no."""
    word = account["insecure"].lower()
    if word not in (*_YES, *_NO):
        raise SpecError(f"insecure {word!r} is neither yes nor no")
    return Trust(account["ca_file"], word not in _YES)


def find_ca_file(text: str) -> str:
    """The file as every process finds it; `SpecError` when it is none."""
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise SpecError(f"there is no certificate file {text}")
    return str(path)
