"""The callbacks against stand-ins for the frameworks.

Each stand-in keeps the documented hook names, arguments and order of its framework and nothing else.
"""

import itertools
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from outlast.inside.desk import Desk, DeskHandler
from outlast.inside.flag import StopFlag

SOURCE = Path(__file__).parents[1] / "src"

LIGHTNING = """
import json, os, sys, types

class Callback:
    def __init__(self): self.base_was_made = True
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx): pass
    def on_train_epoch_end(self, trainer, pl_module): pass
    def on_validation_end(self, trainer, pl_module): pass
    def on_train_end(self, trainer, pl_module): pass

class Strategy:
    def barrier(self, name=None): pass
    def reduce_boolean_decision(self, decision, all=True): return decision

class StandInTrainer:
    world_size = 1
    max_steps = -1
    def __init__(self, callback, max_epochs):
        self.callback, self.max_epochs, self.strategy = callback, max_epochs, Strategy()
        self.current_epoch = self.global_step = 0
        self.callback_metrics = {}
    def save_checkpoint(self, path):
        with open(path, "w") as file:
            json.dump({"epoch": self.current_epoch + 1, "step": self.global_step}, file)
    def fit(self, ckpt_path=None):
        if ckpt_path:
            with open(ckpt_path) as file:
                state = json.load(file)
            self.current_epoch, self.global_step = state["epoch"], state["step"]
        self.sanity_checking = True
        self.callback.on_validation_end(self, None)
        self.sanity_checking = False
        while self.current_epoch < self.max_epochs:
            for batch in range(3):
                self.global_step += 1
                self.callback.on_train_batch_end(self, None, None, None, batch)
            self.callback_metrics = {"loss": 1 / self.global_step, "name": "text"}
            self.callback.on_validation_end(self, None)
            self.callback.on_train_epoch_end(self, None)
            print("epoch", self.current_epoch, flush=True)
            self.current_epoch += 1
        self.callback.on_train_end(self, None)

sys.modules["lightning"] = types.ModuleType("lightning")
sys.modules["lightning.pytorch"] = types.ModuleType("lightning.pytorch")
sys.modules["lightning.pytorch.callbacks"] = here = types.ModuleType("lightning.pytorch.callbacks")
here.Callback = Callback
"""

TRANSFORMERS = """
import os, sys, types
from types import SimpleNamespace

class TrainerCallback:
    def on_step_end(self, args, state, control, **kwargs): pass
    def on_log(self, args, state, control, **kwargs): pass
    def on_save(self, args, state, control, **kwargs): pass
    def on_train_end(self, args, state, control, **kwargs): pass

class StandInTrainer:
    def __init__(self, callback, output_dir, max_steps):
        self.callback = callback
        self.args = SimpleNamespace(output_dir=output_dir, num_train_epochs=2.0, world_size=1, device="cpu")
        self.state = SimpleNamespace(global_step=0, max_steps=max_steps, epoch=0.0)
    def train(self, resume_from_checkpoint=None):
        args, state = self.args, self.state
        control = SimpleNamespace(should_save=False, should_training_stop=False)
        if resume_from_checkpoint:
            with open(os.path.join(resume_from_checkpoint, "trainer_state.json")) as file:
                state.global_step = int(file.read())
        while state.global_step < state.max_steps and not control.should_training_stop:
            state.global_step += 1
            state.epoch = state.global_step / 5
            self.callback.on_step_end(args, state, control, model=None)
            self.callback.on_log(args, state, control, logs={"loss": "0.5", "lr": 0.1, "epoch": 9.9}, model=None)
            if control.should_save or state.global_step % 4 == 0:
                control.should_save = False
                folder = os.path.join(args.output_dir, "checkpoint-%d" % state.global_step)
                os.makedirs(folder, exist_ok=True)
                with open(os.path.join(folder, "trainer_state.json"), "w") as file:
                    file.write(str(state.global_step))
                self.callback.on_save(args, state, control, model=None)
            print("step", state.global_step, flush=True)
        self.callback.on_train_end(args, state, control, model=None)

sys.modules["transformers"] = types.ModuleType("transformers")
sys.modules["transformers.trainer_callback"] = here = types.ModuleType("transformers.trainer_callback")
here.TrainerCallback = TrainerCallback
"""

