"""The lines that restore and save a training of MindSpore.

Networks, optimizers, loss scalers and learning rates keep all that changes in Parameters. These go into one file by the
order in which they are met, which is the same in each start; two optimizers both have a `global_step`.
"""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.generators import random_sources
from outlast.adapt.resuming.logs import length_pairs, shorten_lines
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.state import (
    RULE,
    Names,
    State,
    begin_lines,
    call_lines,
    count_lines,
    place_lines,
    put_at,
    round_pairs,
    sometimes_lines,
    sometimes_pairs,
)
from outlast.adapt.whole import is_seeded
from outlast.adapt.wrapping import add_helpers
from outlast.migrate.engine import Kind
from outlast.migrate.tree import tail

_ITERATORS = frozenset({"create_dict_iterator", "create_tuple_iterator"})
#: each of several processes is told its number, by the launcher of Ascend or by MPI
FIRST_PROCESS = 'os.environ.get("RANK_ID", os.environ.get("OMPI_COMM_WORLD_RANK", "0")) == "0"'


def mindspore_lines(
    draft: Draft, values: Values, state: State, names: Names, value: str
) -> tuple[list[str], list[str]]:
    draft.need_import("pickle")
    ms = draft.names.name_for("mindspore", [draft.module]) or "mindspore"
    draft.need_import(*(["mindspore"] if ms == "mindspore" else []))
    helpers = draft.once("mindspore", lambda: _helpers(draft, values, ms))
    take, put, pickler, unpickler = helpers
    held, numbers, under = draft.free("resume_file"), random_sources(draft), dict(state.under)
    parts = ", ".join(f"{name} if {under[name]} else None" if name in under else name for name in state.loaded)
    pairs = [
        *round_pairs(values),
        f'"trained": {take}({parts})',
        *(f'"{name}": {name}' for name in state.kept),
        *sometimes_pairs(values),
        *(f'"{key}": {read}' for key, read, _ in numbers),
        *length_pairs(state.files, state.logs),
    ]
    random = ["    " + line.format(f'{names.state}["{key}"]') for key, _, line in numbers]
    if names.here:
        said = "one process saves for all; random numbers of the others start anew in each stint"
        draft.say(Kind.DIFFERS, RULE, values.loop.node, said)
        random = [f"    if {names.here}:", *("    " + line for line in random)] if random else []
    before = [
        *place_lines(names, value, "resume.pkl"),
        *([f"{names.here} = {FIRST_PROCESS}"] if names.here else []),
        *begin_lines(draft, values, names),
        f"if {names.folder} and os.path.exists({names.path}):",
        f'    with open({names.path}, "rb") as {held}:',
        f"        {names.state} = {unpickler}({held}).load()",
        *count_lines(values, names),
        f'    {put}({names.state}["trained"], {parts})',
        *(f'    {put_at(name, state)} = {names.state}["{name}"]' for name in state.kept),
        *sometimes_lines(values, names),
        *_pass_lines(draft, values, names),
        *random,
        *shorten_lines(state.files, state.logs, names.state, names.here),
    ]
    after = [
        f"os.makedirs({names.folder}, exist_ok=True)",
        f'with open({names.path} + ".part", "wb") as {held}:',
        *call_lines(f"    {pickler}({held}).dump({{", pairs, "})"),
        f'os.replace({names.path} + ".part", {names.path})',
    ]
    return before, after


def _pass_lines(draft: Draft, values: Values, names: Names) -> list[str]:
    """An iterator from before the loop deals another order in each round; the rounds that are done are passed over."""
    if not is_seeded(draft) or values.loop.counter is None:
        return []  # without a seed any order is as good
    lines = []
    by_hand = {tail(call.args[0].value) for call in draft.calls() if tail(call.func) == "next" and call.args}
    for name, origin in values.origins.items():
        if not isinstance(origin, cst.Call) or tail(origin.func) not in _ITERATORS or name in by_hand:
            continue
        each, sample, first = draft.free("resume_pass"), draft.free("resume_sample"), values.loop.first
        start = f" - ({draft.source(first)})" if first is not None else ""
        lines += [
            f"    for {each} in range({names.first}{start}):",
            f"        for {sample} in {name}:",
            "            pass",
        ]
    _say_others(draft, values)
    return lines


