"""`outlast.epochs`: a range that goes on where the last stint stopped, and hands over between two epochs."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping, Optional

from .link import Link

SaveFunction = Callable[[str], Any]


class Epochs:
    """Iterate over the epochs that are still to be trained. `len()` says how many that are."""

    def __init__(
        self,
        link: Optional[Link],
        total: int,
        start: Optional[int],
        load: Optional[SaveFunction],
        every: int,
        save: Optional[Callable[[], Any]],
        track: Optional[Callable[[int], Any]],
    ) -> None:
        self._link = link
        self._total = total
        self._load = load
        self._every = every
        self._save = save
        self._track = track
        self._number = 0
        self._restores = False
        self._first = start or 0
        if link is not None and not link.is_child:
            self._number = link.loops
            link.loops += 1
            self._place(link, start)

    def __len__(self) -> int:
        return max(0, self._total - self._first)

    def __iter__(self) -> Iterator[int]:
        link = self._link
        if link is None or link.is_child:
            yield from range(self._first, self._total)
            return
        link.listen()
        if self._restores and self._load is not None:
            self._restores = False
            self._load(link.checkpoint)
        link.loop = self._number
        link.saved_epochs = self._first
        if link.is_leader():
            link.report(epoch=self._first, epochs=self._total)
        try:
            for index in range(self._first, self._total):
                link.epoch = index
                yield index
                self._finish(link, index + 1)
        finally:
            link.epoch = None
            # However the loop ended (a break, an error), nobody shall wait for this process at a later boundary.
            if link.is_leader() and link.has_peers():
                link.pass_boundary(self._boundary(self._total))

    def _place(self, link: Link, start: Optional[int]) -> None:
        """Find the first epoch to train.

        A script may hold several loops (folds, phases). The checkpoint belongs to one of them: those before it are
        done, those after it start fresh.
        """
        if not link.restored:
            return
        restored_loop = _number(link.progress, "loop") or 0
        next_epoch = _number(link.progress, "next_epoch")
        if self._number < restored_loop:
            self._first = self._total
        elif self._number == restored_loop:
            self._restores = True
            if next_epoch is not None:
                self._first = next_epoch
            elif start is None:
                link.say(
                    "checkpoint %s does not say which epoch comes next, so counting starts at 0; "
                    "save with outlast.save, or give outlast.epochs(..., start=N)" % link.restored
                )

    def _finish(self, link: Link, finished: int) -> None:
        """The boundary after an epoch: report, save when it is time, leave when asked and everything is saved."""
        is_last = finished == self._total
        if not link.is_leader():
            # Only rank 0 decides, or one process would leave while the others wait for it in a collective call.
            if link.has_peers() and not is_last and link.may_leave(self._boundary(finished)):
                link.leave()
            return
        if self._track is not None:
            self._track(finished)
        link.report(epoch=finished, epochs=self._total, boundary=True)
        is_due = is_last or finished % self._every == 0
        if self._save is not None and link.saved_epochs < finished and (is_due or link.is_asked()):
            self._save()
        if not is_last and link.is_asked():
            if link.saved_epochs >= finished:
                link.leave()
            link.say(
                "asked to leave after epoch %d, but it is not saved: going on until the next outlast.save; "
                "give outlast.epochs(..., save=function) to hand over at once" % finished,
                once="unsaved",
            )
        if link.has_peers():
            link.pass_boundary(self._boundary(finished))

    def _boundary(self, finished: int) -> int:
        """A number that grows over all loops of the script."""
        return (self._number << 32) + finished


def _number(progress: Mapping[str, Any], name: str) -> Optional[int]:
    value = progress.get(name)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
