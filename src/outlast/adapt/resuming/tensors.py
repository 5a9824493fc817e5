"""The lines that restore and save a training of TensorFlow, of the first generation or the second."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.counted import find_counted
from outlast.adapt.resuming.generators import random_sources, whole_module
from outlast.adapt.resuming.logs import length_pairs, shorten_lines
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.state import (
    ENVIRON,
    RULE,
    Names,
    State,
    begin_lines,
    call_lines,
    count_lines,
    round_pairs,
    sometimes_lines,
    sometimes_pairs,
)
from outlast.adapt.whole import words_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import positional, tail


def session_lines(draft: Draft, values: Values, state: State, names: Names, value: str) -> tuple[list[str], list[str]]:
    """TensorFlow 1 keeps the last checkpoint's name in a file that it replaces in one step."""
    session, tf = state.loaded
    saver = draft.free("resume_saver")
    is_held = "." in session  # by an object, which may have a graph of its own
    beside = [name for name in state.kept if name != values.loop.variable]
    lost = [name for name in beside if _is_of_graph(draft, values, name)]
    counts = f'{names.first} = int({names.state}.rpartition("-")[2]) + 1'
    if values.loop.counter is None:
        counts = f'{values.loop.variable} = int({names.state}.rpartition("-")[2])'
    if lost:
        said = f"{', '.join(lost)} and what TensorFlow draws by itself start anew in each stint"
        draft.say(Kind.DIFFERS, RULE, values.loop.node, said, "keep them in variables of the graph")
    kept = [name for name in beside if name not in lost]
    put_numbers, take_numbers = _beside_lines(draft, values, names, tf, kept)
    before = [
        f"{names.folder} = {ENVIRON}" + (f" or {value}" if value else ""),
        # A folder of its own: the script's saver keeps its own list of checkpoints.
        f'{names.path} = os.path.join({names.folder} or "", "resume")',
        *(f"with {session}.graph.as_default():" for _ in range(is_held)),
        f"{'    ' * is_held}{saver} = {tf}.train.Saver(max_to_keep=1)",
        *begin_lines(draft, values, names),
        f"{names.state} = {tf}.train.latest_checkpoint({names.path}) if {names.folder} else None",
        f"if {names.state}:",
        f"    {saver}.restore({session}, {names.state})",
        f"    {counts}",
        *put_numbers,
    ]
    after = [
        f"os.makedirs({names.path}, exist_ok=True)",
        *take_numbers,
        f'{saver}.save({session}, os.path.join({names.path}, "state"), global_step={values.loop.number})',
    ]
    return before, after


def _is_of_graph(draft: Draft, values: Values, name: str) -> bool:
    """Whether a name may stand for something of the graph, or be fed to it by its placeholders: no file holds that."""
    loop = values.loop.node
    bound = [value for _, value in values.bindings.get(name, [])]
    bound += [
        node.value
        for node in draft.below(loop.body)
        if isinstance(node, cst.Assign) and any(tail(target.target) == name for target in node.targets)
    ]
    made = [draft.resolve(value.func) for value in bound if isinstance(value, cst.Call)]
    fed = [tail(arg.value) for call in draft.calls(loop.body) if tail(call.func) == "run" for arg in call.args[1:]]
    return name in fed or any(each.startswith("tensorflow.") for each in made)


def _beside_lines(draft: Draft, values: Values, names: Names, tf: str, kept: list[str]) -> tuple[list[str], list[str]]:
    """Values and random numbers beside the checkpoint of the same round: there before it counts, as long as it does."""
    numbers = random_sources(draft)
    pairs = [
        *(f'"{name}": {name}' for name in kept),
        *sometimes_pairs(values),
        *(f'"{key}": {read}' for key, read, _ in numbers),
    ]
    if not pairs:
        return [], []
    draft.need_import("pickle")
    glob = whole_module(draft, "glob")
    held, drawn, old = (draft.free(name) for name in ("resume_file", "resume_values", "resume_old"))
    before = [
        f'    with open({names.state} + ".values", "rb") as {held}:',
        f"        {drawn} = pickle.load({held})",
        *(f'    {name} = {drawn}["{name}"]' for name in kept),
        *sometimes_lines(values, replace(names, state=drawn)),
        *("    " + put.format(f'{drawn}["{key}"]') for key, _, put in numbers),
    ]
    after = [
        f'for {old} in {glob}.glob(os.path.join({names.path}, "*.values")):',
        f"    if {old} != str({tf}.train.latest_checkpoint({names.path})) + '.values':",
        f"        os.remove({old})",
        f'with open(os.path.join({names.path}, "state-%d.values" % {values.loop.number}), "wb") as {held}:',
        *call_lines("    pickle.dump({", pairs, f"}}, {held})"),
    ]
    return before, after