def _say_others(draft: Draft, values: Values) -> None:
    """Such an iterator of the module that a function of the loop takes begins with the first order again."""
    inside = {id(node) for node in draft.below(values.loop.node)}
    for node in draft.all_assigns:
        made = node.value if isinstance(node.value, cst.Call) and tail(node.value.func) in _ITERATORS else None
        is_aside = draft.scope(node) is draft.module and values.scope is not draft.module and id(node) not in inside
        if made is not None and is_aside and not any(tail(each.target) in values.origins for each in node.targets):
            said = "the order of shuffled samples begins anew in each stint, although the script sets a seed"
            advice = "make the iterator in the function of the loop, where it is brought to where it was"
            draft.say(Kind.DIFFERS, RULE, values.loop.node, said, advice)
            return


def _helpers(draft: Draft, values: Values, ms: str) -> tuple[str, ...]:
    parameters, numbers = draft.free("trained_parameters"), draft.free("tensor_numbers")
    take, put = draft.free("take_trained"), draft.free("put_trained")
    pickler, unpickler = draft.free("StatePickler"), draft.free("StateUnpickler")
    lines = [
        "",
        f"def {parameters}(*parts):",
        '    """Every Parameter of Cells, optimizers and scalers once, in the same order in each start."""',
        "    found, seen, waiting = {}, set(), list(parts)",
        "    while waiting:",
        "        part = waiting.pop(0)",
        "        if id(part) in seen:",
        "            continue",
        "        seen.add(id(part))",
        f"        if isinstance(part, {ms}.Parameter):",
        "            found[id(part)] = part",
        f"        elif isinstance(part, {ms}.nn.Cell):",
        '            waiting += [*part.get_parameters(), getattr(part, "param_groups", None)]',
        "        elif isinstance(part, (list, tuple)):",
        "            waiting += part",
        "        elif isinstance(part, dict):",
        "            waiting += part.values()",
        '        elif hasattr(part, "__dict__") and (hasattr(part, "step") or any(part is each for each in parts)):',
        "            waiting += vars(part).values()",
        "    return list(found.values())",
        "",
        "",
        f"def {numbers}(tensor):",
        '    is_short = str(tensor.dtype) == "BFloat16"  # numpy does not know it',
        f"    return (tensor.astype({ms}.float32) if is_short else tensor).asnumpy()",
        "",
        "",
        f"def {take}(*parts):",
        '    """What is to be kept of them: all Parameters, and the plain values of schedulers and the like."""',
        "    plain = [",
        "        {name: value for name, value in vars(part).items() if isinstance(value, (bool, int, float))}",
        f'        if hasattr(part, "__dict__") and not isinstance(part, {ms}.nn.Cell) else {{}}',
        "        for part in parts",
        "    ]",
        f"    return [{numbers}(each) for each in {parameters}(*parts)], plain",
        "",
        "",
        f"def {put}(kept, *parts):",
        f"    values, found = kept[0], {parameters}(*parts)",
        "    if len(values) != len(found):",
        '        raise RuntimeError("the checkpoint is of another network: it has %d Parameters, not %d" % '
        "(len(values), len(found)))",
        "    for parameter, value in zip(found, values):",
        # Not set_data: a Parameter that was used before would go on with its old memory in some versions.
        f"        {ms}.ops.assign(parameter, {ms}.Tensor(value, parameter.dtype))",
        "    for part, plain in zip(parts, kept[1]):",
        '        if hasattr(part, "__dict__"):',
        "            vars(part).update(plain)",
        "",
        "",
        f"class {pickler}(pickle.Pickler):",
        '    """Keeps Tensors by their numbers, which every version of MindSpore can read."""',
        "",
        "    def persistent_id(self, value):",
        f"        if not isinstance(value, {ms}.Tensor):",
        "            return None",
        f'        return {numbers}(value), str(value.dtype), value.name if isinstance(value, {ms}.Parameter) else ""',
        "",
        "",
        f"class {unpickler}(pickle.Unpickler):",
        "    def persistent_load(self, kept):",
        "        numbers, kind, name = kept",
        f'        value = {ms}.Tensor(numbers, {ms}.bfloat16) if kind == "BFloat16" else {ms}.Tensor(numbers)',
        f"        return {ms}.Parameter(value, name=name) if name else value",
        "",
    ]  # fmt: skip
    add_helpers(draft, values.loop.node, [ms], lines)
    return take, put, pickler, unpickler
