"""Where a program trains: in the script that is started, or in one of its modules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resume import Plan, plan_resume, say_refusal
from outlast.adapt.resuming.bringing import frameworks_of
from outlast.adapt.resuming.own import find_own_resume, say_asked
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.rounds import again_elsewhere, are_alternatives, leading_to, repeated_at
from outlast.adapt.resuming.state import RULE
from outlast.migrate.engine import Finding, Kind
from outlast.migrate.tree import tail

#: What stands in a file that trains, and not in one that only counts something.
_TRAINS = re.compile(
    r"backward|\bfit\w*\(|train_on_batch|apply_gradients|GradientTape|value_and_grad|TrainOneStep|\.train\(|\.step\("
)
#: what trains a network in a loop of its own
_STEPS = re.compile(r"\.backward\(|\.apply_gradients\(|\bGradientTape\b|\bTrainOneStep|\bvalue_and_grad\b")


@dataclass(frozen=True)
class Training:
    """How the training goes on after a stop, and in which module it is; `path` is empty for the script itself."""

    plan: Plan | None = None
    path: str = ""
    #: other modules with a training, of which a start runs one or another
    either: Mapping[str, Plan] = field(default_factory=dict)

    def plans(self) -> dict[str, Plan]:
        """Every plan by the path of its file."""
        return {self.path: self.plan, **self.either} if self.plan is not None else {}


def find_training(entry: Draft, modules: Mapping[str, Draft]) -> Training:
    """Look in the script first, then in its modules. Where it is found and refused, the reason is said there."""
    absent: list[Refusal] = []
    plan = plan_resume(entry, absent)
    if plan is not None or not absent:
        return Training(plan)
    own = find_own_resume(entry)
    found: dict[str, Plan] = {}
    refused: list[tuple[Draft, list[Finding]]] = []
    for path, module in modules.items():
        nowhere: list[Refusal] = []
        before = len(module.findings)
        plan = plan_resume(module, nowhere)
        if plan is not None:
            found[path] = plan
            continue
        if not nowhere and (_TRAINS.search(module.text) or _is_of(path, absent[0].there)):
            refused.append((module, module.findings[before:]))
        module.findings[before:] = []
    files = (entry, *modules.values())
    if _STEPS.search("\n".join(each.text for each in files)) and any(map(frameworks_of, files)):
        # Where a network is trained, a loop that only carries values on does something else; one of numpy is plain.
        found = {path: plan for path, plan in found.items() if not _is_plain(plan)}
    named = next((path for path in modules if _is_of(path, absent[0].there)), "")
    if named in found or (named and "OUTLAST_CHECKPOINT" in modules[named].text):
        # The script says whose loop it starts: those of other modules are parts of its rounds.
        found = {path: plan for path, plan in found.items() if path == named}
    if len(found) == 1:
        ((path, plan),) = found.items()
        again = _again(entry, modules[path], plan)
        where, elsewhere = _again_elsewhere(modules[path], plan)
        if (again is None and elsewhere is None) or plan.is_counted:
            say_asked(entry, own, is_asked_no_more=True)
            return Training(plan, path)
        said = f"the training of {path} is done more than once, with one checkpoint for all"
        advice = "start each one as a run of its own, or save by hand: outlast.save"
        if again is not None:
            entry.say(Kind.HAND, RULE, again, said, advice)
        elif elsewhere is not None:
            where.say(Kind.HAND, RULE, elsewhere, said, advice)
    elif found and _is_one_of(entry, modules, found):
        (path, plan), *rest = found.items()
        say_asked(entry, own, is_asked_no_more=True)
        for module, said_there in refused:
            module.findings += said_there
        return Training(plan, path, dict(rest))
    elif say_asked(entry, own):
        pass  # it can be told to go on, whatever is not certain
    elif found:
        said = f"there are training loops in {', '.join(sorted(found))}"
        entry.say(Kind.HAND, RULE, entry.first, said, "name the one to go on with: for epoch in outlast.epochs(N)")
    elif refused:
        for module, said_there in refused:
            module.findings += said_there
    elif "import_module" in entry.words:
        said = "no training loop is seen: modules of this program are named only when it runs (import_module)"
        entry.say(Kind.HAND, RULE, absent[0].node or entry.first, said, "import the one that trains by its name")
    else:
        say_refusal(entry, absent[0])
    return Training()


def _is_of(path: str, module: str) -> bool:
    """Whether a file is the module of which the script takes what trains."""
    return bool(module) and f"/{path}".endswith(f"/{module.replace('.', '/')}.py")


def _is_plain(plan: Plan) -> bool:
    """Whether nothing of a framework is kept."""
    return bool(plan.states) and all(state.kind == "plain" for _, state in plan.states)


def _is_one_of(entry: Draft, modules: Mapping[str, Draft], found: Mapping[str, Plan]) -> bool:
    """Whether each start runs one of them: `net = Small(args)` or `net = Large(args)`, then `net.train()`."""
    begun: list[cst.CSTNode] = []
    for path, plan in found.items():
        module = modules[path]
        owner = next((each for each in module.above(plan.at) if isinstance(each, cst.ClassDef)), None)
        names = {owner.name.value} if owner is not None else leading_to(module, plan.at)
        calls = [call for call in entry.calls() if tail(call.func) in names]
        if not calls or _again(entry, module, plan) is not None:
            return False
        begun += calls
    return are_alternatives(entry, begun)


def _again_elsewhere(module: Draft, plan: Plan) -> tuple[Draft, cst.CSTNode | None]:
    """Where a third file comes back to a function of a module that trains; of a method others may have the name."""
    is_method = any(isinstance(each, cst.ClassDef) for each in module.above(plan.at))
    found = None if is_method else again_elsewhere(module, plan.at)
    return found if found is not None else (module, None)


def _again(entry: Draft, module: Draft, plan: Plan) -> cst.CSTNode | None:
    """Where the script comes back to the training of a module."""
    names = leading_to(module, plan.at)
    calls = [call for call in entry.calls() if tail(call.func) in names]
    if not are_alternatives(entry, calls):
        return calls[-1]
    return next((again for call in calls if (again := repeated_at(entry, call)) is not None), None)
