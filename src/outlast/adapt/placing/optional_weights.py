"""Options for weights that a start may leave out, beside weights that a library fetches in each start.

`models.resnet18(weights="DEFAULT")` needs its file; `--load PATH`, which is nothing by itself, is for another day.
"""

from __future__ import annotations

from collections.abc import Mapping

from outlast.adapt.arguments.setup import Option
from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.pretrained import Pretrained
from outlast.migrate.engine import Kind
from outlast.migrate.tree import tail


def leave_optional(draft: Draft, paths: Paths, options: Mapping[str, Option], pretrained: Pretrained) -> None:
    """Let the contract's place be that of what is fetched, where every option for weights may be left out."""
    own = paths.options.get(Role.WEIGHTS, {})
    is_free = all(name in options and not (options[name].is_required or options[name].is_set) for name in own)
    # An address that the option itself may be is fetched by other calls.
    is_model = all(draft.resolve(call.func).startswith("torchvision.models") for call in pretrained.torch)
    if not own or not is_free or not pretrained.torch or not is_model or paths.sites.get(Role.WEIGHTS):
        return
    for name in own:
        option = options[name]
        said = (
            f"{option.shown} stays as it is: the contract's place has the weights of {tail(pretrained.torch[0].func)}"
        )
        advice = f"pass it yourself where it is wanted: outlast run … -- {option.shown}=PATH"
        draft.say(Kind.DIFFERS, "options", option.call or draft.first, said, advice)
    del paths.options[Role.WEIGHTS]
