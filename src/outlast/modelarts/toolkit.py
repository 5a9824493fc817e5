"""The form of the PyCharm ToolKit: its fields as JSON, or as lines like `Boot File Path: train.py`."""

from __future__ import annotations

import posixpath
import re
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from outlast.modelarts.fields import Body, Report
from outlast.modelarts.job import Channel, TrainingJob
from outlast.modelarts.parts import boot_of_command, job_name, option_name, without_secrets

#: what a field is called here -> its label in the form, without case and spaces, and other spellings of it
FIELDS = {
    "name": ("Job Name",),
    "description": ("Job Description", "Description"),
    "source": ("Algorithm Source",),
    "engine": ("AI Engine", "Engine"),
    "version": ("AI Engine Version", "Engine Version", "Version"),
    "boot": ("Boot File Path", "Boot File"),
    "code": ("Code Directory", "Code Dir"),
    "obs": ("OBS Path",),
    "data": ("Data Path in OBS", "Data Path"),
    "flavor": ("Specifications", "Specification", "Flavor"),
    "nodes": ("Compute Nodes", "Nodes"),
    "params": ("Running Parameters", "Parameters"),
    "image": ("Image Path", "Image"),
    "command": ("Boot Command", "Command"),
}
_BY_LABEL = {re.sub(r"\W", "", label).lower(): field for field, labels in FIELDS.items() for label in labels}
_TELLING = {"boot", "code", "obs", "data", "params"}


def field_of(key: str) -> str:
    """The field that a key means, written as a label or like `boot_file_path`; empty when there is none."""
    return _BY_LABEL.get(re.sub(r"[\W_]", "", key).lower(), "")


def is_form(value: dict[str, Any]) -> bool:
    return bool({field_of(key) for key in value} & _TELLING)


def form_of_lines(text: str) -> dict[str, str] | None:
    """A form copied as text, one field per line; None when the text is none."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon and line.strip():
            found[key.strip()] = value.strip()
    return found if is_form(found) else None


def read_form(value: dict[str, Any], report: Report) -> TrainingJob:
    """The ToolKit of the 2.x line: it speaks v1, so the script gets addresses."""
    form = _Form(report.open(value), value)
    name = form.text("name", job_name)
    code, boot = form.text("code"), ""
    args: tuple[str, ...] = ()
    if form.text("command"):
        boot, args = boot_of_command(form.body, form.key("command"), posixpath.basename(_forward(code)))
    else:
        boot = _boot(form, code)
    given = form.parameters()
    root = form.address("obs")
    place = f"{root}/{name}" if root and name else root
    data = form.address("data")
    if root:
        report.notices.append(f"the ToolKit would keep code, output and log in {place or root}")
    engine, version = form.text("engine"), form.text("version")
    form.text("source")
    return TrainingJob(
        kind="ToolKit", contract="modelarts-v1", boot=boot, code=_forward(code), name=name, args=args,
        description=form.text("description"), engine=version or engine, image=form.text("image"),
        flavor=form.text("flavor"), nodes=form.whole("nodes") or 1, params=given.values,
        hidden=given.left_out, inputs=(Channel("data_url", data),) if data else (),
        outputs=(Channel("train_url", f"{place}/output/V0001"),) if place else (), log=f"{place}/log" if place else "",
    )  # fmt: skip


class _Form:
    """A body whose keys are labels."""

    def __init__(self, body: Body, value: dict[str, Any]) -> None:
        self.body = body
        self._keys = {field_of(key): key for key in value if field_of(key)}

    def key(self, field: str) -> str:
        return self._keys.get(field, FIELDS[field][0])

    def text(self, field: str, check: Any = None) -> str:
        return self.body.text(self.key(field), check)

    def whole(self, field: str) -> int | None:
        return self.body.whole(self.key(field))

    def address(self, field: str) -> str:
        return self.body.address(self.key(field))

    def parameters(self) -> Any:
        """`a=1;b=2`."""
        given: list[tuple[str, str, bool]] = []
        for pair in filter(None, (each.strip() for each in self.text("params").split(";"))):
            name, equals, content = pair.partition("=")
            if not equals or option_name(name.strip()):
                where = self.body.where(self.key("params"))
                self.body.report.wrong(where, None, f"has {name!r}; write name=value;name=value")
            else:
                given.append((name.strip(), content.strip(), False))
        return without_secrets(given)


def _boot(form: _Form, code: str) -> str:
    key, text = form.key("boot"), form.text("boot")
    if not text:
        form.body.report.wrong(key, None, "is needed")
        return ""
    boot, folder = _forward(text), _forward(code).rstrip("/")
    if folder and boot.startswith(folder + "/"):
        boot = boot[len(folder) + 1 :]
    if _is_absolute(boot) or ".." in boot.split("/"):
        form.body.wrong(key, f"does not lie in the code directory {code or '(none is given)'}")
        return ""
    if not boot.endswith(".py"):
        form.body.wrong(key, "must be a .py file")
        return ""
    return boot.removeprefix("./")


def _is_absolute(text: str) -> bool:
    return PurePosixPath(text).is_absolute() or PureWindowsPath(text).is_absolute()


def _forward(text: str) -> str:
    """A path as the IDE shows it, on Windows too, with forward slashes."""
    return text.replace("\\", "/") if "\\" in text else text
