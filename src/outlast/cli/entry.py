"""The `outlast` command. Help, version and mistakes in the verb's name are answered without importing a package.

`outlast --help` has to feel like `python -c pass`, so this file imports only `os` and `sys` at the top, and the
module of a verb only when that verb is asked for.
"""

from __future__ import annotations

import os
import sys

from outlast.cli.verbs import FIRST_STEPS, GLOBAL_OPTIONS, TAGLINE, VERBS
from outlast.cli.words import pad, say

COMPLETE_VARIABLE = "_OUTLAST_COMPLETE"
SERVER_VARIABLE = "OUTLAST_SERVER"
BROKEN_PIPE_EXIT_CODE = 141  # what a shell reports for a command ended by SIGPIPE


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code. Never raises for a user's mistake."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    server = os.environ.get(SERVER_VARIABLE)
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader went away (`outlast logs | head`). Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE_EXIT_CODE
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    finally:
        # Whoever calls us as a library goes on with the environment it had.
        os.environ.pop(SERVER_VARIABLE, None)
        if server is not None:
            os.environ[SERVER_VARIABLE] = server


def _dispatch(arguments: list[str]) -> int:
    if COMPLETE_VARIABLE in os.environ:
        from outlast.cli.completion import answer

        return answer()
    debug = _take_debug(arguments)
    if not _take_server(arguments):
        return 2
    if not arguments or arguments[0] in ("--help", "-h") or arguments == ["help"]:
        sys.stdout.write(help_page())
        return 0
    first, *rest = arguments
    if first in ("--version", "-V"):
        print(f"outlast {_version()}")
        return 0
    if first in ("--install-completion", "--show-completion"):
        from outlast.cli.completion import set_up

        return set_up(first, rest)
    if first == "help":
        first, rest = rest[0], ["--help"]
    if first not in VERBS:
        return _unknown(first)
    from outlast.cli.command import run_verb

    return run_verb(first, rest, debug=debug)


def _take_debug(arguments: list[str]) -> bool:
    """Remove `--debug` wherever it stands before `--`; what follows that belongs to the user's script."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    asked = "--debug" in arguments[:end]
    arguments[:end] = [argument for argument in arguments[:end] if argument != "--debug"]
    return asked or os.environ.get("OUTLAST_DEBUG", "") not in ("", "0")


def _take_server(arguments: list[str]) -> bool:
    """Remove `--server URL` wherever it stands before `--`; from then on it is as if OUTLAST_SERVER were set so."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    for place in range(end - 1, -1, -1):
        name, equals, value = arguments[place].partition("=")
        if name != "--server":
            continue
        if not equals and place + 1 >= end:
            print("error: --server needs the address of a server", file=sys.stderr)
            print("hint: write it like --server http://127.0.0.1:8700", file=sys.stderr)
            return False
        os.environ[SERVER_VARIABLE] = value if equals else arguments[place + 1]
        del arguments[place : place + (1 if equals else 2)]
    return True


def help_page() -> str:
    """The top-level help: a static table, in the user's language."""
    lines = [f"{say(TAGLINE)}", "", f"{say('Usage')}: outlast {say('COMMAND [OPTIONS]')}"]
    group = ""
    for name, (_, sentence, its_group) in VERBS.items():
        if its_group != group:
            group = its_group
            lines += ["", f"{say(group)}:"]
        lines.append(f"  {pad(name, 12)} {say(sentence)}")
    lines += ["", f"{say('Options')}:"]
    lines += [f"  {pad(name, 26)} {say(sentence)}" for name, sentence in GLOBAL_OPTIONS.items()]
    return "\n".join([*lines, "", say(FIRST_STEPS), ""])


def _unknown(word: str) -> int:
    from difflib import get_close_matches

    kind = "option" if word.startswith("-") else "command"
    known = [*VERBS, "--help", "--version", "--debug", "--server", "--install-completion", "--show-completion"]
    near = get_close_matches(word, known, n=1)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    print(f"error: unknown {kind} {word!r}{guess}", file=sys.stderr)
    print("hint: outlast --help lists all commands", file=sys.stderr)
    return 2


def _version() -> str:
    import outlast

    return outlast.__version__


if __name__ == "__main__":
    sys.exit(main())
