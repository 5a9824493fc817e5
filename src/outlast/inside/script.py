"""What a training script may call: `import outlast` leads here.

Outside a stint every function works and does nothing surprising, so the same script runs by hand. Configuration
comes from environment variables that the runner sets (see docs/script-api.md).
"""

from __future__ import annotations

import functools
import math
import os
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, NoReturn, Optional, Union, overload

from .link import COME_BACK, Link
from .loop import Epochs
from .points import NO_STEP, STEP_LIMIT

_UNSET = object()
_link: Any = _UNSET
_making = threading.Lock()
_modules = sys.modules
_NAN = float("nan")


class Info(NamedTuple):
    """Where this process is; everything but `inside`, `progress` and `rank` is None outside a stint."""

    inside: bool
    run: Optional[str] = None
    stint: Optional[int] = None
    restored: Optional[str] = None  # id of the checkpoint that was put back
    progress: Mapping[str, Any] = {}  # what was said when that checkpoint was saved
    rank: int = 0
    time_left_s: Optional[float] = None  # to the end of the stint; None when it has no limit


def current_link() -> Optional[Link]:
    """This process's link to its stint, made on first use; None outside a stint."""
    global _link  # noqa: PLW0603 - one stint per process, as the environment has it
    if _link is _UNSET:
        with _making:
            if _link is _UNSET:
                version = getattr(sys.modules.get("outlast"), "__version__", "")
                _link = Link(os.environ, version) if os.environ.get("OUTLAST_RUN") else None
    return _link  # type: ignore[no-any-return]


def epochs(
    total: int,
    start: Optional[int] = None,
    save: Optional[Callable[[str], Any]] = None,
    load: Optional[Callable[[str], Any]] = None,
    every: int = 1,
    track: Optional[Callable[[], Mapping[str, Any]]] = None,
) -> Epochs:
    """A resumable `range(total)`: it goes on after the last saved epoch and hands over between two epochs.

    `load(folder)` is called once before the first epoch when a checkpoint was restored; `save(folder)` after every
    `every` finished epochs, after the last one, and when the stint is about to end; `track()` returns metrics to
    record after each epoch. When asked to leave and everything is saved, the loop raises `SystemExit(85)`: what
    comes after the loop runs only once all epochs are done. `start` counts where no checkpoint says otherwise.
    """
    for name, value, least in (("total", total, 0), ("start", start, 0), ("every", every, 1)):
        if value is not None and (not isinstance(value, int) or value < least):
            raise ValueError("outlast.epochs: %s=%r must be a whole number, %d or more" % (name, value, least))
    link = current_link()
    if link is None:
        return Epochs(None, total, start, None, every, None, None)
    save_now = None if save is None else functools.partial(_save, link, save, {})
    track_now = None if track is None else lambda epoch: _track_epoch(link, epoch, track())
    return Epochs(link, total, start, load, every, save_now, track_now)


def save(fn: Optional[Callable[[str], Any]] = None, **progress: Any) -> Optional[int]:
    """Commit a checkpoint, and return its ticket once the files may change again.

    `fn(folder)` writes the files into an empty folder; together they become the checkpoint, and nothing of the one
    before remains. Without `fn` the checkpoint place is committed as it is. Keywords are kept with the checkpoint
    (`outlast.info().progress`). Inside the body of an `epochs` loop a save means that the epoch is done; say
    `next_epoch=epoch` to have it trained again. Only rank 0 saves. None: nothing was committed.
    """
    link = current_link()
    if link is None or not link.is_leader():
        return None
    return _save(link, fn, progress)


def save_together(fn: Callable[[str], Any], **progress: Any) -> Optional[int]:
    """`save` for functions that every rank must call, and that return when all ranks have written."""
    link = current_link()
    if link is None or link.is_child:
        return None
    if link.is_leader():
        return _save(link, fn, progress, together=True)
    folder = _staging(link)
    os.makedirs(folder, exist_ok=True)
    fn(folder)
    return None


@overload
def restore() -> Optional[str]: ...
@overload
def restore(fn: Callable[[str], Any]) -> bool: ...
def restore(fn: Optional[Callable[[str], Any]] = None) -> Union[str, bool, None]:
    """The folder of the restored checkpoint, or None at the very start of a run.

    With `fn`: calls `fn(folder)` if there is one, and returns whether there was.
    """
    link = current_link()
    folder = link.checkpoint if link is not None and link.restored else None
    if fn is None:
        return folder
    if folder is not None:
        fn(folder)
    return folder is not None


