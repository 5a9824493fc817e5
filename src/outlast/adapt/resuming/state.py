"""The lines that restore a training's state before its loop and save it at the end of each round: torch and plain."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.ahead import fetched_ahead
from outlast.adapt.resuming.aliases import weights_of, with_weights
from outlast.adapt.resuming.generators import random_sources
from outlast.adapt.resuming.held_arrays import fill_line, is_changed_in_place, is_held_elsewhere
from outlast.adapt.resuming.logs import Log, length_pairs, shorten_lines
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.modes import mode_lines, mode_pairs
from outlast.adapt.resuming.ranks import are_several, first_lines
from outlast.adapt.resuming.thawed import thawed_lines, thawed_pairs
from outlast.adapt.resuming.wrapped import add_helpers
from outlast.adapt.whole import roots_of, search, words_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import tail

RULE = "resume"
#: kinds of a state that are networks in a loop of the script's own
NETWORKS = frozenset({"torch", "tensorflow", "mindspore"})
ENVIRON = 'os.environ.get("OUTLAST_CHECKPOINT")'
#: Made by these, a value only passes through the loop.
PASSING = frozenset(
    "device DataLoader MNIST CIFAR10 ImageFolder Compose parse_args ArgumentParser CrossEntropyLoss MSELoss "
    "TensorDataset time perf_counter load read_csv".split()
)

#: without the word itself: torch.accelerator is the card that is there
_CUDA = re.compile(r"[\"']cuda|\btorch\.accelerator\b|\bcurrent_accelerator\b")


@dataclass(frozen=True)
class State:
    """What goes into a checkpoint: objects with a `state_dict`, generators, and values that are kept as they are."""

    kind: str  # torch, plain, session, tensorflow or mindspore
    loaded: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    maybe: frozenset[str] = frozenset()  # those of `loaded` that can be None
    under: tuple[tuple[str, str], ...] = ()  # those of `loaded` that are there only under a condition
    asked: frozenset[str] = frozenset()  # those of `loaded` that may have no state, or be None
    groups: tuple[
        tuple[str, str], ...
    ] = ()  # lists and dictionaries of objects with a `state_dict`, each with its kind
    tensors: tuple[str, ...] = ()  # held by others too, so they are filled where they are
    steps: frozenset[str] = frozenset()  # what is called to make a step, where that has no name of its own
    wrapped: frozenset[str] = frozenset()  # those of `loaded` that may only hold something with a state
    partly: frozenset[str] = frozenset()  # those of `loaded` of which only what is trained is kept
    thawed: tuple[str, ...] = ()  # those of `loaded` of which some rounds freeze or thaw a part
    files: tuple[str, ...] = ()  # paths of what each round adds to
    logs: tuple[Log, ...] = ()  # files that stay open through the rounds, and that these write to
    modes: tuple[str, ...] = ()  # those of `loaded` that the rounds leave for training or for use
    outer: frozenset[str] = frozenset()  # those of `kept` that are names of the module, and not of the loop's function
    filled: frozenset[str] = frozenset()  # those of `kept` that others hold, too, and that get their content back
    dealt: tuple[cst.Call, ...] = ()  # calls that make iterators in fields of objects, of any file

    def dealt_by(self, draft: Draft) -> list[cst.Call]:
        """Those calls that stand in one file."""
        return [call for call in self.dealt if draft.home(call) is draft]


@dataclass(frozen=True)
class Names:
    """Names that the added lines use; none of them is the script's."""

    folder: str
    path: str
    first: str
    state: str
    file: str = "resume"  # what the checkpoint is called; of several trainings each has its own
    count: str = ""  # what counts the trainings of one start, where there are several
    here: str = ""  # whether this process is the one that saves; empty where there is only one

    def at(self, name: str) -> str:
        """A part of the checkpoint that was loaded."""
        return f'{self.state}["{name}"]'

    @classmethod
    def choose(cls, draft: Draft, counter: str) -> Names:
        counter = counter.rpartition(".")[2]
        first = draft.free(f"first_{counter}" if counter.strip("_") else "first_round")
        return cls(draft.free("resume_dir"), draft.free("resume_path"), first, draft.free("resumed"))


def place_lines(names: Names, value: str, file: str) -> list[str]:
    """Where the checkpoint lies: given by the stint, or by the contract's output folder (`value`, may be empty)."""
    stem, _, suffix = file.rpartition(".")
    named = f'"{file}"'
    if stem == "resume" and names.count:
        named = f'f"{names.file}{{next({names.count})}}.{suffix}"'
    elif stem == "resume":
        named = f'"{names.file}.{suffix}"'
    return [
        f"{names.folder} = {ENVIRON}" + (f" or {value}" if value else ""),
        f'{names.path} = os.path.join({names.folder} or "", {named})',
    ]


