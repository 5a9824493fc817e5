"""A commit as the text that `git fast-import` takes: one process for any number of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def stream(
    files: Mapping[str, tuple[bytes, int]], message: str, author: str, parent: str | None, *, branch: str = "main",
    removed: Iterable[str] | None = None,
) -> bytes:  # fmt: skip
    """The commit after `parent` that makes `files` (path → content, mode) all there is on a branch.

    With `removed` everything else stays but the files and folders that it names.
    """
    head = [
        f"feature done\ncommit refs/heads/{branch}\n",
        f"committer {_plain(author)} <{_plain(author)}@outlast> now\n",
    ]
    pieces = ["".join(head).encode(), _data(message.encode()), b"\n"]
    if parent is not None:
        pieces.append(f"from {parent}\n".encode())
    pieces += [b"deleteall\n"] if removed is None else [f"D {_quoted(path)}\n".encode() for path in sorted(removed)]
    for path, (content, mode) in sorted(files.items()):
        pieces += [
            f"M {'100755' if mode & 0o100 else '100644'} inline {_quoted(path)}\n".encode(),
            _data(content),
            b"\n",
        ]
    pieces.append(b"done\n")
    return b"".join(pieces)


def _data(content: bytes) -> bytes:
    return b"data %d\n%b" % (len(content), content)


def _quoted(path: str) -> str:
    """A path as git quotes it: whatever is not plain is written in octal."""
    raw = path.encode("utf-8", "surrogateescape")
    plain = {ord('"'): r"\"", ord("\\"): r"\\"}
    return '"' + "".join(plain.get(b, chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in raw) + '"'


def _plain(name: str) -> str:
    return "".join(char for char in name if char.isprintable() and char not in "<>\n") or "outlast"
