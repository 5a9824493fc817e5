"""Resuming where `fit` of Keras owns the loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.frameworks.keras_callbacks import own_fields
from outlast.adapt.frameworks.keras_samples import tell_order
from outlast.adapt.frameworks.makers import may_run
from outlast.adapt.resuming.counters import find_loops, find_while_loops
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.rounds import are_alternatives, may_count, refuse_repeated, repeated_at
from outlast.adapt.resuming.state import ENVIRON, RULE
from outlast.adapt.resuming.told import draws_by_itself, say_layers, say_mapped
from outlast.adapt.resuming.tracked import Tracked
from outlast.adapt.whole import roots_of, words_of
from outlast.adapt.wrapping import Fitted, add_helpers, wrap_method
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, tail

_ROOTS = frozenset({"keras", "tensorflow", "tf_keras"})
#: the places of epochs and callbacks among the positional arguments
_PLACES = {"fit": (3, 5), "fit_generator": (2, 4)}
#: Each of several processes would save under the same name.
_SPREAD = frozenset({"MultiWorkerMirroredStrategy", "ParameterServerStrategy"})
#: what callbacks of Keras have counted or found so far
_COUNTED = ("wait", "best", "best_epoch", "best_weights", "cooldown_counter", "stopped_epoch")
#: what one counts that saves now and then: `ModelCheckpoint(path, save_freq=1000)`
_COUNTED_BATCHES = ("_batches_seen_since_last_saving", "_last_batch_seen")


def plan_keras(draft: Draft) -> Fitted | None:
    """`model.fit(…, epochs=N)`: a callback saves model, optimizer, epoch and what was logged, after each epoch."""
    # A model from another file comes without any import of Keras; only Keras has fit_generator.
    if not _ROOTS & roots_of(draft) and "fit_generator" not in draft.words:
        return None
    calls = find_fits(draft)
    if all(_is_step(draft, call) for call in calls):
        return None
    if all(repeated_at(draft, call) is not None for call in calls) and _is_kept_by_loop(draft):
        return None
    _refuse(draft, calls)
    return calls[0], lambda value: _resume(draft, calls, value)


def find_fits(draft: Draft) -> list[cst.Call]:
    return [call for call in draft.calls() if _is_fit(draft, call)]


def _is_fit(draft: Draft, call: cst.Call) -> bool:
    name = tail(call.func)
    if name not in _PLACES or not isinstance(call.func, cst.Attribute) or not may_run(draft, call):
        return False
    is_here = bool(_ROOTS & draft.names.roots) or name == "fit_generator"
    if not is_here and draft.may_be_ours(call):
        return False  # it may be a method of the program that fits a model in its turn
    if tail(call.func.value) == "super":
        return False  # `super().fit(…)`, in a method that is a fit itself
    is_told = any(argument(call, word) is not None for word in ("epochs", "nb_epoch"))
    # Other libraries have a fit, too: where Keras is imported elsewhere, only its word for epochs tells.
    return is_told or (is_here and len(_placed(call)) > _PLACES[name][0])


def _placed(call: cst.Call) -> list[cst.Arg]:
    return [arg for arg in call.args if arg.keyword is None and not arg.star]


def _is_kept_by_loop(draft: Draft) -> bool:
    """`for epoch in range(N): model.fit(…, epochs=1)`: the loop's rounds are what to go on from."""
    loops = (*find_loops(draft), *find_while_loops(draft))
    return any(Tracked(draft, Values(draft, loop)).is_training for loop in loops)


def _refuse(draft: Draft, calls: Sequence[cst.Call]) -> None:
    spread = sorted(_SPREAD & words_of(draft)) or sorted({"horovod"} & roots_of(draft))
    if spread:
        said = f"several processes train together ({spread[0]}), and each would save under the same name"
        raise Refusal(said, calls[0], "add keras.callbacks.BackupAndRestore, with a folder in the output folder")
    for call in calls:
        if argument(call, "nb_epoch"):
            said = "nb_epoch is a word of Keras 1, which cannot save its optimizer with the weights"
            raise Refusal(said, call, "write epochs=, for Keras 2.6 or later; then adapt it again")
        if len(_placed(call)) > _PLACES[tail(call.func)][1] + 1:
            raise Refusal("the callbacks of fit have no name", call, "write them as callbacks=…, and what follows too")
        if not may_count(draft, call):
            refuse_repeated(draft, call)