def begin_lines(draft: Draft, values: Values, names: Names) -> list[str]:
    """Where a loop starts when there is no checkpoint; a `while` loop's counter has its value already."""
    first = values.loop.first
    start = draft.source(first) if first is not None else "0"
    return [f"{names.first} = {start}"] if values.loop.counter is not None else []


def count_lines(values: Values, names: Names) -> list[str]:
    counter = values.loop.variable
    if values.loop.counter is None:
        return []
    stride = values.draft.source(values.loop.stride) if values.loop.stride is not None else "1"
    return [f'    {names.first} = {names.state}["{counter}"] + {stride}']


def round_pairs(values: Values) -> list[str]:
    """The round as part of a checkpoint; a `while` loop's counter is one of the kept values."""
    counter = values.loop.variable
    return [f'"{counter}": {values.loop.number}'] if values.loop.counter is not None else []


def sometimes_pairs(values: Values) -> list[str]:
    """What only some rounds bind and is read behind the loop, as parts of a checkpoint."""
    return [f'**({{"{name}": {name}}} if "{name}" in locals() else {{}})' for name in values.now_and_then]


def sometimes_lines(values: Values, names: Names) -> list[str]:
    return [
        line
        for name in values.now_and_then
        for line in (f'    if "{name}" in {names.state}:', f'        {name} = {names.state}["{name}"]')
    ]


def plain_lines(draft: Draft, values: Values, state: State, names: Names, value: str) -> tuple[list[str], list[str]]:
    draft.need_import("pickle")
    held, numbers = draft.free("resume_file"), random_sources(draft)
    pairs = [
        *round_pairs(values),
        *(f'"{name}": {name}' for name in state.kept),
        *sometimes_pairs(values),
        *(f'"{key}": {read}' for key, read, _ in numbers),
        *length_pairs(state.files, state.logs),
    ]
    before = [
        *place_lines(names, value, "resume.pkl"),
        *begin_lines(draft, values, names),
        f"if {names.folder} and os.path.exists({names.path}):",
        f'    with open({names.path}, "rb") as {held}:',
        f"        {names.state} = pickle.load({held})",
        *count_lines(values, names),
        *(f"    {line}" for name in state.kept for line in _plainly(values, name, state, names)),
        *sometimes_lines(values, names),
        *("    " + put.format(f'{names.state}["{key}"]') for key, _, put in numbers),
        *shorten_lines(state.files, state.logs, names.state),
    ]
    after = [
        f"os.makedirs({names.folder}, exist_ok=True)",
        f'with open({names.path} + ".part", "wb") as {held}:',
        *call_lines("    pickle.dump({", pairs, f"}}, {held})"),
        f'os.replace({names.path} + ".part", {names.path})',
    ]
    return before, after


def torch_lines(draft: Draft, values: Values, state: State, names: Names, value: str) -> tuple[list[str], list[str]]:
    torch = torch_name(draft)
    helpers = add_helpers(draft, values, state.wrapped, torch)
    drawn, put_back = torch_random(draft, names, torch)
    uses_cuda = _uses_cuda(draft)
    pairs = [
        *round_pairs(values), *(f'"{name}": {_state_of(name, state, helpers[0])}' for name in state.loaded),
        *thawed_pairs(state.thawed),
        *(f'"{name}": {_if_there(name, _states_of(name, kind), state)}' for name, kind in state.groups),
        *(f'"{name}": {_if_there(name, f"{name}.detach()", state)}' for name in state.tensors),
        *(f'"{name}": {_if_there(name, f"{name}.get_state()", state)}' for name in state.generators),
        *(f'"{name}": {_if_there(_holder_of(name, state), name, state)}' for name in state.kept),
        *sometimes_pairs(values), *drawn,
        *length_pairs(state.files, state.logs), *mode_pairs(state.modes),
    ]  # fmt: skip
    # Tensors inside of kept values come back to where they were; one process on one kind of device has them there.
    is_placed = uses_cuda and not names.here and any(_may_hold_tensors(values, name) for name in state.kept)
    parts = [name for name in state.kept if name.rpartition(".")[0] in state.loaded]
    before = [
        *place_lines(names, value, "resume.pt"),
        *(first_lines(draft, names.here, torch) if names.here else []),
        *begin_lines(draft, values, names),
        f"if {names.folder} and os.path.exists({names.path}):",
        f"    {load_line(names, torch, is_placed=is_placed)}",
        *count_lines(values, names),
        # A layer that the first batch makes is part of the state that is loaded into its model.
        *(line for name in parts for line in _kept_lines(name, values, state, names, torch if uses_cuda else "")),
        *(line for name in state.loaded for line in _load_lines(name, state, names, helpers[1])),
        *thawed_lines(draft, state.thawed, names.state),
        *(line for name, kind in state.groups for line in _under(name, _load_group(draft, name, kind, names), state)),
        *(line for name in state.tensors for line in _under(name, [f"{name}.data.copy_({names.at(name)})"], state)),
        *(line for name in state.generators for line in _under(name, [f"{name}.set_state({names.at(name)})"], state)),
        *sometimes_lines(values, names),
        *(
            line
            for name in state.kept
            if name not in parts
            for line in _kept_lines(name, values, state, names, torch if uses_cuda else "")
        ),
        *_random_lines(draft, values, names, ["    " + line for line in put_back]),
        *shorten_lines(state.files, state.logs, names.state, names.here),
        *mode_lines(state.modes, names.state),
        *([f"    del {names.state}"] if is_placed else []),  # it lies where memory is dear
    ]
    return before, save_lines(names, torch, pairs)


