"""One door for all documents that describe a training job of ModelArts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from outlast.errors import SpecError
from outlast.modelarts.bodyv1 import read_v1
from outlast.modelarts.bodyv2 import read_v2
from outlast.modelarts.fields import Report
from outlast.modelarts.job import TrainingJob
from outlast.modelarts.toolkit import form_of_lines, is_form, read_form

_V1 = {"config", "app_url", "boot_file_url"}
_V2 = {"algorithm", "spec", "metadata"}


def read_job(text: str, source: str = "the job") -> TrainingJob:
    """Read a v1 or v2 request body, the details that the service shows of a job, or the ToolKit's form.

    Raises one `InvalidBody` that names every field at fault. Fields that mean nothing here, and those that ModelArts
    does not document, are listed in the job.
    """
    value = _load(text, source)
    report = Report(source)
    if _V1 & value.keys():
        job = read_v1(value, report)
    elif _V2 & value.keys():
        job = read_v2(value, report)
    elif is_form(value):
        job = read_form(value, report)
    else:
        has = ", ".join(map(repr, list(value)[:5])) or "nothing"
        raise SpecError(
            f"{source} is no training job of ModelArts: it has {has}",
            hint="a v1 body has 'config', a v2 body 'algorithm' and 'spec', the ToolKit's form 'Boot File Path'",
        )
    report.require_sound()
    return replace(job, notices=tuple(report.notices), skipped=tuple(report.skipped), unknown=tuple(report.unknown()))


def _load(text: str, source: str) -> dict[str, Any]:
    plain = text.removeprefix("\ufeff")
    if not plain.lstrip().startswith(("{", "[")):
        form = form_of_lines(plain)
        if form is not None:
            return dict(form)
    try:
        value = json.loads(plain)
        json.dumps(value, ensure_ascii=False).encode()  # half of a pair of surrogates is no text
    except (ValueError, RecursionError) as error:
        raise SpecError(
            f"{source} is not JSON: {error}", hint="give a request body, or the fields of the form"
        ) from None
    if not isinstance(value, dict):
        raise SpecError(f"{source} must hold one JSON object", hint="give the body of one job")
    return value
