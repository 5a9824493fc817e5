"""When a stint may have several nodes: refused here, before anything is spent, where they could not work together."""

from __future__ import annotations

from outlast.model.spec import Contract
from outlast.operations.said import Sayings


def check_nodes(said: Sayings, contract: Contract, *, is_job: bool) -> None:
    """`SpecError` for more than one node under a contract, or with options, that leave it without the others."""
    given, network = said.get("nodes", "resources"), said.get("network")
    if given is None or given.value <= 1:
        return
    if is_job:
        raise given.wrong("a job file says itself how many tasks it has", hint="change taskNumber or instances in it")
    if contract == "xihe":
        raise given.wrong("scripts have no network under --contract xihe, and so one node only")
    if network is not None and not network.value:
        raise given.wrong(f"nodes work together over the network, and {network.where} takes it away")