def track(epoch: Optional[float] = None, step: Optional[int] = None, samples: Any = None, **values: Any) -> None:
    """Record metrics: `outlast.track(loss=loss, acc=acc)`. Takes about a microsecond; never ends a training.

    Values are numbers or anything with one in it (a tensor of one element). `samples` is the list of sample
    indexes that were used; only a digest of it is kept, by which `outlast rehearse` compares their order. In an
    `epochs` loop the epoch is filled in, counted from 1. Only rank 0 records.
    """
    link = current_link() if _link is _UNSET else _link
    if link is None:
        return
    # The usual call takes a microsecond only while nothing is copied, nothing is looked up and nobody is called.
    write = link.pen() if "torch.distributed" in _modules else link.write
    if write is None:
        return
    if epoch is None:
        epoch = _NAN if link.epoch is None else link.epoch + 1.0
    if step is None:
        step = NO_STEP
    if samples is None and type(epoch) is float and type(step) is int and NO_STEP <= step < STEP_LIMIT:
        for value in values.values():
            if type(value) is not float:
                break
        else:
            write(epoch, step, values)
            return
    _track_any(link, epoch, step, samples, values)


def progress(
    epoch: Optional[float] = None,
    epochs: Optional[float] = None,
    step: Optional[int] = None,
    steps: Optional[int] = None,
) -> None:
    """Say how far the training is: finished epochs or steps, and how many there will be. `epochs` loops do this."""
    link = current_link()
    if link is not None and link.is_leader():
        link.report(epoch=as_number(epoch), epochs=as_number(epochs), step=step, steps=steps)


def should_stop() -> bool:
    """Whether the script has been asked to save and leave. Costs next to nothing: ask at every step.

    After a True: `outlast.save(...)`, then `outlast.leave()`.
    """
    link = current_link()
    if link is None:
        return False
    link.listen()
    if not link.is_asked():
        return False
    link.notice()
    return True


def is_asked() -> bool:
    """`should_stop` for code that leaves by itself: the runner is not told that the script knows."""
    link = current_link()
    if link is None:
        return False
    link.listen()
    return link.is_asked()


def boundary(epoch: int, epochs: Optional[int] = None) -> None:
    """Report the end of an epoch, for loops that are not ours: the runner plans the hand-over by these."""
    link = current_link()
    if link is not None and link.is_leader():
        link.report(boundary=True, epoch=epoch, epochs=epochs)


def leave() -> NoReturn:
    """End this process so that the next stint goes on from the last save. Raises `SystemExit(85)`."""
    link = current_link()
    if link is not None:
        link.leave()
    raise SystemExit(COME_BACK)


