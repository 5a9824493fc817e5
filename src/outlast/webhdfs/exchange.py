"""One call to one answer: what each operation does, apart from how requests arrive."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote

from outlast.webhdfs import protocol, xattrs
from outlast.webhdfs.checksum import file_checksum
from outlast.webhdfs.filesystem import FileSystem, NewFile, Opened
from outlast.webhdfs.protocol import Call
from outlast.webhdfs.refusals import Refusal, absent, from_system

JSON = "application/json"
BYTES = "application/octet-stream"
_MOST_REPLICAS = 512


class Stream(NamedTuple):
    """A part of a file as the body of an answer."""

    opened: Opened
    start: int
    size_bytes: int


class Answer(NamedTuple):
    """What to send. Whoever sends a stream closes it."""

    status: int
    body: bytes = b""
    kind: str = BYTES
    location: str = ""
    stream: Stream | None = None


def answer(call: Call, files: FileSystem, body: Iterable[bytes], origin: str) -> Answer:
    """Do what a call asks. `origin` is the server as the client knows it; of the body no byte is taken before it is
    clear that it is wanted. `Refusal` when it cannot be done."""
    try:
        if call.operation in _ASKING:
            return _ASKING[call.operation](call, files)
        if call.is_data:
            return _TRANSFERS[call.operation](call, files, body)
        _check_transfer(call, files)
    except OSError as error:
        raise from_system(error, call.path) from error
    location = protocol.location_of(call, origin)
    if call.parameters.noredirect:
        return Answer(200, protocol.document("Location", location), JSON)
    return Answer(307, location=location)


def refused(refusal: Refusal) -> Answer:
    return Answer(refusal.status, refusal.body(), JSON)


def _check_transfer(call: Call, files: FileSystem) -> None:
    """What a name node says instead of sending a client on."""
    if call.operation == "CREATE":
        return
    status = files.look(call.path)
    if status is None:
        raise Refusal("FileNotFoundException", f"File {call.path} not found.")
    offset, size = call.parameters.offset, status.size_bytes
    if call.operation == "OPEN" and offset >= size > 0:
        raise Refusal("IOException", f"Offset={offset} out of the range [0, {size}); OPEN, path={call.path}")


def _open(call: Call, files: FileSystem, _body: Iterable[bytes]) -> Answer:
    opened = files.open(call.path)
    left = opened.size_bytes - call.parameters.offset
    if left < 0:
        opened.close()
        raise Refusal("EOFException", "Cannot seek after EOF")
    length = left if call.parameters.length is None else min(left, call.parameters.length)
    return Answer(200, stream=Stream(opened, call.parameters.offset, length))


def _create(call: Call, files: FileSystem, body: Iterable[bytes]) -> Answer:
    given = call.parameters
    how = NewFile(given.overwrite, given.createparent)
    if given.permission is not None:
        how = how._replace(permission=given.permission)
    files.create(call.path, body, how._replace(replication=given.replication, block_bytes=given.blocksize))
    return Answer(201, location=f"hdfs://{call.name_node}{quote(call.path)}")


def _append(call: Call, files: FileSystem, body: Iterable[bytes]) -> Answer:
    files.append(call.path, body)
    return Answer(200)


def _get_file_checksum(call: Call, files: FileSystem, _body: Iterable[bytes]) -> Answer:
    with contextlib.closing(files.open(call.path)) as opened:
        status = files.look(call.path)
        block_bytes = status.block_bytes if status is not None else 0
        found = file_checksum(opened.pieces(0, opened.size_bytes), block_bytes or 1)
    return _document("FileChecksum", found)


def _get_file_status(call: Call, files: FileSystem) -> Answer:
    status = files.look(call.path)
    if status is None:
        raise absent(call.path)
    return _document("FileStatus", protocol.status_document(status))


def _list_status(call: Call, files: FileSystem) -> Answer:
    return _document("FileStatuses", protocol.listing_document(files.list(call.path)))


def _list_status_batch(call: Call, files: FileSystem) -> Answer:
    after = call.parameters.startafter.encode()
    found = [status for status in files.list(call.path) if not after or status.name.encode() > after]
    page = protocol.listing_document(found[: files.page_entries])
    left = max(0, len(found) - files.page_entries)
    return _document("DirectoryListing", {"partialListing": {"FileStatuses": page}, "remainingEntries": left})


def _get_content_summary(call: Call, files: FileSystem) -> Answer:
    return _document("ContentSummary", protocol.summary_document(files.summary(call.path)))


def _get_home_directory(call: Call, _files: FileSystem) -> Answer:
    return _document("Path", f"/user/{call.user}")


def _get_trash_root(call: Call, _files: FileSystem) -> Answer:
    return _document("Path", f"/user/{call.user}/.Trash")


def _get_delegation_token(_call: Call, _files: FileSystem) -> Answer:
    return _document("Token", None)  # what Hadoop says where names are taken on trust


def _check_access(call: Call, files: FileSystem) -> Answer:
    files.check_access(call.path, call.parameters.fsaction)
    return Answer(200)


def _make_folders(call: Call, files: FileSystem) -> Answer:
    given = call.parameters.permission
    files.make_folders(call.path, 0o755 if given is None else given)
    return _boolean(True)


def _rename(call: Call, files: FileSystem) -> Answer:
    target, options = call.parameters.destination, call.parameters.renameoptions
    if not target:
        raise Refusal("IllegalArgumentException", "Can not create a Path from a null string")
    if not options:
        return _boolean(files.rename(call.path, target))
    files.rename_exactly(call.path, target, "OVERWRITE" in options)
    return Answer(200)


def _delete(call: Call, files: FileSystem) -> Answer:
    return _boolean(files.delete(call.path, call.parameters.recursive))


def _set_permission(call: Call, files: FileSystem) -> Answer:
    given = call.parameters.permission
    files.set_permission(call.path, 0o755 if given is None else given)
    return Answer(200)


def _set_owner(call: Call, files: FileSystem) -> Answer:
    owner, group = call.parameters.owner, call.parameters.group
    if not owner and not group:
        raise Refusal("IllegalArgumentException", "Both owner and group are empty.")
    files.set_owner(call.path, owner, group)
    return Answer(200)


def _set_times(call: Call, files: FileSystem) -> Answer:
    files.set_times(call.path, call.parameters.modificationtime, call.parameters.accesstime)
    return Answer(200)


def _set_replication(call: Call, files: FileSystem) -> Answer:
    number = call.parameters.replication or 1
    if number > _MOST_REPLICAS:
        raise Refusal("IOException", f"file {call.path}: requested replication {number} exceeds {_MOST_REPLICAS}")
    return _boolean(files.set_replication(call.path, number))


def _concat(call: Call, files: FileSystem) -> Answer:
    files.concat(call.path, call.parameters.sources)
    return Answer(200)


def _truncate(call: Call, files: FileSystem) -> Answer:
    if call.parameters.newlength is None:
        raise Refusal("IllegalArgumentException", "newlength is missing")
    files.truncate(call.path, call.parameters.newlength)
    return _boolean(True)


def _create_symlink(_call: Call, _files: FileSystem) -> Answer:
    raise Refusal("UnsupportedOperationException", "Symlinks not supported")


def _refuse_acl(_call: Call, _files: FileSystem) -> Answer:
    raise Refusal("AclException", "The ACL operation has been rejected.  There are no ACLs on this server.")


def _get_xattrs(call: Call, files: FileSystem) -> Answer:
    found = files.attributes(call.path)
    names = call.parameters.xattr_names or tuple(found)
    if any(name not in found for name in names):
        raise Refusal("IOException", "At least one of the attributes provided was not found.")
    encoding = call.parameters.encoding
    return _document("XAttrs", [{"name": name, "value": xattrs.encode(found[name], encoding)} for name in names])


def _list_xattrs(call: Call, files: FileSystem) -> Answer:
    return _document("XAttrNames", json.dumps(list(files.attributes(call.path)), separators=(",", ":")))


def _set_xattr(call: Call, files: FileSystem) -> Answer:
    name = _xattr_name(call)
    if not call.parameters.flag:
        raise Refusal("HadoopIllegalArgumentException", "A flag must be specified.")
    files.set_attribute(call.path, name, call.parameters.xattr_value, call.parameters.flag)
    return Answer(200)


def _remove_xattr(call: Call, files: FileSystem) -> Answer:
    files.remove_attribute(call.path, _xattr_name(call))
    return Answer(200)


def _xattr_name(call: Call) -> str:
    return xattrs.check_name((call.parameters.xattr_names or ("",))[0])


def _document(name: str, value: object) -> Answer:
    return Answer(200, protocol.document(name, value), JSON)


def _boolean(value: bool) -> Answer:
    return _document("boolean", value)


#: In two steps: the name node sends the client on to where the bytes are.
_TRANSFERS: Mapping[str, Callable[[Call, FileSystem, Iterable[bytes]], Answer]] = {
    "OPEN": _open,
    "CREATE": _create,
    "APPEND": _append,
    "GETFILECHECKSUM": _get_file_checksum,
}
_ASKING: Mapping[str, Callable[[Call, FileSystem], Answer]] = {
    "GETFILESTATUS": _get_file_status,
    "LISTSTATUS": _list_status,
    "LISTSTATUS_BATCH": _list_status_batch,
    "GETCONTENTSUMMARY": _get_content_summary,
    "GETHOMEDIRECTORY": _get_home_directory,
    "GETTRASHROOT": _get_trash_root,
    "GETDELEGATIONTOKEN": _get_delegation_token,
    "CHECKACCESS": _check_access,
    "GETXATTRS": _get_xattrs,
    "LISTXATTRS": _list_xattrs,
    "MKDIRS": _make_folders,
    "RENAME": _rename,
    "DELETE": _delete,
    "SETPERMISSION": _set_permission,
    "SETOWNER": _set_owner,
    "SETTIMES": _set_times,
    "SETREPLICATION": _set_replication,
    "SETXATTR": _set_xattr,
    "REMOVEXATTR": _remove_xattr,
    "CREATESYMLINK": _create_symlink,
    "CONCAT": _concat,
    "TRUNCATE": _truncate,
    **dict.fromkeys(
        ("GETACLSTATUS", "SETACL", "MODIFYACLENTRIES", "REMOVEACL", "REMOVEACLENTRIES", "REMOVEDEFAULTACL"), _refuse_acl
    ),
}
