"""WebHDFS as text: a request to a `Call`, results to documents. Pure; the wire format is Hadoop 2.7's and 3's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from outlast.webhdfs.filesystem import Status, Summary
from outlast.webhdfs.parameters import READERS, Parameters, check_path, read_parameters
from outlast.webhdfs.refusals import Refusal, bad_parameter

PREFIX = "/webhdfs/v1"
DEFAULT_USER = "dr.who"
#: Its presence marks the second step of a transfer: clients only repeat it from the address they were sent to.
DATA_MARK = "namenoderpcaddress"
_HOST = re.compile(r"[A-Za-z0-9._-]+(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?")
_USER = re.compile(r"^[A-Za-z_][A-Za-z0-9._-]*[$]?$")

OPERATIONS: Mapping[str, frozenset[str]] = {
    "GET": frozenset(
        "OPEN GETFILESTATUS LISTSTATUS LISTSTATUS_BATCH GETCONTENTSUMMARY GETFILECHECKSUM GETHOMEDIRECTORY "
        "GETTRASHROOT GETDELEGATIONTOKEN CHECKACCESS GETXATTRS LISTXATTRS GETACLSTATUS".split()
    ),
    "PUT": frozenset(
        "CREATE MKDIRS RENAME SETPERMISSION SETOWNER SETTIMES SETREPLICATION SETXATTR REMOVEXATTR CREATESYMLINK "
        "SETACL MODIFYACLENTRIES REMOVEACL REMOVEACLENTRIES REMOVEDEFAULTACL".split()
    ),
    "POST": frozenset(["APPEND", "CONCAT", "TRUNCATE"]),
    "DELETE": frozenset(["DELETE"]),
}
# Known to Hadoop and not to us: a client learns that asking another way will not help.
_UNSUPPORTED = frozenset(
    "GET_BLOCK_LOCATIONS GETFILEBLOCKLOCATIONS GETALLSTORAGEPOLICY GETSTORAGEPOLICY GETSERVERDEFAULTS GETQUOTAUSAGE "
    "GETSNAPSHOTDIFF GETSNAPSHOTTABLEDIRECTORYLIST GETSTATUS GETECPOLICY GETLINKTARGET GETFILELINKSTATUS "
    "ALLOWSNAPSHOT DISALLOWSNAPSHOT CREATESNAPSHOT RENAMESNAPSHOT DELETESNAPSHOT SETSTORAGEPOLICY "
    "UNSETSTORAGEPOLICY SATISFYSTORAGEPOLICY SETQUOTA SETQUOTABYSTORAGETYPE ENABLEECPOLICY DISABLEECPOLICY "
    "SETECPOLICY UNSETECPOLICY RENEWDELEGATIONTOKEN CANCELDELEGATIONTOKEN".split()
)


class Call(NamedTuple):
    """One request, understood and checked."""

    operation: str
    path: str
    user: str  # who is acting: `doas` when it was given
    said_by: str  # who asked
    parameters: Parameters
    name_node: str  # in the second step, which carries or brings the bytes: who sent the client here
    given: tuple[tuple[str, str], ...]  # as they were written, for the second step

    @property
    def is_data(self) -> bool:
        return bool(self.name_node)


def parse(method: str, target: str) -> Call | None:
    """The call that a request makes; None for an address that is not WebHDFS, `Refusal` for a wrong one."""
    path, _, query = target.partition("#")[0].partition("?")
    path = unquote(path)
    if path != PREFIX and not path.startswith(PREFIX + "/"):
        return None
    pairs = [(name.lower(), value) for name, value in parse_qsl(query)]  # an empty value is none, as in Hadoop
    first = dict(reversed(pairs))  # of a parameter that comes twice, as in `hdfs`'s uploads, the first counts
    operation = _operation("GET" if method == "HEAD" else method, first.get("op", ""))
    said_by = _user("user.name", first.get("user.name", DEFAULT_USER))
    return Call(
        operation,
        check_path(path[len(PREFIX) :] or "/"),
        _user("doas", first.get("doas", said_by)),
        said_by,
        read_parameters(pairs),
        first.get(DATA_MARK, ""),
        tuple((name, value) for name, value in pairs if name in READERS and name != "noredirect"),
    )


def origin_of(scheme: str, host: str, usual: str) -> str:
    """The server as a client knows it: by the host that it asked for, and by its `usual` address if that is none."""
    return f"{scheme}://{host}" if _HOST.fullmatch(host) else usual


def location_of(call: Call, origin: str) -> str:
    """Where the second step goes: the same server, which knows it by its mark."""
    query = [("op", call.operation), ("user.name", call.said_by)]
    if call.user != call.said_by:
        query.append(("doas", call.user))
    query += [(DATA_MARK, urlsplit(origin).netloc), *call.given]
    return f"{origin}{PREFIX}{quote(call.path)}?{urlencode(query, safe=':/')}"


def document(name: str, value: object) -> bytes:
    return json.dumps({name: value}).encode()


def status_document(status: Status) -> dict[str, object]:
    """One `FileStatus`."""
    found: dict[str, object] = {
        "accessTime": status.accessed_ms,
        "blockSize": status.block_bytes,
        "childrenNum": status.children,
        "fileId": status.file_id,
        "group": status.group,
        "length": status.size_bytes,
        "modificationTime": status.modified_ms,
        "owner": status.owner,
        "pathSuffix": status.name,
        "permission": f"{status.permission:o}",
        "replication": status.replication,
        "storagePolicy": 0,
        "type": status.kind,
    }
    if status.link:
        found["symlink"] = status.link
    return found


def listing_document(found: Sequence[Status]) -> dict[str, object]:
    """`FileStatuses`."""
    return {"FileStatus": [status_document(each) for each in found]}


def summary_document(summary: Summary) -> dict[str, int]:
    """`ContentSummary`; there are no quotas here."""
    return {
        "directoryCount": summary.folders,
        "fileCount": summary.files,
        "length": summary.size_bytes,
        "quota": -1,
        "spaceConsumed": summary.space_bytes,
        "spaceQuota": -1,
    }


def _operation(method: str, text: str) -> str:
    operation = text.upper()
    if operation in OPERATIONS.get(method, ()):
        return operation
    if not operation or operation in _UNSUPPORTED:
        raise Refusal("UnsupportedOperationException", f"op={operation or 'NULL'} is not supported")
    kind = f"org.apache.hadoop.hdfs.web.resources.{method.capitalize()}OpParam.Op"
    raise bad_parameter("op", f"No enum constant {kind}.{operation}")


def _user(name: str, value: str) -> str:
    if not _USER.match(value):
        raise bad_parameter(name, f'Invalid value: "{value}" does not belong to the domain {_USER.pattern}')
    return value
