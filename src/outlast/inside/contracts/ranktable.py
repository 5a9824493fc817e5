"""The rank table that says which Ascend cards work together, in both forms that scripts read."""

from __future__ import annotations

import json
import os
from typing import Dict, Tuple

from .base import Facts


def rank_table(facts: Facts, job: str) -> Tuple[Dict[str, str], Dict[str, str]]:
    """Files to write and variables to set; nothing without cards. Every number in them is text."""
    if not facts.npus:
        return {}, {}
    folder = os.path.join(facts.work, "rank_table")
    raw = os.path.join(folder, "jobstart_hccl.json")
    common = os.path.join(folder, "rank_table.json")
    devices = [{"device_id": card, "device_ip": "127.0.0.%d" % (1 + index)} for index, card in enumerate(facts.npus)]
    ranked = [dict(device, rank_id=str(index)) for index, device in enumerate(devices)]
    count = str(len(devices))
    instance = {"devices": devices, "pod_name": "modelarts-job-%s-worker-0" % job, "server_id": "127.0.0.1"}
    group = {
        "device_count": count,
        "group_name": "job-trainjob",
        "instance_count": "1",
        "instance_list": [instance],
    }
    files = {
        raw: {"group_count": "1", "group_list": [group], "status": "completed"},
        common: {
            "version": "1.0",
            "server_count": "1",
            "server_list": [{"server_id": "127.0.0.1", "device": ranked, "host_nic_ip": "reserve"}],
            "status": "completed",
        },
    }
    env = {
        "RANK_TABLE_FILE": common,
        "RANK_TABLE_FILE_V_1_0": common,
        "RANK_ID": "0",
        "RANK_SIZE": count,
        "DEVICE_ID": "0",
        "ASCEND_DEVICE_ID": "0",
        "JOB_ID": job,
        "ASCEND_GLOBAL_LOG_LEVEL": "3",
        "ASCEND_SLOG_PRINT_TO_STDOUT": "1",
        "HCCL_CONNECT_TIMEOUT": "600",
    }
    return {path: json.dumps(body, indent=1) for path, body in files.items()}, env
