"""What of a MindSpore training goes into a checkpoint: networks, optimizers, and what goes along with them.

All of them keep what they learn and count in Parameters. So it is enough to name those that hold them where the loop
stands; each is known by how it is made, by what it is called, or by what the loop does with it. What is trained and has
no name there is a reason to refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.adapt.libraries import is_library
from outlast.adapt.resuming.celluses import CellUses, bases_of, last
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.state import RULE, State
from outlast.adapt.resuming.trained import kept_beside
from outlast.adapt.resuming.uses import CALLED
from outlast.adapt.whole import calls_of, files_of, is_seeded, search, words_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, positional, tail

_ROOT = "mindspore"
_OPTIMIZERS = re.compile(
    r"Ada\w+|Adam\w*|A?SGD|FTRL|Lamb|LARS|LazyAdam|Momentum|Proximal\w+|RMSProp|Rprop|thor|[NR]Adam"
)
_CALLED_OPTIMIZER = re.compile(
    r"(?:\w*_)?(?:opt|optim|optimi[sz]er|opter)(?:_\w+|[A-Z0-9]\w*)?|\w+(?:Opt|Optim|Optimizer)"
)
_TRAIN_CELL = re.compile(r"\w*TrainOneStep\w*|\w*TrainStep\w*|\w*TrainingWrapper|build_train_network")
_CALLED_TRAIN_CELL = re.compile(
    r"(?:\w+_)?train_?(?:net|network|cell|one_step|model)\w*|(?:\w+_)?(?:net|network|model|cell|one_step)_?train(?:er)?|"
    r"train_one_step\w*|(?:\w+_)?net[A-Z]_train"
)
#: a loss is trained only where an optimizer holds it
_CALLED_LOSS = re.compile(r"(?:\w+_)?(?:loss|losses|criterion|crit)(?:_?(?:fn|func|function|f|\d))?", re.I)
_LOSS = re.compile(r"\w*Loss|SoftmaxCrossEntropyWithLogits|\w*CrossEntropy\w*")
_SCALER = re.compile(r"\w*LossScaler|\w*LossScaleManager")
_CALLED_BESIDE = re.compile(
    r"(?:lr_)?sched(?:uler|ule)?s?|\w+_sched(?:uler)?|(?:grad_|loss_)?scaler\w*|\w+_scaler|ema|\w+_ema"
)
#: only Cells are asked for these
_OF_CELLS = frozenset(
    "set_train set_grad trainable_params untrainable_params get_parameters parameters_dict parameters_and_names "
    "requires_grad construct to_float update_parameters_name".split()
)
#: of these modules of MindSpore come things that hold Parameters
_HOLDING = re.compile(
    r"mindspore\.(?:(?:nn|mint\.nn|mint\.optim|experimental\.optim|amp|train|parallel\.nn)\b|(?:Model|Parameter|ParameterTuple)$)"
)
#: processes that hold a part of the network each
_SPREAD = re.compile(r"(?:SEMI_)?AUTO_PARALLEL|[\"'](?:semi_)?auto_parallel[\"']|enable_parallel_optimizer\s*=\s*True")
_DRAWS = re.compile(
    r"mindspore\.(?:ops|mint|numpy|nn)\.(?:\w+\.)*"
    r"(?:\w*[Dd]ropout\w*|rand\w*|normal|uniform|gamma|poisson|bernoulli|multinomial|standard_normal|StandardNormal|"
    r"StandardLaplace|Uniform\w+|Gamma|Poisson|Multinomial|Randperm|RandomChoice\w*|laplace|shuffle|DropPath)"
)


def is_mindspore(draft: Draft, values: Values, uses: CellUses) -> bool:
    """Whether a loop's rounds train something of MindSpore."""
    return any(True for _ in Cells(draft, values, uses).steps())


def mindspore_state(draft: Draft, values: Values, uses: CellUses) -> State:
    cells = Cells(draft, values, uses)
    saved, under = cells.find()
    kept, outer = kept_beside(draft, values, uses, {*saved, *cells.beside()})
    cells.refuse_kept(kept)
    cells.say_what_differs()
    names = frozenset(dotted(call.func) for call, _ in cells.steps() if tail(call.func) != "train")
    runs = frozenset(dotted(call.func) for call in uses.reached if cells.steps_inside(call))
    return State(_ROOT, tuple(saved), kept=kept, under=tuple(under.items()), outer=outer, steps=names | runs)


