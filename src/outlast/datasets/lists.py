"""Index files: lists, tables and JSON that name samples. Which they name, and the same file for fewer samples.

Everything here works on text that was read already, and leaves alone what does not speak of samples.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from outlast.datasets.naming import extension
from outlast.datasets.resolving import Key, Resolver

Kept = Callable[[Key], bool]
_LABEL_COLUMNS = frozenset("label labels class classes class_name class_id category target split set subset y".split())
_MOST_CLASSES = 1000


@dataclass(frozen=True)
class Row:
    """A piece of an index file that stands or falls with a sample; without one it always stays."""

    text: str
    key: Key | None
    label: str = ""


class ListFile:
    """One index file of lines or rows."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        named = sum(row.key is not None for row in rows)
        #: True when most of it names samples; a class list or a readme does not.
        self.refers = named * 2 >= sum(bool(row.text.strip()) for row in rows) and named > 0

    def keys(self) -> Iterator[tuple[Key, str]]:
        """The samples it names, each with its label if the file has one."""
        return ((row.key, row.label) for row in self.rows if row.key is not None)

    def trimmed(self, kept: Kept) -> str:
        return "".join(row.text for row in self.rows if row.key is None or kept(row.key))


class JsonFile:
    """One index file of JSON: COCO, or lists and tables of entries that name files."""

    def __init__(self, body: Any, resolver: Resolver) -> None:
        self._body = body
        self._find = resolver.find
        self._is_coco = isinstance(body, dict) and _are_dicts(body.get("images")) and "annotations" in body
        self._named = set(self._coco_keys() if self._is_coco else self._keys_in(body))
        self.refers = bool(self._named)

    def keys(self) -> Iterator[tuple[Key, str]]:
        return ((key, "") for key in sorted(self._named))

    def trimmed(self, kept: Kept) -> str:
        body = self._trim_coco(kept) if self._is_coco else self._trim(self._body, kept)
        return json.dumps(body, ensure_ascii=False) + "\n"

    def _coco_keys(self) -> Iterator[Key]:
        return (key for image in self._body["images"] if (key := self._image_key(image)) is not None)

    def _image_key(self, image: dict[str, Any]) -> Key | None:
        name = image.get("file_name") or image.get("filename") or ""
        return self._find(name) if isinstance(name, str) and name else None

    def _trim_coco(self, kept: Kept) -> dict[str, Any]:
        images = [image for image in self._body["images"] if (key := self._image_key(image)) is None or kept(key)]
        ids = {image.get("id") for image in images}
        trimmed = {
            name: [each for each in value if "image_id" not in each or each["image_id"] in ids]
            if name != "images" and _are_dicts(value)
            else value
            for name, value in self._body.items()
        }
        return {**trimmed, "images": images}

    def _keys_in(self, node: Any) -> Iterator[Key]:
        if isinstance(node, list | dict):
            for _, key, value in self._entries(node):
                if key is not None:
                    yield key
                else:
                    yield from self._keys_in(value)

    def _trim(self, node: Any, kept: Kept) -> Any:
        if isinstance(node, list):
            return [self._trim(value, kept) for _, key, value in self._entries(node) if key is None or kept(key)]
        if isinstance(node, dict):
            entries = self._entries(node)
            return {name: self._trim(value, kept) for name, key, value in entries if key is None or kept(key)}
        return node

    def _entries(self, node: list[Any] | dict[str, Any]) -> list[tuple[Any, Key | None, Any]]:
        """(name, sample, value) of each entry; samples only when most entries name one."""
        pairs = list(node.items()) if isinstance(node, dict) else list(enumerate(node))
        found = [(name, self._entry_key(name, value, isinstance(node, dict)), value) for name, value in pairs]
        if sum(key is not None for _, key, _ in found) * 2 < len(found):
            return [(name, None, value) for name, _, value in found]
        return found

    def _entry_key(self, name: Any, value: Any, named: bool) -> Key | None:
        if named and (key := self._find(name)) is not None:
            return key
        if isinstance(value, str):
            # `{"root": "train.jpg"}` is a setting; only the entries of a list are samples by themselves.
            return None if named else self._find(value)
        if isinstance(value, dict):
            texts = (each for each in value.values() if isinstance(each, str))
            return next((key for text in texts if (key := self._find(text)) is not None), None)
        return None


