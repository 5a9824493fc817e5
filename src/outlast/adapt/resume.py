"""Going on where a stint before stopped: find the state of a training, restore it, save it whole.

The state is kept under one name, written aside and moved into place. Where it goes is known only in a stint
(`OUTLAST_CHECKPOINT`) or where the contract's output folder is given; by hand the script does what it did.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.frameworks.engines import plan_ignite
from outlast.adapt.frameworks.estimators import plan_estimator
from outlast.adapt.frameworks.fitting import plan_mindspore
from outlast.adapt.frameworks.keras_fit import find_fits, plan_keras
from outlast.adapt.frameworks.lightning import plan_lightning
from outlast.adapt.frameworks.trainers import plan_transformers
from outlast.adapt.no_loop import gathers_only, no_loop, one_pass, untrained
from outlast.adapt.resuming.bringing import frameworks_of
from outlast.adapt.resuming.cells import is_mindspore, mindspore_state
from outlast.adapt.resuming.celluses import CellUses
from outlast.adapt.resuming.counted import find_counted
from outlast.adapt.resuming.counters import find_counting, find_loops, find_while_loops, is_named, named_first
from outlast.adapt.resuming.earlier import keep_earlier
from outlast.adapt.resuming.inject import inject, is_steady
from outlast.adapt.resuming.live import is_live
from outlast.adapt.resuming.logs import find_logs
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.numbered import find_numbered, keep_numbered
from outlast.adapt.resuming.own import OwnResume, find_own_resume, is_on, say_asked
from outlast.adapt.resuming.own_tables import added_to
from outlast.adapt.resuming.proven import Proof
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.renewed import changes_counter, is_due_next, keep_renewed
from outlast.adapt.resuming.rounds import (
    are_ways,
    is_called,
    may_count,
    may_count_elsewhere,
    refuse_processes,
    refuse_repeated,
    refuse_shared_file,
    repeated_at,
)
from outlast.adapt.resuming.sessions import runs_training, session_of, session_state
from outlast.adapt.resuming.stamped import Stamped, find_stamped
from outlast.adapt.resuming.stamped_settings import find_settings
from outlast.adapt.resuming.stamps import find_given_stamps, find_stamps, keep_stamps, say_stamps
from outlast.adapt.resuming.state import NETWORKS, RULE, State
from outlast.adapt.resuming.states import (
    changes_held,
    changes_self,
    fills_only,
    is_episode,
    plain_state,
    starts_training,
    tensorflow_state,
)
from outlast.adapt.resuming.told import say_places, say_privacy, say_single_round, say_workers
from outlast.adapt.resuming.tracked import Tracked
from outlast.adapt.resuming.trained import is_torch, torch_state
from outlast.adapt.resuming.uses import Uses
from outlast.adapt.resuming.visible import Visible
from outlast.migrate.engine import Kind
from outlast.migrate.tree import tail

_Uses = TypeVar("_Uses", bound=Uses)


@dataclass(frozen=True)
class Plan:
    """A change that makes the script resume. `at` is where the output folder's option is read."""

    at: cst.CSTNode
    apply: Callable[[str], None]
    saves_results: bool = False  # it also sends the results to the output folder
    also: tuple[cst.CSTNode, ...] = ()  # more places where that option is read
    is_counted: bool = False  # each of several trainings in one start has a checkpoint of its own
    states: tuple[tuple[Values, State], ...] = ()  # loops, and what would be kept of each
    stamped: tuple[Stamped, ...] = ()  # texts of the time in other files, of which all stints have the first one's


def plan_resume(draft: Draft, absent: list[Refusal] | None = None) -> Plan | None:
    """What to do, or None: nothing to do, or refused with a reason in the findings.

    That there is no training here at all is added to `absent` instead, where that is given.
    """
    if "OUTLAST_CHECKPOINT" in draft.text or "outlast" in draft.names.roots:
        draft.say(Kind.KEPT, RULE, draft.first, "resumes already")
        return None
    own = find_own_resume(draft)
    if own is not None and not own.is_asked and _is_proven(draft.again()):
        advice = "keep its checkpoints below the output folder, so that the next stint finds them"
        draft.say(Kind.KEPT, RULE, draft.first, "loads a checkpoint and counts on from it already", advice)
        return None
    try:
        plan = _plan(draft)
        if own is not None and own.is_asked:
            # It is so once the lines are there.
            return dataclasses.replace(plan, apply=lambda value: _apply(draft, plan, value, own))
        return plan
    except Refusal as refusal:
        if refusal.is_absent and absent is not None:
            absent.append(refusal)
        elif not say_asked(draft, own):
            say_refusal(draft, refusal)
        return None


