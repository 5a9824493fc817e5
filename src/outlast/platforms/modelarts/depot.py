"""The part of an account's store that jobs start from: the boot file, and a private folder for each job.

boot/outlast-boot-<digest>.py          uploaded once for each version of Outlast
boot/jobs/<run>_<stint>-<random>/      the code folder of one job: starter, boot file, vars.json

`vars.json` holds the keys of the store and the script's secrets. The API could take them as variables of the job, but
those are shown to everybody who may look at the project; the bucket is the account's own. The starter removes the
object as soon as it has read it, by a signed link that can do nothing else; what is left, and what several nodes
share, goes when the job is over.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from outlast.inside.move.address import Address, parse
from outlast.inside.net.retry import Policy
from outlast.inside.s3.client import S3Client
from outlast.inside.stores.access import Access

#: Jobs may wait in the queue for days; a signature of S3 lives for a week at most.
_LINK_S = 7 * 86400
_BRIEF = Policy(tries=4, total_s=30.0, timeout_s=20.0)
_STARTER = "outlast_start.py"
_PRIVATE = "vars.json"


class Folder(NamedTuple):
    """The code folder of a job, as the API writes places: `/bucket/path/`."""

    path: str
    boot: str


class Depot:
    """One store as the platform itself uses it. Raises the inside half's errors."""

    def __init__(self, store: str, access: Access) -> None:
        self._address: Address = parse(store)
        self._client = S3Client(access, self._address.authority, _BRIEF)
        self._prefix = f"{self._address.path}/boot/" if self._address.path else "boot/"

    def exists(self) -> bool:
        """Whether the bucket is there; `AccessDenied` when it is not ours to use."""
        return self._client.head_bucket()

    def make(self) -> None:
        """Make the bucket, unless it is there."""
        self._client.make_bucket()

    def place(self, job: str, boot: Path, variables: Mapping[str, str], *, is_shared: bool = False) -> Folder:
        """Put everything that a job starts from into a folder of its own. The private file comes last.

        Several containers fetch a shared folder, each in its own time: none of them may take anything out of it.
        """
        client, bucket = self._client, self._address.authority
        shared = self._prefix + boot.name
        if client.head(shared) is None:
            client.put(shared, boot.read_bytes())
        folder = f"{self._jobs}{job.replace('.', '_')}-{secrets.token_hex(16)}/"
        client.copy(bucket, shared, folder + boot.name)
        client.put(folder + _STARTER, Path(__file__).with_name("starter.py").read_bytes())
        private = {
            "variables": dict(variables), "boot": boot.name,
            "remove": "" if is_shared else client.presign("DELETE", folder + _PRIVATE, _LINK_S),
        }  # fmt: skip
        client.put(folder + _PRIVATE, json.dumps(private).encode())
        return Folder(f"/{bucket}/{folder}", f"/{bucket}/{folder}{_STARTER}")

    def jobs_of(self, run: str) -> dict[str, list[str]]:
        """Stints' jobs of a run that have folders here, each with the keys in them."""
        found: dict[str, list[str]] = {}
        for item in self._client.list(f"{self._jobs}{run}_"):
            name = item.path[len(self._jobs) :].partition("/")[0].rpartition("-")[0]
            found.setdefault(name.replace("_", "."), []).append(item.path)
        return found

    def discard(self, path: str) -> None:
        """Remove a folder that no job starts from."""
        self.remove([item.path for item in self._client.list(path.split("/", 2)[2])])

    def remove(self, keys: list[str]) -> None:
        self._client.delete(keys)

    def close(self) -> None:
        self._client.close()

    @property
    def _jobs(self) -> str:
        return f"{self._prefix}jobs/"
