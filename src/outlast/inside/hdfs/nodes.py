"""The servers behind one HDFS address: a name node that answers about names, and the data nodes it redirects to.

User names are taken on trust (`user.name` in every request), as Hadoop does without Kerberos; a delegation token says
the same with proof.
"""

from __future__ import annotations

import contextlib
import getpass
import re
import threading
from typing import Dict, Iterator, Mapping, Optional
from urllib.parse import urlsplit

from ..errors import PlaceError, RequestError
from ..net.http import Http, Response, Unreachable
from ..net.retry import Again
from ..stores.access import Access
from . import wire
from .wire import Parameter

DEFAULT_PORT = 9870
_USER = re.compile(r"^[A-Za-z_][A-Za-z0-9._-]*[$]?$")


class Nodes:
    """Single tries: `Again` for what may work later. Safe to use from several threads; connections are kept."""

    def __init__(self, access: Access, authority: str) -> None:
        self.authority = authority
        self.who = _who_asks(access)
        self._access = access
        self._name_node = self._http(endpoint_of(access, authority))
        self._data_nodes: Dict[str, Http] = {}
        self._lock = threading.Lock()

    def answer(self, method: str, path: str, operation: str, parameters: Mapping[str, Parameter]) -> bytes:
        """What the name node says."""
        try:
            with self._name_node.request(method, self._target(path, operation, parameters)) as answer:
                body = answer.read()
        except Unreachable as error:
            raise Again(error) from None
        if answer.status >= 300:
            raise _trouble(answer, body, self.authority, path)
        return body

    @contextlib.contextmanager
    def transfer(
        self,
        method: str,
        place: str,
        operation: str,
        parameters: Mapping[str, Parameter],
        pieces: Optional[Iterator[bytes]] = None,
    ) -> Iterator[Response]:
        """Ask the name node where to go, and go there, with the user's name and the bytes."""
        try:
            with self._name_node.request(method, self._target(place, operation, parameters)) as asked:
                location = asked.header("location")
                if not location and (asked.status >= 300 or pieces is not None):
                    raise self._no_location(asked, place)
                if not location:
                    yield asked  # a gateway that passes the bytes on by itself
                    return
                asked.read()
        except Unreachable as error:
            raise Again(error) from None
        server, target = wire.split_location(location, self.who)
        try:
            answer = self._data_node(server).request(method, target, (), b"" if pieces is None else pieces)
        except Unreachable as error:
            raise Again(self._lost(server, error)) from None
        with answer:
            if answer.status >= 300:
                raise _trouble(answer, answer.read(), self.authority, place)
            yield answer

    def _target(self, path: str, operation: str, parameters: Mapping[str, Parameter]) -> str:
        return wire.target_of(self._name_node.base, wire.check_path(path), operation, self.who, parameters)

    def _no_location(self, asked: Response, place: str) -> Exception:
        if asked.status >= 300:
            return _trouble(asked, asked.read(), self.authority, place)
        return RequestError("%s did not say where bytes go; it is no WebHDFS of a name node" % self.authority)

    def _lost(self, server: str, error: Unreachable) -> PlaceError:
        return PlaceError(
            "data node %s, which %s sent us to, cannot be reached (%s); if that name is known only inside its cluster, "
            "add it to /etc/hosts, or use an address that passes bytes on, like http://HOST/webhdfs on OpenPAI"
            % (urlsplit(server).netloc, self.authority, error)
        )

    def _data_node(self, server: str) -> Http:
        with self._lock:
            if server not in self._data_nodes:
                self._data_nodes[server] = self._http(server)
            return self._data_nodes[server]

    def _http(self, url: str) -> Http:
        return Http(url, self._access.ca_file, self._access.verify)


def _trouble(answer: Response, body: bytes, where: str, path: str) -> Exception:
    return wire.trouble(answer.status, answer.reason, body, answer.header("retry-after"), where, path)


def endpoint_of(access: Access, authority: str) -> str:
    """Where the name node is asked: an access's endpoint when it is for this host, else the address itself."""
    plain = "http://" + authority
    if access.endpoint and urlsplit(access.endpoint).hostname == urlsplit(plain).hostname:
        return access.endpoint
    return plain if urlsplit(plain).port else "%s:%d" % (plain, DEFAULT_PORT)


def _who_asks(access: Access) -> Dict[str, str]:
    """The access's token, or the name to act as: the access's, else this machine's user, as Hadoop's own tools do."""
    if access.token:
        return {"delegation": access.token}
    user = access.user
    if not user:
        with contextlib.suppress(Exception):  # a container whose user has no name; the error differs by version
            user = getpass.getuser()
    if user and not _USER.match(user):
        raise RequestError("bad HDFS user name %r: letters, digits, '.', '_' and '-', not a digit first" % user)
    return {"user.name": user} if user else {}