def say_refusal(draft: Draft, refusal: Refusal) -> None:
    draft.say(refusal.kind, RULE, refusal.node or draft.first, str(refusal), refusal.advice)


def _is_proven(draft: Draft) -> bool:
    """Whether it goes on by itself, with all that would be kept of it."""
    own = find_own_resume(draft)
    if own is None:
        return False
    starts, values, state = list(own.starts), None, None
    try:
        plan = _plan(draft)
    except Refusal:
        plan = None  # what would be kept is not known; then its own file must do
    if plan is not None and plan.states:
        if len(plan.states) > 1:
            return False
        values, state = plan.states[0]
        starts = [each for each in (_begin(draft, values),) if each is not None]
    proof = Proof(draft, starts, lambda node: is_on(draft, node), values, state)
    return proof.is_of_its_own_file() and proof.is_whole()


def _begin(draft: Draft, values: Values) -> cst.BaseExpression | None:
    """What a loop counts from: where its range starts, or what the counter of a `while` loop was given."""
    loop = values.loop
    if loop.counter is not None:
        return loop.first
    names = (node for node in draft.below(loop.node) if isinstance(node, cst.Name) and node.value == loop.variable)
    return next(names, None)


def _apply(draft: Draft, plan: Plan, value: str, own: OwnResume) -> None:
    plan.apply(value)
    say_asked(draft, own, is_asked_no_more=True)


def _plan(draft: Draft) -> Plan:
    estimator = plan_estimator(draft)
    if estimator is not None:
        return Plan(*estimator)
    lightning = plan_lightning(draft)
    if lightning is not None:
        return Plan(lightning[0][0], lightning[1], saves_results=True, also=lightning[0][1:])
    trainer = plan_transformers(draft)
    if trainer is not None:
        return Plan(*trainer, saves_results=True)
    keras = plan_keras(draft)
    if keras is not None:
        return _with_loops(draft, _with_stamps(draft, Plan(*keras)))
    for fitted in (plan_mindspore(draft), plan_ignite(draft)):
        if fitted is not None:
            return Plan(*fitted)
    return _plan_loops(draft)


def _with_stamps(draft: Draft, plan: Plan) -> Plan:
    """What callbacks write to under a name that the clock makes has the first one's in all stints."""
    first = {id(draft.scope(call)): call for call in reversed(find_fits(draft))}
    stamps = [(call, find_given_stamps(draft, call)) for call in sorted(first.values(), key=draft.start)]
    done: set[int] = set()
    for _, found in stamps:  # those of the module may be of several
        found[:] = [each for each in found if id(each) not in done]
        done.update(map(id, found))

    def apply(value: str) -> None:
        plan.apply(value)
        for at, (call, found) in enumerate(each for each in stamps if each[1]):
            keep_stamps(draft, found, draft.scope(call), value, f"resume-{at + 1}" if at else "resume")

    return dataclasses.replace(plan, apply=apply, also=(*plan.also, *(each for _, found in stamps for each in found)))


def _with_loops(draft: Draft, plan: Plan) -> Plan:
    """A script may also train in loops of its own, as another way or beside `fit`: they have a checkpoint of theirs."""
    found = [
        values for values in (Values(draft, loop) for loop in find_loops(draft))
        # What the script does not call itself is a part of `fit`: several steps in `train_step`.
        if is_named(values.loop) and _is_run(draft, values.scope)
        and not any(tail(call.func) in ("fit", "fit_generator") for call in draft.calls(values.loop.node))
        and Tracked(draft, values).is_training
    ]  # fmt: skip
    if not found:
        return plan
    uses = {id(values): Uses(draft, values) for values in found}
    try:
        loops = _plan_several(draft, found, uses, lambda draft, values, _: tensorflow_state(draft, values))
    except Refusal as refusal:
        say_refusal(draft, refusal)
        return plan

    def apply(value: str) -> None:
        plan.apply(value)
        loops.apply(value)

    return dataclasses.replace(plan, apply=apply, also=(*plan.also, loops.at, *loops.also))


def _is_run(draft: Draft, scope: cst.CSTNode) -> bool:
    """Whether the program calls a function or method by its name."""
    name = scope.name.value if isinstance(scope, cst.FunctionDef) else ""
    return not name or any(tail(call.func) == name for each in (draft, *draft.others) for call in each.calls())