KERAS = """
import sys, types

class Callback:
    def __init__(self): self.model, self.params = None, None
    def on_epoch_end(self, epoch, logs=None): pass
    def on_train_end(self, logs=None): pass

class StandInModel:
    weight = 0
    def save(self, path):
        with open(path, "w") as file: file.write(str(self.weight))
    def fit(self, epochs, initial_epoch, callbacks):
        self.stop_training = False
        (callback,) = callbacks
        callback.model, callback.params = self, {"epochs": epochs, "steps": 3, "verbose": 1}
        for epoch in range(initial_epoch, epochs):
            self.weight += 10 ** epoch
            callback.on_epoch_end(epoch, {"loss": 0.5, "acc": 0.25})
            print("epoch", epoch, flush=True)
            if self.stop_training:
                break
        callback.on_train_end({})

def load_model(path):
    model = StandInModel()
    with open(path) as file: model.weight = int(file.read())
    return model

sys.modules["keras"] = keras = types.ModuleType("keras")
keras.models = types.SimpleNamespace(load_model=load_model)
sys.modules["keras.callbacks"] = here = types.ModuleType("keras.callbacks")
here.Callback = Callback
"""

MINDSPORE = """
import sys, types

class Callback:
    def begin(self, run_context): pass
    def epoch_end(self, run_context): pass
    def step_end(self, run_context): pass
    def end(self, run_context): pass

class StandInTensor:
    def __init__(self, value): self.value = value
    def asnumpy(self): return self.value

class RunContext:
    stop = False
    def __init__(self, args): self.args = args
    def original_args(self): return self.args
    def request_stop(self): self.stop = True

class StandInModel:
    def __init__(self): self.train_network = types.SimpleNamespace(weight=0)
    def train(self, epoch, callbacks):
        now = types.SimpleNamespace(epoch_num=epoch, batch_num=4, cur_step_num=0, train_network=self.train_network)
        context = RunContext(now)
        for number in range(1, epoch + 1):
            now.cur_epoch_num = number
            for _ in range(4):
                now.cur_step_num += 1
                now.net_outputs = (StandInTensor(0.5), None)
                callbacks.step_end(context)
            self.train_network.weight += 1
            callbacks.epoch_end(context)
            print("epoch", number, flush=True)
            if context.stop:
                break
        callbacks.end(context)

def save_checkpoint(network, path):
    with open(path, "w") as file: file.write(str(network.weight))
def load_checkpoint(path):
    with open(path) as file: return int(file.read())
def load_param_into_net(network, loaded): network.weight = loaded

sys.modules["mindspore"] = mindspore = types.ModuleType("mindspore")
mindspore.save_checkpoint, mindspore.load_checkpoint = save_checkpoint, load_checkpoint
mindspore.load_param_into_net = load_param_into_net
sys.modules["mindspore.train"] = types.ModuleType("mindspore.train")
sys.modules["mindspore.train.callback"] = here = types.ModuleType("mindspore.train.callback")
here.Callback = Callback
"""


