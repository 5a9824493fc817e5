"""The lines that restore a training's state before its loop and save it at the end of each round."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.loops import Values
from outlast.migrate.engine import Kind

RULE = "resume"
ENVIRON = 'os.environ.get("OUTLAST_CHECKPOINT")'
#: Made by these, a value only passes through the loop.
PASSING = frozenset(
    "device DataLoader MNIST CIFAR10 ImageFolder Compose parse_args ArgumentParser CrossEntropyLoss MSELoss "
    "TensorDataset time perf_counter load read_csv".split()
)

#: Generators that hold their own numbers.
_OWN_STATE = frozenset({"default_rng", "RandomState", "Generator", "SeedSequence", "PCG64", "MT19937"})


class Refusal(Exception):
    """Why a script is not made to resume, where, and what to do about it."""

    def __init__(self, why: str, node: cst.CSTNode | None = None, advice: str = "", kind: Kind = Kind.HAND) -> None:
        super().__init__(why)
        self.node, self.advice, self.kind = node, advice, kind


@dataclass(frozen=True)
class State:
    """What goes into a checkpoint: objects with a `state_dict`, generators, and values that are kept as they are."""

    kind: str  # torch, plain or session
    loaded: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    maybe: frozenset[str] = frozenset()  # those of `loaded` that can be None


@dataclass(frozen=True)
class Names:
    """Names that the added lines use; none of them is the script's."""

    folder: str
    path: str
    first: str
    state: str

    @classmethod
    def choose(cls, draft: Draft, counter: str) -> Names:
        first = draft.free(f"first_{counter}" if counter.strip("_") else "first_round")
        return cls(draft.free("resume_dir"), draft.free("resume_path"), first, draft.free("resumed"))


def place_lines(names: Names, value: str, file: str) -> list[str]:
    """Where the checkpoint lies: given by the stint, or by the contract's output folder (`value`, may be empty)."""
    return [
        f"{names.folder} = {ENVIRON}" + (f" or {value}" if value else ""),
        f'{names.path} = os.path.join({names.folder} or "", "{file}")',
    ]


def inject(draft: Draft, values: Values, state: State, value: str) -> None:
    """Make a loop go on from its last whole checkpoint and leave one after each round."""
    names = Names.choose(draft, values.loop.variable)
    draft.need_import("os")
    before, after = {"torch": _torch, "plain": _plain, "session": _session}[state.kind](
        draft, values, state, names, value
    )
    loop = values.loop
    start = draft.source(loop.first) if loop.first is not None else "0"
    draft.add_before(loop.top, [line.replace("@start", start) for line in before])
    if loop.first is not None:
        draft.replace(loop.first, names.first)
    else:
        draft.insert(draft.start(loop.counter.args[0]), f"{names.first}, ")
    is_last_kept = not values.outliving
    stop = draft.source(loop.stop)
    guard = names.folder if is_last_kept else f"{names.folder} and {loop.variable} + 1 < {stop}"
    if state.kind == "torch" and is_distributed(draft):
        guard += f" and {_is_first(draft)}"
    draft.add_at_end(loop.node.body, [f"if {guard}:", *("    " + line for line in after)])
    what = ", ".join([*state.loaded[: 0 if state.kind == "session" else None], *state.generators, *state.kept])
    draft.say(
        Kind.CHANGED,
        RULE,
        loop.node,
        f"goes on from its last checkpoint ({loop.variable}{', ' + what if what else ''})",
    )


def is_distributed(draft: Draft) -> bool:
    """Whether several processes of the script train together: then one of them saves, and all load."""
    return not draft.words.isdisjoint({"init_process_group", "Accelerator", "init_distributed_mode"})


def _is_first(draft: Draft) -> str:
    torch = draft.names.name_for("torch", [draft.module]) or "torch"
    together = f"{torch}.distributed"
    return f"(not {together}.is_initialized() or {together}.get_rank() == 0)"


def random_sources(draft: Draft) -> list[tuple[str, str, str]]:
    """(key, how it is read, how it is put back) for each global source of random numbers that the script may use.

    `Refusal` where its functions were imported by name: then there is nothing to read the state from.
    """
    found = []
    used = {draft.resolve(call.func) for call in draft.calls()}
    numpy, plain = (draft.names.name_for(each, [draft.module]) for each in ("numpy", "random"))
    is_global = any(each.startswith("numpy.random.") and each.rpartition(".")[2] not in _OWN_STATE for each in used)
    if (is_global and not numpy) or (not plain and any(each.startswith("random.") for each in used)):
        advice = "import the module whole: import random, import numpy as np"
        raise Refusal("functions of a random module are imported by name", None, advice)
    if is_global:
        found.append(("numpy_random", f"{numpy}.random.get_state()", f"{numpy}.random.set_state({{}})"))
    if plain:
        found.append(("random", f"{plain}.getstate()", f"{plain}.setstate({{}})"))
    return found


def _plain(draft: Draft, values: Values, state: State, names: Names, value: str) -> tuple[list[str], list[str]]:
    draft.need_import("pickle")
    held, counter = draft.free("resume_file"), values.loop.variable
    numbers = random_sources(draft)
    pairs = [
        f'"{counter}": {counter}',
        *(f'"{name}": {name}' for name in state.kept),
        *(f'"{key}": {read}' for key, read, _ in numbers),
    ]
    before = [
        *place_lines(names, value, "resume.pkl"),
        f"{names.first} = @start",
        f"if {names.folder} and os.path.exists({names.path}):",
        f'    with open({names.path}, "rb") as {held}:',
        f"        {names.state} = pickle.load({held})",
        f'    {names.first} = {names.state}["{counter}"] + 1',
        *(f'    {name} = {names.state}["{name}"]' for name in state.kept),
        *("    " + put.format(f'{names.state}["{key}"]') for key, _, put in numbers),
    ]
    after = [
        f"os.makedirs({names.folder}, exist_ok=True)",
        f'with open({names.path} + ".part", "wb") as {held}:',
        *_call("    pickle.dump({", pairs, f"}}, {held})"),
        f'os.replace({names.path} + ".part", {names.path})',
    ]
    return before, after


