"""`outlast probe`: one short stint, then a forecast."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson, takes_request
from outlast.cli.planned import forecast_lines
from outlast.cli.stop import seconds_of
from outlast.cli.waiting import Waiting
from outlast.model.request import RunRequest

app = new_app()


@verb(
    app,
    "probe",
    about="Runs the script for one short stint, measures start-up, epochs, saves and uploads, and says how many stints "
    "the whole training takes, when it is done and how much time is lost. The probe's own run is removed afterwards.",
    examples=[
        ("outlast probe train.py --checkpoint ckpt --limit 1h", "a forecast for one-hour stints"),
        ("outlast probe . --time 5m --until 'epoch>=100'", "measure for five minutes, name the total"),
    ],
    exits={
        0: "done",
        1: "the script failed, or the training would never end like this",
        2: "the request is wrong; nothing was started",
        12: "the platform or the store cannot be reached",
    },
)
@takes_request
def probe(
    request: RunRequest,
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="TIME", help="How long to measure (default: 60s)", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> int:
    time_s = seconds_of("--time", time)
    with Waiting("measuring one short stint", each_is_a_line=True) as waiting:
        forecast = open_client().probe(request, time_s=60.0 if time_s is None else time_s, tell=waiting.note)
    if as_json:
        print_json(dataclasses.asdict(forecast))
    else:
        print("\n".join(forecast_lines(forecast)))
    return 0 if forecast.possible else 1