@overload
def params() -> Dict[str, str]: ...
@overload
def params(defaults: Mapping[str, Any]) -> Dict[str, Any]: ...
def params(defaults: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
    """The run's parameters over `defaults`; each takes the type of its default, others stay text."""
    found: Dict[str, Any] = dict(defaults or {})
    link = current_link()
    for name, text in (link.params if link is not None else {}).items():
        found[name] = _like(name, text, found[name]) if name in found else text
    return found


def output() -> str:
    """The folder whose files are brought home at the end; the current folder outside a stint."""
    link = current_link()
    if link is None or not link.output:
        return "."
    os.makedirs(link.output, exist_ok=True)
    return link.output


def info() -> Info:
    """The run, the stint and what was restored, as a small named tuple."""
    link = current_link()
    if link is None:
        return Info(inside=False)
    return Info(True, link.run, link.stint, link.restored or None, dict(link.progress), link.rank(), link.time_left_s())


def _track_epoch(link: Link, epoch: int, values: Mapping[str, Any]) -> None:
    if link.is_leader():
        _track_any(link, epoch, NO_STEP, None, values)


def _track_any(link: Link, epoch: Any, step: Any, samples: Any, values: Mapping[str, Any]) -> None:
    """`track` for everything that is not a plain float."""
    numbers: Dict[str, Any] = {}
    for name, value in values.items():
        number = as_number(value)
        try:
            if number is None:
                link.say("track(%s=...) is not a number but %s; left out" % (name, type(value).__name__))
            else:
                numbers[name] = float(number)
        except OverflowError:
            link.say("track(%s=...) is larger than a float can hold; left out" % name)
    where, whole = _finite(epoch), _finite(step)
    if whole is not None and not NO_STEP <= whole < STEP_LIMIT:
        link.say("track(step=...) needs a step of at most 63 bits; the points are kept without it", "step")
        whole = None
    if samples is not None:
        numbers["samples"] = _digest(samples)
        link.notepad.note(where, None if whole is None or whole == NO_STEP else int(whole), numbers)
    else:
        link.notepad.write(_NAN if where is None else float(where), NO_STEP if whole is None else int(whole), numbers)


def _finite(value: Any) -> Optional[float]:
    number = as_number(value)
    try:
        return number if number is not None and math.isfinite(number) else None
    except OverflowError:
        return number


def _staging(link: Link) -> str:
    # Beside the checkpoint place: the same filesystem, so that files can be moved; and out of the watcher's sight.
    return link.checkpoint + ".outlast.tmp"


def _save(
    link: Link, fn: Optional[Callable[[str], Any]], said: Mapping[str, Any], together: bool = False
) -> Optional[int]:
    kept = {name: _keepable(name, value) for name, value in said.items()}
    if link.epoch is not None:
        kept.setdefault("next_epoch", link.epoch + 1)
        kept.setdefault("epoch", kept["next_epoch"])
        if link.loop:
            kept.setdefault("loop", link.loop)
    with link.saving:
        began_s = time.monotonic()
        if fn is not None:
            _write(link, fn, together)
        ticket = link.commit(kept, time.monotonic() - began_s)
    if ticket and isinstance(kept.get("next_epoch"), int):
        link.saved_epochs = kept["next_epoch"]
    return ticket


def _write(link: Link, fn: Callable[[str], Any], together: bool) -> None:
    """Have `fn` write a checkpoint aside, then put its files in the place of the last one."""
    import shutil

    staging = _staging(link)
    if not together:  # otherwise another rank may already be writing there
        shutil.rmtree(staging, ignore_errors=True)
    try:
        os.makedirs(staging, exist_ok=True)
        fn(staging)
        fresh = _files(staging)
        if not fresh:
            raise ValueError("outlast.save: the function wrote nothing into the folder it was given")
        link.begin_saving()
        _exchange(staging, link.checkpoint, fresh)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _exchange(staging: str, place: str, fresh: List[str]) -> None:
    """Make `place` hold exactly the `fresh` files of `staging`. Whoever dies in here leaves a mixture behind."""
    if os.path.lexists(place) and not os.path.isdir(place):
        raise ValueError(
            "outlast.save needs a folder, but the checkpoint place %s is a file; name a folder with --checkpoint"
            % os.path.basename(place)
        )
    keep = set(fresh)
    for path in _files(place):
        if path not in keep:
            os.unlink(os.path.join(place, path))
    for folder, _, _ in os.walk(place, topdown=False):
        if folder != place and not os.listdir(folder):
            os.rmdir(folder)
    for path in fresh:
        target = os.path.join(place, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.replace(os.path.join(staging, path), target)


def _files(root: str) -> List[str]:
    """Every file below `root`, links included and not followed, by relative path."""
    found: List[str] = []
    for folder, folders, names in os.walk(root):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        found.extend(os.path.relpath(os.path.join(folder, name), root) for name in names + links)
    return found


def as_number(value: Any) -> Optional[float]:
    """A plain number out of what frameworks call one; None when there is none in it."""
    if value is None or isinstance(value, (str, bytes)):
        return None
    if type(value) in (int, float):
        return value  # type: ignore[no-any-return]
    try:
        item = getattr(value, "item", None)
        return float(value if item is None else item())
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None


def _keepable(name: str, value: Any) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    number = as_number(value)
    if number is None:
        raise TypeError("outlast.save: %s=%r cannot be kept with a checkpoint; give a number or a text" % (name, value))
    return int(number) if not isinstance(value, float) and float(number).is_integer() else number


def _digest(samples: Any) -> str:
    import hashlib

    listed = samples.tolist() if hasattr(samples, "tolist") else list(samples)
    return hashlib.sha1(repr(listed).encode("utf-8")).hexdigest()[:16]


def _like(name: str, text: Any, default: Any) -> Any:
    if isinstance(default, bool):
        if str(text).lower() in ("1", "true", "yes", "on"):
            return True
        if str(text).lower() in ("0", "false", "no", "off"):
            return False
        raise ValueError("parameter %s=%r is not a bool; give true or false" % (name, text))
    if not isinstance(default, (int, float)):
        return text
    try:
        return type(default)(text)
    except ValueError:
        raise ValueError("parameter %s=%r is not a number" % (name, text)) from None