def _is_step(draft: Draft, call: cst.Call) -> bool:
    """`self.model.fit(batch, targets, epochs=1)` for each batch: a checkpoint for each would help nobody.

    Where the model is made anew each time (the next fold), it is a training of its own, however short.
    """
    assert isinstance(call.func, cst.Attribute)
    again, model, place = repeated_at(draft, call), dotted(call.func.value), _PLACES[tail(call.func)][0]
    told, placed = argument(call, "epochs"), _placed(call)
    epochs = told.value if told is not None else placed[place].value if len(placed) > place else None
    if again is None or epochs is None or draft.source(epochs) != "1":
        return False
    scope = draft.scope(call)
    within = [*draft.below(again), *(draft.below(scope) if isinstance(scope, cst.FunctionDef) else ())]
    return not any(isinstance(node, cst.AssignTarget) and dotted(node.target) == model for node in within)


def _resume(draft: Draft, calls: Sequence[cst.Call], value: str) -> None:
    go_on, is_one = draft.free("resume_fit"), are_alternatives(draft, calls)
    # Before 2.6 a Keras of its own could not be resumed; that of TensorFlow 2 always could.
    may_be_old = "keras" in roots_of(draft) or not _ROOTS & roots_of(draft)
    draft.need_import("contextlib", "importlib", *(["inspect"] if may_be_old else []), "os", "pickle")
    draft.need_import(*(["shutil"] if _loads_best(draft, calls) else []))
    batches = _COUNTED_BATCHES if "save_freq" in words_of(draft) else ()
    counted = ", ".join(f'"{name}"' for name in dict.fromkeys((*_COUNTED, *batches, *own_fields(draft))))
    add_helpers(draft, calls[0], [], [
        "",
        f'def {go_on}(fit, folder=None, name="resume"):',
        '    """Let a model of Keras go on from its last epoch if there is a folder for that; else it fits as ever."""',
        f"    model, folder = fit.__self__, {ENVIRON} or folder",
        "    if not folder:",
        "        return fit",
        '    is_three = hasattr(model, "stateless_call")  # only Keras 3 has it',
        *(_TOO_OLD if may_be_old else []),
        f"    counted = {{{counted}}}  # by other callbacks",
        *(_with_files(_BODY) if _loads_best(draft, calls) else _BODY),
    ])  # fmt: skip
    for number, call in enumerate(calls, 1):
        name = "resume" if is_one else f"resume-{number}"
        given = [value or "None"] if value or not is_one else []
        if repeated_at(draft, call) is not None:
            # A fit that is done is passed at once, and what follows comes out as before.
            count = draft.free("fit_count")
            draft.need_import("itertools")
            draft.add_on_top([f"{count} = itertools.count(1)"])
            given = [value or "None", f'"{name}-%d" % next({count})']
        elif not is_one:
            given.append(f'"{name}"')
        placed, place = _placed(call), _PLACES[tail(call.func)][1]
        if len(placed) > place:
            draft.insert(draft.start(placed[place]), "callbacks=")
        wrap_method(draft, call, go_on, given)
        draft.say(Kind.CHANGED, RULE, call, "goes on from its last epoch (a callback of fit)")
        tell_order(draft, call)
    say_mapped(draft, calls[0])
    say_layers(draft, calls[0])
    if draws_by_itself(draft):
        said = "random numbers that TensorFlow draws by itself (tf.random) start anew in each stint"
        draft.say(Kind.DIFFERS, RULE, calls[0], said, "draw them from numpy or a tf.random.Generator to have the same")


def _loads_best(draft: Draft, calls: Sequence[cst.Call]) -> bool:
    """Whether trainings that follow on one another save their best under one name, and load it behind."""
    is_several = len(calls) > 1 or any(repeated_at(draft, call) is not None for call in calls)
    loads = words_of(draft) & {"load_weights", "load_model"}
    return is_several and bool(loads) and "ModelCheckpoint" in words_of(draft)


def _with_files(body: Sequence[str]) -> Iterator[str]:
    """The helper that also keeps what a ModelCheckpoint has saved: the next training writes the same file anew."""
    for line in body:
        yield line
        if line == '        kept = {"epoch": 0, "slot": 0, "history": {}, "epochs": []}':
            yield from _FILES
        elif line.startswith("            self.kept.update(epoch=epoch"):
            yield "            self.carry(out=True)"
        elif line.strip() == "self.kept = pickle.load(file)":
            yield "            self.carry(out=False)"


