"""Which files of a code folder are left behind: `.gitignore` at every level, globs, and what is never code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec

from outlast.errors import SpecError

ALWAYS_LEFT_OUT = (
    ".git", "__pycache__", ".venv", "venv", "node_modules", "*.pyc", ".outlast", ".mypy_cache", ".pytest_cache",
    ".ruff_cache", ".ipynb_checkpoints",
)  # fmt: skip
_GLOB = frozenset("*?[!\\")


def compile_globs(patterns: Sequence[str], origin: str) -> GitIgnoreSpec:
    """Globs in the spelling of `.gitignore`; `SpecError` names the one that cannot be read."""
    try:
        return GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise SpecError(f"cannot read a pattern of {origin}: {error}") from None


def read_ignore_file(folder: Path) -> GitIgnoreSpec | None:
    """The rules of the `.gitignore` in one folder."""
    path = folder / ".gitignore"
    if not path.is_file():
        return None
    return compile_globs(path.read_text("utf-8", "replace").splitlines(), str(path))


@dataclass(frozen=True)
class Layer:
    """Rules that hold below one folder; `above` is what leads from there to the code folder."""

    spec: GitIgnoreSpec
    base: str = ""  # the folder inside the code folder, with a slash at the end
    above: str = ""  # for rules of a surrounding repository: the code folder as seen from there

    def check(self, path: str) -> bool | None:
        return self.spec.check_file(self.above + path[len(self.base) :]).include


def surrounding_layers(folder: Path) -> list[Layer]:
    """Rules of the git repository around a code folder, outermost first; none if they ignore the folder itself."""
    layers: list[Layer] = []
    chain = [folder, *folder.parents]
    top = next((place for place, each in enumerate(chain) if (each / ".git").exists()), 0)
    for each in reversed(chain[1 : top + 1]):
        spec = read_ignore_file(each)
        if spec is not None:
            layers.append(Layer(spec, "", folder.relative_to(each).as_posix() + "/"))
    # A folder that is ignored as a whole, yet named by the user, is wanted.
    return [] if any(layer.spec.match_file(layer.above) for layer in layers) else layers


@dataclass(frozen=True)
class Includes:
    """Globs that win over every reason to leave a file behind."""

    patterns: tuple[str, ...] = ()
    spec: GitIgnoreSpec = field(default_factory=lambda: GitIgnoreSpec.from_lines(()))

    @classmethod
    def of(cls, patterns: Sequence[str]) -> Includes:
        return cls(tuple(patterns), compile_globs(patterns, "--include"))

    def takes(self, path: str) -> bool:
        return self.spec.match_file(path)

    def within(self, folder: str) -> Includes:
        """Those that name this folder letter by letter: `*.txt` must not empty a virtual environment into a pack."""
        return Includes.of([each for each in self.patterns if _reaches(_literal(each), folder)])

    def may_take_below(self, folder: str) -> bool:
        """Whether any of them could match something below a folder."""
        return any(
            _is_anywhere(each) or _reaches(_literal(each), folder) or _reaches(folder, _literal(each))
            for each in self.patterns
        )


def is_left_out(path: str, places: Sequence[str]) -> bool:
    """Whether a path is, or lies below, one of the places that are never packed."""
    return any(path == place or path.startswith(place + "/") for place in places)


def normal_places(folder: Path, leave_out: Sequence[str]) -> list[str]:
    """Places as paths relative to the code folder; those elsewhere are dropped."""
    found = []
    for place in leave_out:
        relative = os.path.relpath(os.path.normpath(folder / place), folder)
        parts = PurePosixPath(relative).parts
        if parts and parts[0] != ".." and relative != ".":
            found.append(PurePosixPath(relative).as_posix())
    return found


def _is_anywhere(pattern: str) -> bool:
    """Whether a glob may match at any level: without a slash in it, or with a wildcard first."""
    return "/" not in pattern.rstrip("/") or not _literal(pattern)


def _literal(pattern: str) -> str:
    """The parts at the beginning of a glob that hold no wildcard."""
    kept = []
    for part in pattern.strip("/").split("/"):
        if _GLOB.intersection(part):
            break
        kept.append(part)
    return "/".join(kept)


def _reaches(path: str, folder: str) -> bool:
    return bool(path) and (path == folder or path.startswith(folder + "/"))
