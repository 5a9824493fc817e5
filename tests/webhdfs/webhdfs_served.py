"""A WebHDFS server of ours, and requests to any WebHDFS just as they are written."""

from __future__ import annotations

import contextlib
import http.client
import json
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from outlast.inside.stores.access import Access
from outlast.webhdfs.folder import FolderFileSystem
from outlast.webhdfs.notes import Notes
from outlast.webhdfs.server import WebHdfsServer

USER = "keeper"


class Served(contextlib.AbstractContextManager):
    def __init__(self, folder, notes=None):
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.files = FolderFileSystem(folder, Notes(notes))
        self._server = WebHdfsServer(lambda user, _said_by: self.files.as_user(user))
        self.authority, self.url = self._server.authority, self._server.url
        self.access = Access("hdfs", user=USER)
        self._server.start()

    def stop(self):
        self._server.stop()
        self.files.close()

    def __exit__(self, *_error):
        self.stop()


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def document(self):
        return json.loads(self.body)

    def refusal(self):
        """The exception and the first line of its message: what follows there is a Java stack trace."""
        found = self.document()["RemoteException"]
        assert found["javaClassName"].replace("$", ".").endswith("." + found["exception"])
        return found["exception"], (found["message"] or "").partition("\n")[0]


def ask(authority, method, path, query, body=None, headers=None, follow=True):
    """Every answer on the way: one, or two when the first sends us on. Bytes go to where it sends us."""
    target = f"/webhdfs/v1{quote(path, safe='/%')}?{query}"
    answers = []
    while len(answers) < 2:
        with contextlib.closing(http.client.HTTPConnection(authority, timeout=150)) as connection:
            connection.request(method, target, body if answers or not follow else None, headers or {})
            answer = connection.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            answers.append(Answer(answer.status, told, answer.read()))
        if answer.status != 307 or not follow:
            break
        parts = urlsplit(told["location"])
        authority, target = parts.netloc, f"{parts.path}?{parts.query}"
    return answers


def put(served, path, body=b"x", query="overwrite=true"):
    *_, last = ask(served.authority, "PUT", path, f"op=CREATE&user.name={USER}&{query}", body)
    assert last.status == 201, last
    return last


def crc32c(data):
    """Slow and plain; Hadoop's sum, which no Python has."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