#: a passed training leaves the file of a later one where the script loads its own from
_FILES = """
        def carry(self, out):  # what is saved as the best is of this training, and the next one writes it anew
            saved = [each.filepath for each in self.others if type(each).__name__ == "ModelCheckpoint"]
            for at, file in enumerate(map(str, saved)):
                copy = "%s-%d-%d.best" % (path, self.kept["slot"], at)
                start, end = (file, copy) if out else (copy, file)
                if os.path.isfile(start):
                    os.makedirs(os.path.dirname(end) or ".", exist_ok=True)
                    shutil.copyfile(start, end)
""".rstrip().split("\n")
_TOO_OLD = """\
    if not is_three and "save_format" not in inspect.signature(model.save_weights).parameters:
        print("This Keras cannot save its optimizer with the weights: fit begins anew after a stop")
        return fit
""".rstrip().split("\n")

#: The model says which Keras it is of: `keras`, `tf.keras` and `tf_keras` do not take each other's callbacks.
#: BackupAndRestore is not used: it is not whole after a kill, refuses models that are not built yet, keeps neither what
#: was logged nor what other callbacks have counted, and is gone when the next fit of the script is killed.
_BODY = """\
    path = os.path.join(folder, name)
    kinds = [each.__module__.partition(".")[0] for each in type(model).__mro__]
    root = next((each for each in ("keras", "tf_keras") if each in kinds), "tensorflow.keras")
    keras, numpy, random = map(importlib.import_module, (root, "numpy", "random"))

    class SaveResume(keras.callbacks.Callback):
        kept = {"epoch": 0, "slot": 0, "history": {}, "epochs": []}
        batches, streams, drawn = [0, 0], (None, None), set()
        orders, is_new, numbers_then = (), False, None

        def weights(self):  # two files take turns
            return "%s-%d%s" % (path, self.kept["slot"], ".weights.h5" if is_three else "")

        def seeds(self):  # Dropout and its like draw from these in Keras 3
            return [each for each in model.variables if each.name == "seed_generator_state"] if is_three else []

        def optimizers(self):  # a model with a train_step of its own may have several
            return [each for each in vars(model).values() if hasattr(each, "apply_gradients")] if is_three else []

        def as_built(self, work):  # such a model is never called itself, and its parts are built nonetheless
            is_built, model.built = model.built, True
            work(self.weights())
            model.built = is_built

        def plain(self, shape):  # Keras has lists of shapes in ones of its own, which cannot be pickled
            if isinstance(shape, dict):
                return {key: self.plain(value) for key, value in shape.items()}
            kind = next((each for each in (list, tuple) if isinstance(shape, each)), None)
            return kind(map(self.plain, shape)) if kind else shape

        def keep_round(self, epoch):
            if is_three and not model.built and len(model.weights) != self.first:
                return print("Only a step builds this model: fit begins anew after a stop, unless it is built before")
            at = {id(each): number for number, each in enumerate(model.variables)} if is_three else {}
            trained = [part._trainable_variables for part in self.optimizers()]
            steps = [[at[id(each)] for each in variables if id(each) in at] for variables in trained]
            states = [{key: vars(each)[key] for key in counted & set(vars(each))} for each in self.others]
            self.kept.update(epoch=epoch, slot=1 - self.kept["slot"], states=states, steps=steps)
            shape = is_three and self.plain(model.get_build_config())
            self.kept.update(shape=shape, seeds=[each.numpy() for each in self.seeds()])
            self.kept.update(numbers=self.numbers())
            self.kept.update(passes=[len(passes) for _, passes in self.dealt], batches=list(self.batches))
            self.kept.update(orders=[(each.index_array, each.total_batches_seen) for each in self.orders])
            self.as_built(model.save_weights) if is_three else model.save_weights(self.weights())
            with open(path + ".pkl.part", "wb") as file:
                pickle.dump(self.kept, file)
            os.replace(path + ".pkl.part", path + ".pkl")  # only now these weights count

        def take_up(self):
            with open(path + ".pkl", "rb") as file:
                self.kept = pickle.load(file)
            self.is_new = True
            if is_three and not model.built and self.kept["shape"]:
                model.build_from_config(self.kept["shape"])
            variables = model.variables if is_three else []  # before it, they are filled when they are made
            for part, numbers in zip(self.optimizers(), self.kept["steps"]):
                if numbers and not part.built:
                    part.build([variables[number] for number in numbers])
            self.as_built(model.load_weights) if is_three else model.load_weights(self.weights())
            for seed, state in zip(self.seeds(), self.kept["seeds"]):
                seed.assign(state)

        def pass_over(self):  # what a generator has yielded; one that draws numbers for that draws them again
            before = [pickle.dumps(each) for each in self.numbers()]
            self.batches = list(self.kept.get("batches", self.batches))
            for rows, count in zip(self.streams, self.batches):
                for _ in range(count if rows is not None else 0):
                    next(rows, None)
            after = [pickle.dumps(each) for each in self.numbers()]
            self.drawn = {place for place in range(2) if before[place] != after[place]}

        def numbers(self):
            return numpy.random.get_state(), random.getstate()

        def put_numbers(self, numbers):
            for place, put in enumerate((numpy.random.set_state, random.setstate)):
                put(numbers[place]) if place not in self.drawn else None

        def on_test_begin(self, logs=None):  # a new start has looked at a first batch, which draws numbers
            if self.numbers_then:
                self.put_numbers(self.numbers_then)
                for rows in self.orders if is_three else ():
                    rows.on_epoch_end()  # Keras 3 has just drawn these orders
                self.tests.total_batches_seen -= 1
                self.is_new, self.numbers_then = False, None

        def on_train_batch_end(self, batch, logs=None):
            self.numbers_then = self.numbers() if self.is_new and len(self.orders) == 2 else None
            self.batches[0] += batch + 1 - self.step
            self.step = batch + 1

        def on_test_batch_end(self, batch, logs=None):
            self.batches[1] += batch + 1 - self.tested
            self.tested = batch + 1

        def on_epoch_begin(self, epoch, logs=None):
            self.step = self.tested = 0

        def on_train_begin(self, logs=None):
            for each, state in zip(self.others, self.kept.get("states", ())):
                vars(each).update(state)
            self.put_numbers(self.kept["numbers"]) if "numbers" in self.kept else None
            for rows, order in zip(self.orders, self.kept.get("orders", ())):
                rows.index_array, rows.total_batches_seen = order
                if rows is self.samples and not is_three and self.kept["epoch"] < 10**9:
                    rows.on_epoch_end()  # before Keras 3 the next order is drawn behind the callbacks
            for (rows, passes), count in zip(self.dealt, self.kept.get("passes", ())):
                while len(passes) < count:
                    iter(rows)

        def on_epoch_end(self, epoch, logs=None):
            for key, value in (logs or {}).items():
                self.kept["history"].setdefault(key, []).append(value)
            self.kept["epochs"].append(epoch)
            if not model.stop_training:
                self.keep_round(epoch + 1)

    def count_passes(rows):  # a dataset of TensorFlow that shuffles draws the next order with each one
        kind, passes = type(rows), []

        def begin(self):
            passes.append(1)
            return kind.__iter__(self)

        rows.__class__ = type(kind.__name__, (kind,), {"__iter__": begin})
        return passes

    def fit_on(*args, callbacks=None, **words):
        given, keep, end = getattr(callbacks, "callbacks", callbacks) or [], SaveResume(), 10**9
        keep.others = list(given) if isinstance(given, (list, tuple)) else [given]
        keep.first = len(model.weights) if is_three else 0
        given = (args[0] if args else words.get("x", words.get("generator")), words.get("validation_data"))
        is_stream = [hasattr(each, "__next__") and not hasattr(each, "__len__") for each in given]
        keep.streams = [each if it else None for each, it in zip(given, is_stream)]
        keep.samples, keep.tests = given
        keep.orders = [each for each in given if hasattr(each, "index_array") and hasattr(each, "total_batches_seen")]
        given = [each for each in given if hasattr(each, "element_spec") and hasattr(each, "shuffle")]
        kinds, keep.dealt = [type(each) for each in given], [(each, count_passes(each)) for each in given]
        os.makedirs(folder, exist_ok=True)
        if os.path.exists(path + ".pkl"):
            strategy = getattr(model, "distribute_strategy", None)  # an optimizer makes its variables where it was made
            with strategy.scope() if strategy else contextlib.nullcontext():
                keep.take_up()
            keep.kept["epoch"] == end or keep.pass_over()
            words["initial_epoch"] = keep.kept["epoch"]
            for each in keep.others:
                if type(each).__name__ == "CSVLogger":
                    each.append = True  # the rows of epochs before are there
        result = fit(*args, callbacks=[*keep.others, keep], **words)
        keep.on_train_begin() if keep.kept["epoch"] == end else keep.keep_round(end)
        for rows, kind in zip(given, kinds):
            rows.__class__ = kind
        for each in [result, *(other for other in keep.others if type(other).__name__ == "History")]:
            each.history, each.epoch = keep.kept["history"], keep.kept["epochs"]
        return result

    return fit_on
""".split("\n")
