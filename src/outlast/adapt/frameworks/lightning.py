"""Resuming where the Trainer of Lightning owns the loop, from 0.9 on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.frameworks.gathered import Gathered, gathered_fields, gathered_names
from outlast.adapt.frameworks.makers import class_path, makers, may_run
from outlast.adapt.resuming.generators import random_sources
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.rounds import are_alternatives, may_count, refuse_repeated, repeated_at
from outlast.adapt.resuming.state import ENVIRON, RULE, call_lines
from outlast.adapt.whole import roots_of, search
from outlast.adapt.wrapping import add_argument, add_helpers, wrap_method
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, tail

_ROOTS = ("lightning", "pytorch_lightning")
_TRAINER = re.compile(r"(?:(?:pytorch_)?lightning\.(?:\w+\.)*)?Trainer")
_CLI = re.compile(r"(?:(?:pytorch_)?lightning\.(?:\w+\.)*)?LightningCLI")
#: what a Trainer from a configuration or another file is called
_CALLED = re.compile(r"(?:\w+_)?trainer", re.I)
#: ways to spread a model over processes; each then writes a folder, which cannot be moved over another
_SPREAD = re.compile(r"""["'](?:deepspeed|fsdp|ddp_sharded)|(?:DeepSpeed|FSDP|ModelParallel)Strategy""")
#: loggers that count their starts, the first of which a Trainer makes by itself
_COUNTING = re.compile(r"\b(?:TensorBoard|CSV)Logger\b")


def plan_lightning(draft: Draft) -> tuple[tuple[cst.CSTNode, ...], Callable[[str], None]] | None:
    """`trainer.fit(…)`, whoever made the Trainer: a callback has it save under one name after each epoch."""
    if not set(_ROOTS) & roots_of(draft):
        return None
    made = [call for call in draft.calls() if _TRAINER.fullmatch(class_path(draft, call))]
    calls = [call for call in draft.calls() if _is_fit(draft, call)]
    if not calls:
        _refuse_cli(draft)
        if made:
            raise Refusal("the Trainer of Lightning fits in another file", draft.statement(made[0]),
                          'use trainer.fit(…, ckpt_path="last") and ModelCheckpoint(save_last=True) there')  # fmt: skip
        return None
    spread = search(_SPREAD, draft)
    if spread:
        word = spread.group().strip("\"'")
        raise Refusal(f"each process holds a part of the model ({word}), and one file cannot", calls[0],
                      'use ModelCheckpoint(save_last=True) and trainer.fit(…, ckpt_path="last")')  # fmt: skip
    for call in calls:
        if not may_count(draft, call):
            refuse_repeated(draft, call)
    numbers = random_sources(draft)
    return (*made, *calls), lambda value: _resume(draft, calls, made, numbers, value)


def _is_fit(draft: Draft, call: cst.Call) -> bool:
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "fit" or not may_run(draft, call):
        return False
    paths = [class_path(draft, each) for each in makers(draft, call.func.value)]
    if any(_TRAINER.fullmatch(path) for path in paths):
        return True
    # `hydra.utils.instantiate(cfg.trainer)`, `cli.trainer`, a parameter: by its name, unless it is known better.
    is_unknown = not any(path and tail_of_class(path) for path in paths)
    if not set(_ROOTS) & draft.names.roots and draft.may_be_ours(call):
        return False  # a method of the program may be called so
    return is_unknown and bool(_CALLED.fullmatch(tail(call.func.value))) and not isinstance(call.func.value, cst.Call)


def tail_of_class(path: str) -> bool:
    """Whether the last name of a path is that of a class."""
    return path.rpartition(".")[2][:1].isupper()


def _refuse_cli(draft: Draft) -> None:
    for call in draft.calls():
        runs = argument(call, "run")
        if _CLI.fullmatch(class_path(draft, call)) and not (runs and draft.source(runs.value) == "False"):
            words = "fit --trainer.callbacks+=ModelCheckpoint --trainer.callbacks.dirpath=OUTPUT"
            raise Refusal(
                "LightningCLI makes the Trainer and fits by itself", draft.statement(call),
                f"pass: {words} --trainer.callbacks.save_last=true --ckpt_path=last",
            )  # fmt: skip


