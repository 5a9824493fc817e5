"""Resuming where an Engine of PyTorch-Ignite runs the training: `trainer.run(loader, max_epochs=N)`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import parameters_of
from outlast.adapt.resuming.modules import is_helper, own_modules
from outlast.adapt.resuming.parts import chosen
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.rounds import are_alternatives, refuse_repeated
from outlast.adapt.resuming.scopes import parameters
from outlast.adapt.resuming.state import ENVIRON, RULE, Names, load_line, place_lines, save_lines, torch_name
from outlast.adapt.resuming.state import torch_random as random_lines
from outlast.adapt.wrapping import Fitted, add_argument
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, keyword_or_place, tail

_ADVICE = "add its Checkpoint handler, and call Checkpoint.load_objects before run"
_LOAD = "before run, load what its Checkpoint handler saved last: Checkpoint.load_objects; and pass require_empty=False"
_MODEL, _OPTIMIZER = re.compile("model|net"), re.compile("optim")
#: handlers that count or compare; without a name nothing can save them
_COUNTING = frozenset({"EarlyStopping", "PiecewiseLinear", "CosineAnnealingScheduler", "LinearCyclicalScheduler"})


def plan_ignite(draft: Draft) -> Fitted | None:
    """One `run` with epochs: a handler saves the engine's state with everything that it trains."""
    if "ignite" not in draft.names.roots or "run" not in draft.words:
        return None
    calls = [
        call for call in draft.calls()
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "run"
        and keyword_or_place(call, "max_epochs", 1) is not None and not draft.resolve(call.func)  # subprocess.run(…)
    ]  # fmt: skip
    advice = _LOAD if _savers(draft) else _ADVICE
    if not calls or not (len(calls) == 1 or _is_one_of(draft, calls)):
        raise Refusal("an Engine of Ignite runs the training", None, advice)
    found = [_plan(draft, call, advice) for call in calls]
    _say_what_differs(draft, [statement for statement, _, _ in found])

    def apply(value: str) -> None:
        _let_be_full(draft, found[0][0], value)
        for statement, parts, given in found:
            _handle(draft, statement, parts, given, value)

    return found[0][0], apply


def _is_one_of(draft: Draft, calls: Sequence[cst.Call]) -> bool:
    """Whether each start runs one of several engines: `fit(…)` or `fit_with_centers(…)`, which another file calls."""
    scopes = {each.name.value: each for call in calls if isinstance(each := draft.scope(call), cst.FunctionDef)}
    files = [
        (each, begun) for each in (draft, *draft.others)
        if (begun := [call for call in each.calls() if tail(call.func) in scopes])
    ]  # fmt: skip
    is_apart = len(scopes) == len(calls) and len(files) == 1
    return draft.is_module and is_apart and are_alternatives(files[0][0], files[0][1])


def _plan(draft: Draft, call: cst.Call, advice: str) -> tuple[cst.CSTNode, list[str], list[str]]:
    """The statement that runs an engine, what is kept, and what its function is given and kept where it has a state."""
    statement = draft.statement(call)
    engine = dotted(call.func).rpartition(".")[0]
    made = dict(_made_before(draft, statement))
    if not isinstance(made.get(engine), cst.Call):
        raise Refusal(f"the Engine {engine} is not made in the function that runs it", statement, advice)
    if any(draft.resolve(each).startswith("ignite.distributed") for each in draft.nodes if isinstance(each, cst.Name)):
        raise Refusal("several processes may train together (ignite.distributed)", statement, advice)
    if not draft.stands_alone(statement):
        raise Refusal("run shares its line with something else", statement)
    refuse_repeated(draft, call)
    given = _given(draft, statement, made)
    parts = [*([] if given else _parts(draft, made, statement, advice)), engine]
    return statement, parts, given


def _given(draft: Draft, statement: cst.CSTNode, made: dict[str, cst.BaseExpression | None]) -> list[str]:
    """What the function of a run is handed, where that is all that it trains: model and optimizer among it."""
    scope = draft.scope(statement)
    names = [name for name in parameters(scope) if name != "self"] if isinstance(scope, cst.FunctionDef) else []
    is_all = any(_MODEL.search(name) for name in names) and any(_OPTIMIZER.match(name) for name in names)
    return names if is_all and not set(names) & set(made) else []


