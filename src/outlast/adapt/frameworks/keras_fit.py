"""Resuming where `fit` of Keras owns the loop."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.frameworks.makers import may_run
from outlast.adapt.resuming.counters import find_loops
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.rounds import are_alternatives, refuse_repeated
from outlast.adapt.resuming.state import ENVIRON, RULE, Refusal
from outlast.adapt.resuming.tracked import Tracked
from outlast.adapt.wrapping import Fitted, add_helpers, wrap_method
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, tail

_ROOTS = frozenset({"keras", "tensorflow", "tf_keras"})
#: how many positional arguments there are when the last is the number of epochs
_PLACES = {"fit": 4, "fit_generator": 3}


def plan_keras(draft: Draft) -> Fitted | None:
    """`model.fit(…, epochs=N)`: a callback saves model, optimizer, epoch and what was logged, after each epoch."""
    if not _ROOTS & draft.names.roots:
        return None
    calls = [call for call in draft.calls() if _is_fit(draft, call)]
    if not calls:
        return None
    in_loops = [call for call in calls if any(isinstance(each, cst.For | cst.While) for each in draft.above(call))]
    if len(in_loops) == len(calls) and _is_kept_by_loop(draft):
        return None
    if in_loops:
        advice = "save the model in this loop and load it before: outlast.epochs and outlast.save"
        raise Refusal("fit is called in a loop", draft.statement(in_loops[0]), advice)
    for call in calls:
        refuse_repeated(draft, call)
    return calls[0], lambda value: _resume(draft, calls, value)


def _is_fit(draft: Draft, call: cst.Call) -> bool:
    name = tail(call.func)
    if name not in _PLACES or not isinstance(call.func, cst.Attribute) or not may_run(draft, call):
        return False
    if tail(call.func.value) == "super":
        return False  # `super().fit(…)`, in a method that is a fit itself
    placed = [arg for arg in call.args if arg.keyword is None and not arg.star]
    return argument(call, "epochs") is not None or len(placed) >= _PLACES[name]


def _is_kept_by_loop(draft: Draft) -> bool:
    """`for epoch in range(N): model.fit(…, epochs=1)`: the loop's rounds are what to go on from."""
    return any(Tracked(draft, Values(draft, loop)).is_training for loop in find_loops(draft))


def _resume(draft: Draft, calls: Sequence[cst.Call], value: str) -> None:
    draft.need_import("glob", "importlib", "os", "pickle")
    go_on, is_one = draft.free("resume_fit"), are_alternatives(draft, calls)
    head = [
        "",
        f'def {go_on}(fit, folder=None, name="resume"):',
        '    """Let a model of Keras go on from its last epoch if there is a folder for that; else it fits as ever."""',
        f"    model, folder = fit.__self__, {ENVIRON} or folder",
    ]
    add_helpers(draft, calls[0], [], [*head, *_BODY])
    for at, call in enumerate(calls, 1):
        given = [value or "None"] if value or not is_one else []
        given += [] if is_one else [f'"resume-{at}"']
        wrap_method(draft, call, go_on, given)
        draft.say(Kind.CHANGED, RULE, call, "goes on from its last epoch (a callback of fit)")
        shuffles = argument(call, "shuffle")
        if shuffles is None or draft.source(shuffles.value) != "False":
            said = "samples that Keras shuffles come in another order after a stop than without one"
            draft.say(Kind.DIFFERS, RULE, call, said)


#: The model says which Keras it is of: `keras`, `tf.keras` and `tf_keras` do not take each other's callbacks.
#: BackupAndRestore is not used: it is not whole after a kill, refuses models that are not built yet, keeps neither what
#: was logged nor what other callbacks have counted, and is gone when the next fit of the script is killed.
_BODY = """\
    roots = [each.__module__.partition(".")[0] for each in type(model).__mro__]
    root = next((each for each in roots if each in ("keras", "tf_keras", "tensorflow")), "keras")
    keras = importlib.import_module("tensorflow.keras" if root == "tensorflow" else root)
    version = tuple(int(each) for each in getattr(keras, "__version__", "2.6").split(".")[:2])
    if folder and root == "keras" and version < (2, 6):
        print("Keras %d.%d cannot save its optimizer with the weights: fit begins anew after a stop" % version)
        folder = None
    path, suffix = os.path.join(folder or "", name), ".weights.h5" if version >= (3,) else ""
    numpy, plain = importlib.import_module("numpy"), importlib.import_module("random")
    counted = ("wait", "best", "best_epoch", "best_weights", "cooldown_counter", "stopped_epoch")

    def seeds():  # what draws numbers for Dropout and its like, from Keras 3 on
        weights = {id(each) for each in model.weights}
        return [each for each in model.variables if id(each) not in weights] if version >= (3,) else []

    def fit_on(*args, **words):
        given = words.get("callbacks") or []
        given = getattr(given, "callbacks", given)
        given = list(given) if isinstance(given, (list, tuple)) else [given]
        known = {"epoch": None, "history": {}, "epochs": []}
        if os.path.exists(path + ".pkl"):
            with open(path + ".pkl", "rb") as file:
                known = pickle.load(file)
            for each in given:
                if type(each).__name__ == "CSVLogger":
                    each.append = True  # the rows of epochs before are there

        def save(epoch):
            # One file says which weights count; it is written last, and moved into place.
            model.save_weights("%s-%s%s" % (path, epoch, suffix))
            states = [{key: vars(each)[key] for key in counted if key in vars(each)} for each in given]
            config = model.get_build_config() if version >= (3,) else getattr(model, "_build_input_shape", None)
            numbers = numpy.random.get_state(), plain.getstate(), [numpy.array(each) for each in seeds()]
            kept = {"epoch": epoch, "states": states, "config": config, "numbers": numbers}
            with open(path + ".pkl.part", "wb") as file:
                pickle.dump(dict(kept, history=known["history"], epochs=known["epochs"]), file)
            os.replace(path + ".pkl.part", path + ".pkl")
            for each in glob.glob(glob.escape(path) + "-*"):
                if not os.path.basename(each).startswith("%s-%s" % (name, epoch)):
                    os.remove(each)

        def put_back():
            for each, state in zip(given, known["states"]):
                vars(each).update(state)
            numpy.random.set_state(known["numbers"][0])
            plain.setstate(known["numbers"][1])

        class Keep(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                if epoch == known["epoch"]:
                    put_back()

            def on_epoch_end(self, epoch, logs=None):
                for key, value in (logs or {}).items():
                    known["history"].setdefault(key, []).append(value)
                known["epochs"].append(epoch)
                if not self.model.stop_training:
                    save(epoch + 1)

        os.makedirs(folder, exist_ok=True)
        if known["epoch"] is not None:
            if not model.built and known["config"]:
                (model.build_from_config if version >= (3,) else model.build)(known["config"])
            if version >= (3,):
                model.optimizer.build(model.trainable_variables)
            model.load_weights("%s-%s%s" % (path, known["epoch"], suffix))
            for each, value in zip(seeds(), known["numbers"][2]):
                each.assign(value)
            words["initial_epoch"] = 10**9 if known["epoch"] == "end" else known["epoch"]
        words["callbacks"] = [*given, Keep()]
        result = fit(*args, **words)
        put_back() if known["epoch"] == "end" else save("end")
        result.history, result.epoch = known["history"], known["epochs"]
        return result

    return fit_on if folder else fit
""".split("\n")