class Runner(DeskHandler):
    def __init__(self, root):
        self.root = root
        self.place = root / "ckpt"
        self.flag = StopFlag.create(str(root / "flag"))
        self.points, self.saves, self.progress = [], [], []
        self.acks = self.notices = 0
        self.ask_at = None
        self.desk = Desk(str(root / "socket"), self)

    def on_points(self, batch):
        for (at, epoch, step), rows in itertools.groupby(batch.rows(), key=lambda row: row[:3]):
            values = {name: value for *_, name, value in rows}
            self.points.append({"at": at, "epoch": epoch, "step": step, "values": values})

    def on_progress(self, message):
        self.progress.append(message)
        if self.ask_at is not None and self.ask_at(message):
            self.flag.raise_("deadline")

    def on_save(self, message):
        files = sorted(str(path.relative_to(self.place)) for path in self.place.rglob("*") if path.is_file())
        self.saves.append((files, message["progress"]))
        return {"ticket": len(self.saves)}

    def on_ack(self, message):
        self.acks += 1

    def on_noticed(self, message):
        self.notices += 1

    def run(self, stand_in, script, restored=False):
        self.flag = StopFlag.create(str(self.root / "flag"))
        path = self.root / "script.py"
        path.write_text("import outlast\n" + stand_in + textwrap.dedent(script))
        env = dict(  # noqa: C408 - reads like the environment it is
            PATH=os.environ["PATH"], PYTHONPATH=str(SOURCE), PYTHONDONTWRITEBYTECODE="1", OUTLAST_RUN="run",
            OUTLAST_STINT="1", OUTLAST_SOCKET=self.desk.path, OUTLAST_FLAG=str(self.root / "flag"),
            OUTLAST_CHECKPOINT=str(self.place), OUTLAST_RESTORED="0001-000001" if restored else "",
            OUTLAST_PROGRESS=json.dumps(self.saves[-1][1]) if restored else "{}",
        )  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-W", "error", str(path)], env=env, cwd=self.root, capture_output=True, text=True
        )
        assert self.desk.drain(150)
        assert done.stderr == ""
        return done.returncode, done.stdout.split("\n")[:-1]


@pytest.fixture
def runner(tmp_path):
    made = Runner(tmp_path)
    with made.desk:
        yield made


LIGHTNING_SCRIPT = """
    callback = outlast.callbacks.LightningCallback(%s)
    assert callback.base_was_made
    StandInTrainer(callback, max_epochs=4).fit(ckpt_path=callback.ckpt_path)
    print("done")
"""


def test_lightning_hands_over_after_an_epoch_and_goes_on(runner):
    runner.ask_at = lambda message: message.get("epoch") == 2
    code, lines = runner.run(LIGHTNING, LIGHTNING_SCRIPT % "")
    assert (code, lines) == (85, ["epoch 0"])
    assert runner.saves[-1] == (["last.ckpt"], {"step": 6, "epoch": 2})
    runner.ask_at = None
    code, lines = runner.run(LIGHTNING, LIGHTNING_SCRIPT % "", restored=True)
    assert (code, lines) == (0, ["epoch 2", "epoch 3", "done"])
    assert (runner.acks, runner.notices) == (1, 0)
    assert runner.points[0]["values"] == {"loss": pytest.approx(1 / 3)} and runner.points[0]["epoch"] == 1
    assert [message["epoch"] for message in runner.progress if message["boundary"]] == [1, 2, 3, 4]


def test_lightning_may_hand_over_within_an_epoch(runner):
    runner.ask_at = lambda message: True
    code, lines = runner.run(LIGHTNING, LIGHTNING_SCRIPT % "within_epochs=True")
    assert code == 85 and len(lines) <= 1
    assert not any(message["boundary"] for message in runner.progress)


def test_lightning_finishes_when_the_last_epoch_is_done(runner):
    runner.ask_at = lambda message: message.get("epoch") == 4
    code, lines = runner.run(LIGHTNING, LIGHTNING_SCRIPT % "every=3")
    assert (code, lines[-1], runner.acks) == (0, "done", 0)
    assert [progress["epoch"] for _, progress in runner.saves] == [3, 4]


TRAINER_SCRIPT = """
    callback = outlast.callbacks.TrainerCallback()
    StandInTrainer(callback, %r, max_steps=10).train(resume_from_checkpoint=callback.last_checkpoint)
    print("done")
"""


