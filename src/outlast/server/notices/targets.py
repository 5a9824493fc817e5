"""Where messages may go. A server must not become the way by which a user reaches what only the server can reach."""

from __future__ import annotations

import ipaddress
import re
import socket
from urllib.parse import urlsplit

from outlast.errors import UsageError
from outlast.server.notices.wire import KINDS

_EMAIL = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9])?")
_PRIVATE_HINT = "an admin can allow them with: outlast config set notice_private on"
_LONGEST = 2000


def check_target(kind: str, target: str, *, allow_private: bool) -> str:
    """`target` if messages of that kind can go there. No refusal repeats it: it may carry a token."""
    if kind not in KINDS:
        raise UsageError(f"unknown kind of channel {kind!r}", hint=f"kinds: {', '.join(KINDS)}")
    target = target.strip()
    if kind == "email":
        if not _EMAIL.fullmatch(target):
            raise UsageError("this is not an e-mail address", hint="write it like ann@lab.org")
        return target
    host = _host_of(target, allow_private)
    if not allow_private:
        try:
            literal = [host] if host == "localhost" else [str(ipaddress.ip_address(host))]
        except ValueError:
            return target  # a name: it is looked up, and judged, when a message is sent
        if host == "localhost" or not all(map(is_public, literal)):
            raise UsageError(f"{host} is an address of this machine or of a private network", hint=_PRIVATE_HINT)
    return target


def addresses(host: str, port: int, *, allow_private: bool) -> list[str]:
    """Every address of a host that a message may go to; the caller must connect to one of these, not to the name.

    Looking it up again could give another answer. `UsageError` when one of them is private: a name that has both is
    a trap. `OSError` when there is no such host.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    places = list(dict.fromkeys(str(each[4][0]) for each in found))
    if not allow_private and not all(map(is_public, places)):
        raise UsageError(f"{host} leads to an address of a private network", hint=_PRIVATE_HINT)
    return places


def is_public(address: str) -> bool:
    """Whether an address belongs to the internet; IPv4 in the clothes of IPv6 counts as what it is."""
    place = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(place, ipaddress.IPv6Address):
        inner = place.ipv4_mapped or place.sixtofour or (place.teredo or (None, None))[1]
        if inner is not None:
            return is_public(str(inner))
        if place in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(place) & 0xFFFFFFFF)))
    return place.is_global and not place.is_multicast


_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def masked(kind: str, target: str) -> str:
    """As much of a target as may be shown: an e-mail address, or the host of a URL."""
    if kind == "email":
        return target
    parts = urlsplit(target)
    return f"{parts.scheme}://{parts.hostname}/…"


def _host_of(target: str, allow_private: bool) -> str:
    try:
        parts = urlsplit(target)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    is_whole = bool(host) and target.isascii() and target.isprintable() and " " not in target
    if parts.scheme not in ("https", "http") or not is_whole or len(target) > _LONGEST or "@" in parts.netloc:
        raise UsageError("this is not the address of a webhook", hint="it begins with https:// and names no user")
    if parts.scheme == "http" and not allow_private:
        raise UsageError("the address begins with http://; messages go over https only", hint=_PRIVATE_HINT)
    return host.rstrip(".").lower()
