"""The rules of protocol v2 as one document, and a small reader of such documents that speaks as OpenPAI's does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from outlast.openpai.invalid import Problem

Schema = dict[str, Any]
Path = tuple[str | int, ...]

_KEY = "^[a-zA-Z_][a-zA-Z0-9_]*$"
_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_TEXTS: Schema = {"type": "array", "items": _TEXT, "minItems": 1}
_ABOUT: dict[str, Schema] = {
    "protocolVersion": {"enum": [2, "2"]},
    "version": {"type": ["string", "number"]},
    "contributor": _TEXT,
    "description": _TEXT,
}


def _closed(required: list[str], **properties: Schema) -> Schema:
    """An object that takes nothing else."""
    return {"type": "object", "required": required, "properties": properties, "closed": True}


_ROLE = _closed(
    ["dockerImage", "resourcePerInstance", "commands"],
    instances={"type": "integer", "minimum": 1},
    completion=_closed(
        [],
        minFailedInstances={"type": ["integer", "null"]},
        minSucceededInstances={"type": ["integer", "null"]},
    ),
    taskRetryCount=_WHOLE,
    dockerImage=_TEXT,
    data=_TEXT,
    output=_TEXT,
    script=_TEXT,
    prerequisites={"type": "array", "items": _TEXT},
    extraContainerOptions={
        "type": "object",
        "properties": {"shmMB": _WHOLE, "infiniband": {"type": "boolean"}},
    },
    resourcePerInstance=_closed(
        ["cpu", "memoryMB", "gpu"],
        cpu=_WHOLE,
        memoryMB=_WHOLE,
        gpu=_WHOLE,
        ports={"type": "object", "keys": _KEY, "values": _WHOLE, "minProperties": 1},
    ),
    commands=_TEXTS,
)

DOCUMENT = _closed(
    ["protocolVersion", "name", "type", "taskRoles"],
    **_ABOUT,
    name={"type": "string", "pattern": "^[a-zA-Z0-9_-]+$", "maxLength": 255},
    type={"enum": ["job"]},
    prerequisites={"type": "array", "minItems": 1, "items": {"type": "object", "required": ["name", "type"]}},
    parameters={"type": "object"},
    secrets={"type": "object"},
    jobRetryCount={"type": "integer", "minimum": 0},
    taskRoles={"type": "object", "keys": _KEY, "values": _ROLE, "minProperties": 1},
    deployments={
        "type": "array",
        "minItems": 1,
        "items": _closed(
            ["name", "taskRoles"],
            name=_TEXT,
            taskRoles={
                "type": "object",
                "minProperties": 1,
                "values": _closed([], preCommands=_TEXTS, postCommands=_TEXTS),
            },
        ),
    },
    defaults={"type": "object", "properties": {"deployment": _TEXT, "virtualCluster": _TEXT}},
    extras={"type": "object"},
)

_SOURCE: Schema = {
    "type": "object",
    "properties": {**_ABOUT, "name": _TEXT, "plugin": _TEXT, "require": {"type": "array", "items": _TEXT}},
}


def _source(uri: Schema) -> Schema:
    return {**_SOURCE, "properties": {**_SOURCE["properties"], "uri": uri}}


#: By the type of a prerequisite.
PREREQUISITES: dict[str, Schema] = {
    "dockerimage": _closed(
        ["name", "type", "uri"],
        **_ABOUT,
        name=_TEXT,
        type=_TEXT,
        uri=_TEXT,
        auth=_closed([], username=_TEXT, password=_TEXT, registryuri=_TEXT),
    ),
    "script": _source(_TEXT),
    "output": _source(_TEXT),
    "data": _source({"type": "array", "items": _TEXT}),
}


def check(value: Any, schema: Schema, path: Path = ()) -> Iterator[Problem]:
    """Everything that is wrong with a value."""
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(_is(value, each) for each in types):
        yield Problem(path, f"should be {','.join(types)}")
        return
    if "enum" in schema and not any(type(value) is type(each) and value == each for each in schema["enum"]):
        yield Problem(path, f"should be equal to one of the allowed values: {', '.join(map(repr, schema['enum']))}")
    if isinstance(value, str):
        yield from _check_text(value, schema, path)
    elif isinstance(value, dict):
        yield from _check_object(value, schema, path)
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield Problem(path, f"should NOT have fewer than {schema['minItems']} items")
        for index, each in enumerate(value):
            yield from check(each, schema.get("items", {}), (*path, index))
    elif "minimum" in schema and value < schema["minimum"]:
        yield Problem(path, f"should be >= {schema['minimum']}")


def _check_text(value: str, schema: Schema, path: Path) -> Iterator[Problem]:
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield Problem(path, f'should match pattern "{schema["pattern"]}"')
    if len(value) > schema.get("maxLength", len(value)):
        yield Problem(path, f"should NOT be longer than {schema['maxLength']} characters")


def _check_object(value: dict[Any, Any], schema: Schema, path: Path) -> Iterator[Problem]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield Problem(path, f"should have required property '{name}'")
    if len(value) < schema.get("minProperties", 0):
        yield Problem(path, f"should NOT have fewer than {schema['minProperties']} properties")
    for name, each in value.items():
        below = (*path, str(name))
        if schema.get("closed") and name not in known:
            yield Problem(below, "should NOT be here: the protocol has no such property", True)
        elif "keys" in schema and not re.search(schema["keys"], str(name)):
            yield Problem(below, f'should have a name that matches pattern "{schema["keys"]}"', True)
        else:
            yield from check(each, known.get(name, schema.get("values", {})), below)


def _is(value: Any, kind: str) -> bool:
    if kind in ("integer", "number"):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and (kind == "number" or value == int(value))
    kinds: dict[str, type] = {
        "string": str,
        "object": dict,
        "array": list,
        "boolean": bool,
        "null": type(None),
    }
    return isinstance(value, kinds[kind])
