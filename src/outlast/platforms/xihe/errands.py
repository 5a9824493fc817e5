"""Long ways home in the background, one thread for each, so that the other jobs of an account do not wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from outlast.errors import OutlastError, PlatformError
from outlast.inside.errors import InsideError


@dataclass
class _Errand:
    thread: threading.Thread
    failure: OutlastError | None = None
    is_over: bool = False
    left: threading.Event = field(default_factory=threading.Event)


class Errands:
    """What is under way by name. Nothing here survives a restart: every errand can be done again without harm."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, _Errand] = {}

    def start(self, name: str, work: Callable[[], None]) -> None:
        """Begin an errand unless it is under way."""
        with self._lock:
            known = self._known.get(name)
            if known is not None and not known.is_over:
                return
            thread = threading.Thread(target=self._do, args=(name, work), name=f"outlast {name}", daemon=True)
            self._known[name] = _Errand(thread)
            thread.start()

    def is_under_way(self, name: str) -> bool:
        with self._lock:
            known = self._known.get(name)
            return known is not None and not known.is_over

    def take_failure(self, name: str) -> OutlastError | None:
        """Why an errand failed, told once."""
        with self._lock:
            known = self._known.get(name)
            if known is None or not known.is_over:
                return None
            return self._known.pop(name).failure

    def wait(self, name: str, timeout_s: float) -> bool:
        """Whether an errand is over, within a time; True for one that never began."""
        with self._lock:
            known = self._known.get(name)
        return known is None or known.left.wait(timeout_s)

    def _do(self, name: str, work: Callable[[], None]) -> None:
        failure: OutlastError | None = None
        try:
            work()
        except OutlastError as error:
            failure = error
        except (InsideError, OSError) as error:
            failure = PlatformError(str(error))
        except Exception as error:  # noqa: BLE001 - a bug must not look like a job that nobody asked for
            failure = PlatformError(f"{type(error).__name__}: {error}", retryable=False)
        with self._lock:
            errand = self._known[name]
            errand.failure, errand.is_over = failure, True
            errand.left.set()