@pytest.mark.parametrize("output_dir", ["ckpt", "results", "ckpt/deeper"])
def test_hugging_face_commits_what_the_trainer_saves_and_hands_over_after_a_step(runner, output_dir):
    script = TRAINER_SCRIPT % output_dir
    runner.ask_at = lambda message: True
    code, lines = runner.run(TRANSFORMERS, script.replace("max_steps=10", "max_steps=10**6"))
    assert code == 85 and runner.acks == 1
    step = runner.saves[-1][1]["step"]
    assert lines[-1] == f"step {step}"
    runner.ask_at = None
    code, lines = runner.run(TRANSFORMERS, script.replace("max_steps=10", f"max_steps={step + 10}"), restored=True)
    assert code == 0
    assert lines[0] == f"step {step + 1}" and lines[-1] == "done"
    assert runner.points[0]["values"] == {"lr": 0.1}
    assert runner.points[0]["epoch"] == pytest.approx(0.2)


def test_keras_hands_over_after_an_epoch_and_goes_on(runner):
    script = """
        callback = outlast.callbacks.KerasCallback()
        model = callback.restore(StandInModel)
        model.fit(epochs=4, initial_epoch=callback.initial_epoch, callbacks=[callback])
        print("weight", model.weight)
    """
    runner.ask_at = lambda message: message.get("epoch") == 2
    code, lines = runner.run(KERAS, script)
    assert (code, lines) == (85, ["epoch 0", "epoch 1"])
    assert runner.saves[-1] == (["model.keras"], {"epoch": 2, "next_epoch": 2})
    runner.ask_at = lambda message: message.get("epoch") == 4
    code, lines = runner.run(KERAS, script, restored=True)
    assert (code, lines) == (0, ["epoch 2", "epoch 3", "weight 1111"])
    assert runner.points[-1]["values"] == {"loss": 0.5, "acc": 0.25}


def test_mindspore_hands_over_after_an_epoch_and_goes_on(runner):
    script = """
        callback = outlast.callbacks.MindSporeCallback(total=4)
        model = StandInModel()
        done = callback.restore(model.train_network)
        model.train(4 - done, callbacks=callback)
        print("weight", model.train_network.weight)
    """
    runner.ask_at = lambda message: message.get("epoch") == 2
    code, lines = runner.run(MINDSPORE, script)
    assert (code, lines) == (85, ["epoch 1", "epoch 2"])
    assert runner.saves[-1] == (["last.ckpt"], {"epoch": 2, "next_epoch": 2})
    runner.ask_at = None
    code, lines = runner.run(MINDSPORE, script, restored=True)
    assert (code, lines) == (0, ["epoch 1", "epoch 2", "weight 4"])
    assert [point["epoch"] for point in runner.points] == [1, 2, 3, 4]
    assert runner.points[0]["values"] == {"loss": 0.5}


def run_outside(code):
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("stand_in", "script"),
    [
        (LIGHTNING, LIGHTNING_SCRIPT % ""),
        (KERAS, "c = outlast.callbacks.KerasCallback(); c.restore(StandInModel).fit(2, c.initial_epoch, [c])"),
        (MINDSPORE, "StandInModel().train(2, outlast.callbacks.MindSporeCallback())"),
    ],
    ids=["lightning", "keras", "mindspore"],
)
def test_outside_a_stint_training_is_undisturbed(stand_in, script):
    done = run_outside("import outlast\n" + stand_in + textwrap.dedent(script))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["LightningCallback", "TrainerCallback", "KerasCallback", "MindSporeCallback"])
def test_a_missing_framework_is_named_with_the_command_that_installs_it(name):
    code = f"""
        import sys
        for framework in ("lightning", "pytorch_lightning", "transformers", "keras", "tensorflow", "mindspore"):
            sys.modules[framework] = None
        import outlast
        try:
            outlast.callbacks.{name}
        except ImportError as error:
            print(error)
    """
    done = run_outside(code)
    assert done.stderr == ""
    assert f"outlast.callbacks.{name} needs " in done.stdout and "pip install " in done.stdout


def test_importing_the_callbacks_imports_no_framework():
    done = run_outside("""
        import outlast.callbacks, sys
        print([name for name in ("torch", "lightning", "transformers", "keras", "mindspore") if name in sys.modules])
        print(hasattr(outlast.callbacks, "Nothing"))
    """)
    assert done.stdout == "[]\nFalse\n"