def _resume(
    draft: Draft, calls: Sequence[cst.Call], made: Sequence[cst.Call], numbers: list[tuple[str, str, str]], value: str
) -> None:
    kind, go_on = draft.free("SaveResume"), draft.free("resume_fit")
    lists = {id(call): gathered_names(draft, call) for call in calls}
    _define(draft, calls, kind, go_on, numbers, Gathered(gathered_fields(draft), any(lists.values())))
    if value:
        for call in made:
            _send_results(draft, call, value)
        if not made:
            said = "the Trainer is not made here: its logs and checkpoints stay where it puts them"
            draft.say(Kind.DIFFERS, RULE, calls[0], said, "give it the output folder: default_root_dir=…")
    if made and _counts_starts(draft, made):
        said = "each stint's logs lie in a folder of their own: the loggers of Lightning count their starts (version_1)"
        draft.say(Kind.DIFFERS, RULE, calls[0], said, "give the logger a version= to have them in one")
    is_one = are_alternatives(draft, calls)
    for at, call in enumerate(calls, 1):
        given = [value or "None"] if value or not is_one else []
        name = "resume" if is_one else f"resume-{at}"
        if repeated_at(draft, call) is not None:
            # A fit that is done is passed at once, and what follows comes out as before.
            count = draft.free("fit_count")
            draft.need_import("itertools")
            draft.add_on_top([f"{count} = itertools.count(1)"])
            given = [value or "None", f'"{name}-%d.ckpt" % next({count})']
        elif not is_one:
            given.append(f'"{name}.ckpt"')
        given += [f"gathered=[{', '.join(lists[id(call)])}]"] if lists[id(call)] else []
        wrap_method(draft, call, go_on, given)
        draft.say(Kind.CHANGED, RULE, call, "goes on from its last epoch (a callback of the Trainer)")


def _send_results(draft: Draft, made: cst.Call, value: str) -> None:
    """Logs and checkpoints go to the output folder, unless the script says where."""
    if argument(made, "default_root_dir"):
        return  # found as a path
    own = next(
        (each for each in draft.nodes if isinstance(each, cst.ClassDef) and each.name.value == tail(made.func)), None
    )
    starts = [
        each for each in draft.functions() if own and draft.parent(each) is own.body and each.name.value == "__init__"
    ]
    if any(each.params.star_kwarg is None for each in starts):
        said = f"{tail(made.func)} takes no default_root_dir: its logs and checkpoints stay where it puts them"
        draft.say(Kind.DIFFERS, RULE, made, said, "hand **kwargs on to Trainer")
        return
    more = next((arg for arg in made.args if arg.star == "**"), None)
    asked = f'{{"default_root_dir": {value}}} if {value} else {{}}'
    if more is not None:
        start, end = draft.span(more.value)
        draft.insert(start, "dict(")
        draft.insert(end, f", **({asked}))")
        return
    # By hand the option is None, as is the default; parsed arguments may hold something else.
    add_argument(draft, made, f"default_root_dir={value}" if tail(made.func) == "Trainer" else f"**({asked})")


def _counts_starts(draft: Draft, made: Sequence[cst.Call]) -> bool:
    """Whether logs go to `version_0`, `version_1` …, a new one in each start."""
    loggers = [call for call in draft.calls() if _COUNTING.fullmatch(tail(call.func))]
    if loggers:
        return not all(argument(call, "version") for call in loggers)
    # What is handed over as a whole (`**settings["trainer"]`) holds one only where some file speaks of it.
    may_hold = any(b"logger" in each.data for each in (draft, *draft.others))
    return not any(argument(call, "logger") or (may_hold and any(arg.star for arg in call.args)) for call in made)


def _define(
    draft: Draft, calls: Sequence[cst.Call], kind: str, go_on: str, numbers: list[tuple[str, str, str]],
    gathered: Gathered,
) -> None:  # fmt: skip
    lightning = _lightning(draft)
    torch = draft.names.name_for("torch", [draft.module])
    is_known, torch = bool(torch), torch or "torch"
    # The Trainer takes a GPU by itself where there is one; elsewhere the list of their states is empty.
    cuda = f"{torch}.cuda.set_rng_state_all([each.cpu() for each in {{}}][: {torch}.cuda.device_count()])"
    numbers = [
        ("torch_random", f"{torch}.get_rng_state()", f"{torch}.set_rng_state({{}}.cpu())"),
        ("cuda_random", f"{torch}.cuda.get_rng_state_all()", cuda),
        *numbers,
    ]
    # The package was renamed with 2.0; under its old name it may be any version, and few say which.
    may_be_old = "pytorch_lightning" in roots_of(draft)
    has_own = any(argument(call, "ckpt_path") for call in calls)
    is_many = not are_alternatives(draft, calls) or any(repeated_at(draft, call) is not None for call in calls)
    more = [
        *(["copy"] if gathered.fields else []),
        *(["inspect"] if may_be_old else []),
        "os",
        *(["pickle"] if has_own or is_many else []),
    ]
    draft.need_import(*more, *([] if is_known else ["torch"]))
    takes = f" and {_TAKES}" if may_be_old else ""
    fitted = ["            return fit(*args, **words)"]
    if is_many:
        fitted = [
            fitted[0].replace("return", "result ="),
            "            callback.leave(trainer)",
            "            return result",
        ]
    add_helpers(draft, calls[0], [lightning], [
        "",
        *_callback(lightning, torch, kind, numbers, may_be_old, gathered, is_many),
        "",
        "",
        f'def {go_on}(fit, folder=None, file="resume.ckpt"{", gathered=()" if gathered.has_lists else ""}):',
        '    """Let a Trainer go on from its last epoch if there is a folder for that; else it fits as ever."""',
        f"    trainer, results, folder = fit.__self__, folder, {ENVIRON} or folder",
        '    path = os.path.join(folder or "", file)',
        "",
        *([line.format(torch=torch) for line in _OWN_FILE] if has_own else []),
        "    def fit_on(*args, **words):",
        "        os.makedirs(folder, exist_ok=True)",
        f"        callback = {kind}(path, results or folder{', gathered' if gathered.has_lists else ''})",
        "        trainer.callbacks.append(callback)",
        *(_OWN_FIRST if has_own else []),
        f"        {'elif' if has_own else 'if'} os.path.exists(path){takes}:",
        '            words["ckpt_path"] = path',
        "            # From torch 2.6 on nothing but tensors is loaded, unless it is said that the file is trusted.",
        '            os.environ.setdefault("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")',
        *(_OLD_START if may_be_old else []),
        "        try:",
        *fitted,
        "        finally:",
        "            trainer.callbacks.remove(callback)",
        "",
        "    return fit_on if folder else fit",
        "",
    ])  # fmt: skip


