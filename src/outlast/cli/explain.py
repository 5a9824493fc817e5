"""`outlast explain`: what the script will see, before anything starts."""

from __future__ import annotations

import dataclasses

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson, takes_request
from outlast.model.request import RunRequest

app = new_app()


@verb(
    app,
    "explain",
    about="Takes the target and the options of `outlast run` and prints what the script finds in its first stint: the "
    "command line, variables with secrets masked, folders and what lies there, helpers, the network. An option that "
    "the contract passes and the script's argparse does not know is warned of. Nothing is started or written.",
    examples=[
        ("outlast explain train.py --data ./mnist --limit 1h", "a plain script"),
        ("outlast explain boot.py --contract modelarts --data data_url=./mnist", "as ModelArts would start it"),
        ("outlast explain new_job.pai.json", "an OpenPAI job: one section for each task role"),
    ],
    exits={0: "explained, with or without warnings", 2: "the request is wrong", 12: "the platform cannot be used"},
)
@takes_request
def explain(request: RunRequest, as_json: AsJson = False) -> None:
    explanation = open_client().runs.explain(request)
    if as_json:
        print_json(dataclasses.asdict(explanation))
        return
    from outlast.cli.sight import explanation_lines

    print("\n".join(explanation_lines(explanation)))