def _plan_loops(draft: Draft) -> Plan:
    nested = [Values(draft, loop) for loop in find_counting(draft)]
    whiles = [values for values in (Values(draft, loop) for loop in find_while_loops(draft)) if _counts(draft, values)]
    uses = {id(values): Uses(draft, values) for values in (*nested, *whiles)}
    torch = [values for values in (*nested, *whiles) if is_torch(draft, values, uses[id(values)])]
    if not torch:
        # `for j in range(updates)` around `for step in range(steps)`, which only gathers what the update learns from.
        others = [Values(draft, loop) for loop in find_counting(draft, by_any_name=True)]
        uses |= {id(values): Uses(draft, values) for values in others}
        torch = [values for values in others if is_torch(draft, values, uses[id(values)])]
    if torch:
        return _plan_several(draft, torch, uses, torch_state)
    if "mindspore" in draft.names.roots:
        cells = {id(values): CellUses(draft, values) for values in (*nested, *whiles)}
        trains = [values for values in (*nested, *whiles) if is_mindspore(draft, values, cells[id(values)])]
        if trains:
            return _plan_several(draft, trains, cells, mindspore_state)
    outer = {id(loop.node) for loop in find_loops(draft)}
    counting = [values for values in nested if id(values.loop.node) in outer]
    counted = [values for values in whiles if values.loop.is_counted]
    sessions = [values for values in (*counting, *whiles) if session_of(draft, values)]
    sessions = [values for values in sessions if runs_training(draft, values)] or sessions
    tensorflow = [values for values in (*nested, *whiles) if Tracked(draft, values).is_training]
    if tensorflow and not sessions:
        return _plan_several(draft, tensorflow, uses, lambda draft, values, _: tensorflow_state(draft, values))
    plain = [values for values in (*counting, *counted) if values.carried() and not fills_only(draft, values)]
    plain = [values for values in plain if values in counting] or plain
    # Folds of a training in plain Python: rounds that are called so, within a loop over something else.
    plain = plain or [values for values in nested if values.carried() and is_named(values.loop)]
    plain = plain or [values for values in counting if values.owner is not None and changes_self(draft, values)]
    plain = plain or [values for values in counting if changes_held(draft, values)]
    candidates = sessions or [*counting, *counted] or plain
    if not candidates:
        raise no_loop(draft)
    trained = [values for values in plain if is_named(values.loop) or starts_training(draft, values)]
    if plain and not sessions and not trained and all(gathers_only(draft, values.loop.node) for values in plain):
        raise no_loop(draft)
    found = _outer(sessions or plain)
    if not found:
        advice = "let the loop's function hold model and optimizer, or use outlast.epochs and outlast.save"
        where = candidates[0].loop.node
        # Where none of them trains, and there are other files, one of these does.
        is_absent = bool(draft.others) and not any(starts_training(draft, values) for values in candidates)
        said = "the training loop changes nothing that is visible in its function"
        raise one_pass(draft) or untrained(draft) or Refusal(said, where, advice, is_absent=is_absent)
    if len(found) > 1:
        # In plain Python a loop may also prepare the data.
        found = [values for values in found if starts_training(draft, values)] or found
        found = [values for values in found if not is_episode(draft, values)] or found
    if len(found) > 1:
        raise _several(draft, found)
    values = found[0]
    if not sessions and is_named(values.loop):
        return _plan_several(draft, found, uses, lambda draft, values, _: _plain_state(draft, values))
    refuse_repeated(draft, values.loop.node)
    state = session_state(draft, values) if sessions else _plain_state(draft, values)
    _check(draft, values, state)
    return Plan(values.loop.node, lambda value: inject(draft, values, state, value), states=((values, state),))


def _plain_state(draft: Draft, values: Values) -> State:
    try:
        return plain_state(draft, values)
    except Refusal:
        # A loop that counts may draw pictures, behind one pass over the samples that trains.
        passing = one_pass(draft) if frameworks_of(draft) else None
        if passing is None or passing.node is values.loop.node:
            raise
        raise passing from None


