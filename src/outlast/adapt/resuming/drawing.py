"""Random numbers that a program draws before its training, and which of its generators it gives a seed itself.

Python, numpy and torch have a generator each, and a seed for one says nothing of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.moments import Moments
from outlast.adapt.arguments.parsers import argparse_options
from outlast.adapt.draft import Draft
from outlast.adapt.resuming.before import Before
from outlast.migrate.tree import argument, dotted, positional, tail

ALL = ("numpy", "random", "torch")
#: By their full names: functions of the three global generators.
_GLOBAL = re.compile(
    r"(?P<numpy>numpy\.random\.(?!seed|get_state|set_state|default_rng|RandomState|Generator|SeedSequence)\w+)"
    r"|(?P<torch>torch\.(?:rand|randn|randint|randperm|normal|bernoulli|multinomial|rand_like|randn_like))"
    r"|(?P<random>random\.(?:random|randint|randrange|uniform|gauss|normalvariate|choice|choices|sample|shuffle))"
)
_NOWHERE = 99
#: Functions that draw from a global generator unless they are given one: by which words, at which place, from which.
_CHOOSING = {
    "random_split": ("generator", 2, "torch"),
    "train_test_split": ("random_state seed generator", _NOWHERE, "numpy"),
    "KFold": ("random_state", 2, "numpy"),
    "StratifiedKFold": ("random_state", 2, "numpy"),
    "ShuffleSplit": ("random_state", _NOWHERE, "numpy"),
    "StratifiedShuffleSplit": ("random_state", _NOWHERE, "numpy"),
    "GroupShuffleSplit": ("random_state", _NOWHERE, "numpy"),
    "resample": ("random_state", _NOWHERE, "numpy"),
    "sample": ("random_state", 4, "numpy"),
}
#: Of the functions above, those that choose among samples; the others may as well make a first weight.
_CHOICES = re.compile(r"shuffle|permutation|randperm|sample|choices?|\w*split|\w*Split|\w*KFold|resample")
#: Methods that the rounds of a training run, by whatever calls them.
_OF_ROUNDS = frozenset({"__getitem__", "__getitems__", "__call__", "__iter__", "__next__", "forward"})
#: what makes numbers of one's own
_GENERATORS = re.compile(r"random\.Random|numpy\.random\.(?:RandomState|default_rng|Generator)")
_MODELS = re.compile(r"\w*(?:Module|Layer|Model|Cell|Optimizer|Callback|Sampler)")
_SEEDING = re.compile(
    r"(?!get_|load_|read_|next_)\w*seed\w*|set_determinism|fix_random\w*|setup_random\w*|reproduc\w*", re.I
)
#: What functions of libraries give a seed to; any other that is called so is taken to seed all.
_SEEDED_BY = {
    r"random\.seed": ("random",),
    r"numpy\.random\.seed": ("numpy",),
    r"torch\.(?:random\.)?manual_seed": ("torch",),
    r"torch\.(?:cuda|mps|xpu|npu|backends)\..*|torch\.(?:initial_)?seed": (),
    r"(?:tensorflow|jax|dgl|imgaug|cupy|paddle)\..*(?<!set_random_seed)": (),
    r"(?:tensorflow\.)?(?:tf_)?keras\.utils\.set_random_seed|tensorflow\.keras\.utils\.set_random_seed": (
        "numpy",
        "random",
    ),
    r"tensorflow\.(?:compat\.v1\.)?set_random_seed": (),
    r"mindspore\.(?:\w+\.)*set_seed": ("numpy",),
}
#: Seeds that are others in each start.
_CHANGING = re.compile(r"\btime\b|urandom|getpid|datetime|perf_counter|\bsecrets\b")


@dataclass(frozen=True)
class Draw:
    """One call that draws other numbers in each start."""

    source: str  # the module whose generator it draws from
    draft: Draft
    call: cst.Call
    is_early: bool  # when its module is imported

    @property
    def is_choice(self) -> bool:
        return bool(_CHOICES.fullmatch(tail(self.call.func)))


def find_draws(entry: Draft, modules: Sequence[Draft], training: Draft, trainings: Sequence[cst.CSTNode]) -> list[Draw]:
    """What a program draws without a seed before its trainings, which are nodes of one of its files."""
    drafts = [entry, *modules]
    seeds = [
        (source, draft, call) for draft in drafts for call in draft.calls() for source in _seeds(drafts, draft, call)
    ]
    return [
        draw
        for draw in all_draws(entry, modules, training, trainings)
        if not any(_is_seeded(draw, draft, call) for source, draft, call in seeds if source == draw.source)
    ]


def all_draws(entry: Draft, modules: Sequence[Draft], training: Draft, trainings: Sequence[cst.CSTNode]) -> list[Draw]:
    """What a program draws from global generators before its trainings, seeded or not."""
    drafts = [entry, *modules]
    before = Before(drafts, training, trainings)
    scopes = [training.scope(at) for at in trainings if isinstance(at, cst.For | cst.While)]
    found = []
    for draft in drafts:
        for call in draft.calls():
            source = _source(draft, call)
            draw = Draw(source, draft, call, draft is not entry and draft.scope(call) is draft.module)
            # What the function of a training draws before its loop is no first weight: `fixed_noise = torch.randn(…)`.
            is_here = draft is training and draft.scope(call) in scopes
            is_later = not is_here and any(_is_later(draw, each) for each in draft.above(call))
            if source and not is_later and not _is_idle(draft, call) and before.has(draft, call):
                found.append(draw)
    return found


def own_choices(
    entry: Draft, modules: Sequence[Draft], training: Draft, trainings: Sequence[cst.CSTNode]
) -> list[Draw]:
    """What chooses among samples with numbers of its own: the same in each start, of lists in the same order."""
    drafts = [entry, *modules]
    before = Before(drafts, training, trainings)
    found = []
    for draft in drafts:
        makers = {
            dotted(each.target)
            for node in draft.nodes
            if isinstance(node, cst.Assign) and _makes_numbers(draft, node.value)
            for each in node.targets
        }
        for call in draft.calls():
            draw = Draw("", draft, call, is_early=False)
            is_later = any(_is_later(draw, each) for each in draft.above(call))
            if draw.is_choice and _draws_own(draft, call, makers) and not is_later and before.has(draft, call):
                found.append(draw)
    return found


def _makes_numbers(draft: Draft, node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and _GENERATORS.fullmatch(draft.resolve(node.func)) is not None


def _draws_own(draft: Draft, call: cst.Call, makers: set[str]) -> bool:
    """`train_test_split(rows, random_state=1)`, `numbers.shuffle(names)`, `torch.randperm(n, generator=numbers)`."""
    words, place, _ = _CHOOSING.get(tail(call.func), ("generator", _NOWHERE, ""))
    owner = call.func.value if isinstance(call.func, cst.Attribute) else None
    is_method = owner is not None and (dotted(owner) in makers or _makes_numbers(draft, owner))
    is_given = positional(call, place) is not None or any(argument(call, word) is not None for word in words.split())
    return is_method or is_given


def _is_seeded(draw: Draw, draft: Draft, seed: cst.Call) -> bool:
    """Whether a seed comes before a draw; where one function has both, as they stand."""
    if draft is draw.draft and draft.scope(seed) is draft.scope(draw.call):
        return draft.start(seed) < draft.start(draw.call)
    if draft is draw.draft and Moments(draft).is_surely_later(seed, draw.call):
        return False  # `train(cfg)` sets it, behind `folder = randint(1, 1000)`
    return not draw.is_early or draft.scope(seed) is draft.module


def _seeds(drafts: Sequence[Draft], draft: Draft, call: cst.Call) -> tuple[str, ...]:
    """The generators that a call gives a seed that is the same in each start."""
    name = tail(call.func)
    if not _SEEDING.fullmatch(name) or _is_optional(draft, call) or (draft is drafts[0] and _is_idle(draft, call)):
        return ()
    given = call.args[0].value if call.args else None
    path = draft.resolve(call.func)
    for known, sources in _SEEDED_BY.items():
        if re.fullmatch(known, path):
            is_fixed = given is not None and draft.source(given) != "None" and not _CHANGING.search(draft.source(given))
            return sources if is_fixed else ()
    is_own = any(function.name.value == name for each in drafts for function in each.functions())
    # What a function of the program seeds is seen in it; a method of an object seeds that: `env.seed(0)`.
    is_of_object = isinstance(call.func, cst.Attribute) and (not path or name == "seed")
    return () if is_own or is_of_object else ALL


def _is_idle(draft: Draft, call: cst.Call) -> bool:
    """Whether a call stands in a function that nothing names."""
    is_method = any(isinstance(each, cst.ClassDef) for each in draft.above(draft.scope(call)))
    return not is_method and not draft.is_reached(call)


def _is_optional(draft: Draft, call: cst.Call) -> bool:
    """Whether a seed is set only where an option is given that has no value by itself: `if args.seed is not None`."""
    options = dict(argparse_options(draft))
    for each in draft.above(call):
        for node in draft.below(each.test) if isinstance(each, cst.If) else ():
            option = options.get(node.attr.value) if isinstance(node, cst.Attribute) else None
            if option is not None and not option.is_set and not option.is_required:
                return True
    return False


def reseeds(drafts: Sequence[Draft], source: str) -> cst.Call | None:
    """A call that gives a generator another seed in each start, so that no seed from before it counts."""
    for draft in drafts:
        for call in draft.calls():
            sources = next((s for known, s in _SEEDED_BY.items() if re.fullmatch(known, draft.resolve(call.func))), ())
            if source in sources and (not call.args or _CHANGING.search(draft.source(call.args[0].value))):
                return call
    return None


def _source(draft: Draft, call: cst.Call) -> str:
    """The module whose global generator a call draws from, or nothing."""
    known = _GLOBAL.fullmatch(draft.resolve(call.func))
    if known:
        own = argument(call, "generator")  # `torch.randperm(n, generator=numbers)` draws from that one
        return "" if own is not None and draft.source(own.value) != "None" else known.lastgroup or ""
    name = tail(call.func)
    words, place, source = _CHOOSING.get(name, ("", 0, ""))
    given = [arg.value for word in words.split() if (arg := argument(call, word)) is not None]
    given += [value] if (value := positional(call, place)) is not None else []
    is_given = any(draft.source(value) != "None" for value in given)
    if not words or is_given or any(arg.star for arg in call.args):
        return ""
    shuffles = argument(call, "shuffle") or (call.args[1] if name.endswith("KFold") and len(call.args) > 1 else None)
    if draft.source(shuffles.value) == "False" if shuffles is not None else name.endswith("KFold"):
        return ""
    # `frame.sample(frac=0.8)` of pandas; others of that name do other things.
    if name == "sample" and not ("pandas" in draft.names.roots and argument(call, "frac")):
        return ""
    return source


def _is_later(draw: Draw, around: cst.CSTNode) -> bool:
    """Whether something around a draw is run by rounds, or makes first weights, which a checkpoint replaces."""
    if isinstance(around, cst.FunctionDef):
        return around.name.value in _OF_ROUNDS
    if not isinstance(around, cst.ClassDef):
        return False
    bases = [draw.draft.source(base.value) for base in around.bases]
    if any("Data" in base for base in bases):
        return False
    return not draw.is_choice or any(_MODELS.fullmatch(base.rpartition(".")[2]) for base in bases)


def draws_of(draws: Sequence[Draw]) -> Iterator[str]:
    """The generators, each once."""
    yield from sorted({draw.source for draw in draws})