def are_spread(draft: Draft) -> bool:
    """Whether several processes train the same network together."""
    named = re.compile(r"mindspore\.(?:communication|mint\.distributed)\.")
    return bool(words_of(draft) & {"set_auto_parallel_context", "get_rank", "get_group_size"}) or any(
        named.match(name) for name, _ in calls_of(draft)
    )


class Cells:
    """The parts of one loop's training."""

    def __init__(self, draft: Draft, values: Values, uses: CellUses) -> None:
        self.draft, self.values, self.uses = draft, values, uses
        self._classes = {each.name.value: each for each in draft.nodes if isinstance(each, cst.ClassDef)}
        self._functions = {each.name.value for each in draft.functions()}
        self._imported = {
            tail(each.asname.name if each.asname else each.name)
            for node in draft.nodes
            if isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar)
            for each in node.names
        }
        #: treated somewhere as only Cells are
        self._shown = {
            name
            for call in draft.calls()
            if isinstance(call.func, cst.Attribute) and call.func.attr.value in _OF_CELLS
            for name in uses.values_of(call.func.value, call, draft.scope(call))
        }

    # ---- steps

    def steps(self) -> Iterator[tuple[cst.Call, Scope]]:
        """Calls of a round that change a network: `optimizer(grads)`, `train_net(x, y)`, `model.train(1, dataset)`."""
        if _ROOT not in self.draft.names.roots:
            return
        for call in self.uses.reached:
            scope = self.draft.scope(call)
            is_step = self._is_optimizer(call.func, scope) or self._is_train_cell(call.func, scope)
            if (call.args and is_step) or self._is_whole_training(call, scope):
                yield call, scope

    def steps_inside(self, call: cst.Call) -> bool:
        """Whether calling this makes a step, as a Cell or as something that was made of a function."""
        if isinstance(call.func, cst.Name) and call.func.value in self._functions:
            return False
        inside = {id(each) for function in self.uses.run_by(call) for each in self.draft.calls(function.body)}
        return any(id(each) in inside for each, _ in self.steps())

    def _is_optimizer(self, called: cst.BaseExpression, scope: Scope) -> bool:
        made = [each for each in self._made(called, scope) if isinstance(each, cst.Call)]
        if made:
            return any(self._makes_optimizer(each) for each in made)
        name = tail(called.value if isinstance(called, cst.Subscript) else called)
        return bool(_CALLED_OPTIMIZER.fullmatch(name)) and name not in self._functions

    def _makes_optimizer(self, made: cst.Call) -> bool:
        name = tail(made.func)
        if name in self._classes:
            return any(each == "Optimizer" or _OPTIMIZERS.fullmatch(each) for each in self._bases(name))
        if self.draft.resolve(made.func).startswith(f"{_ROOT}."):
            return bool(_OPTIMIZERS.fullmatch(name))
        is_given = any(tail(call.func) in _OF_CELLS for call in self.draft.calls(made))
        return bool(re.search(r"optim|(?:^|_)opt(?:$|_)", name, re.I) or (is_given and _OPTIMIZERS.search(name)))

    def _is_train_cell(self, called: cst.BaseExpression, scope: Scope) -> bool:
        made = [each for each in self._made(called, scope) if isinstance(each, cst.Call)]
        for each in made:
            name = tail(each.func)
            if any(_TRAIN_CELL.fullmatch(base) for base in (name, *self._bases(name)) if base not in self._functions):
                return True
        name = tail(called)
        return not made and name not in self._functions and bool(_CALLED_TRAIN_CELL.fullmatch(name))

    def _is_whole_training(self, call: cst.Call, scope: Scope) -> bool:
        """`model.train(1, dataset)` of a `Model`."""
        if tail(call.func) not in ("train", "fit") or not isinstance(call.func, cst.Attribute) or not call.args:
            return False
        made = [each.func for each in self._made(call.func.value, scope) if isinstance(each, cst.Call)]
        return any(tail(each) == "Model" and self.draft.resolve(each).startswith(f"{_ROOT}.") for each in made)

    def _made(self, called: cst.BaseExpression, scope: Scope) -> list[cst.BaseExpression]:
        name = dotted(called)
        return [made for made, _ in self.uses.origins(name, scope) if name and made is not None]

    def _bases(self, name: str) -> list[str]:
        """Names of what a class of this file is made from, through others of it too."""
        found, waiting = [], [name]
        while waiting:
            home = self._classes.get(waiting.pop())
            new = [each for each in bases_of(home) if each not in found] if home is not None else []
            found += new
            waiting += new
        return found

    def _is_own_cell(self, name: str) -> bool:
        bases = self._bases(name)
        return any(each in ("Cell", "Optimizer") or _TRAIN_CELL.fullmatch(each) for each in bases) or any(
            re.fullmatch(r"\w*Cell|\w*Optimizer|LossBase", each) or _OPTIMIZERS.fullmatch(each) for each in bases
        )

    # ---- names

    def find(self) -> tuple[list[str], dict[str, str]]:
        """Names to save, and the condition of those that are not always there. `Refusal` where one is missing."""
        self._refuse()
        found = [name for name in self.uses.known if self._is_saved(name)]
        found += [name for name in ("self",) if self._is_self_cell() and name not in found]
        found = [name for name in found if name == "self" or not self._is_inside(name, found)]
        for call, scope in self.steps():
            is_whole = isinstance(call.func, cst.Attribute) and self._is_whole_training(call, scope)
            on = call.func.value if is_whole and isinstance(call.func, cst.Attribute) else call.func
            self._check_step(on, call, scope, found)
        if all(self._is_optimizer_name(name) for name in found):
            said = "the network that the optimizer trains has no name where the loop stands"
            raise Refusal(said, self.values.loop.node, "build network and optimizer in the function of the loop")
        under = {name: self.values.condition(name) for name in found if self.values.may_be_missing(name)}
        return found, under

    def _is_saved(self, name: str) -> bool:
        uses, word = self.uses, last(name)
        is_function = word in self._functions and uses.made(name) is None
        if uses.alias(name) or uses.listed(name) or is_function or word in self._classes:
            return False
        if is_library(self.draft.names.resolve(cst.Name(name.partition(".")[0]), [self.draft.module])):
            return False  # a class or a function of a library
        methods = uses.methods[name]
        held = uses.elements[name] & (_OF_CELLS | {CALLED})
        if name not in uses.used or "clear" in methods or {"update", "eval"} <= methods:  # not used, or a metric
            return False
        made = uses.made(name)
        origin = made or uses.known.get(name)
        if isinstance(origin, cst.List | cst.Dict | cst.ListComp | cst.DictComp | cst.Tuple):
            return bool(held)
        if origin is not None and not isinstance(origin, cst.Call | cst.Name | cst.Attribute | cst.Subscript):
            return False
        if made is not None:
            return self._is_holding(name, made, methods)
        return self._is_used_as_cell(name, methods)

    def _is_holding(self, name: str, made: cst.Call, methods: set[str]) -> bool:
        """Whether what a call makes holds Parameters."""
        whole, maker = self.draft.resolve(made.func), tail(made.func)
        while isinstance(made.func, cst.Call):  # nn.Dropout(0.1).set_train()
            made = made.func
        if maker in self._classes:
            return self._is_own_cell(maker) and not self._is_lossy(name, maker)
        if _HOLDING.match(whole):
            is_made = maker[:1].isupper() or maker in ("thor", "build_train_network", "auto_mixed_precision")
            return is_made and not _LOSS.fullmatch(maker)
        if whole.partition(".")[0] == _ROOT or (is_library(whole.partition(".")[0]) and "." in whole):
            return False
        return self._is_used_as_cell(name, methods)

    def _is_lossy(self, name: str, maker: str) -> bool:
        """A loss by its name that holds no Parameter of its own, nor a network."""
        return bool(_CALLED_LOSS.fullmatch(last(name))) and "Parameter" not in self.draft.source(self._classes[maker])

    def _is_used_as_cell(self, name: str, methods: set[str]) -> bool:
        if _CALLED_LOSS.fullmatch(last(name)) and not methods & _OF_CELLS - {"set_train"}:
            return False
        if _CALLED_BESIDE.fullmatch(last(name)):
            return bool(methods)
        if name in self._shown or self._is_optimizer_name(name):
            return True
        # What comes from another file and is only called may as well be a function.
        return bool(methods & _OF_CELLS) or (CALLED in methods and name not in self._imported)

    def _is_optimizer_name(self, name: str) -> bool:
        made = self.uses.made(name)
        if made is not None:
            return self._makes_optimizer(made) or bool(_SCALER.fullmatch(tail(made.func)))
        return bool(_CALLED_OPTIMIZER.fullmatch(last(name)) or _CALLED_BESIDE.fullmatch(last(name))) and (
            CALLED in self.uses.methods[name] or bool(_CALLED_BESIDE.fullmatch(last(name)))
        )

    def _is_self_cell(self) -> bool:
        owner = self.values.owner
        return owner is not None and self._is_own_cell(owner.name.value)

    def _is_inside(self, name: str, found: list[str]) -> bool:
        """Whether a field is part of a Cell that is saved, or of one whose class is in this file."""
        home = name.rpartition(".")[0]
        while home:
            is_cell = any(self._is_own_cell(each.name.value) for each in self.uses.holders.get(home, []))
            if (home in found or home == "self") and is_cell:
                return True
            home = home.rpartition(".")[0]
        return False

    def _check_step(self, on: cst.BaseExpression, call: cst.Call, scope: Scope, found: list[str]) -> None:
        names = [*self.uses.values_of(on, call, scope), *self.uses._containers_of(on, call, scope)]
        missing = [name for name in names if name not in found and not self._is_inside(name, found)]
        if names and not [name for name in missing if not self.uses.alias(name)]:
            return
        if not names and self.uses.is_made_in_round(dotted(on), scope):
            return
        said = f"{self.draft.source(on)} is called in line {self.draft.line(call)}, and the loop has no name for it"
        advice = "build network and optimizer in the module, or in the loop's function"
        raise Refusal(said, self.values.loop.node, advice)

    def beside(self) -> set[str]:
        """Names that the loop uses and that hold nothing to be kept: metrics that each round clears."""
        return {name for name, methods in self.uses.methods.items() if "clear" in methods}

    # ---- reasons, and what to know

    def _refuse(self) -> None:
        spread = search(_SPREAD, self.draft)
        if spread:
            said = f"each process holds a part of the network ({spread.group(0)}), and one file cannot"
            raise Refusal(said, self.values.loop.node, "let each process save its part by hand: outlast.save")

    def refuse_kept(self, kept: tuple[str, ...]) -> None:
        """A network that goes round by value has no way into a file."""
        for node in self.draft.below(self.values.loop.node.body):
            names = (
                {dotted(each.target) for each in node.targets} & set(kept) if isinstance(node, cst.Assign) else set()
            )
            if names and isinstance(node, cst.Assign) and self._is_network(node.value):
                advice = "keep its values instead: {p.name: p.asnumpy() for p in net.get_parameters()}"
                said = f"{names.pop()} is a network that goes from round to round, and cannot be kept in a file"
                raise Refusal(said, node, advice)

    def _is_network(self, value: cst.BaseExpression) -> bool:
        """A name that is saved, a copy of it, or a new Cell."""
        if isinstance(value, cst.Call) and tail(value.func) in ("deepcopy", "copy", "clone"):
            value = positional(value, 0) or value
        if isinstance(value, cst.Call):
            return self._is_own_cell(tail(value.func)) or self.draft.resolve(value.func).startswith(f"{_ROOT}.nn.")
        return dotted(value) in self.uses.known and self._is_saved(dotted(value))

    def say_what_differs(self) -> None:
        draft, loop = self.draft, self.values.loop.node
        drawn = [call for name, call in calls_of(draft) if _DRAWS.fullmatch(name)]
        if drawn:
            said = f"random numbers that MindSpore draws by itself ({tail(drawn[0].func)}) start anew in each stint"
            draft.say(Kind.DIFFERS, RULE, loop, said, "draw them from numpy to have the same numbers as without a stop")
        say_split(draft)


def say_split(draft: Draft) -> None:
    """Name what parts the samples by chance: `rows.split([0.8, 0.2])`, in whichever file."""
    for home in files_of(draft) if not is_seeded(draft) else ():
        for call in home.calls():
            parts, by_chance = positional(call, 0), argument(call, "randomize")
            is_random = by_chance is None or home.source(by_chance.value) != "False"
            is_split = tail(call.func) == "split" and isinstance(parts, cst.List)
            if is_split and is_random and isinstance(call.func, cst.Attribute):
                said = "split deals the samples anew in each start: a stint may train on what was kept for testing"
                home.say(Kind.DIFFERS, RULE, call, said, "give the script a seed: mindspore.set_seed(1)")