def _callback(
    lightning: str, torch: str, kind: str, numbers: list[tuple[str, str, str]], may_be_old: bool, gathered: Gathered,
    is_many: bool,
) -> list[str]:  # fmt: skip
    read = [f'"{key}": {how}' for key, how, _ in numbers]
    put = [how.format(f'self.state["{key}"]') for key, _, how in numbers]
    callbacks = f"{lightning}.callbacks"
    # Checkpoints are run behind everything else; before 1.6 they have no class of their own.
    base = f'getattr({callbacks}, "Checkpoint", {callbacks}.Callback)' if may_be_old else f"{callbacks}.Checkpoint"
    return [
        f"class {kind}({base}):",
        '    """Has the Trainer save under one name after each epoch, whole or not at all."""',
        "",
        *([f'    is_old = not hasattr({callbacks}.Callback, "state_dict")  # before Lightning 1.6', ""] * may_be_old),
        f"    def __init__(self, path, folder{', gathered=()' if gathered.has_lists else ''}):",
        "        self.path, self.folder = path, folder",
        "        self.state, self.is_over, self.watched = None, False, {}",
        *gathered.first(),
        "",
        "    def state_dict(self):",
        *call_lines(
            "        return {", ['"is_over": self.is_over', '"watched": self.watched', *gathered.pairs(), *read], "}"
        ),
        "",
        "    def load_state_dict(self, state_dict):",
        "        self.state = state_dict",
        "",
        *_SAME_FOLDERS,
        "",
        "    def on_fit_start(self, trainer, module):",
        "        if self.state and trainer.world_size == 1" + (" and not self.is_old:" if may_be_old else ":"),
        "            self.put_back()  # several processes need numbers of their own",
        '        self.is_over = bool(self.state and self.state["is_over"])',
        "",
        "    def on_train_start(self, trainer, module):",
        *gathered.start(),
        *(_OLD_PUT if may_be_old else []),
        *_STEP_WATCHING,
        "        trainer.should_stop = trainer.should_stop or self.is_over",
        "",
        "    def put_back(self):",
        *("        " + line for line in put),
        "",
        *(_leave_lines(read) if is_many else []),
        *gathered.methods(has_hook=may_be_old),
        f"    def on_train_epoch_end(self, trainer, module{', given=None' if may_be_old else ''}):",
        *gathered.again(),
        "        self.is_over = trainer.should_stop",
        *(["        if self.is_old:", "            return"] if may_be_old else []),
        *_WATCH,
        '        trainer.save_checkpoint(self.path + ".part")',
        "        if trainer.is_global_zero:",
        '            os.replace(self.path + ".part", self.path)',
        *(gathered.inside([line.format(torch=torch) for line in _OLD_HOOKS]) if may_be_old else []),
    ]


def _leave_lines(read: list[str]) -> list[str]:
    """A fit that is passed must leave the random numbers that it left when it was done: what follows draws them."""
    return [
        "    def leave(self, trainer):",
        '        file = self.path + ".numbers"',
        '        if trainer.world_size > 1 or getattr(trainer, "interrupted", False):',
        "            return",
        "        if os.path.exists(file):",
        '            with open(file, "rb") as numbers:',
        "                self.state = pickle.load(numbers)",
        "            return self.put_back()",
        '        with open(file + ".part", "wb") as numbers:',
        *call_lines("            pickle.dump(", [f"{{{', '.join(read)}}}", "numbers"], ")"),
        '        os.replace(file + ".part", file)',
        "",
    ]


