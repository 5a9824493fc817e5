"""Names of jobs: `user~job`, what stands for them in a file, and what the VS Code client makes of them."""

from __future__ import annotations

import re
import secrets
from typing import Any

from outlast.inside.contracts.openpai.variables import k8s_role_name

#: The fields of a v1 job in which the client and the server replace variables.
PLACES = ("codeDir", "outputDir", "dataDir", "authFile")


def framework_name(user: str, job: str) -> str:
    """How the cluster calls a job that a user has submitted."""
    return f"{user}~{job}"


def split_framework(name: str) -> tuple[str | None, str]:
    """(user, job) of a name; jobs from before v0.8 have no user."""
    user, tilde, job = name.partition("~")
    return (user, job) if tilde else (None, name)


def generated_name(job: str, suffix: str | None = None) -> str:
    """The name with `_` and eight hexadecimal digits, as `pai.job.generateJobName.enabled` makes it."""
    return f"{job}_{suffix or secrets.token_hex(4)}"


def substitute(text: str, job: str, user: str, fs_uri: str) -> str:
    """What the server replaces in a place: the first file system, every job name (bare) and user name."""
    text = text.replace("$PAI_DEFAULT_FS_URI", fs_uri, 1)
    text = re.sub(r"\$PAI_JOB_NAME(?!\w)", lambda _: job, text)
    return re.sub(r"\$PAI_USER_?NAME(?!\w)", lambda _: user, text)


def rewrite(body: dict[str, Any], job: str, user: str) -> dict[str, Any]:
    """A v1 job as the VS Code client sends it: named `job`, and in each place and command the first of each replaced.

    Only therefore does `cd $PAI_JOB_NAME` lead to the code: inside the container the variable is `user~job`.
    """

    def replace(text: str) -> str:
        return text.replace("$PAI_JOB_NAME", job, 1).replace("$PAI_USER_NAME", user, 1)

    places = {name: replace(body[name]) for name in PLACES if name in body}
    roles = [role | {"command": replace(role["command"])} for role in body["taskRoles"]]
    return body | places | {"jobName": job, "taskRoles": roles}


__all__ = ["PLACES", "framework_name", "generated_name", "k8s_role_name", "rewrite", "split_framework", "substitute"]
