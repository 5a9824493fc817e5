"""Planning a pack: which files of a code folder travel."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from outlast.errors import SpecError
from outlast.model.quantities import format_size
from outlast.store.archive import PackFile, PackPlan, write_pack
from outlast.store.ignore import (
    ALWAYS_LEFT_OUT,
    Includes,
    Layer,
    compile_globs,
    is_left_out,
    normal_places,
    read_ignore_file,
    surrounding_layers,
)  # fmt: skip
from outlast.store.secrets import looks_secret

#: A pack larger than this is mentioned, with its largest files.
NOTICE_BYTES = 50 << 20
#: A pack larger than this is data, not code.
LIMIT_BYTES = 5 << 30


def plan_pack(
    folder: Path,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    allow_secret_files: bool = False,
) -> PackPlan:
    """Decide which files of a code folder travel.

    `.gitignore` files at every level (and those of the repository around the folder) and `exclude` globs leave files
    behind, `leave_out` names places that are never code (inputs, outputs, checkpoints), `include` globs win over all
    of these. `SpecError` for files that look like secrets, links that lead out of the folder, and packs over 5 GB.
    """
    root = folder.resolve()
    if not root.is_dir():
        raise SpecError(f"the code folder {folder} does not exist")
    walk = _Walk(root, Includes.of(include), exclude, leave_out)
    files = tuple(sorted(walk.files("", walk.layers, walk.includes), key=lambda each: os.fsencode(each.path)))
    if not allow_secret_files:
        _refuse_secrets(root, files)
    plan = PackPlan(root, files, tuple(walk.notices))
    if plan.size_bytes > LIMIT_BYTES:
        raise SpecError(
            f"the code folder {root} would make a pack of {format_size(plan.size_bytes)}; {_largest(plan)}",
            hint=f"the limit is {format_size(LIMIT_BYTES)}: leave data out with --exclude and pass it with --data",
        )
    if plan.size_bytes > NOTICE_BYTES:
        notice = f"the pack is large: {format_size(plan.size_bytes)} in {len(files)} files; {_largest(plan)}"
        plan = replace(plan, notices=(*plan.notices, notice))
    return plan


class _Walk:
    """One look at a folder tree."""

    def __init__(self, root: Path, includes: Includes, exclude: Sequence[str], leave_out: Sequence[str]) -> None:
        self.root = root
        self.includes = includes
        self.layers = surrounding_layers(root)
        self.notices: list[str] = []
        self._home = os.path.realpath(root)
        self._exclude = compile_globs(exclude, "--exclude")
        self._always = compile_globs(ALWAYS_LEFT_OUT, "the files that are never packed")
        self._places = normal_places(root, leave_out)

    def files(self, base: str, layers: list[Layer], includes: Includes, only: bool = False) -> Iterator[PackFile]:
        """Members below `base`; with `only` nothing but what the includes take."""
        here = self.root / base
        own = None if only else read_ignore_file(here)
        if own is not None:
            layers = [*layers, Layer(own, base)]
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError as error:
            raise SpecError(f"cannot read {here}: {error.strerror}", hint="leave it out with --exclude") from None
        count = 0
        for entry in entries:
            for file in self._members(entry, base + entry.name, layers, includes, only):
                count += 1
                yield file
        # Scripts rely on folders that exist: one whose files all stay behind still travels.
        if not count and base and not only:
            yield PackFile(base.rstrip("/"), 0, is_folder=True)

    def _members(
        self, entry: os.DirEntry[str], path: str, layers: list[Layer], includes: Includes, only: bool
    ) -> Iterator[PackFile]:
        is_folder = entry.is_dir(follow_symlinks=False)
        name = path + "/" if is_folder else path
        if is_folder:
            if self._is_never_packed(name):
                inner = includes.within(path)
                if inner.patterns:
                    yield from self.files(name, layers, inner, only=True)
            elif not (only or self._is_ignored(name, layers)):
                yield from self.files(name, layers, includes)
            elif includes.may_take_below(path):
                yield from self.files(name, layers, includes, only=True)
        elif includes.takes(path) or not (only or self._is_never_packed(path) or self._is_ignored(path, layers)):
            yield from self._member(entry, path)

    def _is_never_packed(self, path: str) -> bool:
        return self._always.match_file(path) or is_left_out(path.rstrip("/"), self._places)

    def _is_ignored(self, path: str, layers: list[Layer]) -> bool:
        if self._exclude.match_file(path):
            return True
        # The rules nearest to the file decide, as git does it.
        for layer in reversed(layers):
            verdict = layer.check(path)
            if verdict is not None:
                return verdict
        return False

    def _member(self, entry: os.DirEntry[str], path: str) -> Iterator[PackFile]:
        if entry.is_symlink():
            yield PackFile(path, 0, link=self._link_inside(path))
            return
        found = entry.stat(follow_symlinks=False)
        if stat.S_ISREG(found.st_mode):
            yield PackFile(path, found.st_size, bool(found.st_mode & stat.S_IXUSR))
        else:
            self.notices.append(f"{path} is neither a file nor a folder and stays behind")

    def _link_inside(self, path: str) -> str:
        """Where a link leads, spelled so that it holds wherever the folder is put."""
        link = self.root / path
        text = str(link.readlink())
        leads_to = os.path.realpath(link)
        if not (leads_to + os.sep).startswith(self._home + os.sep):
            raise SpecError(
                f"{path} is a link out of the code folder, to {text}",
                hint=f"pass what it points to with --data, or leave it out with --exclude '{path}'",
            )
        parts = [part for part in text.split("/") if part != ".."]
        if not text.startswith("/") and text == "../" * text.count("../") + "/".join(parts):
            return text
        return os.path.relpath(leads_to, os.path.realpath(link.parent))


def _refuse_secrets(root: Path, files: tuple[PackFile, ...]) -> None:
    found = []
    for file in files:
        if file.link is None and not file.is_folder:
            try:
                if looks_secret(root / file.path):
                    found.append(file.path)
            except OSError as error:
                raise SpecError(
                    f"cannot read {root / file.path}: {error.strerror}", hint="leave it out with --exclude"
                ) from None
    if found:
        names = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
        raise SpecError(
            f"the code folder holds files that look like secrets: {names}",
            hint="add them to .gitignore, leave them out with --exclude, or pack them with --allow-secret-files",
        )


def _largest(plan: PackPlan) -> str:
    files = sorted(plan.files, key=lambda each: (-each.size_bytes, each.path))[:5]
    return "largest: " + ", ".join(f"{each.path} ({format_size(each.size_bytes)})" for each in files)


__all__ = ["LIMIT_BYTES", "NOTICE_BYTES", "PackFile", "PackPlan", "plan_pack", "write_pack"]
