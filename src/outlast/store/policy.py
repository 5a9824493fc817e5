"""Bucket policies: the statement that lets everyone read, put in and taken out again. Pure functions on JSON text.

Only reading is ever granted here. Statements of other origin stay as they are, and those that let everyone write are
named, because tutorials tell people to set them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from outlast.errors import SpecError

#: The name of our statement. Letters only: some stores allow nothing else.
SID = "OutlastPublicRead"
_READS = {"getobject", "getobjectversion", "listbucket", "listbucketversions", "headbucket", "getbucketlocation"}

Statement = dict[str, Any]


def public_read(bucket: str, native: bool) -> Statement:
    """The statement that lets everyone list a bucket and read what is in it; `native`: as OBS itself writes it."""
    if native:
        return {
            "Sid": SID,
            "Effect": "Allow",
            "Principal": {"ID": ["*"]},
            "Action": ["HeadBucket", "ListBucket", "GetObject", "GetObjectVersion"],
            "Resource": [bucket, f"{bucket}/*"],
        }
    return {
        "Sid": SID,
        "Effect": "Allow",
        "Principal": {"AWS": ["*"]},
        "Action": ["s3:ListBucket", "s3:GetObject"],
        "Resource": [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"],
    }


def with_public_read(policy: str | None, bucket: str, native: bool) -> str:
    """A bucket's policy with our statement, once, after all others."""
    body = _parse(policy)
    if not native:
        body = {"Version": "2012-10-17", **body}
    body["Statement"] = [*_others(body), public_read(bucket, native)]
    return json.dumps(body, ensure_ascii=False, indent=2)


def without_public_read(policy: str | None) -> str | None:
    """A bucket's policy without our statement; None when nothing is left of it."""
    body = _parse(policy)
    body["Statement"] = _others(body)
    return json.dumps(body, ensure_ascii=False, indent=2) if body["Statement"] else None


def is_published(policy: str | None) -> bool:
    """Whether our statement is part of a policy."""
    body = _parse(policy)
    return len(_others(body)) != len(body["Statement"])


def open_to_all(policy: str | None) -> tuple[list[str], list[str]]:
    """Names of the statements of other origin that let everyone read, and of those that let everyone do more."""
    reading: list[str] = []
    writing: list[str] = []
    for number, statement in enumerate(_others(_parse(policy)), start=1):
        if statement.get("Effect") == "Allow" and _is_everyone(statement):
            name = str(statement.get("Sid") or f"number {number}")
            (reading if _only_reads(statement) else writing).append(name)
    return reading, writing


def _others(body: dict[str, Any]) -> list[Statement]:
    return [each for each in body["Statement"] if each.get("Sid") != SID]


def _parse(policy: str | None) -> dict[str, Any]:
    try:
        body = json.loads(policy) if policy else {}
        statements = body.get("Statement", [])
        # One statement may stand without its list.
        return {**body, "Statement": [dict(each) for each in _listed(statements)]}
    except (ValueError, TypeError, AttributeError):
        raise SpecError(
            "the bucket's policy cannot be read as JSON, so it is left alone", hint="change it in the store's console"
        ) from None


def _is_everyone(statement: Statement) -> bool:
    if "NotPrincipal" in statement:
        return True
    principal = statement.get("Principal")
    named = principal.values() if isinstance(principal, dict) else [principal]
    return any("*" in _listed(each) for each in named)


def _only_reads(statement: Statement) -> bool:
    return "Action" in statement and all(name in _READS for name in _actions(statement))


def _actions(statement: Statement) -> Iterator[str]:
    for action in _listed(statement["Action"]):
        yield str(action).lower().rpartition(":")[2]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
