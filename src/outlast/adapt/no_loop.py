"""Why a script has no training loop that could be made to go on, and what to do about that."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.frameworks.foreign import foreign_training
from outlast.adapt.libraries import is_library
from outlast.adapt.resuming.bringing import frameworks_of
from outlast.adapt.resuming.counters import is_outermost
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.rounds import leading_to, repeated_at
from outlast.adapt.resuming.told import adapt_there
from outlast.adapt.whole import files_of, roots_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import dotted, tail

#: Calls that a step of a training makes.
_STEPS = frozenset({"backward", "apply_gradients", "train_on_batch", "partial_fit"})
#: calls that may train, by a word in their names
_MAY_TRAIN = re.compile(
    r"(?<!pre)train|fit|learn|step|backward|optimi|minimi|updat|(?<!no_)(?<!requires_)grad|run|epoch|solve|search|boost"
    r"|distil|tune|exec|call|Popen|system",
    re.I,
)
#: of these, single steps where they stand in no loop and no function
_SINGLE = frozenset({"backward", "step", "zero_grad"})
#: what trains as it is made: `Word2Vec(sentences)`
_ONE_CALL = re.compile(
    r"gensim\.models\.(?:\w+\.)?(?:Word2Vec|Doc2Vec|FastText|(?:Ensemble)?Lda\w*|LsiModel|HdpModel|Nmf)$"
)
#: calls that read a file
_READS = re.compile(r"read_(?!text)\w+|imread|open|load|loadtxt|genfromtxt|loadmat")


def no_loop(draft: Draft) -> Refusal:
    foreign = foreign_training(draft)
    if foreign is not None:
        return foreign
    whiles = [node for node in draft.nodes if isinstance(node, cst.While) and _trains(draft, node)]
    if whiles:
        return Refusal("the training loop is a while loop, and what counts its rounds is not certain", whiles[0],
                       "write it as for step in range(N), or use outlast.epochs")  # fmt: skip
    passing = one_pass(draft)
    if passing is not None:
        return passing
    if any(tail(call.func) == "fit" or _ONE_CALL.match(draft.resolve(call.func)) for call in draft.calls()):
        # In a program it may be one of its own functions.
        return Refusal(
            "trains in one call that cannot be continued", None, "a stint must be long enough for it", Kind.DIFFERS,
            is_absent=bool(draft.others),
        )  # fmt: skip
    elsewhere = _trained_elsewhere(draft)
    if elsewhere is not None:
        name = draft.source(elsewhere.func)
        said = f"the training loop is not in this file: {name}() is in another one"
        there = adapt_there(draft.resolve(elsewhere.func), name)
        return Refusal(said, elsewhere, f"{there}, or use outlast.epochs there", is_absent=True)
    is_plain = not frameworks_of(draft)
    others = [node for node in draft.nodes if isinstance(node, cst.While) and is_plain and not _yields(draft, node)]
    if others:
        return Refusal("the only loop is a while loop, and what counts its rounds is not certain", others[0],
                       "write it as for step in range(N), or use outlast.epochs")  # fmt: skip
    said = "no training loop of the form for epoch in range(N)"
    return untrained(draft) or Refusal(said, None, "use outlast.epochs(N)", is_absent=True)


def untrained(draft: Draft) -> Refusal | None:
    """Where every file is seen, and none does anything that may train in rounds: there is nothing to go on with."""
    if not all(is_library(root) or root.lstrip(".") in draft.seen for root in roots_of(draft)):
        return None
    files = files_of(draft)
    is_plain = not any(frameworks_of(each) for each in files)
    if is_plain and any(isinstance(node, cst.For | cst.While) for each in files for node in each.nodes):
        return None  # without a library a few sums and products may be a training
    if any(_may_train(each, call) for each in files for call in each.calls()):
        return None
    said = "nothing is trained in rounds here: after a stop the script begins anew"
    return Refusal(said, None, "a stint must be long enough for it", Kind.DIFFERS)


def _may_train(draft: Draft, call: cst.Call) -> bool:
    name = tail(call.func)
    if name not in _SINGLE:
        return _MAY_TRAIN.search(name) is not None
    return any(isinstance(each, cst.For | cst.While | cst.FunctionDef) for each in draft.above(call))


def gathers_only(draft: Draft, loop: cst.CSTNode) -> bool:
    """Whether a loop of no rounds only reads files one after the other, and what trains stands outside of it."""
    inside = {id(node) for node in draft.below(loop)}
    if not any(_READS.fullmatch(tail(call.func)) for call in draft.calls(loop)):
        return False
    is_fitted = any(tail(call.func) == "fit" and id(call) not in inside for call in draft.calls())
    return is_fitted or foreign_training(draft) is not None


#: what makes a Cell of MindSpore whose call is a step
_CELL = re.compile(r"\w*TrainOneStep\w*|build_train_network")


def one_pass(draft: Draft) -> Refusal | None:
    """The reason where a loop trains that goes once through its samples."""
    passes = [node for node in draft.nodes if isinstance(node, cst.For) and _is_one_pass(draft, node)]
    if not passes:
        return None
    said = "the loop goes once through its samples, and where it stopped among them is not saved"
    advice = "put for epoch in range(N) around it, or count its steps: for step in range(N): batch = next(batches)"
    return Refusal(said, passes[0], advice)


def _trained_elsewhere(draft: Draft) -> cst.Call | None:
    """A call that trains by its name, and is no function of this file."""
    own = {function.name.value for function in draft.functions()}
    named = re.compile(r"(?:(?:run|start|do)_)?train(?:ing|_model|_network|_loop)?|learn")
    for call in draft.calls():
        name = tail(call.func)
        takes = bool(call.args) or dotted(call.func).count(".") > 0
        if named.fullmatch(name) and name not in own and takes and not (name == "train" and not _is_run(draft, call)):
            return call
    return None


def _is_run(draft: Draft, call: cst.Call) -> bool:
    """`model.train()` and `model.train(False)` only choose how a module works."""
    values = [arg.value for arg in call.args]
    is_mode = not values or tail(values[0]) in ("True", "False")
    return not (is_mode and isinstance(call.func, cst.Attribute) and "eval" in draft.words)


def _trains(draft: Draft, loop: cst.For | cst.While) -> bool:
    """Whether a loop trains, by itself or through functions of this file; one that yields hands out samples."""
    own = {function.name.value: function for function in draft.functions()}
    cells = {
        tail(node.targets[0].target) for node in draft.nodes
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call) and _CELL.fullmatch(tail(node.value.func))
    }  # fmt: skip
    waiting, seen = [] if _yields(draft, loop) else [loop.body], {loop.body}
    while waiting:
        block = waiting.pop()
        for call in draft.calls(block):
            if tail(call.func) in _STEPS | cells or (tail(call.func) == "run" and "sess" in dotted(call.func)):
                return True
            function = own.get(tail(call.func))
            if function is not None and function.body not in seen:
                seen.add(function.body)
                waiting.append(function.body)
    return False


def _yields(draft: Draft, loop: cst.For | cst.While) -> bool:
    return any(isinstance(node, cst.Yield) for node in draft.below(loop.body))


def _is_one_pass(draft: Draft, loop: cst.For) -> bool:
    """`for step, batch in enumerate(loader)`, `for step, batch in zip(range(N), batches)`: no rounds, one long one."""
    is_alone = is_outermost(draft, loop) and repeated_at(draft, loop) is None and not _is_run_in_rounds(draft, loop)
    return is_alone and tail(loop.iter) not in ("range", "trange", "xrange") and _trains(draft, loop)


def _is_run_in_rounds(draft: Draft, loop: cst.For) -> bool:
    """Whether a loop of another file calls the function of this one: it is a part of each step then."""
    names = leading_to(draft, loop)
    return any(
        tail(call.func) in names and repeated_at(other, call) is not None
        for other in draft.others
        for call in other.calls()
    )
