"""The options that `run`, `probe` and `rehearse` share, declared once, and the request made from them.

`None` means: not said here, so `outlast.toml` and then the settings decide.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from outlast.cli.completion import complete_run
from outlast.model.request import RunRequest

_DATA, _TIME, _SCRIPT, _MACHINE, _PACK = (
    "Data and results", "Time", "The script", "The machine", "What is packed",
)  # fmt: skip

RunRef = Annotated[
    str, typer.Argument(metavar="RUN", help="Id, beginning of an id, or name of a run", autocompletion=complete_run)
]
RunRefs = Annotated[
    list[str],
    typer.Argument(metavar="RUN...", help="Ids, beginnings of ids, or names of runs", autocompletion=complete_run),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text", show_default=False)]
Detach = Annotated[
    bool, typer.Option("--detach", help="Print the id and return at once (default: stay and watch)", show_default=False)
]

Texts = list[str] | None
Text = str | None
Count = int | None


def _option(panel: str, *names: str, metavar: str | None = None, help: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, show_default=False)


def read_request(
    target: Annotated[str, typer.Argument(
        metavar="TARGET", help="A script, an OpenPAI job file, a folder with outlast.toml, or a spec file (.toml)",
    )],
    script_args: Annotated[
        Texts, typer.Argument(metavar="[-- ARGS]", help="The script's own arguments", show_default=False)
    ] = None,
    data: Annotated[Texts, _option(
        _DATA, "--data", "-d", metavar="[NAME=]SRC",
        help="Give the script this file, folder or address (s3://…) at the path it uses; repeat for more",
    )] = None,
    checkpoint: Annotated[Text, _option(
        _DATA, "--checkpoint", metavar="PATH",
        help="Where the script saves its checkpoints, relative to its folder (default: where outlast.save puts them)",
    )] = None,
    output: Annotated[Texts, _option(
        _DATA, "--output", metavar="PATH|NAME=TARGET",
        help="What to bring home at the end, relative to the script's folder (default: only the checkpoints); with a "
        "name: where to bring the output that the contract passes as --NAME, a folder or an address; repeat for more",
    )] = None,
    limit: Annotated[Text, _option(
        _TIME, "--limit", "-l", metavar="TIME",
        help="End each stint after this time, like 15m or 1h30m (default: no limit)",
    )] = None,
    stints: Annotated[Text, _option(
        _TIME, "--stints", metavar="N",
        help="Stop after N stints, finished or not (default: auto, as many as it takes)",
    )] = None,
    until: Annotated[Text, _option(
        _TIME, "--until", metavar="CONDITION",
        help="Finish when this holds, like 'epoch>=100' or 'val_acc>=0.98' (default: when the script ends)",
    )] = None,
    grace: Annotated[Text, _option(
        _TIME, "--grace", metavar="TIME", help="Time to save between the request to stop and the end (default: 10s)",
    )] = None,
    retries: Annotated[Count, _option(
        _TIME, "--retries", metavar="N", help="Start a failing script again so often after progress (default: 1)",
    )] = None,
    param: Annotated[Texts, _option(
        _SCRIPT, "--param", "-p", metavar="NAME=VALUE", help="Pass --NAME=VALUE to the script; repeat for more",
    )] = None,
    params: Annotated[Text, _option(
        _SCRIPT, "--params", metavar="TEXT", help="The same for many, as forms take them: 'lr=0.1;batch=4'",
    )] = None,
    contract: Annotated[Text, _option(
        _SCRIPT, "--contract", metavar="NAME",
        help="What the script was written for: plain, modelarts, modelarts-v1, xihe (default: plain)",
    )] = None,
    drop_unknown: Annotated[bool | None, _option(
        _SCRIPT, "--drop-unknown/--keep-unknown",
        help="Leave out options of the contract that the script would refuse (default: pass them)",
    )] = None,
    requirements: Annotated[Text, _option(
        _SCRIPT, "--requirements", "-r", metavar="FILE",
        help="Install these packages first (default: none; pip-requirements.txt under the contracts that know it)",
    )] = None,
    environment: Annotated[Text, _option(
        _SCRIPT, "--environment", metavar="NAME",
        help="Start from a named environment, see outlast environments (default: the interpreter as it is)",
    )] = None,
    python: Annotated[Text, _option(
        _SCRIPT, "--python", metavar="PATH", help="Interpreter of the script (default: the active environment's)",
    )] = None,
    env: Annotated[Texts, _option(
        _SCRIPT, "--env", "-e", metavar="NAME[=VALUE]",
        help="Set a variable for the script; without a value, take it from here; repeat for more",
    )] = None,
    secret: Annotated[Texts, _option(
        _SCRIPT, "--secret", metavar="NAME", help="Pass this variable without ever writing it down; repeat for more",
    )] = None,
    aim: Annotated[bool | None, _option(
        _DATA, "--aim/--no-aim", help="Keep the script's Aim repository with the run (default: no)",
    )] = None,
    ma_log: Annotated[bool | None, _option(
        _DATA, "--ma-log/--no-ma-log", help="Show the log in the folder MA_LOG beside the script too (default: no)",
    )] = None,
    user: Annotated[Text, _option(
        _SCRIPT, "--user", metavar="NAME", help="User name that an OpenPAI job sees (default: yours)",
    )] = None,
    name: Annotated[Text, _option(
        _SCRIPT, "--name", "-n", metavar="NAME", help="Name of the run (default: the script's)",
    )] = None,
    platform: Annotated[Texts, _option(
        _MACHINE, "--on", "--platform", metavar="NAME",
        help="Where to run, see outlast platforms; repeat for more, in the order to try them (default: local)",
    )] = None,
    store: Annotated[Text, _option(
        _MACHINE, "--store", metavar="ADDRESS",
        help="Keep the run folder there, like obs://bucket/prefix (default: the setting store, a folder of the home)",
    )] = None,
    cpus: Annotated[Count, _option(_MACHINE, "--cpus", metavar="N", help="Processor cores (default: 1)")] = None,
    memory: Annotated[Text, _option(
        _MACHINE, "--memory", metavar="SIZE", help="End a stint that uses more, like 8G (default: no limit)",
    )] = None,
    gpus: Annotated[Count, _option(_MACHINE, "--gpus", metavar="N", help="NVIDIA cards (default: 0)")] = None,
    npus: Annotated[Count, _option(_MACHINE, "--npus", metavar="N", help="Ascend cards (default: 0)")] = None,
    nodes: Annotated[Count, _option(
        _MACHINE, "--nodes", metavar="N", help="Machines that run the script together, each with all this (default: 1)",
    )] = None,
    network: Annotated[bool | None, _option(
        _MACHINE, "--network/--no-network", help="Whether the script may reach the network (default: it may)",
    )] = None,
    sandbox: Annotated[Text, _option(
        _MACHINE, "--sandbox", metavar="auto|on|off",
        help="Shut the script off from the rest of the machine (default: auto, when bubblewrap works)",
    )] = None,
    include: Annotated[Texts, _option(
        _PACK, "--include", metavar="GLOB", help="Pack these files even if .gitignore names them; repeat for more",
    )] = None,
    exclude: Annotated[Texts, _option(
        _PACK, "--exclude", metavar="GLOB", help="Leave these files out of the pack; repeat for more",
    )] = None,
    allow_secret_files: Annotated[bool | None, _option(
        _PACK, "--allow-secret-files", help="Pack files that look like keys or passwords (default: refuse)",
    )] = None,
) -> RunRequest:  # fmt: skip
    """What was typed, unresolved; `outlast.operations` checks it."""
    return RunRequest(
        target=target,
        args=tuple(script_args or ()),
        data=tuple(data or ()),
        checkpoint=checkpoint,
        output=tuple(output) if output else None,
        limit=limit,
        stints=stints,
        until=until,
        params=tuple(param or ()),
        running_parameters=params,
        contract=contract,
        drop_unknown=drop_unknown,
        aim=aim,
        ma_log=ma_log,
        requirements=requirements,
        environment=environment,
        python=python,
        env=tuple(env or ()),
        secrets=tuple(secret or ()),
        cpus=cpus,
        memory=memory,
        gpus=gpus,
        npus=npus,
        nodes=nodes,
        user=user,
        name=name,
        platform=",".join(platform) if platform else None,
        store=store,
        grace=grace,
        retries=retries,
        network=network,
        sandbox=sandbox,
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
        allow_secret_files=allow_secret_files,
    )


def takes_request(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give `function(request, …)` all shared options beside its own; it receives the finished `RunRequest`."""
    shared = inspect.signature(read_request, eval_str=True).parameters
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

    @functools.wraps(function)
    def wrapper(**given: Any) -> Any:
        request = read_request(**{key: given.pop(key) for key in shared})
        return function(request, **given)

    parameters = [*shared.values(), *own]
    keyword_only = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    # typer reads both: the signature for order and defaults, the annotations for types.
    wrapper.__signature__ = inspect.Signature(keyword_only)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del wrapper.__wrapped__
    return wrapper
