"""Questions to the person at the terminal. They go to standard error, so that standard output stays the result."""

from __future__ import annotations

import sys

from outlast.cli.words import say
from outlast.errors import UsageError


def agreed(question: str, *, verb: str, instead: str = "--yes") -> bool:
    """Ask a question that must be answered with yes; `UsageError` when nobody is there to answer."""
    if not sys.stdin.isatty():
        raise UsageError(f"{verb} asks before it goes on, and nobody is here to answer", hint=f"give {instead}")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def ask(what: str, option: str, default: str = "") -> str:
    """Ask for a value; an empty answer takes the default. `option` is what a script would have given instead."""
    _require_terminal(what, option)
    shown = f" [{default}]" if default else ""
    while True:
        print(f"{what}{shown}: ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise KeyboardInterrupt
        answer = line.strip() or default
        if answer:
            return answer


def ask_hidden(what: str, option: str) -> str:
    """Ask for a secret; what is typed does not appear."""
    import getpass

    _require_terminal(what, option)
    while True:
        try:
            answer = getpass.getpass(f"{what} ({say('not shown')}): ", sys.stderr).strip()
        except EOFError:
            raise KeyboardInterrupt from None
        if answer:
            return answer


def ask_or_skip(what: str, default: str = "", *, hidden: bool = False) -> str:
    """Ask for something that need not be given; an empty answer is the default, or nothing."""
    import getpass

    shown = f"{what} [{default}]: " if default else f"{what}, {say('or nothing')}: "
    if hidden:
        try:
            return getpass.getpass(f"{what}, {say('or nothing')} ({say('not shown')}): ", sys.stderr).strip()
        except EOFError:
            raise KeyboardInterrupt from None
    print(shown, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt
    return line.strip() or default


def _require_terminal(what: str, option: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError(f"the {what} is missing, and nobody is here to ask", hint=f"give {option}")
