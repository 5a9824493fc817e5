"""Resuming where the framework owns the loop: `Model.train` of MindSpore."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.frameworks.gathered import gathered_fields, put_lines
from outlast.adapt.frameworks.library_callbacks import are_begun_anew, library_fields, say_unknown
from outlast.adapt.resuming.cells import are_spread, say_split
from outlast.adapt.resuming.counters import find_counting
from outlast.adapt.resuming.parameters import FIRST_PROCESS
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.rounds import refuse_repeated
from outlast.adapt.resuming.state import RULE, Names, place_lines
from outlast.adapt.whole import calls_of, is_seeded
from outlast.adapt.wrapping import Fitted, add_helpers
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, keyword_or_place, tail


def _listed(draft: Draft, given: cst.BaseExpression | None) -> str:
    """Callbacks as a list; what is not written as one here is made one."""
    source = draft.source(given) if given is not None else "[]"
    if isinstance(given, cst.Name):  # a list, one callback, or None where this process shall say nothing
        return f"(list({source}) if isinstance({source}, (list, tuple)) else [{source}] if {source} else [])"
    return f"[{source}]" if isinstance(given, cst.Call) else source


def _keep_lines(fields: list[str], pickler: str) -> list[str]:
    """What the script's own callbacks have gathered, in two files that take turns: each is of one epoch."""
    names = ", ".join(f'"{name}"' for name in fields)
    return [
        f"        states = [{{key: vars(each)[key] for key in {{{names}}} & set(vars(each))}} for each in self.parts]",
        '        name = "%s-%d.pkl" % (self.path, epoch % 2)',
        '        with open(name + ".part", "wb") as file:',
        f"            {pickler}(file).dump((epoch, states))",
        '        os.replace(name + ".part", name)',
    ]


def _begin_lines(begins: str, put: str) -> list[str]:
    return [
        f"    def {begins}(self, run_context):",
        f"        {put}(self.parts, self.path, self.first)  # others have begun anew here",
        "",
    ]


def _put_function(name: str, pickler: str, unpickler: str, ms: str) -> list[str]:
    return [
        "",
        f"class {pickler}(pickle.Pickler):",
        '    """Keeps Tensors by their numbers, which every version of MindSpore can read."""',
        "",
        "    def persistent_id(self, value):",
        f"        return value.asnumpy() if isinstance(value, {ms}.Tensor) else None",
        "",
        "",
        f"class {unpickler}(pickle.Unpickler):",
        "    def persistent_load(self, numbers):",
        f"        return {ms}.Tensor(numbers)",
        "",
        "",
        f"def {name}(parts, path, epoch):",
        '    """Give callbacks back what they had gathered by the end of an epoch."""',
        '    for name in ("%s-%d.pkl" % (path, slot) for slot in (0, 1)):',
        "        if not os.path.exists(name):",
        "            continue",
        '        with open(name, "rb") as file:',
        f"            of, states = {unpickler}(file).load()",
        "        for each, values in zip(parts, states) if of == epoch else ():",
        *("            " + line for line in put_lines("values")),
        "",
    ]


def _is_callback(given: cst.BaseExpression) -> bool:
    """`LossMonitor()`, one object of a class."""
    return isinstance(given, cst.Call) and tail(given.func)[:1].isupper()


def plan_mindspore(draft: Draft) -> Fitted | None:
    """One `model.train(epochs, …)` or `fit`: a callback of ours saves the network with its optimizer and the epoch."""
    if "mindspore" not in draft.names.roots:
        return None
    made = {
        dotted(node.targets[0].target) for node in draft.nodes
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call) and tail(node.value.func) == "Model"
    }  # fmt: skip
    calls = [
        call for call in draft.calls()
        if isinstance(call.func, cst.Attribute) and call.args
        and call.func.attr.value in ("train", "fit") and dotted(call.func.value) in made
    ]  # fmt: skip
    if calls and not any(_is_in_rounds(draft, each) for each in calls) and _is_in_loop(draft, calls[0]):
        said = "Model.train is called for each of several settings, and all would share one checkpoint"
        raise Refusal(said, draft.statement(calls[0]), "start each one as a run of its own")
    if not calls or all(_is_in_loop(draft, each) for each in calls):
        return None  # a training in each round: the loop's rounds are what to go on from
    call, statement = calls[0], draft.statement(calls[0])
    epochs = keyword_or_place(call, "epoch", 0)
    callbacks = keyword_or_place(call, "callbacks", 2 if tail(call.func) == "train" else 4)
    if len(calls) > 1 or epochs is None or any(isinstance(each, cst.For | cst.While) for each in draft.above(call)):
        raise Refusal("Model.train is called more than once", statement, "save and load by hand around each call")
    if callbacks is not None and not isinstance(callbacks, cst.List | cst.Name) and not _is_callback(callbacks):
        raise Refusal("the callbacks of Model.train are computed", statement, "write them as one list")
    if not draft.stands_alone(statement):
        raise Refusal("Model.train shares its line with something else", statement)
    refuse_repeated(draft, call)
    return statement, lambda value: _saver(draft, call, statement, epochs, callbacks, value)