def torch_name(draft: Draft) -> str:
    """What torch is called in the script; imported where it is not."""
    draft.need_import("pickle")
    torch = draft.names.name_for("torch", [draft.module])
    if not torch:
        draft.need_import("torch")
    return torch or "torch"


def load_line(names: Names, torch: str, *, is_placed: bool = False) -> str:
    where = f'None if {torch}.cuda.is_available() else "cpu"' if is_placed else '"cpu"'
    # With pickle_module every version of torch also loads what is not a tensor: it is the script's own file.
    return f"{names.state} = {torch}.load({names.path}, map_location={where}, pickle_module=pickle)"


def _may_hold_tensors(values: Values, name: str) -> bool:
    """Whether a value is a list, a dictionary or unknown."""
    plain = (cst.Integer, cst.Float, cst.SimpleString, cst.UnaryOperation, cst.Comparison)
    return name != values.loop.variable and not isinstance(values.origins.get(name), plain)


def save_lines(names: Names, torch: str, pairs: list[str]) -> list[str]:
    """Write aside and move into place."""
    return [
        f"os.makedirs({names.folder}, exist_ok=True)",
        *call_lines(f"{torch}.save({{", pairs, f'}}, {names.path} + ".part")'),
        f'os.replace({names.path} + ".part", {names.path})',
    ]


def torch_random(draft: Draft, names: Names, torch: str) -> tuple[list[str], list[str]]:
    """Random numbers of a torch script: parts of its checkpoint, and the lines that put them back."""
    numbers, uses_cuda = random_sources(draft), _uses_cuda(draft)
    pairs = [
        f'"torch_random": {torch}.get_rng_state()',
        *([f'"cuda_random": {torch}.cuda.get_rng_state_all()'] if uses_cuda else []),
        *(f'"{key}": {read}' for key, read, _ in numbers),
    ]
    cuda = [
        f'if len({names.state}["cuda_random"]) == {torch}.cuda.device_count():',
        f'    {torch}.cuda.set_rng_state_all({names.state}["cuda_random"])',
    ]
    lines = [
        f'{torch}.set_rng_state({names.state}["torch_random"])',
        *(cuda if uses_cuda else []),
        *(put.format(f'{names.state}["{key}"]') for key, _, put in numbers),
    ]
    return pairs, lines


def _uses_cuda(draft: Draft) -> bool:
    return "cuda" in words_of(draft) or "accelerate" in roots_of(draft) or search(_CUDA, draft) is not None


def _random_lines(draft: Draft, values: Values, names: Names, lines: list[str]) -> list[str]:
    """Where several processes load, only the one that saved: the others must not draw the same numbers."""
    if not names.here:
        return lines
    if are_several(draft):
        said = "one process saves for all; random numbers of the others start anew in each stint"
        draft.say(Kind.DIFFERS, RULE, values.loop.node, said)
    if "accelerate" in roots_of(draft):
        # Its configuration, a file of its own, may spread the model over the processes.
        said = "it goes on where each process has the whole model, not with FSDP or DeepSpeed in accelerate's settings"
        draft.say(Kind.DIFFERS, RULE, values.loop.node, said, "use accelerator.save_state and load_state for these")
    return [f"    if {names.here}:", *("    " + line for line in lines)]


