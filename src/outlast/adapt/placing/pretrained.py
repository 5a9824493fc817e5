"""Weights that a library fetches when it makes a model. The contract's weights, where given, take their place.

Keras takes the file in place of the word `imagenet`. torchvision looks into the folder that torch keeps for what it has
fetched, and that folder can be another one.
"""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.resuming.rounds import are_alternatives
from outlast.adapt.wrapping import add_argument
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, positional, tail

RULE = "downloads"
_KERAS = re.compile(r"(?:tensorflow\.)?(?:python\.)?keras\.applications\.(?:\w+\.)*[A-Z]\w*$")
_TORCHVISION = "torchvision.models"


class Pretrained:
    """The calls of a file that fetch weights, as far as these can be an input."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        calls = list(draft.calls())
        self.torch = [] if "set_dir" in draft.words else [call for call in calls if _is_torchvision(draft, call)]
        self.keras = [call for call in calls if _is_keras(draft, call)]
        if not are_alternatives(draft, self.keras):
            self.keras = []  # one file cannot be the weights of several models

    @property
    def sites(self) -> list[cst.Call]:
        return [*self.torch, *self.keras]

    def bring(self, given: Value, name: str) -> list[str]:
        """Let the weights come from the option; returns lines to be put where it becomes known."""
        draft = self._draft
        for call in self.keras:
            value = f'{given.at(call)} or "imagenet"'
            named = argument(call, "weights")
            old = named.value if named is not None else positional(call, 1)
            if old is None:
                add_argument(draft, call, f"weights={value}")
            else:
                draft.replace(old, value)
            self._say(call, name, f"the file {tail(call.func)} fetches (Keras keeps it in ~/.keras/models)")
        for call in self.torch:
            self._say(call, name, "the folder checkpoints, as in ~/.cache/torch/hub")
        if not self.torch:
            return []
        torch = draft.names.name_for("torch", [draft.module])
        if not torch:
            draft.need_import("torch")
        return [f"if {given.first}:", f"    {torch or 'torch'}.hub.set_dir({given.first})"]

    def _say(self, call: cst.Call, name: str, holds: str) -> None:
        said = f"{_called(call)} takes its weights from --{name} when that is given"
        self._draft.say(Kind.CHANGED, RULE, call, said, f"declare them: outlast run … --data {name}=PLACE, {holds}")


def _called(call: cst.Call) -> str:
    return tail(call.func) or "the model"


def _is_keras(draft: Draft, call: cst.Call) -> bool:
    if not _KERAS.match(draft.resolve(call.func)) or any(arg.star for arg in call.args):
        return False
    named = argument(call, "weights")
    given = named.value if named is not None else positional(call, 1)
    return inner(given) == "imagenet" if given is not None else True  # it is what Keras takes when nothing is said


def _is_torchvision(draft: Draft, call: cst.Call) -> bool:
    """`models.resnet18(pretrained=True)`, also by `models.__dict__[arch]` or `getattr(models, arch)`."""
    maker: cst.CSTNode | None = call.func
    if isinstance(maker, cst.Subscript):
        maker = maker.value
    elif isinstance(maker, cst.Call) and tail(maker.func) == "getattr":
        maker = positional(maker, 0)
    name = draft.resolve(maker)
    if name != _TORCHVISION and not name.startswith(f"{_TORCHVISION}."):
        return False
    asked = [named.value for word in ("pretrained", "weights") if (named := argument(call, word)) is not None]
    first = positional(call, 0)
    if first is not None and (draft.source(first) == "True" or "_Weights." in draft.source(first)):
        asked.append(first)
    return any(draft.source(each) not in ("False", "None") for each in asked)
