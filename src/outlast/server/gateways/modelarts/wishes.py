"""What a request body asks for, checked as the service checks it: pure, and before anything is fetched."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from outlast.modelarts.engines import find_engine
from outlast.modelarts.fields import InvalidBody, as_text
from outlast.modelarts.job import TrainingJob, looks_secret
from outlast.modelarts.reading import read_job
from outlast.server.gateways.modelarts.refusing import INVALID, Refusal
from outlast.server.gateways.modelarts.tables import (
    ENGINES_BY_NUMBER,
    Choice,
    choose_flavor,
    flavor_of_spec,
    most_nodes,
)

_LONGEST_DESCRIPTION = 256
_MOST_VARIABLES = 100
#: What the first problem of a body names → the code that the service has for it.
_PROBLEMS: tuple[tuple[str, str], ...] = (
    (r"is used twice", "2767"),
    (r"algorithm\.(?:id|subscription_id)", "2755"),
    (r"code_dir|app_url", "2757"),
    (r"boot_file", "2758"),
    (r"command", "2806"),
    (r"obs_url|data_url|train_url|log_url", "2791"),
)


@dataclass(frozen=True)
class Wish:
    """A job that can be started as far as its body tells."""

    job: TrainingJob
    choice: Choice
    name: str
    params: dict[str, str]
    env: dict[str, str]
    secrets: dict[str, str]  # variables that look like secrets; never written down
    stored: dict[str, Any]  # the body without their values


def read_wish(body: dict[str, Any], generation: str) -> Wish:
    """Read a request to create a job; `Refusal` with the service's own code for what is wrong."""
    body = _with_names(body) if generation == "v1" else body
    try:
        job = read_job(json.dumps(body), "the job")
    except InvalidBody as error:
        code = next((code for pattern, code in _PROBLEMS if re.search(pattern, error.message.split("\n")[0])), "2788")
        raise Refusal(code, error.message.replace("the job: ", "")) from None
    if job.kind != generation:
        raise Refusal(INVALID, f"this is a body of {job.kind}, and the address is one of {generation}")
    _check_texts(job)
    _check_engine(job)
    return Wish(job, _flavor(job, body), job.name, _parameters(body), *_variables(body), _without_secrets(body))


def _with_names(body: dict[str, Any]) -> dict[str, Any]:
    """A body of the first generation with what its numbers mean here."""
    config = body.get("config")
    if not isinstance(config, dict):
        raise Refusal(INVALID, "config is missing")
    config = dict(config)
    if config.get("spec_id") is not None:
        code = flavor_of_spec(config["spec_id"])
        if not code:
            raise Refusal("2781", f"no flavor has the spec_id {config['spec_id']!r}", solution="GET job/resource-specs")
        config["flavor"] = {"code": code}
    number = str(config.get("engine_id") or "")
    if number and not config.get("user_image_url"):
        engine = ENGINES_BY_NUMBER.get(int(number)) if number.isdigit() and len(number) < 10 else None
        if engine is None:
            raise Refusal("2780", f"no engine has the number {number!r}", solution="GET job/ai-engines lists them")
        config["engine_version"] = engine
    return body | {"config": config}


def _check_texts(job: TrainingJob) -> None:
    if not job.name:
        raise Refusal("2788", "a job needs a name", solution="1 to 64 letters, digits, '_' and '-'")
    if len(job.description) > _LONGEST_DESCRIPTION:
        raise Refusal("2816", f"the description has {len(job.description)} characters, {_LONGEST_DESCRIPTION} at most")
    if not job.code:
        raise Refusal("2757", "the job names no code folder in OBS", solution="give code_dir, or app_url in v1")
    unknown = next((each for each in job.inputs if not each.address), None)
    if unknown is not None:
        raise Refusal("2788", f"{unknown.name} is {unknown.note}, and this server keeps no data sets",
                      solution="give a place in OBS")  # fmt: skip


def _check_engine(job: TrainingJob) -> None:
    if job.image or find_engine(job.engine) is not None:
        return
    words = f"no engine {job.engine!r}" if job.engine else "the job names no engine"
    raise Refusal("2780", words, solution="GET training-job-engines lists them")


def _flavor(job: TrainingJob, body: dict[str, Any]) -> Choice:
    pool = (((body.get("spec") or {}).get("resource")) or {}).get("pool_id")
    config = body.get("config") or {}
    pool = pool or config.get("pool_id") or config.get("poolId")
    if pool:
        raise Refusal("2890", f"no resource pool {str(pool)[:64]!r}: this server has public flavors only", status=404)
    if not job.flavor:
        raise Refusal("2763", "the job names no flavor", solution="GET training-job-flavors lists them")
    choice = choose_flavor(job.flavor)
    if choice is None:
        raise Refusal("2781", f"no flavor {job.flavor!r}", solution="GET training-job-flavors lists them")
    if job.nodes > most_nodes(choice):
        raise Refusal("2793", f"the job asks for {job.nodes} nodes; {choice.id} has {most_nodes(choice)} at most")
    return choice


def _parameters(body: dict[str, Any]) -> dict[str, str]:
    """Every parameter with its value: unlike a file that is shared, a job passes on what it was given."""
    config, algorithm = body.get("config") or {}, body.get("algorithm") or {}
    given = config.get("parameter") or algorithm.get("parameters") or []
    return {str(each.get("label", each.get("name"))): _text(each.get("value")) for each in given}


def _variables(body: dict[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """(variables, those that look like secrets)."""
    texts = _environments(body)
    if len(texts) > _MOST_VARIABLES:
        raise Refusal("2816", f"the job has {len(texts)} variables, {_MOST_VARIABLES} at most")
    reserved = next((name for name in texts if name.startswith("MA_")), None)
    if reserved is not None:
        raise Refusal("2788", f"the variable {reserved[:64]} begins with MA_, which the platform keeps for itself")
    secret = {name: value for name, value in texts.items() if value and looks_secret(name, value)}
    return {name: value for name, value in texts.items() if name not in secret}, secret


def _environments(body: dict[str, Any]) -> dict[str, str]:
    """One object, or a list of objects as the service answers it: both are taken."""
    given = (body.get("algorithm") or {}).get("environments") or {}
    found: dict[str, str] = {}
    for entry in given if isinstance(given, list) else [given]:
        is_pair = entry.keys() == {"name", "value"}
        pairs = {entry["name"]: entry["value"]} if is_pair else entry
        found.update((str(name), _text(value)) for name, value in pairs.items())
    return found


def _without_secrets(body: dict[str, Any]) -> dict[str, Any]:
    algorithm = body.get("algorithm")
    if not algorithm or not algorithm.get("environments"):
        return body
    shown, secret = _variables(body)
    return body | {"algorithm": algorithm | {"environments": shown | dict.fromkeys(secret, "******")}}


def _text(value: Any) -> str:
    return "" if value is None else as_text(value)