def tensorflow_lines(
    draft: Draft, values: Values, state: State, names: Names, value: str
) -> tuple[list[str], list[str]]:
    """A Checkpoint of TensorFlow. Values and the round lie in it as one string, so that all is replaced in one step."""
    draft.need_import("contextlib", "os", "pickle", "warnings")
    tf = draft.names.name_for("tensorflow", [draft.module])
    # Keras alone need not stand on TensorFlow; by hand the script goes on without it.
    imports = [] if tf else ["    import tensorflow"]
    tf = tf or "tensorflow"
    held, saves, parts = (draft.free(name) for name in ("resume_values", "resume_saves", "resume_parts"))
    shapes, build, seeds = (draft.free(name) for name in ("built_shapes", "build_again", "random_seeds"))
    status, whole = draft.free("resume_status"), draft.free("is_restored")
    draft.add_on_top(_building_lines(shapes, build, seeds, whole))
    numbers = random_sources(draft)
    drawn = [each.name for each in find_counted(draft, values)]
    place = f'f"{names.file}{{next({names.count})}}"' if names.count else f'"{names.file}"'
    named = [f'"{"itself" if name == "self" else name.replace(".", "_")}": {name}' for name in state.loaded]
    pairs = [
        *round_pairs(values),
        f'"{shapes}": {shapes}({parts})',
        *(f'"{name}": {name}' for name in state.kept),
        *(f'"{name}": {name}.state_dict()' for name in drawn),
        *sometimes_pairs(values),
        *(f'"{key}": {read}' for key, read, _ in numbers),
        *length_pairs(state.files, state.logs),
    ]
    before = [
        f"{names.folder} = {ENVIRON}" + (f" or {value}" if value else ""),
        *begin_lines(draft, values, names),
        f"if {names.folder}:",
        *imports,
        *call_lines(f"    {parts} = {{", named, "}"),
        f'    {held} = {tf}.Variable(b"", trainable=False)',
        f"    {saves} = {tf}.train.CheckpointManager(",
        f"        {tf}.train.Checkpoint({held}={held}, **{parts}),",
        # A folder of its own: the script's saver keeps its own list of checkpoints.
        f"        os.path.join({names.folder}, {place}),",
        "        max_to_keep=1,",
        "    )",
        f"    {status} = None",
        f"    if {saves}.latest_checkpoint:",
        f"        {tf}.train.Checkpoint({held}={held}).restore({saves}.latest_checkpoint).expect_partial()",
        f"        {names.state} = pickle.loads({held}.numpy())",
        f'        {build}({parts}, {names.state}["{shapes}"])',
        f"        {status} = {saves}.checkpoint.restore({saves}.latest_checkpoint)",
        *("    " + line for line in count_lines(values, names)),
        *("        " + line for line in _deal_lines(draft, values, names, tf)),
        *(f'        {name} = {names.state}["{name}"]' for name in state.kept),
        *(f'        {name}.load_state_dict({names.state}["{name}"])' for name in drawn),
        *("    " + line for line in sometimes_lines(values, names)),
        *("        " + put.format(f'{names.state}["{key}"]') for key, _, put in numbers),
        *("    " + line for line in shorten_lines(state.files, state.logs, names.state)),
    ]
    after = [
        # What an optimizer holds waits for its first step; saved before that, it would be lost.
        f"if {status} is None or {whole}({status}):",
        f"    {status} = None",
        *call_lines(f"    {held}.assign(pickle.dumps({{", pairs, "}))"),
        f"    {saves}.save()",
    ]
    return before, after


def tensorflow_places(names: Names, value: str) -> list[str]:
    """The folder of the checkpoint, and the file in it that TensorFlow writes last."""
    return [
        f"{names.folder} = {ENVIRON}" + (f" or {value}" if value else ""),
        f'{names.path} = os.path.join({names.folder} or "", "{names.file}", "checkpoint")',
    ]


