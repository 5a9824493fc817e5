"""The hub over HTTP: git's smart protocol, LFS, and the REST routes of repositories."""

from __future__ import annotations

import re

from fastapi import APIRouter

from outlast.hub.gitprocess import PUSH_LIMIT_BYTES
from outlast.server.hub import api, archives, browsing, committing, files, git, lfs, lfs_locks, moving, publishing
from outlast.server.hub.lfs import OBJECT_LIMIT_BYTES

#: Under `/api/v1`.
API_ROUTERS: list[APIRouter] = [
    api.router, files.router, browsing.router, committing.router, archives.router, moving.router, publishing.router,
]  # fmt: skip
#: At `/<owner>/<name>.git`.
GIT_ROUTERS: list[APIRouter] = [lfs.router, lfs_locks.router, git.router]

#: Paths by their form → the largest body they take, in bytes.
LARGE_PATHS: dict[re.Pattern[str], int] = {
    re.compile(r"/[^/]+/[^/]+\.git/git-receive-pack"): PUSH_LIMIT_BYTES + (1 << 20),
    re.compile(r"/[^/]+/[^/]+\.git/git-upload-pack"): 64 << 20,
    re.compile(r"/[^/]+/[^/]+\.git/info/lfs/objects/[0-9a-f]{64}/\d+"): OBJECT_LIMIT_BYTES,
}
