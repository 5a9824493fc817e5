"""Which jobs of a list are wanted, and in which order: the query parameters of `GET /jobs`. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from outlast.server.gateways.openpai.refusing import PaiRefusal

Entry = dict[str, Any]

MOST, USUAL = 50_000, 5_000
#: What a list can be ordered by, and the field of an entry.
_ORDERS = {
    "jobName": "name", "submissionTime": "submissionTime", "username": "username", "vc": "virtualCluster",
    "retries": "retries", "totalTaskNumber": "totalTaskNumber", "totalGpuNumber": "totalGpuNumber", "state": "state",
    "completionTime": "completedTime", "jobPriority": "jobPriority",
}  # fmt: skip


def choose(entries: Sequence[Entry], query: Mapping[str, str]) -> tuple[list[Entry], int]:
    """One page, and how many there are on all of them."""
    found = [entry for entry in entries if all(test(entry) for test in _tests(query))]
    field, descending = _order(query.get("order", ""))
    # What has no value comes last, whichever way it goes.
    known = sorted((each for each in found if each[field] is not None), key=lambda each: each[field])
    ordered = (known[::-1] if descending else known) + [each for each in found if each[field] is None]
    offset = _number(query, "offset", 0, None)
    return ordered[offset : offset + _number(query, "limit", USUAL, MOST)], len(found)


def _tests(query: Mapping[str, str]) -> list[Callable[[Entry], bool]]:
    tests: list[Callable[[Entry], bool]] = []
    for name, field in (("username", "username"), ("vc", "virtualCluster"), ("state", "state")):
        if wanted := _words(query, name):
            tests.append(lambda entry, field=field, wanted=wanted: entry[field] in wanted)  # type: ignore[misc]
    if wanted := _words(query, "jobPriority"):
        tests.append(lambda entry: (entry["jobPriority"] or "default") in wanted)
    if keyword := query.get("keyword", ""):
        tests.append(lambda entry: any(keyword in entry[field] for field in ("username", "name", "virtualCluster")))
    if having := _words(query, "tagsContain"):
        tests.append(lambda entry: bool(having & set(entry["tags"])))
    if lacking := _words(query, "tagsNotContain"):
        tests.append(lambda entry: not lacking & set(entry["tags"]))
    return tests


def _words(query: Mapping[str, str], name: str) -> set[str]:
    return set(filter(None, query.get(name, "").split(",")))


def _order(text: str) -> tuple[str, bool]:
    word, _, way = text.partition(",")
    if not text:
        return _ORDERS["submissionTime"], True
    if word not in _ORDERS or way.upper() not in ("", "ASC", "DESC"):
        known = ", ".join(_ORDERS)
        raise PaiRefusal(400, "InvalidParametersError", f"order {text!r}: write FIELD,ASC or FIELD,DESC with {known}")
    return _ORDERS[word], way.upper() == "DESC"


def _number(query: Mapping[str, str], name: str, usual: int, most: int | None) -> int:
    text = query.get(name, str(usual))
    if not text.isdecimal() or len(text) > 9 or (most is not None and int(text) > most):
        upper = f" up to {most}" if most else ""
        raise PaiRefusal(400, "InvalidParametersError", f"{name} {text[:20]!r} is not a whole number{upper}")
    return int(text)