#: A script that looks for its own checkpoints may have one from the middle of an epoch, which is further on.
_OWN_FILE = """\
    def is_further(own):
        if not isinstance(own, (str, os.PathLike)) or not os.path.isfile(own) or not os.path.exists(path):
            return False
        kept = [{torch}.load(file, map_location="cpu", pickle_module=pickle) for file in (own, path)]
        return kept[0].get("global_step", 0) > kept[1]["global_step"]

""".split("\n")[:-1]
_OWN_FIRST = """\
        if is_further(words.get("ckpt_path")):
            os.environ.setdefault("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
""".rstrip().split("\n")
#: Without a folder of its own a ModelCheckpoint writes to the logger's, which each start counts up (`version_1`). What
#: is kept of the best so far is believed only in the folder where it was found.
_SAME_FOLDERS = """\
    def setup(self, trainer, *given, **words):
        file = self.path + ".places"
        found = [each for each in getattr(trainer, "checkpoint_callbacks", ()) if getattr(each, "dirpath", None)]
        if os.path.exists(file):
            for each, place in zip(found, open(file).read().split("\\n")):
                each.dirpath = os.path.normpath(os.path.join(self.folder, place))
        elif trainer.is_global_zero:
            places = [os.path.relpath(each.dirpath, self.folder) for each in found]
            places = [os.path.abspath(each.dirpath) if ".." in place else place for each, place in zip(found, places)]
            with open(file + ".part", "w") as part:
                part.write("\\n".join(places))
            os.replace(file + ".part", file)
""".rstrip().split("\n")
#: Schedulers that watch a metric (ReduceLROnPlateau) are stepped behind the end of an epoch, and Lightning leaves that
#: step out when it goes on from there, since it does not keep the metric.
_STEP_WATCHING = """\
        for at, value in ((self.state or {}).get("watched") or {}).items():
            trainer.lr_scheduler_configs[at].scheduler.step(value)  # it was not yet when the state was saved
        self.first = trainer.global_step
""".rstrip().split("\n")
_WATCH = """\
        self.watched = {}
        for at, each in enumerate(trainer.lr_scheduler_configs):
            is_due = each.interval == "epoch" and (trainer.current_epoch + 1) % each.frequency == 0
            is_due = is_due and module.automatic_optimization and trainer.global_step > self.first
            if is_due and each.reduce_on_plateau and each.monitor in trainer.callback_metrics:
                self.watched[at] = trainer.callback_metrics[each.monitor]
""".rstrip().split("\n")

_TAKES = '"ckpt_path" in inspect.signature(fit).parameters'
#: Before 1.6 nothing is complete at the end of an epoch; the next one's start is the first place where all is done.
_OLD_HOOKS = """
    def on_save_checkpoint(self, trainer, module, checkpoint=None):
        return self.state_dict() if self.is_old else None

    def on_load_checkpoint(self, *given):
        if "torch_random" in given[-1]:
            self.state = given[-1]

    def on_train_epoch_start(self, trainer, module):
        if self.is_old:
            self.save_before(trainer, trainer.current_epoch)

    def on_train_end(self, trainer, module):
        if self.is_old and not getattr(trainer, "interrupted", False):
            self.save_before(trainer, trainer.max_epochs if trainer.should_stop else trainer.current_epoch + 1)

    def save_before(self, trainer, epoch):
        state = getattr(trainer, "checkpoint_connector", trainer).dump_checkpoint()
        state["epoch"], state["global_step"] = epoch, trainer.global_step
        if trainer.is_global_zero:
            {torch}.save(state, self.path + ".part")
            os.replace(self.path + ".part", self.path)
""".rstrip().split("\n")

_OLD_PUT = [
    "        if self.is_old and self.state and trainer.world_size == 1:",
    "            self.put_back()  # only now: validation was tried out before",
]

_OLD_START = """\
        elif os.path.exists(path) and hasattr(type(trainer), "resume_from_checkpoint"):  # Lightning 1.3, 1.4
            trainer.checkpoint_connector.resume_checkpoint_path = path
        elif os.path.exists(path):
            trainer.resume_from_checkpoint = path
""".rstrip().split("\n")


def _lightning(draft: Draft) -> str:
    """The module of Lightning that holds `callbacks`, by a name that the script has."""
    for path, below in (("lightning.pytorch", ""), ("pytorch_lightning", ""), ("lightning", ".pytorch")):
        name = draft.names.name_for(path, [draft.module])
        if name:
            return name + below
    root = "pytorch_lightning" if "pytorch_lightning" in roots_of(draft) else "lightning.pytorch"
    draft.need_import(root)
    return root
