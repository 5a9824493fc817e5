"""Start the keeper when none is there, and wake the one that is.

Every command that changes a run ends here, so this module imports next to nothing.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from outlast.keeper.home import Home


def take_lock(home: Home, patience_s: float = 0.0) -> int | None:
    """The file descriptor that holds the keeper's lock, or None while another process holds it.

    `keeper_is_there` holds the lock for a moment to see whether it is free; a keeper that starts just then must
    not mistake it for another keeper, hence the patience.
    """
    return _lock(home, home.lock, patience_s)


def _lock(home: Home, path: Path, patience_s: float = 0.0) -> int | None:
    with home.explained():
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                os.close(handle)
                raise
        if time.monotonic() >= deadline:
            os.close(handle)
            return None
        time.sleep(0.01)


def sign_lock(lock: int) -> None:
    """Leave our pid in the lock file, so that `end_keeper` finds us."""
    os.ftruncate(lock, 0)
    os.pwrite(lock, b"%d\n" % os.getpid(), 0)


def still_ours(home: Home, lock: int) -> bool:
    """Whether the lock that we hold is still the home's: not when somebody removed the home under us."""
    try:
        return os.path.samestat(os.fstat(lock), home.lock.stat())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # a disk that cannot be asked now is no home that was removed


def end_keeper(home: Home, patience_s: float = 5.0, *, by_force: bool = False) -> None:
    """Tell this home's keeper to leave and wait until it has. Runs and their stints go on.

    With `by_force` one that has not left after `patience_s` is killed, which costs it nothing but its last words.
    """
    deadline = time.monotonic() + patience_s
    while keeper_is_there(home):
        late = time.monotonic() >= deadline
        if late and not by_force:
            return
        # The pid belongs to the holder of the lock, which we have just seen held: no reused pid is hit.
        with open(home.lock) as file:  # noqa: PTH123
            text = file.read().strip()
        if text:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(text), signal.SIGKILL if late else signal.SIGTERM)
        time.sleep(0.02)


def restart_keeper(home: Home) -> None:
    """Let a keeper that is there begin anew, with the settings as they are now. Its runs do not notice."""
    if keeper_is_there(home):
        end_keeper(home)
        ensure_keeper(home)


def keeper_is_there(home: Home) -> bool:
    """Whether a keeper looks after this home right now."""
    handle = take_lock(home)
    if handle is None:
        return True
    os.close(handle)
    return False


def ensure_keeper(home: Home | Path, environ: Mapping[str, str] | None = None) -> bool:
    """Start a keeper for a home unless there is one; otherwise wake it. True when one was started.

    Call it after the inbox or the control file was written: a keeper that is about to leave looks once more after
    it gave up its lock, so either it sees the change or this finds the lock free. One that is still starting sees
    it when it has started: on a busy machine that takes seconds, and everybody who waits asks for a keeper.
    """
    home = home if isinstance(home, Home) else Home(home)
    if keeper_is_there(home):
        wake(home)
        return False
    starting = _lock(home, home.start_lock)
    if starting is None:
        return False
    try:
        with home.explained(), home.log.open("ab") as log:
            subprocess.Popen(
                [sys.executable, "-m", "outlast.keeper", "--home", str(home.path), "--starting", str(starting)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=home.path,
                env=_environment(os.environ if environ is None else environ),
                pass_fds=(starting,),
                start_new_session=True,
            ).returncode = 0  # it outlives us on purpose; this keeps Popen from warning about that
    finally:
        os.close(starting)  # the keeper has it now
    return True


def wake(home: Home) -> bool:
    """Make a sleeping keeper look at once; False when none listens."""
    try:
        handle = os.open(home.fifo, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.write(handle, b"w")
    except BlockingIOError:
        pass  # the pipe is full of wakes already
    finally:
        os.close(handle)
    return True


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The keeper runs in the home folder, so relative entries of PYTHONPATH must not stay relative."""
    result = dict(environ)
    if result.get("PYTHONPATH"):
        entries = result["PYTHONPATH"].split(os.pathsep)
        result["PYTHONPATH"] = os.pathsep.join(str(Path(entry).absolute()) for entry in entries if entry)
    return result
