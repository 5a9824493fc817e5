"""Every way a command can fail, turned into one line, a hint and an exit code.

A user's mistake never shows a traceback. A mistake of ours says so in one line and keeps the traceback in
`crash.log`; `--debug` shows it at once.
"""

from __future__ import annotations

import datetime
import difflib
import errno
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from outlast.errors import INTERRUPTED_EXIT_CODE, OutlastError
from outlast.inside import errors as inside_errors

# typer carries click's exceptions privately in newer versions and uses the click package in older ones;
# the bases of its public BadParameter are the same classes in both.
_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
_PARSER_ERROR: type[Exception] = _USAGE_ERROR.__mro__[1]
BUG_EXIT_CODE = 70  # EX_SOFTWARE: never one of the documented codes

#: Failures of the system that are the user's to mend, with the errno they come as.
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
_INSIDE_EXIT_CODES: tuple[tuple[type[Exception], int], ...] = (
    (inside_errors.AccessDenied, 11),
    (inside_errors.RequestError, 2),
    (inside_errors.NotFound, 10),
    (inside_errors.InsideError, 12),
)


def guarded(work: Callable[[], int], *, verb: str, debug: bool) -> int:
    """Run `work` and return its exit code, or the one its failure stands for."""
    try:
        return work()
    except (KeyboardInterrupt, typer.Abort):
        print(file=sys.stderr)
        return INTERRUPTED_EXIT_CODE
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - this is the outermost frame: everything becomes an exit code
        if debug:
            traceback.print_exc()
        return _explain(error, verb, debug)


def _explain(error: Exception, verb: str, debug: bool) -> int:
    if isinstance(error, OutlastError):
        return complain(error.message, error.hint, error.exit_code)
    if isinstance(error, _PARSER_ERROR):
        message, hint = explain_usage(error, verb)
        return complain(message, hint, 2)
    for kind, code in _INSIDE_EXIT_CODES:
        if isinstance(error, kind):
            return complain(str(error), "", code)
    if isinstance(error, OSError) and error.errno in _DISK_FULL + _NOT_WRITABLE:
        return complain(*_system_words(error), 12)
    return _own_up(error, verb, debug)


def complain(message: str, hint: str = "", code: int = 2) -> int:
    """Write `error:` and `hint:` to standard error; several lines are indented under the first."""
    sys.stdout.flush()
    red, plain = ("\x1b[31m", "\x1b[0m") if _colours() else ("", "")
    print(f"{red}error:{plain} " + message.rstrip().replace("\n", "\n  "), file=sys.stderr)
    if hint:
        print("hint: " + hint.rstrip().replace("\n", "\n  "), file=sys.stderr)
    return code


def explain_usage(error: Exception, verb: str) -> tuple[str, str]:
    """The parser's complaint in our words: (message, hint), with the nearest option for a wrong one."""
    see = f"outlast {verb} --help lists all options"
    option = getattr(error, "option_name", None)
    if option is not None and hasattr(error, "possibilities"):
        near = difflib.get_close_matches(option, _options_of(error), n=1, cutoff=0.5)
        guess = f"; did you mean {near[0]}?" if near else ""
        if verb in ("run", "probe", "rehearse"):
            see = f"options of the script itself go after --: outlast {verb} train.py -- {option} …; {see}"
        return f"unknown option {option}{guess}", see
    text = str(error.format_message()) if hasattr(error, "format_message") else str(error)
    return text[:1].lower() + text[1:].rstrip("."), see


def _options_of(error: Exception) -> list[str]:
    context: Any = getattr(error, "ctx", None)
    if context is None:
        return []
    params = context.command.get_params(context)
    return [name for param in params for name in (*param.opts, *param.secondary_opts) if name.startswith("--")]


def _system_words(error: OSError) -> tuple[str, str]:
    place = f": {error.filename}" if error.filename else ""
    if error.errno in _DISK_FULL:
        return f"no space left on the disk{place}", "free some space, for example with: outlast gc"
    return f"{(error.strerror or 'not allowed').lower()}{place}", "outlast doctor says what can be written here"


def _own_up(error: Exception, verb: str, debug: bool) -> int:
    first_line = (str(error).splitlines() or [""])[0]
    where = _record_crash(error, verb)
    if debug:
        hint = f"please report it with the traceback above (kept in {where})" if where else "please report it"
    else:
        hint = f"the traceback is in {where}; --debug shows it" if where else "--debug shows the traceback"
    return complain(f"this is a bug in outlast: {type(error).__name__}: {first_line}", hint, BUG_EXIT_CODE)


def _record_crash(error: Exception, verb: str) -> Path | None:
    """Append the traceback to crash.log. The command line itself stays out: it may carry values of --env."""
    import outlast

    home = Path(os.environ.get("OUTLAST_HOME") or "~/.outlast").expanduser()
    lines = traceback.format_exception(error)
    stamp = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = home / "crash.log"
        with path.open("a", encoding="utf-8") as file:
            file.write(f"--- {stamp} outlast {outlast.__version__} {verb}\n{''.join(lines)}")
    except OSError:
        return None
    return path


def _colours() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