def _building_lines(shapes: str, build: str, seeds: str, whole: str) -> list[str]:
    """Before Keras 3 a model that its first step builds fills itself from the checkpoint; since then it does not.

    A model builds all in it by its input's shape. A layer that is trained by itself builds only what its own `build`
    makes, and a model whose `call` cannot be traced nothing: what they hold is built piece by piece, the outer before
    the inner, as one may make the other. What draws numbers for Dropout lies in variables that no Checkpoint sees.
    """
    return [
        "",
        f"def {shapes}(parts):",
        '    """What models and layers of Keras 3 (with stateless_call) were built for, and their random seeds."""',
        "    def plain(config):  # Keras has lists of shapes in ones of its own, which cannot be pickled",
        "        if isinstance(config, dict):",
        "            return {key: plain(value) for key, value in config.items()}",
        "        kind = next((each for each in (list, tuple) if isinstance(config, each)), None)",
        "        return kind(map(plain, config)) if kind else config",
        "",
        '    models = {name: part for name, part in parts.items() if hasattr(part, "stateless_call")}',
        "    return {",
        "        name: (",
        "            [plain(layer.get_build_config()) for layer in model._flatten_layers()],",
        "            len(model.weights),",
        f"            [seed.numpy() for seed in {seeds}(model)],",
        "        )",
        "        for name, model in models.items()",
        "    }",
        "",
        "",
        f"def {build}(parts, shapes):",
        '    """Make the variables that a checkpoint is about to fill."""',
        "    for name, (configs, count, seeds) in shapes.items():",
        "        part = parts[name]",
        "        # A model makes its variables where it was made itself; a layer has no such place.",
        '        strategy = getattr(part, "distribute_strategy", None)',
        "        with strategy.scope() if strategy else contextlib.nullcontext(), warnings.catch_warnings():",
        '            warnings.simplefilter("ignore")  # what is not whole after this is told below',
        "            for place, config in enumerate(configs):",
        "                layers = part._flatten_layers() if len(part.weights) != count else []",
        "                if place < len(layers) and not layers[place].built:",
        "                    layers[place].build_from_config(config)",
        "        if len(part.weights) != count:",
        '            raise RuntimeError(name + " has to be built before it is restored: call it once before the loop")',
        f"        for seed, value in zip({seeds}(part), seeds):",
        "            seed.assign(value)",
        "",
        "",
        f"def {seeds}(model):",
        "    weights = {id(variable) for variable in model.weights}",
        "    return [variable for variable in model.variables if id(variable) not in weights]",
        "",
        "",
        f"def {whole}(status):",
        '    """Whether all of a checkpoint has found its place: an optimizer makes variables in its first step."""',
        "    try:",
        "        status.assert_consumed()",
        "    except AssertionError:",
        "        return False",
        "    return True",
        "",
    ]


def _deal_lines(draft: Draft, values: Values, names: Names, tf: str) -> list[str]:
    names_of = dealt(draft, values)
    if not names_of:
        return []
    each, passed, first = draft.free("resume_dataset"), draft.free("resume_pass"), values.loop.first
    start = f" - ({draft.source(first)})" if first is not None else ""
    return [
        # An iterator that is made and not read costs little, and draws the order as one that is read.
        f"for {each} in ({', '.join(names_of)},):",
        f"    for {passed} in range({names.first}{start} if isinstance({each}, {tf}.data.Dataset) else 0):",
        f"        iter({each})",
    ]


def dealt(draft: Draft, values: Values) -> list[str]:
    """Datasets that each round goes through once: with each pass one that shuffles draws the next order."""
    body = values.loop.node.body.body if isinstance(values.loop.node.body, cst.IndentedBlock) else ()
    bars = [
        (tail(line.targets[0].target), line.value)
        for each in body if isinstance(each, cst.SimpleStatementLine)
        for line in each.body if isinstance(line, cst.Assign)
    ]  # fmt: skip
    found = []
    for each in body if values.loop.counter is not None and "shuffle" in words_of(draft) else ():
        over = _gone_through(each.iter if isinstance(each, cst.For) else None)
        if isinstance(over, cst.Name) and len(made := [bar for bar in bars if bar[0] == over.value]) == 1:
            over = _gone_through(made[0][1])  # `bar = tqdm(rows)`, made in each round
        if isinstance(over, cst.Name) and over.value not in values.bound:
            found.append(over.value)
    return list(dict.fromkeys(found))


def _gone_through(node: cst.BaseExpression | None) -> cst.BaseExpression | None:
    while isinstance(node, cst.Call) and tail(node.func) in ("enumerate", "tqdm"):
        node = positional(node, 0)
    return node
