"""What of a TensorFlow 2 training goes into a checkpoint: the models, optimizers and variables that its steps use.

A step is often a function of its own that takes them from the module, or as arguments; each is followed back to a name
that the loop sees. What is trained and cannot be followed back is a reason to refuse.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.save_counters import save_counters
from outlast.adapt.resuming.state import RULE
from outlast.adapt.resuming.tensors import dealt
from outlast.adapt.resuming.told import draws_by_itself, say_layers, say_mapped
from outlast.adapt.resuming.unbuilt import is_built_late
from outlast.adapt.whole import roots_of, search, words_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, keyword_or_place, positional, tail

#: made by these, a value can be part of a `tf.train.Checkpoint`
_MADE = re.compile(
    r"(?:tensorflow|keras|tf_keras)\.(?:\w+\.)*"
    r"(?:Sequential|Model|Variable|random\.Generator(?:\.\w+)?|clone_model|model_from_\w+|"
    r"LossScaleOptimizer|optimizers\.(?!schedules\b)(?:\w+\.)*[A-Z]\w*)"
)
_BASES = frozenset({"Model", "Layer", "Module", "Sequential"})
_LEARNED = frozenset({"trainable_variables", "trainable_weights"})
_SETS = frozenset({"assign", "assign_add", "assign_sub"})
_STEPS = frozenset({"apply_gradients", "minimize", "train_on_batch"})
#: words of TensorFlow 1, which keeps its variables in a session
_GRAPHS = frozenset({"Session", "disable_eager_execution", "disable_v2_behavior"})
#: several machines or devices of another kind, each with a checkpoint of its own
_SPREAD = frozenset({"MultiWorkerMirroredStrategy", "ParameterServerStrategy", "TPUStrategy"})
_BACKEND = re.compile("KERAS_BACKEND")


class Tracked:
    """The parts of one loop's training."""

    def __init__(self, draft: Draft, values: Values) -> None:
        self.draft, self.values = draft, values
        self._by_name = {function.name.value: function for function in draft.functions()}
        self._module = _module_values(draft)
        self._fields = values.fields()
        self._reach = list(self._reached())
        self._fields.update(self._set_again())

    @property
    def is_training(self) -> bool:
        """Whether the loop's steps train something of TensorFlow 2."""
        if not {"tensorflow", "keras", "tf_keras"} & roots_of(self.draft) or _GRAPHS & words_of(self.draft):
            return False
        return any(True for _ in self._trained()) and any(
            isinstance(node, cst.Call) and (tail(node.func) in _STEPS or self._is_set(node) or self._is_fit(node))
            for node in self._reach
        )

    def find(self) -> list[str]:
        """Names to save, models first as they come. `Refusal` where something is trained that has none."""
        self._refuse()
        found: dict[str, None] = {}
        for owner in itertools.chain(self._trained(), self._given()):
            found.update(dict.fromkeys(self._seen_as(owner)))
        for name, origin in self._visible().items():
            if self._is_made(origin) and self._is_used(name):
                found[name] = None
        found.update(dict.fromkeys(save_counters(self.draft, self._visible(), self._reach)))
        for name in found:
            if self.values.may_be_missing(name) or self.values.may_be_none(name):
                raise Refusal(f"{name} is there only under a condition", self.values.loop.node)
            self._refuse_unbuilt(name)
        self._say_what_differs()
        return list(found)

    # ---- what the loop runs

    def _reached(self) -> Iterator[cst.CSTNode]:
        """Nodes of the loop, of functions of the file that are named there, and of methods that are called."""
        waiting: list[cst.CSTNode] = [self.values.loop.node.body]
        seen = {each.name.value for each in self.draft.above(waiting[0]) if isinstance(each, cst.FunctionDef)}
        while waiting:
            for node in self.draft.below(waiting.pop()):
                yield node
                function = self._by_name.get(node.value) if isinstance(node, cst.Name) else None
                if function is None or function.name.value in seen:
                    continue
                around = self.draft.parent(node)
                # A method is called on something; a function of the module by its own name (`tf.train` is not `train`).
                if _is_method(function) == (isinstance(around, cst.Attribute) and around.attr is node):
                    seen.add(function.name.value)
                    waiting.append(function.body)

    def _trained(self) -> Iterator[cst.BaseExpression]:
        """`model` of `model.trainable_variables` and `model.train_on_batch(…)`, `opt` of `opt.apply_gradients(…)`."""
        for node in self._reach:
            if isinstance(node, cst.Attribute) and (node.attr.value in _LEARNED or node.attr.value in _STEPS):
                yield node.value
            elif isinstance(node, cst.Call) and (self._is_set(node) or self._is_fit(node)):
                assert isinstance(node.func, cst.Attribute)
                yield node.func.value

    def _is_set(self, call: cst.Call) -> bool:
        """`w.assign_sub(…)`, where `w` was made as a variable."""
        name = dotted(call.func).rpartition(".")[0] if tail(call.func) in _SETS else ""
        origin = self._visible().get(name)
        return isinstance(origin, cst.Call) and self.draft.resolve(origin.func) == "tensorflow.Variable"

    def _is_fit(self, call: cst.Call) -> bool:
        name = dotted(call.func).rpartition(".")[0] if tail(call.func) == "fit" else ""
        return bool(name) and self._is_made(self._visible().get(name))

    def _set_again(self) -> Iterator[tuple[str, cst.BaseExpression]]:
        """Models and their like in fields that other methods set, too: whichever is there before the loop is saved."""
        changed = {dotted(node.target) for node in self._reach if isinstance(node, cst.AssignTarget)}
        trained = {dotted(owner) for owner in self._trained()}
        for name, values in self.values.field_values().items():
            made = next((value for value in values if self._is_made(value)), None)
            if made is None and name in trained and all(isinstance(value, cst.Call) for value in values):
                made = values[0]  # what is trained is a model or an optimizer, whichever file its class is in
            if len(values) > 1 and made is not None and name not in changed:
                yield name, made

    # ---- what an optimizer is given

    def _given(self) -> Iterator[cst.BaseExpression]:
        """Owners of the variables that optimizers step, where they are collected outside of the loop's reach."""
        for node in self._reach:
            if isinstance(node, cst.Call) and tail(node.func) == "apply_gradients":
                pairs = keyword_or_place(node, "grads_and_vars", 0)
                yield from self._owners(pairs, self.draft.scope(node), node, depth=6)

    def _owners(
        self, node: cst.CSTNode | None, scope: Scope, step: cst.Call, depth: int
    ) -> Iterator[cst.BaseExpression]:
        """Whose variables an expression holds. `Refusal` where that is not visible."""
        name = tail(node.func) if isinstance(node, cst.Call) else ""
        if isinstance(node, cst.Attribute) and node.attr.value in _LEARNED:
            yield node.value
        elif isinstance(node, cst.BinaryOperation) and depth:
            yield from self._owners(node.left, scope, step, depth - 1)
            yield from self._owners(node.right, scope, step, depth - 1)
        elif isinstance(node, cst.List | cst.Tuple) and depth:
            for element in node.elements:
                yield from self._owners(element.value, scope, step, depth - 1)
        elif isinstance(node, cst.Call) and name == "zip" and depth:
            yield from self._owners(positional(node, 1), scope, step, depth - 1)
        elif isinstance(node, cst.Call) and name == "list" and depth:
            yield from self._owners(positional(node, 0), scope, step, depth - 1)
        elif isinstance(node, cst.Call) and name == "values" and isinstance(node.func, cst.Attribute) and depth:
            yield from self._owners(node.func.value, scope, step, depth - 1)
        elif isinstance(node, cst.Name) and depth:
            yield from self._owners_of_name(node.value, scope, step, depth - 1)
        else:
            said = f"which variables are trained in line {self.draft.line(step)} is not visible"
            raise Refusal(said, self.values.loop.node, "give the optimizer model.trainable_variables")

    def _owners_of_name(self, name: str, scope: Scope, step: cst.Call, depth: int) -> Iterator[cst.BaseExpression]:
        assigned = [
            node.value
            for node in self.draft.below(scope)
            if isinstance(node, cst.Assign) and self.draft.scope(node) is scope
            and any(isinstance(each.target, cst.Name) and each.target.value == name for each in node.targets)
        ]  # fmt: skip
        params = _parameters(scope) if isinstance(scope, cst.FunctionDef) else []
        if assigned and all(self._is_made(value) for value in assigned):
            return  # a variable, or several: it is used, and so it is saved
        if assigned:
            for value in assigned:
                yield from self._owners(value, scope, step, depth)
        elif isinstance(scope, cst.FunctionDef) and name in params and scope is not self.values.scope:
            for given, where in self._passed(scope, name, params.index(name)):
                yield from self._owners(given, where, step, depth)
        elif scope is not self.draft.module and name not in params:
            yield from self._owners_of_name(name, self.draft.scope(scope), step, depth)
        else:
            yield from self._owners(None, scope, step, depth)

    # ---- names

    def _visible(self) -> dict[str, cst.BaseExpression | None]:
        """Names that can be written where the loop stands, with what they were made of."""
        around = self._module if self.values.scope is not self.draft.module else {}
        found = {**around, **self.values.origins, **self._fields}
        for name, origin in list(found.items()):  # `ckpt.step` of `ckpt = tf.train.Checkpoint(step=tf.Variable(0))`
            if isinstance(origin, cst.Call) and self.draft.resolve(origin.func) == "tensorflow.train.Checkpoint":
                found |= {f"{name}.{arg.keyword.value}": arg.value for arg in origin.args if arg.keyword is not None}
        return found

    def _seen_as(self, owner: cst.BaseExpression) -> list[str]:
        """What the loop's function calls that which a step calls `owner`."""
        name = dotted(owner)
        if name.startswith("self."):
            name = ".".join(name.split(".")[:2])
            home = next((each for each in self.draft.above(owner) if isinstance(each, cst.ClassDef)), None)
            if home is self.values.owner and name in self._fields:
                return [name]
            return self._instances(home, owner)
        if name == "self":
            return self._instances(next(e for e in self.draft.above(owner) if isinstance(e, cst.ClassDef)), owner)
        root, *rest = name.split(".")
        roots = self._follow(root, self.draft.scope(owner), owner, depth=6)
        # Parts of a model are saved with it; parts of anything else by themselves.
        return [each if self._is_made(self._visible().get(each)) else ".".join([each, *rest]) for each in roots]

    def _instances(self, home: cst.ClassDef | None, owner: cst.BaseExpression) -> list[str]:
        """Names that hold a model of a class of this file; its parts go with it."""
        if home is not None and self._is_own(home.name.value):
            names = [
                name
                for name, origin in self._visible().items()
                if isinstance(origin, cst.Call) and tail(origin.func) == home.name.value
            ]
            if names or home is self.values.owner:
                return names or ["self"]
        raise self._hidden(owner)

    def _follow(self, name: str, scope: Scope, owner: cst.BaseExpression, depth: int) -> list[str]:
        if scope is self.values.scope and name in self.values.origins:
            return [name]
        if scope is self.values.scope or scope is self.draft.module:
            is_module = self.values.scope is not self.draft.module and name in self._module
            if is_module and (name not in self.values.origins or self._is_handed_on(name)):
                return [name]
            raise self._hidden(owner)
        assert isinstance(scope, cst.FunctionDef)
        params = _parameters(scope)
        if name not in params:
            if any(name == tail(node.target) for node in self.draft.below(scope) if isinstance(node, cst.AssignTarget)):
                raise self._hidden(owner)
            return self._follow(name, self.draft.scope(scope), owner, depth)
        found: list[str] = []
        for value, where in self._passed(scope, name, params.index(name)):
            if not isinstance(value, cst.Name) or not depth:
                raise self._hidden(owner)
            found += self._follow(value.value, where, owner, depth - 1)
        if not found:
            raise self._hidden(owner)
        return found

    def _is_handed_on(self, name: str) -> bool:
        """Whether the loop's function is always given the module's value for a parameter of the same name."""
        scope = self.values.scope
        if not isinstance(scope, cst.FunctionDef) or name not in _parameters(scope):
            return False
        calls = [call for call in self.draft.calls() if dotted(call.func) == scope.name.value]
        index = _parameters(scope).index(name)
        return bool(calls) and all(tail(keyword_or_place(call, name, index)) == name for call in calls)

    def _passed(self, function: cst.FunctionDef, name: str, index: int) -> Iterator[tuple[cst.CSTNode | None, Scope]]:
        """What the calls of a function in the loop's reach give for a parameter."""
        is_method = _is_method(function)
        for call in self._reach:
            if not isinstance(call, cst.Call):
                continue
            named = argument(call, name)
            is_like = isinstance(call.func, cst.Attribute if is_method else cst.Name)
            if is_like and tail(call.func) == function.name.value:
                yield named.value if named else positional(call, index - is_method), self.draft.scope(call)
            elif any(tail(arg.value) == function.name.value for arg in call.args):  # strategy.run(step, args=(…,))
                given = keyword_or_place(call, "args", 1)
                parts = given.elements if isinstance(given, cst.Tuple | cst.List) else ()
                yield parts[index].value if index < len(parts) else None, self.draft.scope(call)

    def _is_made(self, origin: cst.BaseExpression | None, depth: int = 3) -> bool:
        """Whether a value is a model, an optimizer or a variable by the way it is made, or a list or dict of such."""
        if isinstance(origin, cst.List | cst.Dict):
            return bool(origin.elements) and all(self._is_made(each.value, depth) for each in origin.elements)
        if not isinstance(origin, cst.Call) or not depth:
            return False
        if _MADE.fullmatch(self.draft.resolve(origin.func)) or self._is_own(tail(origin.func)):
            return True
        is_own = isinstance(origin.func, cst.Name) or dotted(origin.func) == f"self.{tail(origin.func)}"
        function = self._by_name.get(tail(origin.func)) if is_own else None
        if function is None:
            return False
        returned = [node.value for node in self.draft.below(function) if isinstance(node, cst.Return)]
        made = {
            tail(node.targets[0].target): node.value
            for node in self.draft.below(function)
            if isinstance(node, cst.Assign)
        }
        return bool(returned) and all(
            self._is_made(made.get(value.value) if isinstance(value, cst.Name) else value, depth - 1)
            for value in returned
        )

    def _is_own(self, name: str) -> bool:
        """Whether a class of this file is a model, also through another one of it."""
        seen: set[str] = set()
        while name and name not in seen:
            seen.add(name)
            found = next((e for e in self.draft.nodes if isinstance(e, cst.ClassDef) and e.name.value == name), None)
            bases = [tail(base.value) for base in found.bases] if found is not None else []
            if _BASES & set(bases):
                return True
            name = bases[0] if bases else ""
        return False

    def _is_used(self, name: str) -> bool:
        if name.startswith("self."):
            return name in self.values.reach
        for node in self._reach:
            if isinstance(node, cst.Name) and node.value == name:
                parent = self.draft.parent(node)
                is_label = (isinstance(parent, cst.Attribute) and parent.attr is node) or (
                    isinstance(parent, cst.Arg) and parent.keyword is node
                )
                if not is_label:
                    return True
        return False

    # ---- reasons

    def _hidden(self, owner: cst.BaseExpression) -> Refusal:
        name, line = self.draft.source(owner), self.draft.line(owner)
        advice = "build model and optimizer in the module, or in the loop's function"
        is_changed = name not in self._fields and name in self.values.field_values()
        why = "it is set again meanwhile, or made out of sight" if is_changed else "the loop has no name for it"
        return Refusal(f"{name} is trained in line {line}, and {why}", self.values.loop.node, advice)

    def _refuse(self) -> None:
        loop = self.values.loop.node
        spread = sorted(_SPREAD & words_of(self.draft)) or sorted({"horovod"} & roots_of(self.draft))
        if spread:
            advice = "let the first of them save and all restore"
            raise Refusal(f"several processes train together ({spread[0]})", loop, advice)
        for each in self.draft.above(loop):
            if isinstance(each, cst.With) and any(tail(item.item) == "scope" for item in each.items):
                raise Refusal("the loop is inside the scope of a strategy", loop, "only build the model in it")
            if isinstance(each, cst.FunctionDef) and any(tail(one.decorator) == "function" for one in each.decorators):
                raise Refusal("the loop is inside a tf.function", loop, "make only the step one")
        if search(_BACKEND, self.draft) and "tensorflow" not in roots_of(self.draft):
            raise Refusal("Keras is told which backend to use", loop, "save it and load it by hand: outlast.save")

    def _refuse_unbuilt(self, name: str) -> None:
        """Keras 3 builds a model ahead of its first step only by one input; others must be built before the loop."""
        origin = self._visible().get(name)
        made = tail(origin.func) if isinstance(origin, cst.Call) else ""
        if is_built_late(self.draft, made) and not self._is_built(name):
            said = f"{name} is built only by its first step, and cannot be restored before that"
            raise Refusal(said, self.values.loop.node, f"call {name} once before the loop, with a batch of samples")

    def _is_built(self, name: str) -> bool:
        start = self.draft.start(self.values.loop.node)
        return any(
            dotted(call.func) in (name, f"{name}.build", f"{name}.summary")
            for call in self.draft.calls()
            if self.draft.start(call) < start and self.draft.scope(call) in (self.values.scope, self.draft.module)
        )

    def _say_what_differs(self) -> None:
        draft, loop = self.draft, self.values.loop.node
        called = {dotted(node.func) for node in self._reach if isinstance(node, cst.Call)}
        for name, origin in self._visible().items():
            made = draft.resolve(origin.func) if isinstance(origin, cst.Call) else ""
            is_reset = bool({f"{name}.reset_state", f"{name}.reset_states"} & called)
            if ".metrics." in made and self._is_used(name) and not is_reset:
                advice = f"reset it in each round: {name}.reset_state()"
                draft.say(Kind.DIFFERS, RULE, loop, f"{name} starts anew in each stint", advice)
        fits = any(isinstance(node, cst.Call) and self._is_fit(node) for node in self._reach)
        # The order of a shuffled dataset goes on where each round goes through it.
        words = words_of(draft)
        shuffles = "shuffle" in words and (not dealt(draft, self.values) or "cache" in words)
        if fits or shuffles or draws_by_itself(draft):
            said = "random numbers that TensorFlow draws by itself (tf.random, shuffle) start anew in each stint"
            draft.say(Kind.DIFFERS, RULE, loop, said, "draw them from numpy or a tf.random.Generator to have the same")
        say_layers(draft, loop)
        say_mapped(draft, loop)


def _parameters(function: cst.FunctionDef) -> list[str]:
    return [param.name.value for param in (*function.params.params, *function.params.kwonly_params)]


def _is_method(function: cst.FunctionDef) -> bool:
    return _parameters(function)[:1] == ["self"]


def _module_values(draft: Draft) -> dict[str, cst.BaseExpression | None]:
    """Names of the module that are assigned once, with their values."""
    found: dict[str, list[cst.BaseExpression | None]] = {}
    for node in draft.nodes:
        if not isinstance(node, cst.Assign) or draft.scope(node) is not draft.module:
            continue
        if any(isinstance(each, cst.ClassDef) for each in draft.above(node)):
            continue
        for target in node.targets:
            whole = target.target
            if isinstance(whole, cst.Name):
                found.setdefault(whole.value, []).append(node.value)
            elif isinstance(whole, cst.Tuple):
                same = node.value.elements if isinstance(node.value, cst.Tuple) else ()
                for at, element in enumerate(whole.elements):
                    part = same[at].value if len(same) == len(whole.elements) else None
                    found.setdefault(tail(element.value), []).append(part)
    return {name: values[0] if len(values) == 1 else None for name, values in found.items()}