def read_list(path: str, text: str, resolver: Resolver) -> ListFile | JsonFile | None:
    """Read an index file; None when it is JSON that cannot be read."""
    kind = extension(path)
    resolver = resolver.beside(path)
    try:
        if kind == ".json":
            return JsonFile(json.loads(text), resolver)
        if kind == ".jsonl":
            return ListFile(list(_json_lines(text, resolver)))
    except (ValueError, RecursionError):
        return None
    if kind in (".csv", ".tsv"):
        return ListFile(list(_table(text, "\t" if kind == ".tsv" else _delimiter(text), resolver)))
    return ListFile([_line(line, resolver) for line in _lines(text)])


def _line(line: str, resolver: Resolver) -> Row:
    """The whole line may be a path with spaces; otherwise its first word counts."""
    words = [line.strip(), *re.split(r"[\s,;]+", line.strip(), maxsplit=1)[:1]]
    return Row(line, next((key for word in words if word and (key := resolver.find(word)) is not None), None))


def _json_lines(text: str, resolver: Resolver) -> Iterator[Row]:
    for line in _lines(text):
        body = json.loads(line) if line.strip() else None
        values = body.values() if isinstance(body, dict) else [body]
        texts = [value for value in values if isinstance(value, str)]
        yield Row(line, next((key for each in texts if (key := resolver.find(each)) is not None), None))


def _delimiter(text: str) -> str:
    first = text.partition("\n")[0]
    return max(",;\t|", key=first.count)


def _table(text: str, delimiter: str, resolver: Resolver) -> Iterator[Row]:
    """Rows of a table; the column whose cells name samples most often is the one that counts."""
    lines = _lines(text)
    records = list(_records(lines, delimiter))
    column = _file_column([cells for cells, _ in records[1:]], resolver)
    label = _label_column(records) if column is not None else None
    for number, (cells, raw) in enumerate(records):
        key = resolver.find(cells[column]) if column is not None and column < len(cells) else None
        is_header = number == 0 and (key is None or column is None)
        known = label is not None and label != column and label < len(cells) and not is_header
        yield Row(raw, None if is_header else key, cells[label] if known and label is not None else "")


def _records(lines: list[str], delimiter: str) -> Iterator[tuple[list[str], str]]:
    """Each record with the very text it was written as: a quoted cell may hold line ends."""
    reader = csv.reader(io.StringIO("".join(lines), newline=""), delimiter=delimiter)
    start = 0
    for cells in reader:
        yield cells, "".join(lines[start : reader.line_num])
        start = reader.line_num


def _file_column(rows: list[list[str]], resolver: Resolver) -> int | None:
    probe = rows[:: max(len(rows) // 200, 1)]
    width = max((len(cells) for cells in probe), default=0)
    hits = [sum(at < len(cells) and resolver.find(cells[at]) is not None for cells in probe) for at in range(width)]
    best = max(range(width), key=lambda at: hits[at], default=None)
    return best if best is not None and hits[best] * 2 >= len(probe) > 0 else None


def _label_column(records: list[tuple[list[str], str]]) -> int | None:
    header = [cell.strip().lower() for cell in records[0][0]]
    for at, name in enumerate(header):
        if name in _LABEL_COLUMNS:
            values = {cells[at] for cells, _ in records[1:] if at < len(cells)}
            return at if len(values) <= _MOST_CLASSES else None
    return None


def _are_dicts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def rows_of(path: str, text: str) -> tuple[str, list[str]]:
    """A table or a file of JSON lines whose rows are the samples: (what stays in front, rows as written)."""
    lines = _lines(text)
    if extension(path) == ".jsonl":
        return "", [line for line in lines if line.strip()]
    delimiter = "\t" if extension(path) == ".tsv" else _delimiter(text)
    raw = [raw for cells, raw in _records(lines, delimiter) if cells]
    return "".join(raw[:1]), raw[1:]


def _lines(text: str) -> list[str]:
    """Lines as the csv reader counts them; `str.splitlines` would also cut at rarer characters."""
    return list(io.StringIO(text, newline=""))
