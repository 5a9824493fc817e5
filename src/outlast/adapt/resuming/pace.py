"""How often the state of a training is saved.

A round that is an epoch ends with a checkpoint. A round that is one step of an optimizer, or one game that fills a
table or a memory, may take less time than saving does; then saving takes at most a twentieth of the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values
from outlast.migrate.tree import dotted, tail

#: Seconds between two checkpoints, at least.
_SECONDS = 30
#: Steps of these are no steps of a training.
_BESIDE = re.compile(r"(?:\w*_)?(?:sched\w*|scheduler|profiler|prof|env|envs|pbar|bar|warmup\w*|ema|lr_\w+)", re.I)
_STEPS = frozenset({"apply_gradients", "train_on_batch", "partial_fit", "optimize_parameters", "train_one_step"})
_LOOPS = (cst.For, cst.While, cst.ListComp, cst.GeneratorExp)
#: Rounds that are short by what they are called, also with loops inside: games that fill a table, or a memory.
_EPISODES = re.compile(r"(?i)(?:episode|(?:\b|_)(?:epi|game))s?(?:_|\b)")
#: Rounds that are long by what they are called.
_LONG = re.compile(r"(?:\w+_)?(?:n?epochs?|ep|e|gen|generation|episodes?|rounds?|trial)(?:_\w+)?", re.I)


def is_quick(draft: Draft, values: Values, kind: str, steps: frozenset[str] = frozenset()) -> bool:
    """Whether a round is one step, or one game; `steps` are called to make one, beside what every script calls so."""
    body = values.loop.node.body
    if kind == "plain":
        has_loops = any(isinstance(node, cst.For | cst.While) for node in draft.below(body))
        is_long = has_loops or _LONG.fullmatch(values.loop.variable) is not None
        return not is_long or _are_episodes(draft, values)
    if kind == "torch" and _are_episodes(draft, values):
        return True
    depths = _steps(draft, body, {}, kind, steps)
    if not depths and kind == "torch":  # it changes its weights by itself: `p.data -= rate * p.grad`
        depths = _steps(draft, body, {}, "backward", steps)
    return depths == {False}


def _are_episodes(draft: Draft, values: Values) -> bool:
    """`for e in range(EPISODES)`: thousands of them, and a state that may be a large table or a memory."""
    loop = values.loop
    said = draft.source(loop.stop) if loop.stop is not None else ""
    return _EPISODES.search(f"{loop.variable} {said}") is not None


def _steps(
    draft: Draft, block: cst.CSTNode, known: dict[int, set[bool]], kind: str, steps: frozenset[str]
) -> set[bool]:
    """Of all steps of an optimizer that a round makes, whether they are inside a loop of the round.

    `known`: what was found in blocks already; a function that is in the middle of it has nothing new to tell.
    """
    if id(block) in known:
        return known[id(block)]
    known[id(block)] = found = set[bool]()
    by_name = {function.name.value: function for function in draft.functions()}
    for call in draft.calls(block):
        is_inner = any(isinstance(each, _LOOPS) for each in _up_to(draft, call, block))
        if dotted(call.func) in steps or _is_step(call, kind):
            found.add(is_inner)
        function = by_name.get(tail(call.func))
        is_own = isinstance(call.func, cst.Name) or dotted(call.func) == f"self.{tail(call.func)}"
        if function is not None and is_own:
            found |= {is_inner or each for each in _steps(draft, function.body, known, kind, steps)}
    return found


def _up_to(draft: Draft, node: cst.CSTNode, block: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for each in draft.above(node):
        if each is block:
            return
        yield each


def _is_step(call: cst.Call, kind: str) -> bool:
    name = tail(call.func)
    if not isinstance(call.func, cst.Attribute):
        return False
    if kind in ("session", "backward"):
        return name == ("run" if kind == "session" else kind)
    return name in _STEPS or (name == "step" and not _BESIDE.fullmatch(tail(call.func.value)))


def clock(draft: Draft) -> str:
    """An expression for the time that passes; `from time import time` has taken the name of the module."""
    name = draft.names.name_for("time", [draft.module])
    if not name and "time" in draft.words:
        return "os.times().elapsed"
    draft.need_import("time")
    return f"{name or 'time'}.monotonic()"


def paced(lines: list[str], due: str, now: str) -> list[str]:
    """Lines that save, and say when the next time is."""
    return [
        f"{due} = {now}",
        *lines,
        f"{due} = {now} + max({_SECONDS}, 20 * ({now} - {due}))",
    ]
