"""The rank table that says which Ascend cards work together, in both forms that scripts read."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Tuple

from .base import Facts


def rank_table(facts: Facts, job: str) -> Tuple[Dict[str, str], Dict[str, str]]:
    """Files to write and variables to set; nothing without cards. Every number in them is text."""
    if not facts.npus:
        return {}, {}
    folder = os.path.join(facts.work, "rank_table")
    raw = os.path.join(folder, "jobstart_hccl.json")
    common = os.path.join(folder, "rank_table.json")
    servers = _servers(facts)
    before = sum(len(devices) for _, devices in servers[: facts.node])
    count = str(sum(len(devices) for _, devices in servers))
    files = {
        raw: {"group_count": "1", "group_list": [_group(servers, job, count)], "status": "completed"},
        common: {
            "version": "1.0",
            "server_count": str(len(servers)),
            "server_list": _ranked(servers),
            "status": "completed",
        },
    }
    env = {
        "RANK_TABLE_FILE": common,
        "RANK_TABLE_FILE_V_1_0": common,
        "RANK_ID": str(before),
        "RANK_SIZE": count,
        "DEVICE_ID": "0",
        "ASCEND_DEVICE_ID": "0",
        "JOB_ID": job,
        "ASCEND_GLOBAL_LOG_LEVEL": "3",
        "ASCEND_SLOG_PRINT_TO_STDOUT": "1",
        "HCCL_CONNECT_TIMEOUT": "600",
    }
    return {path: json.dumps(body, indent=1) for path, body in files.items()}, env


Server = Tuple[str, List[Dict[str, str]]]  # address, its cards


def _servers(facts: Facts) -> List[Server]:
    """Every node with its cards. The cards' own addresses are not known outside the cloud: loopback stands for them."""
    found = []
    for host, cards in zip(facts.hosts, facts.cards or (facts.npus,)):
        devices = [{"device_id": card, "device_ip": "127.0.0.%d" % (1 + index)} for index, card in enumerate(cards)]
        found.append((host, devices))
    return found


def _group(servers: List[Server], job: str, count: str) -> Dict[str, Any]:
    instances = [
        {"devices": devices, "pod_name": "modelarts-job-%s-worker-%d" % (job, node), "server_id": host}
        for node, (host, devices) in enumerate(servers)
    ]
    return {
        "device_count": count,
        "group_name": "job-trainjob",
        "instance_count": str(len(servers)),
        "instance_list": instances,
    }


def _ranked(servers: List[Server]) -> List[Dict[str, Any]]:
    ranks = 0
    found = []
    for host, devices in servers:
        ranked = [dict(device, rank_id=str(ranks + index)) for index, device in enumerate(devices)]
        found.append({"server_id": host, "device": ranked, "host_nic_ip": "reserve"})
        ranks += len(devices)
    return found
