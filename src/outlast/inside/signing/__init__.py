"""Signatures of requests to object stores, in the three families that servers ask for."""

from __future__ import annotations

from typing import Sequence, Tuple, Union

from ..errors import RequestError
from ..stores.access import OBS, V2, V4, Access
from .v2 import V2Signer
from .v4 import V4Signer

Signer = Union[V2Signer, V4Signer]
Pairs = Sequence[Tuple[str, str]]

__all__ = ["Pairs", "Signer", "signer_for"]


def signer_for(access: Access) -> Signer:
    """The signer an access asks for: SigV4 for S3 and the native one for OBS unless it says otherwise."""
    kind = access.signature or (OBS if access.kind == "obs" else V4)
    if kind == V4:
        return V4Signer(access.key, access.secret, access.token, access.region or "us-east-1")
    if kind in (V2, OBS):
        return V2Signer(access.key, access.secret, access.token, native=kind == OBS)
    raise RequestError("unknown signature %r; known: v4, v2, obs" % kind)
