"""What the documents of both generations have in common: names, parameters, the boot file, a command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import NamedTuple

from outlast.modelarts.fields import Body
from outlast.modelarts.job import looks_secret

_JOB_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_OPTION = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PYTHON = re.compile(r"(?:\S*/)?python(3(\.\d+)?)?")
# What only a shell understands.
_SHELL = re.compile(r"[;&|<>$`(){}*?~\n#!]")
#: Where both generations put the code; a command names its files by these.
_CODE_FOLDERS = re.compile(r"^(?:/home/work|/home/ma-user/modelarts|\$\{?MA_JOB_DIR\}?|\.)/(?:user-job-dir/)?")


class Given(NamedTuple):
    """Named values, and the names of those that look like secrets."""

    values: dict[str, str]
    left_out: tuple[str, ...]


def job_name(text: str) -> str:
    """What is wrong with the name of a job, or nothing."""
    return "" if _JOB_NAME.fullmatch(text) else "must have 1 to 64 letters, digits, '_' and '-'"


def option_name(text: str) -> str:
    return "" if _OPTION.fullmatch(text) else "cannot be the name of an option; use letters, digits, '_' and '-'"


def variable_name(text: str) -> str:
    return "" if _VARIABLE.fullmatch(text) else "is not the name of a variable"


def parameters(body: Body, name: str, label: str) -> Given:
    """The list of running parameters; a name that is used twice is refused, as the service does."""
    given: list[tuple[str, str, bool]] = []
    for each in body.each(name):
        key = each.text(label, option_name)
        if not key:
            if label not in each:
                each.wrong(label, "is needed")
            continue
        if any(key == other for other, _, _ in given):
            each.wrong(label, "is used twice")
        constraint = each.below("constraint")
        sensitive = constraint.raw("sensitive") is True
        constraint.ignore("type", "editable", "required", "valid_type", "valid_range")
        each.ignore("description", "i18n_description")
        given.append((key, each.text("value"), sensitive))
    return without_secrets(given)


def without_secrets(given: Iterable[tuple[str, str, bool]]) -> Given:
    """Split (name, value, said to be secret)."""
    values, left_out = {}, []
    for name, value, sensitive in given:
        if sensitive or (value and looks_secret(name, value)):
            left_out.append(name)
        else:
            values[name] = value
    return Given(values, tuple(left_out))


def boot_in_code(body: Body, name: str, boot: str, code: str) -> str:
    """The boot file relative to the code; both are addresses, or the boot file is relative already."""
    boot = boot.removeprefix("./")
    if "://" in boot:
        if not code or not boot.startswith(code + "/"):
            body.wrong(name, f"does not lie in the code folder {code or '(none is given)'}")
            return ""
        boot = boot[len(code) + 1 :]
    elif boot.startswith("/") or ".." in boot.split("/"):
        body.wrong(name, "must lie in the code folder")
        return ""
    if not boot.endswith(".py"):
        body.wrong(name, "must be a .py file")
        return ""
    return boot


def boot_of_command(body: Body, name: str, code: str) -> tuple[str, tuple[str, ...]]:
    """(the boot file, its arguments) of a custom image's command, when that starts a Python script and nothing else.

    A command may hold a password, so it is never shown.
    """
    text = body.text(name).strip()
    try:
        words = shlex.split(re.sub(r"\$\{?MA_JOB_DIR\}?", "/home/work/user-job-dir", text))
    except ValueError:
        words = []
    if words[:1] in (["bash"], ["sh"]) and words[1:2] and words[1].endswith("run_train.sh"):
        words = words[2:]  # the starter of v1 images
    is_python = bool(words) and _PYTHON.fullmatch(words[0]) is not None
    words = words[2 if words[1:2] == ["-u"] else 1 :] if is_python else []
    script = _CODE_FOLDERS.sub("", words[0]) if words else ""
    folder = code.rpartition("/")[2]
    script = script.removeprefix(f"{folder}/") if folder else script
    if not script.endswith(".py") or script.startswith("/") or _SHELL.search(shlex.join(words).replace("'", "")):
        body.report.wrong(body.where(name), None, "is more than a Python script with arguments; put it into a script "
                          "beside the code and name that one in outlast.toml")  # fmt: skip
        return "", ()
    secret = next((name for name, value in _options(words[1:]) if looks_secret(name, value)), "")
    if secret:
        body.report.wrong(body.where(name), None, f"passes {secret}, which looks like a secret; let the script read a "
                          "variable instead")  # fmt: skip
        return "", ()
    return script, tuple(words[1:])


def _options(words: list[str]) -> list[tuple[str, str]]:
    """Each word that is an option, with the value that it has or that follows it."""
    pairs = []
    for word, following in zip(words, [*words[1:], ""], strict=False):  # without words there is nothing to follow
        name, equals, value = word.partition("=")
        pairs.append((name if name.startswith("-") else "", value if equals else following))
    return pairs
