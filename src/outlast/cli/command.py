"""How a verb file becomes a command: its help page, its parsing, its way out.

A verb file declares `app = new_app()` and one function under `@verb(app, …)`. The page's first line comes from the
table of verbs; the paragraph, the examples and the exit codes stand beside the function. A verb with sub-commands
declares `app = new_group(…)` and a function for each of them under `@verb(app, …, sentence="…")`.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import typer
import typer.core
import typer.main

from outlast.cli.coercion import lighten
from outlast.cli.verbs import VERBS
from outlast.errors import UsageError

if TYPE_CHECKING:
    from outlast.client import Client

F = TypeVar("F", bound=Callable[..., Any])

#: What each exit code means; a verb lists the ones it can end with.
EXIT_CODES: Mapping[int, str] = {
    0: "done",
    1: "the run failed",
    2: "the request is wrong; nothing was started",
    10: "no such run, stint or file",
    11: "credentials are missing or refused",
    12: "the platform or the store cannot be reached",
    130: "interrupted",
}


_CONTEXT: dict[str, Any] = {"help_option_names": ["--help", "-h"], "max_content_width": 110}


class _Page:
    """A page that reads: usage, sentence, paragraph, tables, examples, exit codes."""

    sentence: ClassVar[str] = ""
    about: ClassVar[str] = ""
    examples: ClassVar[Sequence[tuple[str, str]]] = ()
    exits: ClassVar[Mapping[int, str]] = {}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.format_usage(ctx, formatter)  # type: ignore[attr-defined]
        for text in (self.sentence, self.about):
            formatter.write_paragraph()
            formatter.write_text(text)
        for title, rows in self._rows(ctx).items():
            with formatter.section(title):
                formatter.write_dl(rows, col_max=26)
        with formatter.section("Examples"):
            for command, what in self.examples:
                formatter.write(f"  {command}\n      {what}\n")
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in self.exits.items()])

    def _rows(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        raise NotImplementedError


class VerbCommand(_Page, typer.core.TyperCommand):
    """A command, its options in groups."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        lighten(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [param for param in self.params if param.param_type_name == "argument"]
        return ["[OPTIONS]", *(_metavar(param) for param in arguments)]

    def _rows(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for param in self.get_params(ctx):
            if param.param_type_name == "argument":
                groups["Arguments"].append((_metavar(param), getattr(param, "help", "")))
            elif "--help" not in param.opts:
                record = param.get_help_record(ctx)
                title = getattr(param, "rich_help_panel", None) or "Options"
                groups.setdefault(title, []).extend([record] if record else [])
        # The general ones come last, with the one that every page has.
        groups["Options"] = [*groups.pop("Options", []), ("-h, --help", "Show this page")]
        return {title: rows for title, rows in groups.items() if rows}


class VerbGroup(_Page, typer.core.TyperGroup):
    """A verb with sub-commands; without one, the default is meant if there is one."""

    default: ClassVar[str] = ""
    default_takes_words: ClassVar[bool] = False  # a word that is no sub-command belongs to the default

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["COMMAND [OPTIONS]"]

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if self._means_default(args):
            args = [self.default, *args]
        if not args and not ctx.resilient_parsing:
            raise self._usage(f"outlast {self.name} needs to know what to do")
        return super().parse_args(ctx, args)

    def _means_default(self, args: list[str]) -> bool:
        if not self.default or (args and args[0] in _CONTEXT["help_option_names"]):
            return False
        if not args or args[0].startswith("-"):
            return True
        return self.default_takes_words and args[0] not in self.commands

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0]
        if word not in self.commands and not ctx.resilient_parsing:
            near = difflib.get_close_matches(word, self.commands, n=1)
            guess = f"; did you mean {near[0]!r}?" if near else ""
            kind = "option" if word.startswith("-") else "command"
            raise self._usage(f"unknown {kind} {word!r} of outlast {self.name}{guess}")
        return super().resolve_command(ctx, args)

    def _usage(self, message: str) -> UsageError:
        return UsageError(message, hint=f"outlast {self.name} takes: {', '.join(self.commands)}")

    def _rows(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        rows = [(name, str(each.help)) for name, each in self.commands.items()]
        return {"Commands": rows, "Options": [("-h, --help", "Show this page; after a command, that command's page")]}


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def new_app() -> typer.Typer:
    """An empty app for one verb. Plain help: it is read in pipes, in logs and in 80 columns."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def new_group(
    name: str,
    *,
    about: str,
    examples: Sequence[tuple[str, str]],
    exits: Sequence[int] | Mapping[int, str],
    default: str = "",
    default_takes_words: bool = False,
) -> typer.Typer:
    """An empty app for the verb `name` that has sub-commands; `default` is the one that the bare verb means."""
    page = _page(VERBS[name][1], about, examples, exits)
    page |= {"default": default, "default_takes_words": default_takes_words}
    return typer.Typer(
        name=name,
        cls=type("VerbGroup", (VerbGroup,), page),
        help=VERBS[name][1],
        context_settings=_CONTEXT,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def verb(
    app: typer.Typer,
    name: str,
    *,
    about: str,
    examples: Sequence[tuple[str, str]],
    exits: Sequence[int] | Mapping[int, str],
    sentence: str = "",
) -> Callable[[F], F]:
    """Declare the function below as the verb `name`, or with a sentence as the sub-command `name` of a group."""
    page = _page(sentence or VERBS[name][1], about, examples, exits)
    return app.command(
        name,
        cls=type("VerbCommand", (VerbCommand,), page),
        help=page["sentence"],  # what shell completion shows beside the name
        context_settings=_CONTEXT,
    )


def _page(
    sentence: str, about: str, examples: Sequence[tuple[str, str]], exits: Sequence[int] | Mapping[int, str]
) -> dict[str, Any]:
    meanings = exits if isinstance(exits, Mapping) else {code: EXIT_CODES[code] for code in exits}
    return {"sentence": sentence, "about": about, "examples": examples, "exits": meanings}


def run_verb(name: str, arguments: Sequence[str], *, debug: bool = False) -> int:
    """Parse and run one verb; every failure becomes a message and an exit code."""
    from outlast.cli.failures import guarded

    def work() -> int:
        app: typer.Typer = importlib.import_module(VERBS[name][0]).app
        command = typer.main.get_command(app)
        outcome = command.main(args=list(arguments), prog_name=f"outlast {name}", standalone_mode=False)
        return outcome if isinstance(outcome, int) else 0

    return guarded(work, verb=name, debug=debug)


def open_client() -> Client:
    """The client that every verb works through."""
    from outlast.client import Client

    return Client()


def print_json(value: Any) -> None:
    """One JSON document on standard output; the only thing a verb with `--json` writes there."""
    import json

    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, default=str)
    sys.stdout.write("\n")
