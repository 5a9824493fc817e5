"""Keywords that say what is handed over, whoever takes it: `train(csv_file=…, save_dir=…)`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.needs import Role
from outlast.migrate.tree import inner, tail

_FOLDER = r"(?:dir|folder|directory|root)"
_ANY = r"(?:dir|folder|directory|root|path|file|filename|filepath|fname)"
_KEYWORDS = {
    Role.DATA: re.compile(
        rf"(?:input|inputs|data|dataset|train|training|val|valid|validation|dev|test|csv|image|images|img|mask|masks|"
        rf"label|labels|annotation|annotations|ann|corpus|text|json)_?(?:data_|csv_|image_|img_)?{_ANY}"
    ),
    Role.OUTPUT: re.compile(
        rf"(?:output|outputs|out|save|saved|saving|result|results|log|logs|export|checkpoints?|ckpts?|work|snapshot)_?{_FOLDER}|"
        rf"(?:output|out|save|saving|results?|log|export)_?(?:model_)?(?:path|file|filename|filepath|fname)"
    ),
    Role.WEIGHTS: re.compile(r"(?:pretrained|pretrain|init|backbone)_?(?:model_|weights_|ckpt_)?(?:path|file|weights)"),
}
_IS_FOLDER = re.compile(rf"\w*{_FOLDER}")
#: a folder of data, by its name
_DATA_FOLDER = re.compile(r"(?:\.{0,2}/)*(?:[\w.-]+/)*(?:data|datasets?)/[\w./-]+", re.I)


def handed_over(call: cst.Call) -> Iterator[tuple[cst.BaseExpression, Role, bool]]:
    """What a call is given by such keywords: the value, what it is for, and whether it is a folder."""
    for arg in call.args:
        word = arg.keyword.value if arg.keyword is not None else ""
        role = next((role for role, pattern in _KEYWORDS.items() if pattern.fullmatch(word)), None)
        if role is not None:
            yield arg.value, role, bool(_IS_FOLDER.fullmatch(word))


def told_by_name(call: cst.Call) -> Iterator[tuple[cst.BaseExpression, Role, bool]]:
    """The same of what is handed over by its place, where its own name says it: `set_up_logging(config["log_dir"])`."""
    for arg in call.args:
        name = tail(arg.value).lower() if arg.keyword is None and not arg.star else ""
        role = next((role for role, pattern in _KEYWORDS.items() if pattern.fullmatch(name)), None)
        if role is not None and isinstance(arg.value, cst.Name | cst.Attribute | cst.Subscript):
            yield arg.value, role, bool(_IS_FOLDER.fullmatch(name))
        elif not arg.star and _DATA_FOLDER.fullmatch(inner(arg.value)):
            yield arg.value, Role.DATA, False