def _torch(draft: Draft, values: Values, state: State, names: Names, value: str) -> tuple[list[str], list[str]]:
    draft.need_import("pickle")
    torch = draft.names.name_for("torch", [draft.module])
    if not torch:
        draft.need_import("torch")
        torch = "torch"
    counter, numbers = values.loop.variable, random_sources(draft)
    uses_cuda = any(node.value == "cuda" for node in draft.nodes if isinstance(node, cst.Name)) or bool(
        re.search("[\"']cuda", draft.text)
    )
    cuda = [
        f'    if len({names.state}["cuda_random"]) == {torch}.cuda.device_count():',
        f'        {torch}.cuda.set_rng_state_all({names.state}["cuda_random"])',
    ] if uses_cuda else []  # fmt: skip
    pairs = [
        f'"{counter}": {counter}', *(f'"{name}": {_state_of(name, state)}' for name in state.loaded),
        *(f'"{name}": {name}.get_state()' for name in state.generators), *(f'"{name}": {name}' for name in state.kept),
        f'"torch_random": {torch}.get_rng_state()',
        *([f'"cuda_random": {torch}.cuda.get_rng_state_all()'] if uses_cuda else []),
        *(f'"{key}": {read}' for key, read, _ in numbers),
    ]  # fmt: skip
    before = [
        *place_lines(names, value, "resume.pt"),
        f"{names.first} = @start",
        f"if {names.folder} and os.path.exists({names.path}):",
        # With pickle_module every version of torch also loads what is not a tensor: it is the script's own file.
        f'    {names.state} = {torch}.load({names.path}, map_location="cpu", pickle_module=pickle)',
        f'    {names.first} = {names.state}["{counter}"] + 1',
        *(line for name in state.loaded for line in _load_lines(name, state, names)),
        *(f'    {name}.set_state({names.state}["{name}"])' for name in state.generators),
        *(f'    {name} = {names.state}["{name}"]' for name in state.kept),
        *_random_lines(draft, values, [
            f'    {torch}.set_rng_state({names.state}["torch_random"])',
            *cuda,
            *("    " + put.format(f'{names.state}["{key}"]') for key, _, put in numbers),
        ]),
    ]  # fmt: skip
    after = [
        f"os.makedirs({names.folder}, exist_ok=True)",
        *_call(f"{torch}.save({{", pairs, f'}}, {names.path} + ".part")'),
        f'os.replace({names.path} + ".part", {names.path})',
    ]
    return before, after


def _random_lines(draft: Draft, values: Values, lines: list[str]) -> list[str]:
    """Where several processes load, only the one that saved: the others must not draw the same numbers."""
    if not is_distributed(draft):
        return lines
    said = "one process saves for all; random numbers of the others start anew in each stint"
    draft.say(Kind.DIFFERS, RULE, values.loop.node, said)
    return [f"    if {_is_first(draft)}:", *("    " + line for line in lines)]


def _state_of(name: str, state: State) -> str:
    return f"None if {name} is None else {name}.state_dict()" if name in state.maybe else f"{name}.state_dict()"


def _load_lines(name: str, state: State, names: Names) -> list[str]:
    load = f'{name}.load_state_dict({names.state}["{name}"])'
    return [f"    if {name} is not None:", f"        {load}"] if name in state.maybe else [f"    {load}"]


def _session(draft: Draft, values: Values, state: State, names: Names, value: str) -> tuple[list[str], list[str]]:
    """TensorFlow 1 keeps the last checkpoint's name in a file that it replaces in one step."""
    session, tf = state.loaded
    saver = draft.free("resume_saver")
    if state.kept:
        said = f"{', '.join(state.kept)} and random numbers start anew in each stint"
        draft.say(Kind.DIFFERS, RULE, values.loop.node, said, "keep them in variables of the graph")
    before = [
        f"{names.folder} = {ENVIRON}" + (f" or {value}" if value else ""),
        # A folder of its own: the script's saver keeps its own list of checkpoints.
        f'{names.path} = os.path.join({names.folder} or "", "resume")',
        f"{saver} = {tf}.train.Saver(max_to_keep=1)",
        f"{names.first} = @start",
        f"{names.state} = {tf}.train.latest_checkpoint({names.path}) if {names.folder} else None",
        f"if {names.state}:",
        f"    {saver}.restore({session}, {names.state})",
        f'    {names.first} = int({names.state}.rpartition("-")[2]) + 1',
    ]
    after = [
        f"os.makedirs({names.path}, exist_ok=True)",
        f'{saver}.save({session}, os.path.join({names.path}, "state"), global_step={values.loop.variable})',
    ]
    return before, after


def _call(head: str, items: list[str], end: str) -> list[str]:
    """One line, or one per item where that would be too long."""
    line = head + ", ".join(items) + end
    if len(line) <= 100:
        return [line]
    lead = " " * (len(head) - len(head.lstrip()))
    return [head, *(f"{lead}    {item}," for item in items), lead + end]