def _made_before(draft: Draft, statement: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    """Names that are always bound when the engine runs, with what they are made of."""
    scope, block = draft.scope(statement), draft.parent(statement)
    around = {id(block), *(id(each) for each in draft.above(statement))}
    for node in draft.below(scope):
        if isinstance(node, cst.Assign) and draft.scope(node) is scope and draft.start(node) < draft.start(statement):
            target = node.targets[0].target
            if isinstance(target, cst.Name) and id(draft.parent(draft.statement(node))) in around:
                yield target.value, chosen(node.value)


def _parts(draft: Draft, made: dict[str, cst.BaseExpression | None], statement: cst.CSTNode, advice: str) -> list[str]:
    calls = {name: origin for name, origin in made.items() if isinstance(origin, cst.Call)}
    optimizers = [name for name, call in calls.items() if draft.resolve(call.func).startswith("torch.optim.")]
    optimizers = [name for name in optimizers if not is_helper(name, calls[name])]
    models = [model for name in optimizers for model in parameters_of(calls[name], draft)]
    if not models or not all(model in made for model in models):
        raise Refusal("model and optimizer are not in the function that runs the Engine", statement, advice)
    models += [name for name, call in calls.items() if tail(call.func) in own_modules(draft)]
    helpers = [name for name, call in calls.items() if is_helper(name, call) or tail(call.func) in _COUNTING]
    return list(dict.fromkeys([*models, *optimizers, *helpers]))


def _say_what_differs(draft: Draft, statements: Sequence[cst.CSTNode]) -> None:
    named = {id(origin) for each in statements for _, origin in _made_before(draft, each)}
    for call in draft.calls():
        is_best = tail(call.func) in ("Checkpoint", "ModelCheckpoint") and argument(call, "score_function")
        if is_best or (tail(call.func) in _COUNTING and id(call) not in named):
            said = f"{tail(call.func)} starts anew in each stint"
            draft.say(Kind.DIFFERS, RULE, call, said, "give it a name, and save its state_dict if it matters")
    told: set[str] = set()
    for node in draft.nodes:
        if isinstance(node, cst.Global | cst.Nonlocal) and draft.scope(node) is not draft.module:
            names = ", ".join(each for item in node.names if (each := tail(item.name)) not in told)
            told |= {tail(item.name) for item in node.names}
            if names:
                draft.say(Kind.DIFFERS, RULE, node, f"{names} starts anew in each stint", "keep it in trainer.state")


def _savers(draft: Draft) -> list[cst.Call]:
    """What saves to a folder, and refuses one that has been saved to before unless it is told otherwise."""
    found = []
    for call in draft.calls():
        if draft.resolve(call.func).startswith("ignite.") and not argument(call, "require_empty"):
            # A Checkpoint makes a DiskSaver of a path.
            place = keyword_or_place(call, "save_handler", 1) if tail(call.func) == "Checkpoint" else None
            is_path = isinstance(place, cst.SimpleString | cst.FormattedString | cst.Attribute)
            is_path = is_path or (isinstance(place, cst.Call) and tail(place.func) in ("join", "Path", "str"))
            found += [call] if tail(call.func) in ("DiskSaver", "ModelCheckpoint") or is_path else []
    return found


def _let_be_full(draft: Draft, statement: cst.CSTNode, value: str) -> None:
    """After a stop the folders of the script's own checkpoints are not empty."""
    asked = f"not ({ENVIRON} or {value})" if value else f"not {ENVIRON}"
    for call in _savers(draft):
        is_seen = draft.scope(call) is draft.scope(statement) or not value or value.startswith("contract.")
        if not is_seen:
            said = f"{tail(call.func)} refuses a folder that is not empty, as it is after a stop"
            draft.say(Kind.HAND, RULE, call, said, "pass require_empty=False")
        elif tail(call.func) == "Checkpoint":
            place = keyword_or_place(call, "save_handler", 1)
            if place is not None:
                saver = draft.names.name_for("ignite.handlers.DiskSaver", [draft.module])
                if not saver:
                    draft.need_import("ignite.handlers")
                start, end = draft.span(place)
                draft.insert(start, f"{saver or 'ignite.handlers.DiskSaver'}(")
                draft.insert(end, f", create_dir=True, require_empty={asked})")
        else:
            add_argument(draft, call, f"require_empty={asked}")


def _handle(draft: Draft, statement: cst.CSTNode, parts: list[str], given: list[str], value: str) -> None:
    draft.need_import("os")
    names, torch, engine = Names.choose(draft, "epoch"), torch_name(draft), parts[-1]
    handler = draft.free("save_resume")
    events = draft.names.name_for("ignite.engine.Events", [draft.module])
    imports = [] if events else ["    from ignite.engine import Events"]
    pairs, put_back = random_lines(draft, names, torch)
    pairs = [*(f'"{name}": {name}.state_dict()' for name in parts), *pairs]
    held, kept = draft.free("resume_parts"), draft.free("resume_part")
    if given:
        pairs.insert(0, f'"given": {{name: each.state_dict() for name, each in {held}.items()}}')
    whole = f"{{name: each for name, each in {held}.items() if hasattr(each, 'load_state_dict')}}"
    of_given = [
        f"{held} = dict({', '.join(f'{name}={name}' for name in given)})",
        f"{held} = {whole}",
    ]  # fmt: skip
    load_given = [
        f"    for {kept} in {held}:", f'        {held}[{kept}].load_state_dict({names.state}["given"][{kept}])',
    ]  # fmt: skip
    draft.add_before(statement, [
        *place_lines(names, value, "resume.pt"),
        *(of_given if given else []),
        f"if {names.folder} and os.path.exists({names.path}):",
        f"    {load_line(names, torch)}",
        *(load_given if given else []),
        *(f'    {name}.load_state_dict({names.state}["{name}"])' for name in parts),
        *("    " + line for line in put_back),
        f"if {names.folder}:",
        *imports,
        "",
        f"    def {handler}(engine):",
        # An engine that is done begins anew; so the last epoch is trained again after a kill.
        "        if engine.state.epoch < engine.state.max_epochs:",
        *("            " + line for line in save_lines(names, torch, pairs)),
        "",
        # Added last, it runs behind all that the script does at the end of an epoch.
        f"    {engine}.add_event_handler({events or 'Events'}.EPOCH_COMPLETED, {handler})",
    ])  # fmt: skip
    shown = [name for name in given if _MODEL.search(name) or _OPTIMIZER.match(name) or "sched" in name]
    said = f"goes on from its last epoch ({', '.join([*shown, *parts])})"
    draft.say(Kind.CHANGED, RULE, statement, said)
