"""`outlast serve`: the home as a shared place."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, verb
from outlast.errors import UsageError

app = new_app()


def _option(name: str, metavar: str, help: str) -> typer.models.OptionInfo:
    info: typer.models.OptionInfo = typer.Option(name, metavar=metavar, help=help, show_default=False)
    return info


@verb(
    app,
    "serve",
    about="Serves the home folder over HTTP: the REST API with its page at /api/v1/docs, and sign-in pages. On this "
    "machine alone it works at once, without accounts; the first start prints a link that makes the first one. To "
    "serve a group, add users first, then listen on another address. Runs do not need the server: they go on when it "
    "stops.",
    examples=[
        ("outlast serve", "for this machine, on http://127.0.0.1:8700"),
        ("outlast serve --host 0.0.0.0 --cert lab.pem --key lab.key --processes 4", "for a group"),
    ],
    exits={
        0: "stopped by Ctrl-C or SIGTERM", 2: "the request is wrong; nothing was started",
        12: "the database cannot be reached",
    },
)  # fmt: skip
def serve(
    host: Annotated[str, _option("--host", "ADDRESS", "Listen on this address (default: 127.0.0.1)")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", metavar="N", min=0, max=65535, show_default=False,
                          help="Listen on this port; 0 means any that is free (default: 8700)"),
    ] = 8700,
    processes: Annotated[
        int, typer.Option("--processes", metavar="N", min=1, max=64, show_default=False,
                          help="Answer with so many processes (default: 1)"),
    ] = 1,
    database: Annotated[
        str | None,
        _option("--database", "URL", "Keep accounts there, and with postgresql://user@host/name the list of runs too, "
                "from now on (default: the setting database, files in the home)"),
    ] = None,
    cert: Annotated[str | None, _option("--cert", "FILE", "Certificate in PEM form: serve over TLS")] = None,
    key: Annotated[str | None, _option("--key", "FILE", "The certificate's key")] = None,
) -> int:  # fmt: skip
    settings = open_client().settings
    try:
        from outlast.server.serving import Serving
        from outlast.server.serving import serve as serve_home
    except ModuleNotFoundError as error:
        raise UsageError(f"the server needs the package {error.name}", hint="pip install 'outlast[server]'") from None
    if database is not None:
        from outlast.operations.database import use_database

        settings = use_database(settings, database)
    serve_home(settings, Serving(host, port, processes, cert, key), _tell)
    return 0


def _tell(words: str) -> None:
    print(words, file=sys.stdout, flush=True)
