"""A submitted document, checked: what is kept of it, and the files that make it a run."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from outlast.errors import SpecError
from outlast.inside.contracts.openpai.job import K8S, YARN
from outlast.openpai.jobv1 import check_v1
from outlast.openpai.names import substitute
from outlast.openpai.protocolv2 import check_v2, read_v2
from outlast.server.gateways.openpai.book import JobFacts, RoleFacts
from outlast.server.gateways.openpai.refusing import PaiRefusal

#: Beside the code and not part of it: where the VS Code client keeps its settings.
ASIDE = ".vscode"
_FS = "$PAI_DEFAULT_FS_URI"
#: What `extras.outlast` may say: the words of `outlast run` that no field of OpenPAI has.
_EXTRAS = ("checkpoint", "output", "limit", "stints", "until", "grace")
_MASK = "******"


@dataclass(frozen=True)
class Submitted:
    """A job that its user may have as it is."""

    facts: JobFacts
    document: dict[str, Any]
    words: dict[str, Any]  # for the request, from `extras.outlast`
    code_path: str = ""  # in the server's own HDFS; empty: the job brings none from there

    @property
    def config(self) -> dict[str, Any]:
        """The document without what is secret."""
        found = self.document | ({"secrets": _MASK} if "secrets" in self.document else {})
        if "prerequisites" in found:
            found["prerequisites"] = [_without_password(each) for each in found["prerequisites"]]
        return found

    def write(self, folder: Path) -> Path:
        """Put the job file into the folder that has its code; whatever lies there is what the job may use."""
        if self.facts.generation == K8S:
            path = folder / "job.yaml"
            path.write_text(json.dumps(self.document), "utf-8")  # every JSON document is YAML
            return path
        aside = folder / ASIDE
        aside.mkdir()
        ways = {
            "upload.enabled": True,
            "upload.include": ["**/*", "**/.*", "**/.*/**"],
            "upload.exclude": [f"{ASIDE}/**"],
        }
        settings = {f"pai.job.{name}": value for name, value in ways.items()}
        (aside / "settings.json").write_text(json.dumps(settings), "utf-8")
        path = aside / "job.pai.json"
        path.write_text(json.dumps(self.document), "utf-8")
        return path


def read_submitted(body: Any, user: str, host: str, name: str | None = None) -> Submitted:
    """A document of either generation, however it came. `name` is the one in the address, which counts."""
    if isinstance(body, str):
        return _v2(read_v2(body), user)
    if isinstance(body, dict) and "protocolVersion" in body:
        return _v2(check_v2(body), user)
    if isinstance(body, dict) and name is not None:
        body = body | {"jobName": name}
    return _v1(check_v1(body), user, host)


def _v1(body: dict[str, Any], user: str, host: str) -> Submitted:
    roles = tuple(RoleFacts(role["name"], max(0, role["taskNumber"]), role["gpuNumber"]) for role in body["taskRoles"])
    facts = JobFacts(user, body["jobName"], YARN, body["virtualCluster"], roles)
    path = own_path(substitute(body.get("codeDir", ""), facts.name, user, _FS), host)
    if path:
        body = body | {"codeDir": _FS + path}
    return Submitted(facts, body, _words(body), path)


def _v2(body: dict[str, Any], user: str) -> Submitted:
    extras = body.get("extras") or {}
    for storage in extras.get("storages") or ():
        named = storage.get("name") if isinstance(storage, dict) else storage
        raise PaiRefusal(404, "NoStorageError", f"Storage {named} is not found.")
    roles = tuple(
        RoleFacts(name, role.get("instances", 1), role["resourcePerInstance"]["gpu"])
        for name, role in body["taskRoles"].items()
    )
    cluster = (body.get("defaults") or {}).get("virtualCluster", "default")
    return Submitted(JobFacts(user, str(body["name"]), K8S, cluster, roles), body, _words(body))


def _without_password(prerequisite: dict[str, Any]) -> dict[str, Any]:
    """One that is no template is the password itself."""
    auth = prerequisite.get("auth")
    if not isinstance(auth, dict) or "<%" in str(auth.get("password", "<%")):
        return prerequisite
    return prerequisite | {"auth": auth | {"password": _MASK}}


def own_path(place: str, host: str) -> str:
    """The path in this server's HDFS that a place means, or nothing when it lies elsewhere."""
    plain = place.removeprefix(_FS)
    if "://" in plain:
        parts = urlsplit(plain)
        if parts.scheme not in ("hdfs", "webhdfs") or parts.hostname != host:
            return ""
        plain = parts.path
    path = re.sub("/+", "/", "/" + plain)
    if ".." in path.split("/"):
        raise SpecError(f"codeDir {place} climbs out of the file system")
    return "" if not plain.strip("/") else posixpath.normpath(path)


def _words(body: dict[str, Any]) -> dict[str, Any]:
    extras = body.get("extras")
    said = extras.get("outlast") if isinstance(extras, dict) else None
    if said is None:
        return {}
    if not isinstance(said, dict) or not all(isinstance(each, str | int) for each in said.values()):
        raise SpecError("extras.outlast must be an object of words", hint=f"known: {', '.join(_EXTRAS)}")
    unknown = sorted(set(said) - set(_EXTRAS))
    if unknown:
        raise SpecError(f"extras.outlast.{unknown[0]} is not known", hint=f"known: {', '.join(_EXTRAS)}")
    return {name: str(value) for name, value in said.items()}