def _saver(
    draft: Draft, call: cst.Call, statement: cst.CSTNode, epochs: cst.BaseExpression,
    callbacks: cst.BaseExpression | None, value: str,
) -> None:  # fmt: skip
    ms = draft.names.name_for("mindspore", [draft.module]) or "mindspore"
    fields = sorted({*gathered_fields(draft), *library_fields(draft)})
    draft.need_import("inspect", "os", *(["pickle"] if fields else []), *(["mindspore"] if ms == "mindspore" else []))
    given, put, is_reset = draft.free("resume_given"), draft.free("put_gathered"), are_begun_anew(draft)
    pickler, unpickler = draft.free("StatePickler"), draft.free("StateUnpickler")
    names, kind, added = Names.choose(draft, "epoch"), draft.free("SaveResume"), draft.free("resume_callbacks")
    model = draft.source(call.func.value) if isinstance(call.func, cst.Attribute) else ""
    done, words = draft.free("resume_done"), draft.free("resume_words")
    source = draft.source(epochs)
    # `fit` takes only callbacks that speak of training or evaluation; `train` of 1.7 does not know these words.
    begins, ends = ("on_train_begin", "on_train_epoch_end") if tail(call.func) == "fit" else ("begin", "epoch_end")
    # Data-parallel processes hold the same weights: all load them, and one file is written by one of them.
    is_one = f" or not ({FIRST_PROCESS})" if are_spread(draft) else ""
    add_helpers(draft, call, [ms], [
        "",
        f"class {kind}({ms}.train.callback.Callback):",
        '    """Saves network, optimizer and epoch under one name after each epoch, whole or not at all."""',
        "",
        f"    def __init__(self, path, done, last{', parts' if fields else ''}{', first' if is_reset else ''}):",
        "        super().__init__()",
        "        self.path, self.done, self.last = path, done, last",
        *(["        self.parts = parts"] if fields else []),
        *(["        self.first = first"] if is_reset else []),
        "",
        *(_begin_lines(begins, put) if is_reset else []),
        f"    def {ends}(self, run_context):",
        "        now = run_context.original_args()",
        "        epoch = self.done + now.cur_epoch_num",
        f"        if epoch == self.last{is_one}:",
        "            return  # the last one is trained again after a kill: there is no training of no epochs",
        *(_keep_lines(fields, pickler) if fields else []),
        '        kept = {"outlast_epoch": epoch}',
        f'        {ms}.save_checkpoint(now.train_network, self.path + ".part.ckpt", append_dict=kept)',
        '        os.replace(self.path + ".part.ckpt", self.path)',
        "",
        *(_put_function(put, pickler, unpickler, ms) if fields else []),
    ])  # fmt: skip
    parts = (f", {given}" if fields else "") + (f", {names.first}" if is_reset else "")
    draft.add_before(statement, [
        *([f"{given} = {_listed(draft, callbacks)}"] if fields else []),
        *place_lines(names, value, "resume.ckpt"),
        f"{names.first}, {done}, {added}, {words} = 0, 0, [], {{}}",
        f"if {names.folder}:",
        f"    os.makedirs({names.folder}, exist_ok=True)",
        f"    if os.path.exists({names.path}):",
        f"        {names.state} = {ms}.load_checkpoint({names.path})",
        f'        {names.first} = int({names.state}.pop("outlast_epoch").asnumpy())',
        f"        {ms}.load_param_into_net({model}.train_network, {names.state})",
        *([f"        {put}({given}, {names.path}, {names.first})"] if fields else []),
        # MindSpore 2 counts on, and names its checkpoints so; before it there is only a shorter training.
        f'    if "initial_epoch" in inspect.signature({draft.source(call.func)}).parameters:',
        f'        {words} = {{"initial_epoch": {names.first}}}',
        "    else:",
        f"        {done} = {names.first}",
        f"    {added} = [{kind}({names.path}, {done}, {source}{parts})]",
    ])  # fmt: skip
    simple = isinstance(epochs, cst.Name | cst.Attribute | cst.Integer | cst.Subscript)
    draft.replace(epochs, f"{source if simple else f'({source})'} - {done}")
    if callbacks is not None:
        draft.replace(callbacks, f"{given if fields else _listed(draft, callbacks)} + {added}")
    # A comma at the end of the call's last line stays where it is.
    comma = "" if isinstance(call.args[-1].comma, cst.Comma) else ", "
    given = f"callbacks={added}, " if callbacks is None else ""
    draft.insert(draft.span(call)[1] - 1, f"{comma}{given}**{words}")
    draft.say(Kind.CHANGED, RULE, statement, "goes on from its last epoch (network and optimizer)")
    _say_order(draft, statement)
    say_split(draft)
    say_unknown(draft, statement, callbacks)


def _say_order(draft: Draft, statement: cst.CSTNode) -> None:
    """MindSpore deals another order in each epoch of one training; a shorter one begins with the first order again."""
    made = [call for name, call in calls_of(draft) if name.startswith("mindspore.dataset.")]
    made = [call for call in made if tail(call.func).endswith("Dataset")]
    orders = [argument(call, "shuffle") for call in made]
    is_kept = bool(made) and all(each is not None and tail(each.value) == "False" for each in orders)
    if is_seeded(draft) and not is_kept:
        said = "the order of shuffled samples begins anew in each stint, although the script sets a seed"
        draft.say(
            Kind.DIFFERS, RULE, statement, said, "write the epochs as a loop, to have the same order as without a stop"
        )


def _is_in_rounds(draft: Draft, call: cst.Call) -> bool:
    """Whether a loop around a call counts its rounds: `for epoch in range(N)`, `while`."""
    counting = {id(loop.node) for loop in find_counting(draft, by_any_name=True)}
    return any(isinstance(each, cst.While) or id(each) in counting for each in draft.above(call))


def _is_in_loop(draft: Draft, call: cst.Call) -> bool:
    return any(isinstance(each, cst.For | cst.While) for each in draft.above(call))
