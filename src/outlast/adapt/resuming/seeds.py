"""Random numbers that a script draws before its training: which samples it trains on must not change with each stint.

A script without a seed splits its data anew whenever it starts, and after a stop it would train on what it had kept for
testing. So in a stint, or where the contract's output folder is given, the numbers follow from the run's name.
"""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.arguments.setup import CreatedSetup, Setup
from outlast.adapt.draft import Draft
from outlast.adapt.resuming.ranks import are_several
from outlast.adapt.resuming.state import RULE
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, tail

#: By their full names: functions of the three global generators.
_GLOBAL = re.compile(
    r"(?P<numpy>numpy\.random\.(?!seed|get_state|set_state|default_rng|RandomState|Generator|SeedSequence)\w+)"
    r"|(?P<torch>torch\.(?:rand|randn|randint|randperm|normal|bernoulli|multinomial|rand_like|randn_like))"
    r"|(?P<random>random\.(?:random|randint|randrange|uniform|gauss|normalvariate|choice|choices|sample|shuffle))"
)
#: Functions of libraries that draw from a global generator unless they are given one: by what, and from which.
_CHOOSING = {
    "random_split": ("generator", "torch"),
    "train_test_split": ("random_state", "numpy"),
    "KFold": ("random_state", "numpy"),
    "StratifiedKFold": ("random_state", "numpy"),
    "ShuffleSplit": ("random_state", "numpy"),
    "StratifiedShuffleSplit": ("random_state", "numpy"),
    "GroupShuffleSplit": ("random_state", "numpy"),
    "resample": ("random_state", "numpy"),
    "sample": ("random_state", "numpy"),
}
_SEEDED = re.compile(r"\w*seed\w*|set_determinism|fix_random\w*|setup_random\w*|reproduc\w*", re.I)


def keep_choices(draft: Draft, at: cst.CSTNode, setup: Setup | None, value: str) -> None:
    """Let each stint draw the same numbers before its training. `at` is the training, `value` the output folder."""
    if any(_SEEDED.fullmatch(word) for word in draft.words):
        return
    drawn = dict(_draws(draft, at))
    if not drawn:
        return
    first = min(drawn.values(), key=draft.start)
    what = f"{tail(first.func)} draws other numbers in each start"
    is_late = setup is not None and not isinstance(setup, CreatedSetup) and not setup.reaches(first)
    if are_several(draft) or is_late:
        draft.say(Kind.DIFFERS, RULE, first, what, "give the script a seed, so that each stint has the same data")
        return
    lines = _lines(draft, sorted(drawn), value)
    if setup is None or isinstance(setup, CreatedSetup):
        draft.add_on_top(lines)
    else:
        setup.follow(lines)
    draft.say(Kind.CHANGED, RULE, first, f"{what}: in a stint they follow from the run's name")


def _draws(draft: Draft, at: cst.CSTNode) -> list[tuple[str, cst.Call]]:
    """Calls outside of the training that draw from a global generator: its module, and the call."""
    found = []
    rounds = _run_by(draft, at)
    for call in draft.calls():
        source = _source(draft, call)
        if source and not any(each in rounds or _is_model(draft, each) for each in draft.above(call)):
            found.append((source, call))
    return found


def _source(draft: Draft, call: cst.Call) -> str:
    """The module whose global generator a call draws from, or nothing."""
    name = draft.resolve(call.func)
    known = _GLOBAL.fullmatch(name)
    if known:
        return known.lastgroup or ""
    word, source = _CHOOSING.get(tail(call.func), ("", ""))
    if not word or argument(call, word) or any(arg.star for arg in call.args):
        return ""
    shuffles = argument(call, "shuffle")
    if draft.source(shuffles.value) == "False" if shuffles is not None else tail(call.func).endswith("KFold"):
        return ""
    # `frame.sample(frac=0.8)` of pandas; others of that name do other things.
    if tail(call.func) == "sample" and not ("pandas" in draft.names.roots and argument(call, "frac")):
        return ""
    return source


def _run_by(draft: Draft, at: cst.CSTNode) -> set[cst.CSTNode]:
    """The training loop and the functions that it runs; numbers drawn there are part of the checkpoint."""
    if not isinstance(at, cst.For | cst.While):
        return set()
    functions = {function.name.value: function for function in draft.functions()}
    found: set[cst.CSTNode] = {at}
    waiting: list[cst.CSTNode] = [at]
    while waiting:
        for call in draft.calls(waiting.pop()):
            function = functions.get(tail(call.func))
            if function is not None and function not in found:
                found.add(function)
                waiting.append(function)
    return found


def _is_model(draft: Draft, node: cst.CSTNode) -> bool:
    """A class other than a data set: what it draws are its first weights, which a checkpoint replaces."""
    if not isinstance(node, cst.ClassDef):
        return False
    return not any("Data" in draft.source(base.value) for base in node.bases)


def _lines(draft: Draft, sources: list[str], value: str) -> list[str]:
    name, seed = draft.free("run_name"), draft.free("run_seed")
    draft.need_import("os", "zlib")
    lines = [
        f'{name} = os.environ.get("OUTLAST_RUN")' + (f" or {value}" if value else ""),
        f"if {name}:  # each stint makes the same choice of data",
        f"    {seed} = zlib.crc32(str({name}).encode())",
    ]
    for source in sources:
        module = draft.names.name_for(source, [draft.module])
        if not module:
            draft.need_import(source)
        words = {"numpy": "random.seed", "torch": "manual_seed", "random": "seed"}[source]
        lines.append(f"    {module or source}.{words}({seed})")
    return lines
