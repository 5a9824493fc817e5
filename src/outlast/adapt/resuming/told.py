"""What goes on after a stop, but not as without one: said under "to know"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.kept import ENVIRONMENTS
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.state import RULE, State
from outlast.adapt.whole import calls_of, files_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, tail

_DRAWS = re.compile(r"tensorflow\.random\.(?!set_seed|Generator)\w+|tensorflow\.image\.random_\w+")
#: layers that draw from TensorFlow's own numbers, until Keras 3 gave each a seed that is kept
_DRAWING_LAYERS = re.compile(
    r"(?:tensorflow\.)?(?:tf_)?keras\.(?:(?!initializers\b)\w+\.)*(?:\w*Dropout\w*|GaussianNoise|Random(?!Normal|Uniform)[A-Z]\w+)"
)


def say_places(draft: Draft, values: Values, loaded: Collection[str] = ()) -> None:
    """An iterator from before the loop that is not `loaded` is at its beginning after a stop, and so is a world."""
    loop = values.loop.node
    if isinstance(loop, cst.For) and isinstance(loop.target, cst.Tuple) and values.loop.numbered is None:
        said = "what the rounds are dealt with their number begins anew in each stint: samples come in another order"
        draft.say(Kind.DIFFERS, RULE, loop, said, "let it be drawn by chance, or make it in each round")
    told: set[str] = set()
    for call in draft.calls(values.loop.node.body):
        name = tail(call.args[0].value) if tail(call.func) == "next" and call.args else ""
        if isinstance(values.origins.get(name), cst.Call) and name not in {*loaded, *told}:
            told.add(name)
            said = f"{name} begins anew in each stint: what it gives is not what it would have given without a stop"
            advice = f"make {name} in each round; samples, from a loader that is seeded"
            draft.say(Kind.DIFFERS, RULE, call, said, advice)
    own = {name for each in files_of(draft) for name in each.function_names}
    batches = (call for call in draft.calls(loop.body) if tail(call.func) == "next_batch" and "next_batch" not in own)
    for call in itertools.islice((each for each in batches if isinstance(each.func, cst.Attribute)), 1):
        assert isinstance(call.func, cst.Attribute)
        said = f"{draft.source(call.func.value)} deals its batches anew in each stint: samples come in another order"
        draft.say(Kind.DIFFERS, RULE, call, said)
    for node in draft.nodes:
        made = node.value if isinstance(node, cst.Assign) else None
        parts = (made, *draft.calls(made)) if isinstance(made, cst.Call) else ()
        if any(ENVIRONMENTS.fullmatch(draft.resolve(call.func)) for call in parts):
            assert made is not None
            said = "the environment begins anew in each stint: what it draws by chance is not what it would have drawn"
            draft.say(Kind.DIFFERS, RULE, made, said)
            return


def say_single_round(draft: Draft, values: Values) -> None:
    """Rounds are what is counted: a training of one, `EPOCHS = 1`, has nothing to go on from."""
    stop = values.loop.stop
    given = [
        node.value
        for node in draft.nodes
        if isinstance(stop, cst.Name) and isinstance(node, cst.Assign)
        and any(isinstance(each.target, cst.Name) and each.target.value == stop.value for each in node.targets)
    ]  # fmt: skip
    counts = given if isinstance(stop, cst.Name) else [stop]
    is_one = len(counts) == 1 and isinstance(counts[0], cst.Integer) and counts[0].value == "1"
    if is_one and values.loop.first is None:
        said = "the training is one round, and only whole rounds are kept: after a stop it begins anew"
        draft.say(
            Kind.DIFFERS, RULE, values.loop.node, said, "let it have more rounds, or save within it: outlast.save"
        )


def draws_by_itself(draft: Draft) -> bool:
    """Whether TensorFlow draws numbers that are not kept; those that variables begin with are, in the variables."""
    return any(
        _DRAWS.fullmatch(each.resolve(call.func))
        and not any(isinstance(above, cst.Call) and tail(above.func) == "Variable" for above in each.above(call))
        for each in files_of(draft) for call in each.calls()
    )  # fmt: skip


def say_layers(draft: Draft, loop: cst.CSTNode) -> None:
    """Dropout and its like, of a Keras whose layers have no numbers of their own."""
    named = (name if "." in name else _starred(draft.home(call), call) for name, call in calls_of(draft))
    layer = next((name for name in named if _DRAWING_LAYERS.fullmatch(name)), "")
    if layer:
        said = f"before Keras 3, random numbers of layers ({layer.rpartition('.')[2]}) start anew in each stint"
        draft.say(Kind.DIFFERS, RULE, loop, said, "use Keras 3 to have the same")


def _starred(draft: Draft, call: cst.Call) -> str:
    """`Dropout` of `from keras.layers import *`."""
    roots = [dotted(node.module) for node in draft.star_imports if not node.relative]
    root = next((each for each in roots if each.endswith("keras.layers")), "")
    return f"{root}.{call.func.value}" if root and isinstance(call.func, cst.Name) else ""


def say_mapped(draft: Draft, training: cst.CSTNode) -> None:
    """Layers that draw where a dataset is prepared: `rows.map(lambda x, y: (augment(x), y))` is no part of a model."""
    for each in files_of(draft):
        layer = next((name for call in each.calls() for name in _drawn_in_map(each, call)), "")
        if layer:
            said = f"random numbers of layers in what a dataset maps ({layer}) start anew in each stint"
            draft.say(Kind.DIFFERS, RULE, training, said, "put these layers into the model, where Keras 3 keeps them")
            return


def _drawn_in_map(draft: Draft, call: cst.Call) -> Iterator[str]:
    """What kind of layers draws by chance in the function that a call of `map` gets."""
    if tail(call.func) != "map" or not isinstance(call.func, cst.Attribute) or not call.args:
        return
    given = call.args[0].value
    own = [each for each in draft.functions() if isinstance(given, cst.Name) and each.name.value == given.value]
    used = {tail(node) for part in (given, *own) for node in (part, *draft.below(part)) if isinstance(node, cst.Name)}
    for node in draft.all_assigns:
        if isinstance(node.value, cst.Call) and any(tail(target.target) in used for target in node.targets):
            for made in (node.value, *draft.calls(node.value)):
                name = draft.resolve(made.func)
                yield from [tail(made.func)] if _DRAWING_LAYERS.fullmatch(name) else []


def say_privacy(draft: Draft) -> None:
    """Opacus counts the privacy that was spent in an object of its own."""
    for call in draft.calls():
        if tail(call.func) == "PrivacyEngine":
            advice = "save its accountant by hand: privacy_engine.accountant.state_dict()"
            draft.say(Kind.DIFFERS, RULE, call, "the privacy that was spent is counted anew in each stint", advice)


def say_workers(draft: Draft, state: State) -> None:
    """Workers of a loader that stay alive draw on and on; those of a stint begin anew."""
    if state.kind == "torch":
        _say_drawing_samples(draft, state)
    # A function of a library hands such a word on to its loaders: `split(rows, persistent_workers=True)`.
    for _, call in calls_of(draft):
        kept = argument(call, "persistent_workers")
        if kept is not None and getattr(kept.value, "value", "") != "False":
            said = "workers that stay alive begin anew in each stint: what they and the order draw differs after a stop"
            draft.home(call).say(Kind.DIFFERS, RULE, call, said, "persistent_workers=False gives the same numbers")
            return


def _say_drawing_samples(draft: Draft, state: State) -> None:
    """Data sets that draw numbers of their own for their samples, `self.rng.integers(9)`: no name for it here."""
    for each in files_of(draft):
        for home in (node for node in each.nodes if isinstance(node, cst.ClassDef)):
            if not any(tail(base.value).endswith("Dataset") for base in home.bases):
                continue
            for method in (node for node in home.body.body if isinstance(node, cst.FunctionDef)):
                if method.name.value not in ("__getitem__", "__iter__"):
                    continue
                drawn = {dotted(call.func).rpartition(".")[0] for call in each.calls(method.body)}
                names = [name for name in _own_generators(each, home) if name in drawn]
                if names and not any(kept.endswith(names[0].removeprefix("self")) for kept in state.kept):
                    said = (
                        f"{names[0]} of {home.name.value} draws from its beginning in each stint, and so do its samples"
                    )
                    each.say(Kind.DIFFERS, RULE, method, said, "draw from numpy.random or torch, which go on")


def _own_generators(draft: Draft, home: cst.ClassDef) -> list[str]:
    """`self.rng` of `self.rng = np.random.default_rng(seed)`."""
    return [
        name
        for node in draft.below(home)
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call)
        and tail(node.value.func) in ("default_rng", "RandomState", "Random", "Generator")
        for target in node.targets if (name := dotted(target.target)).startswith("self.")
    ]  # fmt: skip


def adapt_there(path: str, name: str) -> str:
    """What to do where the loop of `name` is in another file: the command, where that file lies beside this one."""
    if not path.startswith("."):
        return f"adapt the file that {name} comes from"
    # This file takes the contract's arguments off the command line; there the stint says where checkpoints lie.
    file = path[1:].rpartition(".")[0].replace(".", "/")
    return f"let it go on there: outlast adapt {file}.py --contract plain"
