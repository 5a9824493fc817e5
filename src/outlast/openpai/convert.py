"""From job config v1 to protocol v2, as OpenPAI v0.14 converted it itself."""

from __future__ import annotations

from typing import Any


def to_v2(body: dict[str, Any]) -> dict[str, Any]:
    """The protocol v2 document of a checked v1 job.

    As in the original, ports keep only their count. One mistake of the original is not repeated: it wrote the key
    `default`, which its own schema refuses, where `defaults` is meant.
    """
    envs = body.get("jobEnvs", {})
    exports = [f"export {key}=<% $parameters.{key} %>" for key in envs]
    used = {kind: body[field] for kind, field in _PLACES.items() if body.get(field)}
    roles = {role["name"]: _role(role, used) for role in body["taskRoles"]}
    image: dict[str, Any] = {"protocolVersion": "2", "name": "default", "type": "dockerimage", "uri": body["image"]}
    if body.get("authFile"):
        image["auth"] = {"registryuri": "<% $secrets.registry %>"}
    document: dict[str, Any] = {
        "protocolVersion": "2",
        "name": body["jobName"],
        "type": "job",
        "prerequisites": [image, *(_prerequisite(kind, uri) for kind, uri in used.items())],
        "parameters": dict(envs),
        "jobRetryCount": body["retryCount"],
        "taskRoles": roles,
        "deployments": [_deployment(roles, [*_exports(used), *exports])],
        "defaults": {"deployment": "default", "virtualCluster": body["virtualCluster"]},
    }
    if body.get("authFile"):
        document["secrets"] = {"registry": body["authFile"]}
    if "extras" in body:
        document["extras"] = body["extras"]
    return document


_PLACES = {"data": "dataDir", "output": "outputDir", "script": "codeDir"}
_VARIABLES = {
    "data": "PAI_DATA_DIR=<% $data.uri[0] %>",
    "output": "PAI_OUTPUT_DIR=<% $output.uri %>",
    "script": "PAI_CODE_DIR=<% $script.uri %>",
}


def _prerequisite(kind: str, uri: str) -> dict[str, Any]:
    return {"protocolVersion": "2", "name": "default", "type": kind, "uri": [uri] if kind == "data" else uri}


def _exports(used: dict[str, str]) -> list[str]:
    return [f"export {_VARIABLES[kind]}" for kind in used]


def _role(role: dict[str, Any], used: dict[str, str]) -> dict[str, Any]:
    resources: dict[str, Any] = {"cpu": role["cpuNumber"], "memoryMB": role["memoryMB"], "gpu": role["gpuNumber"]}
    if role["portList"]:
        resources["ports"] = {port["label"]: port["portNumber"] for port in role["portList"]}
    return {
        "instances": role["taskNumber"],
        "completion": {
            "minFailedInstances": role["minFailedTaskCount"],
            "minSucceededInstances": role["minSucceededTaskCount"],
        },
        "dockerImage": "default",
        **dict.fromkeys(used, "default"),
        "extraContainerOptions": {"shmMB": role["shmMB"]},
        "resourcePerInstance": resources,
        "commands": [role["command"]],
    }


def _deployment(roles: dict[str, Any], commands: list[str]) -> dict[str, Any]:
    # An empty list is refused; a command that does nothing is not.
    return {"name": "default", "taskRoles": {name: {"preCommands": commands or [":"]} for name in roles}}
