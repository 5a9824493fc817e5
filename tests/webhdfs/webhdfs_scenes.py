"""What a WebHDFS is asked in the comparison of ours with Hadoop's. `{}` is a folder of its own for each scene.

A step is a method, a path, a query, the bytes to send, and where we differ on purpose: why.
"""

from __future__ import annotations

from typing import NamedTuple

MIB = 1 << 20


class Step(NamedTuple):
    method: str
    path: str
    query: str
    body: bytes | None = None
    differs: str = ""


def get(path, query, differs=""):
    return Step("GET", path, query, None, differs)


def put(path, query, body=None, differs=""):
    return Step("PUT", path, query, body, differs)


def post(path, query, body=None, differs=""):
    return Step("POST", path, query, body, differs)


def delete(path, query="op=DELETE", differs=""):
    return Step("DELETE", path, query, None, differs)


def file(path, body=b"x", query="overwrite=true"):
    return put(path, "op=CREATE&" + query, body)


def folder(path):
    return put(path, "op=MKDIRS")


def rename(source, target, options="", differs=""):
    return put(source, f"op=RENAME&destination={target}" + (options and f"&renameoptions={options}"), None, differs)


NEWER = "Hadoop 3 has it, 2.7 has not"
PERCENT = "%25"

SCENES = {
    "creating": [
        folder("{}"),
        file("{}/f", b"hello"),
        put("{}/f", "op=CREATE", b"again", "the message names the client's address there"),
        put("{}/f", "op=create&overwrite=TRUE&unknown=1&tempdir=None", b"0123456789"),
        folder("{}/d"),
        put("{}/d", "op=CREATE&overwrite=true", b"x"),
        put("/", "op=CREATE", b"x"),
        put("{}/f/below", "op=CREATE", b"x", "2.7 names no class of its own"),
        put("{}/a/b/c", "op=CREATE", b"deep"),
        put("{}/z", "op=CREATE&overwrite=maybe"),
        put("{}/z", "op=CREATE&replication=0"),
        put("{}/z", "op=CREATE&buffersize=-1"),
        put("{}/slash/", "op=CREATE", b"x"),
        put("{}/q", "op=CREATE&permission=600&replication=2&blocksize=4096", b"x"),
        get("{}/q", "op=GETFILESTATUS"),
        get("{}/slash", "op=GETFILESTATUS"),
        get("{}", "op=LISTSTATUS"),
        put("{}/gone/x", "op=CREATE&createparent=false", b"", NEWER),
        put("{}/x:y", "op=CREATE", b"x", "refused at once, as MKDIRS is there"),
    ],
    "reading": [
        file("{}/f", b"0123456789"),
        file("{}/e", b""),
        *(
            get("{}/f", "op=OPEN&" + query)
            for query in (
                "",
                "offset=3&length=4",
                "offset=3&length=400",
                "offset=10",
                "offset=11",
                "offset=-1",
                "length=0",
                "length=-1",
                "offset=abc",
                "offset=3&offset=5",
                "Offset=9",
            )
        ),
        get("{}/none", "op=OPEN"),
        get("{}", "op=OPEN"),
        get("{}/f/", "op=OPEN"),
        get("{}/e", "op=OPEN"),
        get("{}/e", "op=OPEN&offset=1"),
        get("{}/none", "op=GETFILECHECKSUM"),
        get("{}", "op=GETFILECHECKSUM"),
        get("{}/e", "op=GETFILECHECKSUM"),
        get("{}/f", "op=GETFILECHECKSUM", "CRC32C there, CRC32 here"),
    ],
    "looking": [
        file("{}/f", b"12"),
        folder("{}/d/inner"),
        *(
            get(path, f"op={operation}")
            for operation in ("GETFILESTATUS", "LISTSTATUS", "GETCONTENTSUMMARY")
            for path in ("{}/f", "{}/d", "{}/d/", "{}/none", "{}/f/below", "{}")
        ),
        get("{}", "op=LISTSTATUS_BATCH", NEWER),
        get("/", "op=GETHOMEDIRECTORY"),
        get("", "op=GETHOMEDIRECTORY"),
        get("{}", "op=GETTRASHROOT", NEWER),
        get("{}", "op=GETDELEGATIONTOKEN&renewer=x"),
        Step("HEAD", "{}", "op=GETFILESTATUS"),
    ],
    "appending": [
        file("{}/f", b"one"),
        post("{}/f", "op=APPEND&overwrite=true&buffersize=10", b" two"),
        get("{}/f", "op=OPEN"),
        post("{}/none", "op=APPEND", b"x"),
        post("{}", "op=APPEND", b"x"),
    ],
    "making folders": [
        folder("{}/a/b"),
        folder("{}/a/b"),
        put("{}/a/b", "op=MKDIRS&permission=700"),
        put("{}/p", "op=mkdirs&permission=700"),
        get("{}/p", "op=GETFILESTATUS"),
        file("{}/f"),
        folder("{}/f"),
        folder("{}/f/sub"),
        folder("{}/" + "y" * 255),
        folder("{}/" + "y" * 256),
        folder("{}/x:y"),
        folder("{}/x//y"),
        put("{}/p", "op=MKDIRS&permission=888"),
        put("/.reserved/x", "op=MKDIRS", None, "less is said"),
        get("{}", "op=LISTSTATUS"),
    ],
    "renaming": [
        file("{}/f", b"f"),
        file("{}/g", b"g"),
        folder("{}/d"),
        file("{}/d2/f"),
        rename("{}/none", "{}/x"),
        rename("{}/f", "{}/g"),
        rename("{}/f", "{}/f"),
        rename("{}/d", "{}/d"),
        rename("{}/f", "{}/nope/f"),
        rename("{}/f", "{}/g/f", differs="an internal error there"),
        rename("{}/f", "{}/d"),
        rename("{}/d/f", "{}/f"),
        rename("{}/d2", "{}/d"),
        rename("{}/d", "{}/d/d2/inner"),
        rename("{}/d", "{}/d/inner"),
        rename("/", "{}/inner"),
        put("{}/f", "op=RENAME"),
        rename("{}/f", "relative"),
        rename("{}/f", "{}//h"),
        rename("{}/h", "{}/f/"),
        rename("{}/f", "{}/d/../h"),
        rename("{}/h", "{}/a:b"),
        rename("{}/h", "/../../b"),
        rename("{}/h", f"{{}}/100{PERCENT}"),
        get("{}", "op=LISTSTATUS"),
        get("{}/d", "op=LISTSTATUS"),
    ],
    "renaming with options": [
        file("{}/f", b"f"),
        file("{}/g", b"g"),
        folder("{}/d"),
        folder("{}/empty"),
        folder("{}/full/x"),
        rename("{}/f", "{}/g", "NONE"),
        rename("{}/f", "{}/f", "NONE"),
        rename("{}/f", "{}/f", "overwrite"),
        rename("{}/none", "{}/x", "NONE"),
        rename("{}/f", "{}/nope/x", "NONE"),
        rename("{}/f", "{}/g/x", "NONE"),
        rename("{}/f", "{}/d", "NONE"),
        rename("{}/f", "{}/d", "OVERWRITE"),
        rename("{}/d", "{}/f", "OVERWRITE"),
        rename("{}/d", "{}/full", "NONE"),
        rename("{}/d", "{}/full", "OVERWRITE"),
        rename("{}/d", "{}/d/inner", "OVERWRITE"),
        rename("{}/d", "{}/empty", "NONE"),
        rename("{}/d", "{}/empty", "OVERWRITE"),
        rename("/", "{}/q", "OVERWRITE"),
        rename("{}/f", "/", "OVERWRITE"),
        rename("{}/f", "{}/g", "BAD"),
        rename("{}/f", "{}/g", "none,overwrite"),
        get("{}/g", "op=OPEN"),
        get("{}", "op=LISTSTATUS"),
    ],
    "deleting": [
        folder("{}/full/x"),
        file("{}/f"),
        delete("{}/none"),
        delete("{}/f/below"),
        delete("{}/full"),
        delete("{}/full", "op=DELETE&recursive=maybe"),
        delete("{}/full", "op=DELETE&recursive=TRUE"),
        delete("{}/f"),
        delete("{}/"),
        delete("/", "op=DELETE&recursive=true"),
        delete("{}/../x", differs="not false: nothing can have that name"),
    ],
    "setting": [
        file("{}/f"),
        folder("{}/d"),
        put("{}/f", "op=SETPERMISSION&permission=0640"),
        get("{}/f", "op=GETFILESTATUS"),
        put("{}/d", "op=SETPERMISSION&permission=1777"),
        get("{}/d", "op=GETFILESTATUS"),
        put("{}/f", "op=SETPERMISSION&permission=2777"),
        put("{}/f", "op=SETPERMISSION&permission=888"),
        put("{}/f", "op=SETPERMISSION&permission=rw"),
        put("{}/none", "op=SETPERMISSION&permission=1"),
        put("{}/f", "op=SETOWNER&owner=ann&group=lab"),
        put("{}/f", "op=SETOWNER"),
        put("{}/none", "op=SETOWNER&owner=ann"),
        put("{}/f", "op=SETTIMES&modificationtime=1000&accesstime=2000"),
        get("{}/f", "op=GETFILESTATUS"),
        put("{}/f", "op=SETTIMES&modificationtime=-1&accesstime=3000"),
        put("{}/f", "op=SETTIMES&modificationtime=-2"),
        put("{}/f", "op=SETTIMES"),
        put("{}/d", "op=SETTIMES&modificationtime=5000"),
        put("{}/none", "op=SETTIMES&modificationtime=5000"),
        put("{}/f", "op=SETREPLICATION&replication=3"),
        put("{}/d", "op=SETREPLICATION&replication=3"),
        put("{}/none", "op=SETREPLICATION&replication=3"),
        put("{}/f", "op=SETREPLICATION&replication=0"),
        put("{}/f", "op=SETREPLICATION&replication=5000", None, "one line here"),
        get("{}", "op=LISTSTATUS"),
        get("{}", "op=GETCONTENTSUMMARY"),
    ],
    "joining and cutting": [
        file("{}/a", b"a" * MIB),
        file("{}/b", b"b" * MIB),
        file("{}/c", b"c"),
        file("{}/sub/d"),
        post("{}/a", "op=CONCAT&sources={}/b,{}/none"),
        post("{}/a", "op=CONCAT&sources={}/a"),
        post("{}/a", "op=CONCAT&sources={}/b,{}/b"),
        post("{}/a", "op=CONCAT&sources={}"),
        post("{}", "op=CONCAT&sources={}/a"),
        post("{}/a", "op=CONCAT&sources={}/sub/d"),
        post("{}/none", "op=CONCAT&sources={}/a"),
        post("{}/a", "op=CONCAT", None, "an internal error there"),
        post("{}/a", "op=CONCAT&sources={}/b,{}/c"),
        get("{}", "op=LISTSTATUS"),
        get("{}/a", f"op=OPEN&offset={MIB - 1}&length=2"),
        post("{}/a", f"op=TRUNCATE&newlength={MIB}"),
        post("{}/a", "op=TRUNCATE&newlength=9999999"),
        post("{}/a", "op=TRUNCATE&newlength=5", None, "false there: the last block is cut later"),
        post("{}/none", "op=TRUNCATE&newlength=5"),
        post("{}", "op=TRUNCATE&newlength=0"),
        post("{}/a", "op=TRUNCATE", None, "an internal error there"),
        post("{}/a", "op=TRUNCATE&newlength=-1"),
    ],
    "attributes": [
        file("{}/f"),
        get("{}/f", "op=LISTXATTRS"),
        get("{}/f", "op=GETXATTRS"),
        put("{}/f", "op=SETXATTR&xattr.name=user.k&xattr.value=0x6162&flag=CREATE"),
        put("{}/f", "op=SETXATTR&xattr.name=user.k&xattr.value=0x6162&flag=CREATE"),
        put("{}/f", "op=SETXATTR&xattr.name=user.z&xattr.value=%22text%22&flag=REPLACE"),
        get("{}/f", "op=GETXATTRS&xattr.name=user.k&encoding=text"),
        get("{}/f", "op=GETXATTRS&xattr.name=user.k&encoding=HEX"),
        get("{}/f", "op=GETXATTRS&encoding=base64"),
        get("{}/f", "op=LISTXATTRS"),
        put("{}/f", "op=SETXATTR&xattr.name=user.z&xattr.value=%22text%22&flag=CREATE,REPLACE"),
        get("{}/f", "op=GETXATTRS&xattr.name=user.k&xattr.name=user.z&encoding=hex"),
        put("{}/f", "op=SETXATTR&xattr.name=user.q&xattr.value=%22text%22"),
        put("{}/f", "op=SETXATTR&xattr.name=bad&xattr.value=%22text%22&flag=CREATE"),
        put("{}/none", "op=SETXATTR&xattr.name=user.k&xattr.value=0x6162&flag=CREATE"),
        get("{}/f", "op=GETXATTRS&xattr.name=user.none"),
        get("{}/none", "op=LISTXATTRS"),
        put("{}/f", "op=REMOVEXATTR&xattr.name=user.k"),
        put("{}/f", "op=REMOVEXATTR&xattr.name=user.k"),
        put("{}/link", "op=CREATESYMLINK&destination={}/f"),
        get("{}/f", "op=GETACLSTATUS", "one line here"),
        get("{}/f", "op=CHECKACCESS&fsaction=r--"),
        get("{}/f", "op=CHECKACCESS"),
        get("{}/none", "op=CHECKACCESS&fsaction=r--"),
        get("{}/f", "op=CHECKACCESS&fsaction=zzz"),
    ],
    "nonsense": [
        folder("{}"),
        get("{}", "op=NOSUCH"),
        get("{}", "op="),
        get("{}", "foo=bar"),
        get("{}", "op=MKDIRS"),
        put("{}", "op=GETFILESTATUS"),
        post("{}", "op=DELETE"),
        get("{}/../x", "op=GETFILESTATUS", "the path is named once here"),
        get("{}/./x", "op=GETFILESTATUS", "the path is named once here"),
        get("{}/a:b", "op=GETFILESTATUS", "the path is named once here"),
        get("/.reserved/.inodes/99999999", "op=GETFILESTATUS"),
        get("/.reserved", "op=LISTSTATUS"),
        get("{}", "op=GETFILESTATUS&user.name=a%20b"),
        get("{}", "OP=GETHOMEDIRECTORY&Weird=1&user.name=ann&user.name=bob"),
        get("{}", "op=GETHOMEDIRECTORY&doas=bob", "nobody may act for others there, unless set up"),
        put("{}/bad%ff", "op=MKDIRS"),
        get("{}", "op=LISTSTATUS"),
    ],
}
