"""How a verb file becomes a command: its help page, its parsing, its way out.

A verb file declares `app = new_app()` and one function under `@verb(app, …)`. The page's first line comes from the
table of verbs; the paragraph, the examples and the exit codes stand beside the function.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import typer
import typer.core
import typer.main

from outlast.cli.coercion import lighten
from outlast.cli.verbs import VERBS

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


class VerbCommand(typer.core.TyperCommand):
    """A command whose page reads: usage, sentence, paragraph, options by group, examples, exit codes."""

    about: ClassVar[str] = ""
    examples: ClassVar[Sequence[tuple[str, str]]] = ()
    exits: ClassVar[Mapping[int, str]] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        lighten(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.format_usage(ctx, formatter)
        for text in (VERBS[str(self.name)][1], self.about):
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


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def new_app() -> typer.Typer:
    """An empty app for one verb. Plain help: it is read in pipes, in logs and in 80 columns."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def verb(
    app: typer.Typer,
    name: str,
    *,
    about: str,
    examples: Sequence[tuple[str, str]],
    exits: Sequence[int] | Mapping[int, str],
) -> Callable[[F], F]:
    """Declare the function below as the verb `name`."""
    meanings = exits if isinstance(exits, Mapping) else {code: EXIT_CODES[code] for code in exits}
    page = {"about": about, "examples": examples, "exits": meanings}
    made = type("VerbCommand", (VerbCommand,), page)
    return app.command(
        name,
        cls=made,
        help=VERBS[name][1],  # what shell completion shows beside the name
        context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 110},
    )


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
