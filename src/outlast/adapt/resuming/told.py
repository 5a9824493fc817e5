"""What goes on after a stop, but not as without one: said under "to know"."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.state import RULE
from outlast.migrate.engine import Kind
from outlast.migrate.tree import tail

_ENVIRONMENTS = re.compile(r"(?:gym|gymnasium)\.(?:make|vector\.\w+)|(?:\w+\.)*make_(?:vec_)?envs?")


def say_places(draft: Draft, values: Values) -> None:
    """An iterator from before the loop is at its beginning again after a stop, and so is a world."""
    loop = values.loop.node
    if isinstance(loop, cst.For) and isinstance(loop.target, cst.Tuple) and values.loop.numbered is None:
        said = "what the rounds are dealt with their number begins anew in each stint: samples come in another order"
        draft.say(Kind.DIFFERS, RULE, loop, said, "let it be drawn by chance, or make it in each round")
    for call in draft.calls(values.loop.node.body):
        name = tail(call.args[0].value) if tail(call.func) == "next" and call.args else ""
        if isinstance(values.origins.get(name), cst.Call):
            said = f"{name} begins anew in each stint: samples come in another order than without a stop"
            draft.say(Kind.DIFFERS, RULE, call, said, f"make {name} in each round, from a loader that is seeded")
    for node in draft.nodes:
        made = node.value if isinstance(node, cst.Assign) else None
        if isinstance(made, cst.Call) and _ENVIRONMENTS.fullmatch(draft.resolve(made.func)):
            said = "the environment begins anew in each stint: what it draws by chance is not what it would have drawn"
            draft.say(Kind.DIFFERS, RULE, made, said)
            return


def say_privacy(draft: Draft) -> None:
    """Opacus counts the privacy that was spent in an object of its own."""
    for call in draft.calls():
        if tail(call.func) == "PrivacyEngine":
            advice = "save its accountant by hand: privacy_engine.accountant.state_dict()"
            draft.say(Kind.DIFFERS, RULE, call, "the privacy that was spent is counted anew in each stint", advice)
