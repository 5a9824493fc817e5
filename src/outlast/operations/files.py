"""The verbs on files as methods: what `Client.files` is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.inside.move.engine import Listener, Outcome
    from outlast.inside.move.plan import Options, Plan
    from outlast.operations.places import Listing, Measured, Removal

Where = str | os.PathLike[str]


class Files:
    """Files in any place: a path of this machine, or an address like `obs://bucket/data/`.

    `words` say how to copy: `force` (also what is there already), `checksum` (compare bytes, not times), `single`
    (the sources are files, also where a folder has the same name), `verify` (read everything once more),
    `workers` (connections at once), and `profile` (whose keys).
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def copy(
        self, sources: Where | Sequence[Where], destination: Where, *, listener: Listener | None = None, **words: Any
    ) -> Outcome:
        """Copy files and folders. Those that could not be copied are named in the outcome.

        client.files.copy("obs://lab/mnist/", "data/")
        """
        return self.carry_out(self.plan(sources, destination, **words), listener)

    def sync(
        self,
        source: Where,
        destination: Where,
        *,
        delete: bool = False,
        listener: Listener | None = None,
        **words: Any,
    ) -> Outcome:
        """Make a folder hold what the source holds; with `delete` nothing else, once everything was copied."""
        return self.carry_out(self.plan(source, destination, delete=delete, **words), listener)

    def plan(
        self,
        sources: Where | Sequence[Where],
        destination: Where,
        *,
        tell: Callable[[str], None] | None = None,
        profile: str = "",
        **words: Any,
    ) -> Plan:
        """Everything that `copy` or `sync` would do, completely checked; moves nothing."""
        from outlast.operations.transfer import plan_copy

        several = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
        return plan_copy(self._settings, several, destination, _options(words), profile=profile, tell=tell)

    def carry_out(self, plan: Plan, listener: Listener | None = None) -> Outcome:
        """Do what was planned."""
        from outlast.operations.transfer import carry_out

        return carry_out(plan, listener)

    def copy_packed(
        self, source: Where, destination: Where, *, listener: Listener | None = None, profile: str = "", **words: Any
    ) -> Outcome:
        """Copy a folder of many small files as shards: packed on the way out, unpacked on the way home."""
        from outlast.operations.transfer import copy_packed

        return copy_packed(
            self._settings, source, destination, _options(words), profile=profile, listener=listener
        )  # fmt: skip

    def list(self, place: str, *, recursive: bool = False, profile: str = "") -> Listing:
        """What lies in a folder; with `recursive` everything below it."""
        from outlast.operations.places import list_place

        return list_place(self._settings, place, recursive=recursive, profile=profile)

    def measure(self, place: str, *, profile: str = "") -> Measured:
        """How many files and bytes lie below a place, and in each of its children."""
        from outlast.operations.places import measure_place

        return measure_place(self._settings, place, profile=profile)

    def read(self, place: str, *, start: int = 0, length: int | None = None, profile: str = "") -> Iterator[bytes]:
        """The bytes of a file, in pieces."""
        from outlast.operations.places import read_place

        return read_place(self._settings, place, start=start, length=length, profile=profile)

    def plan_removal(self, place: str, *, recursive: bool = False, profile: str = "") -> Removal:
        """What `remove` would remove."""
        from outlast.operations.places import plan_removal

        return plan_removal(self._settings, place, recursive=recursive, profile=profile)

    def remove(self, place: str | Removal, *, recursive: bool = False, profile: str = "") -> int:
        """Remove files of a bucket or of HDFS, or what was planned; never those of this machine. Returns how many."""
        from outlast.operations.places import remove_place

        planned = self.plan_removal(place, recursive=recursive, profile=profile) if isinstance(place, str) else place
        return remove_place(planned)

    def make(self, place: str, *, profile: str = "") -> tuple[str, bool]:
        """Make a bucket or a folder; its address, and False when it was there already."""
        from outlast.operations.places import make_place

        return make_place(self._settings, place, profile=profile)


def _options(words: dict[str, Any]) -> Options:
    from outlast.errors import UsageError
    from outlast.inside.move.base import Moving
    from outlast.inside.move.plan import Options

    how = Moving(workers=words.pop("workers", 0), full_check=words.pop("verify", False))
    try:
        return Options(how=how, **words)
    except TypeError:
        unknown = next(iter(set(words) - set(Options._fields)), "how")
        raise UsageError(
            f"not a word of a copy: {unknown}", hint="known: force, checksum, single, delete, verify, workers, profile"
        ) from None