def _plan_several(
    draft: Draft, found: list[Values], uses: dict[int, _Uses], find_state: Callable[[Draft, Values, _Uses], State]
) -> Plan:
    """Trainings one after the other: each has its checkpoint, and one that is done is passed at once."""
    run = {id(each) for values in found for each in (*values.run_functions(), *uses[id(values)].functions)}
    inside = {id(node) for values in found for node in draft.below(values.loop.node)}
    found = [values for values in found if id(values.loop.node) not in inside]
    found = [values for values in found if id(values.scope) not in run] or found
    found = [values for values in found if is_live(draft, values.scope)] or found
    named = {id(loop.node) for loop in named_first([values.loop for values in found])}
    found = [values for values in found if id(values.loop.node) in named]
    scopes = {id(values.scope): values.scope for values in found}
    are_seen = all(is_called(draft, scope) for scope in scopes.values())
    if len(scopes) > 1 and not are_seen and not are_ways(draft, [*scopes.values()]):
        raise _several(draft, found)
    planned = []
    for at, values in enumerate(found):
        is_again = repeated_at(draft, values.loop.node) is not None
        if is_again and not may_count(draft, values.loop.node):
            refuse_repeated(draft, values.loop.node)
        # Another file may come back to it as well.
        is_again = is_again or may_count_elsewhere(draft, values.loop.node)
        if is_again:
            refuse_shared_file(draft, values.loop.node)
        state = find_state(draft, values, uses[id(values)])
        _check(draft, values, state)
        planned.append((values, state, f"resume{at + 1 if at else ''}{'-' if is_again else ''}", is_again))

    if len(planned) == 1 and not planned[0][3]:
        values, state, file, is_again = planned[0]
        planned = [(values, dataclasses.replace(state, logs=find_logs(draft, values)), file, is_again)]
    stamps = [(values.scope, find_stamps(draft, values)) for values, state, _, _ in planned if state.kind in NETWORKS]

    stamped = [*find_stamped(draft, planned[0][0]), *find_settings(draft, planned[0][0])] if stamps else []
    for values, state, _, _ in planned:
        if state.kind in NETWORKS:
            say_stamps(draft, values, [*stamps[0][1], *(each.node for each in stamped)])
    numbered = find_numbered(draft, planned[0][0]) if stamps else []

    def apply(value: str) -> None:
        for values, state, file, repeats in planned:
            # A training that is done must not cut off what a later one has added.
            is_one = len(planned) == 1 and not repeats
            files = added_to(draft, values) if is_one else ()
            inject(draft, values, dataclasses.replace(state, files=files), value, file=file, repeats=repeats)
        for scope, calls in stamps[:1]:
            keep_stamps(draft, calls, scope, value)
            keep_numbered(draft, numbered, scope, value)

    also = (*(values.loop.node for values in found[1:]), *(call for _, calls in stamps[:1] for call in calls))
    also += tuple(each.node for each in numbered)
    also += tuple(log.call for _, state, _, _ in planned for log in state.logs)
    is_counted = all(repeats for _, _, _, repeats in planned)
    return Plan(
        found[0].loop.node,
        apply,
        also=also,
        is_counted=is_counted,
        states=tuple((values, state) for values, state, _, _ in planned),
        stamped=tuple(stamped),
    )


def _check(draft: Draft, values: Values, state: State) -> None:
    _refuse_loop(draft, values)
    refuse_processes(draft, values.loop.node)
    drawn = [each.name for each in find_counted(draft, values)] if state.kind == "tensorflow" else []
    say_places(draft, values, (*state.loaded, *drawn))
    say_single_round(draft, values)
    say_privacy(draft)
    say_workers(draft, state)


def _several(draft: Draft, found: list[Values]) -> Refusal:
    lines = ", ".join(str(draft.line(values.loop.node)) for values in found)
    advice = "name the one to go on with: for epoch in outlast.epochs(N)"
    return Refusal(f"there are {len(found)} training loops (lines {lines})", found[0].loop.node, advice)


def _counts(draft: Draft, values: Values) -> bool:
    """Whether what a `while` loop counts with is there before it: `step`, or a field that its class has set."""
    name = values.loop.variable
    if "." in name:
        return values.owner is not None and name in Visible(draft, values).changing("self")
    return name in values.origins and name in values.bound


def _outer(found: list[Values]) -> list[Values]:
    """Without loops of functions that another one of them calls: these are rounds within its rounds."""
    called = {id(function) for values in found for function in values.run_functions()}
    return [values for values in found if id(values.scope) not in called] or found


def _refuse_loop(draft: Draft, values: Values) -> None:
    loop = values.loop
    if changes_counter(values) and is_due_next(draft, values):
        raise Refusal(f"the loop changes its own counter {loop.variable}", loop.node)
    early = values.early_reads()
    if early:
        raise Refusal(f"{early[0]} goes from one round to the next but is not there before the loop", loop.node,
                      "give it a value before the loop")  # fmt: skip
    keep_renewed(draft, values)
    keep_earlier(draft, values)
    is_bound = values.outlives_its_end if loop.is_endless else not loop.is_apart or is_steady(draft, values)
    if values.outliving and not is_bound:
        raise Refusal(f"{sorted(values.outliving)[0]} is used behind the loop, and its end is computed", loop.node)
    if not draft.stands_alone(loop.node) or not draft.stands_alone(loop.top):
        raise Refusal("the loop shares its line with something else", loop.node)
