"""Files that look like secrets, by their names and their first bytes."""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path

_NAMES = (
    ".env", ".env.*", "*.pem", "*.key", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "credentials*.json", ".netrc",
    "*.pfx", "*.p12", "kubeconfig",
)  # fmt: skip
# Templates and public halves are made to be shared.
_HARMLESS = (".env.example", ".env.sample", ".env.template", ".env.dist", "id_*.pub")
_PRIVATE_KEY = re.compile(rb"\s*-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY")
_NPM_TOKEN = re.compile(rb"(_authToken|_password|_auth)\s*=")
_HEAD_BYTES = 128


def looks_secret(path: Path) -> bool:
    """Whether a file should not leave this machine unasked."""
    name = path.name.lower()
    if any(fnmatch.fnmatchcase(name, pattern) for pattern in _HARMLESS):
        return False
    if any(fnmatch.fnmatchcase(name, pattern) for pattern in _NAMES):
        return True
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        if name == ".npmrc":
            return _NPM_TOKEN.search(head + file.read(1 << 16)) is not None
    return _PRIVATE_KEY.match(head) is not None