def _kept_lines(name: str, values: Values, state: State, names: Names, torch: str) -> list[str]:
    put = [f"{put_at(name, state)} = {_put_back(name, values, state, names, torch)}"]
    if name in state.filled:
        put = [fill_line(values.draft, name, names.at(name))]
    elif is_held_elsewhere(values, name):
        put = [f"{name}[...] = {names.at(name)}"]
    elif name not in state.outer and is_changed_in_place(values, name):
        put = [fill_line(values.draft, name, _put_back(name, values, state, names, torch))]
    return _under(_holder_of(name, state), put, state)


def _put_back(name: str, values: Values, state: State, names: Names, torch: str) -> str:
    """A value from the checkpoint. All of it was loaded to the CPU; a tensor goes where the first one lies."""
    kept, origin = f'{names.state}["{name}"]', values.origins.get(name) or fetched_ahead(values).get(name)
    if model := weights_of(name, values, state.loaded):
        return f"{model}.state_dict() if {kept} else {kept}"  # without a copy these are the weights themselves
    kept = with_weights(name, kept, values, state.loaded)
    is_made = isinstance(origin, cst.Call) and tail(origin.func) not in ("list", "dict", "time", "float", "int")
    if not torch or not is_made or not values.is_surely_there(name):
        return kept
    return f"{kept}.to({name}.device) if {torch}.is_tensor({name}) else {kept}"


def _plainly(values: Values, name: str, state: State, names: Names) -> list[str]:
    kept = names.at(name)
    is_filled = name in state.filled or is_changed_in_place(values, name)
    return [fill_line(values.draft, name, kept) if is_filled else f"{name} = {kept}"]


def put_at(name: str, state: State) -> str:
    """How a value is put back from the loop's function."""
    return f'globals()["{name}"]' if name in state.outer else name


def _states_of(name: str, kind: str) -> str:
    if kind == "dict":
        return f"{{key: each.state_dict() for key, each in {name}.items()}}"
    return f"[each.state_dict() for each in {name}]"


def _load_group(draft: Draft, name: str, kind: str, names: Names) -> list[str]:
    key, each = draft.free("resume_key"), draft.free("resume_part")
    over = f"{names.at(name)}.items()" if kind == "dict" else f"enumerate({names.at(name)})"
    return [f"for {key}, {each} in {over}:", f"    {name}[{key}].load_state_dict({each})"]


def _state_of(name: str, state: State, helper: str) -> str:
    read = f"{helper}({name})" if name in state.wrapped else f"{name}.state_dict()"
    if name in state.partly:
        trained = f"{{key: each for key, each in {name}.named_parameters() if each.requires_grad}}"
        read = f"{{**dict({name}.named_buffers()), **{trained}}}"
    return _if_there(name, read, state)


def _load_lines(name: str, state: State, names: Names, helper: str) -> list[str]:
    kept = names.at(name)
    load = f"{helper}({name}, {kept})" if name in state.wrapped else f"{name}.load_state_dict({kept})"
    load = f"{name}.load_state_dict({kept}, strict=False)" if name in state.partly else load
    return _under(name, [load], state)


def _if_there(name: str, read: str, state: State) -> str:
    condition = _condition(name, state)
    return f"{read} if {condition} else None" if condition else read


def _under(name: str, lines: list[str], state: State) -> list[str]:
    condition = _condition(name, state)
    return (
        [f"    if {condition}:", *(f"        {line}" for line in lines)]
        if condition
        else [f"    {line}" for line in lines]
    )


def _condition(name: str, state: State) -> str:
    """When something is there and can be asked for its state; empty for always."""
    there = dict(state.under).get(name, "")
    if name in state.asked:
        can = f'hasattr({name}, "load_state_dict")'
        return f"({there}) and {can}" if there else can
    return there or (f"{name} is not None" if name in state.maybe else "")


def _holder_of(name: str, state: State) -> str:
    """The object that has a field, where it may be None or not be there: `history` of `history.losses`."""
    holder = name.rpartition(".")[0]
    return holder if holder in state.maybe or holder in dict(state.under) else ""


def call_lines(head: str, items: list[str], end: str) -> list[str]:
    """One line, or one per item where that would be too long."""
    line = head + ", ".join(items) + end
    if len(line) <= 100:
        return [line]
    lead = " " * (len(head) - len(head.lstrip()))
    return [head, *(f"{lead}    {item}," for item in items), lead + end]
