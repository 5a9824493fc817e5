"""Extended attributes as WebHDFS writes them: "text", 0x for hex, 0s for base64."""

from __future__ import annotations

import base64
import binascii
import re

from outlast.webhdfs.refusals import Refusal, bad_parameter

_NAME = re.compile(r"(?:user|trusted|security|system|raw)\..+", re.IGNORECASE | re.DOTALL)


def decode(name: str, text: str) -> bytes:
    """The value that a parameter carries."""
    try:
        if text[:2].lower() == "0x":
            return bytes.fromhex(text[2:])
        if text[:2].lower() == "0s":
            return base64.b64decode(text[2:], validate=True)
    except (ValueError, binascii.Error):
        raise bad_parameter(name, f'"{text}" is neither hex nor base64') from None
    return (text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text).encode()


def encode(value: bytes | None, encoding: str) -> str | None:
    """A value as the client wants to read it; an attribute may have none."""
    if value is None:
        return None
    if encoding == "HEX":
        return "0x" + value.hex()
    if encoding == "BASE64":
        return "0s" + base64.b64encode(value).decode("ascii")
    return f'"{value.decode("utf-8", "replace")}"'


def check_name(name: str) -> str:
    """`Refusal` unless the name has one of HDFS's name spaces."""
    if not _NAME.fullmatch(name):
        reason = "An XAttr name must be prefixed with user/trusted/security/system/raw, followed by a '.'"
        raise Refusal("HadoopIllegalArgumentException", reason)
    return name
