"""Loops that a MindSpore script writes itself: what is saved, and what is refused."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import pytest
from checked import adapt as adapt_to
from checked import adapt_plainly as adapt
from checked import said
from stage import play

from outlast.migrate.engine import Kind


def saved(done):
    """What the checkpoint holds of the training."""
    found = re.search(r'"trained": take_trained\(([^)]*)\)', done.text)
    return found.group(1).split(", ") if found else []


LOOP = """
import mindspore as ms
from mindspore import nn, ops
import mindspore.dataset as ds
from nets import resnet50, step, data, make_optimizer
{before}
for epoch in range(9):
    for x, y in data.create_tuple_iterator():
        {step}
"""
NET = "net = resnet50(10)\nopt = nn.Adam(net.trainable_params())\nloss_fn = nn.MSELoss()\n"
GRAD = "grad_fn = {}(lambda x, y: loss_fn(net(x), y), None, opt.parameters)"


@pytest.mark.parametrize("grad", ["ms.value_and_grad", "ops.value_and_grad", "ms.grad"])
def test_the_network_of_a_gradient_is_saved(grad):
    done = adapt(LOOP.format(before=NET + GRAD.format(grad), step="opt(grad_fn(x, y)[1])"))
    assert done.is_complete and saved(done) == ["net", "opt"]


@pytest.mark.parametrize(
    "cell", ["nn.TrainOneStepCell", "nn.TrainOneStepWithLossScaleCell", "MyTrainOneStep", "ms.amp.build_train_network"]
)
def test_a_cell_that_trains_is_saved(cell):
    before = NET + f"train_net = {cell}(nn.WithLossCell(net, loss_fn), opt)"
    done = adapt(LOOP.format(before=before, step="loss = train_net(x, y)"))
    assert done.is_complete and saved(done) == ["train_net"]


def test_a_name_that_a_function_has_too_is_told_apart():
    done = adapt("""
        import mindspore as ms
        from mindspore import nn
        from nets import resnet50, data
        def run_epoch(epoch, train_net, data):
            for x in data:
                loss = train_net(x)
        def train_net():
            net = resnet50()
            train_net = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params()))
            for epoch in range(9):
                run_epoch(epoch, train_net, data)
        train_net()
    """)
    assert done.is_complete and saved(done) == ["train_net"]


def test_an_optimizer_of_another_file_is_known_by_its_name():
    before = (
        "net = resnet50()\noptimizer = make_optimizer(net)\ngrad = ms.value_and_grad(net, None, optimizer.parameters)"
    )
    done = adapt(LOOP.format(before=before, step="optimizer(grad(x)[1]); net.set_train()"))
    assert done.is_complete and saved(done) == ["net", "optimizer"]


def test_schedules_and_scalers_are_saved_and_metrics_are_not():
    before = NET + (
        "from mindspore.experimental import optim\nscheduler = optim.lr_scheduler.StepLR(opt, 2)\n"
        "scaler = ms.amp.DynamicLossScaler(8, 2, 3) if fast else None\nmetric = nn.Accuracy()\n"
        "train_net = nn.TrainOneStepCell(net, opt)"
    )
    step = "train_net(scaler.scale(x)); metric.update(x); metric.clear(); scheduler.step()"
    done = adapt(LOOP.format(before=before, step=step))
    assert done.is_complete and saved(done) == ["scheduler", "scaler", "train_net"]
    assert "starts anew" not in said(done, Kind.DIFFERS)


def test_a_training_in_each_round_is_a_round():
    done = adapt("""
        import mindspore as ms
        from nets import net, data
        model = ms.Model(net, None, ms.nn.SGD(net.trainable_params()))
        best = 0
        for epoch in range(9):
            model.train(1, data)
            best = max(best, model.eval(data)["acc"])
    """)
    assert done.is_complete and saved(done) == ["model"] and 'best = resumed["best"]' in done.text


def test_fit_goes_on_as_train_does():
    done = adapt("""
        import mindspore as ms
        model = ms.train.Model(net)
        model.fit(9, data, other)
    """)
    assert "model.fit(9 - resume_done, data, other, callbacks=resume_callbacks, **resume_words)" in done.text
    assert "def on_train_epoch_end(self, run_context):" in done.text, "others are refused by fit"
    assert 'if "initial_epoch" in inspect.signature(model.fit).parameters:' in done.text


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("[LossMonitor()]", "[LossMonitor()] + "),
        ("LossMonitor()", "[LossMonitor()] + "),
        ("told", "(list(told) if isinstance(told, (list, tuple)) else [told] if told else []) + "),
    ],
)
def test_callbacks_may_be_one_or_none(given, written):
    done = adapt(f"""
        import mindspore as ms
        from mindspore.train.callback import LossMonitor
        told = [LossMonitor()] if rank == 0 else None
        model = ms.Model(net)
        model.train(9, data, callbacks={given})
    """)
    assert f"callbacks={written}resume_callbacks" in done.text


GATHERS = """
import types
import mindspore as ms
from mindspore.train.callback import Callback


class Keep(Callback):
    def __init__(self, record):
        super().__init__()
        self.record, self.best, self.steps = record, 9, []

    def epoch_begin(self, run_context):
        self.steps = []

    def epoch_end(self, run_context):
        self.steps.append(1)
        self.record["seen"].append(ms.Tensor(run_context.original_args().cur_epoch_num))
        self.best = min(self.best, 5)


record = {"seen": []}
keep = Keep(record)
model = ms.Model(4)
model.train(4, 1, callbacks=[keep])
print(keep.best, [each.number for each in record["seen"]])
"""


class _Gathering:
    """`Model.train` of MindSpore 2, and what a checkpoint of it holds."""

    class Tensor:
        def __init__(self, number):
            self.number = number

        def asnumpy(self):
            return self.number

        def __reduce__(self):
            raise TypeError("as in some versions")

    class Model:
        train_network = None

        def __init__(self, net):
            """As MindSpore has it."""

        def train(self, epochs, data, callbacks, initial_epoch=0):
            for each in callbacks:
                getattr(each, "begin", lambda now: None)(None)
            for epoch in range(initial_epoch, epochs):
                now = types.SimpleNamespace(
                    original_args=lambda epoch=epoch: types.SimpleNamespace(cur_epoch_num=epoch + 1, train_network=0)
                )
                for call in ("epoch_begin", "epoch_end"):
                    for each in callbacks:
                        getattr(each, call, lambda now: None)(now)
                print("epoch", epoch)


def _gathering(monkeypatch, **classes):
    """These modules in place of MindSpore's; `classes`: callbacks that it brings."""
    kept = {}
    module, callback = types.ModuleType("mindspore"), types.ModuleType("mindspore.train.callback")
    callback.Callback = type("Callback", (), {})
    module.train = types.SimpleNamespace(callback=callback)
    module.Tensor, module.Model = _Gathering.Tensor, _Gathering.Model

    def save(net, path, append_dict):
        Path(path).touch()
        kept.update({name: module.Tensor(value) for name, value in append_dict.items()})

    module.save_checkpoint, module.load_checkpoint = save, lambda path: dict(kept)
    module.load_param_into_net = lambda net, values: None
    vars(callback).update(classes)
    for name, value in (("mindspore", module), ("mindspore.train", module.train), (callback.__name__, callback)):
        monkeypatch.setitem(sys.modules, name, value)


def test_what_callbacks_of_the_script_gather_goes_on(tmp_path, monkeypatch):
    _gathering(monkeypatch)
    text = adapt(GATHERS).text
    assert 'for key in {"best", "record"} & set(' in text, "what each epoch begins anew is not gathered"
    whole = play(GATHERS, tmp_path).output.splitlines()
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "keeps")}
    play(text, tmp_path, env=env, kill_after=2)
    assert play(text, tmp_path, env=env).output.splitlines() == whole[2:]


class _Waiting:
    """As MindSpore has it: what it counts begins anew with each training."""

    def begin(self, run_context):
        self.wait, self.best = 0, 9

    def epoch_end(self, run_context):
        self.wait += 1
        self.best = min(self.best, 5 if run_context.original_args().cur_epoch_num == 1 else 7)
        print("waited", self.wait, self.best)


STOPS = """
import mindspore as ms
from mindspore.train.callback import EarlyStopping
model = ms.Model(4)
model.train(4, 1, callbacks=[EarlyStopping()])
"""


def test_what_callbacks_of_mindspore_count_goes_on(tmp_path, monkeypatch):
    _gathering(monkeypatch, EarlyStopping=_Waiting)
    text = adapt(STOPS).text
    whole = play(STOPS, tmp_path).output.splitlines()
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "keeps")}
    play(text, tmp_path, env=env, kill_after=4)
    assert play(text, tmp_path, env=env).output.splitlines() == whole[4:]


@pytest.mark.parametrize(
    ("home", "is_kept"), [("mindvision.engine.callback", True), ("mindcv.utils", False), ("parts.callbacks", False)]
)
def test_what_callbacks_of_other_libraries_compare_is_kept_or_named(home, is_kept):
    done = adapt(f"""
        import mindspore as ms
        from {home} import ValAccMonitor
        model = ms.Model(net)
        model.train(9, data, callbacks=[ValAccMonitor(model, data, 9)])
    """)
    assert ('for key in {"best_res"} & set(' in done.text) == is_kept
    assert ("ValAccMonitor of another library" in said(done, Kind.DIFFERS)) == (not is_kept)


def test_one_pass_over_samples_is_known_as_one():
    done = adapt("""
        import mindspore as ms
        from mindspore import nn
        from nets import net, data
        train_net = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params()))
        for row in data.repeat(8).create_dict_iterator():
            train_net(row["x"])
    """)
    assert "goes once through its samples" in said(done, Kind.HAND)


def test_of_several_processes_that_train_a_model_the_first_saves():
    text = """
        import mindspore as ms
        from mindspore.communication import init
        init()
        model = ms.Model(net)
        model.train(9, data)
    """
    is_other = 'if epoch == self.last or not (os.environ.get("RANK_ID"'
    assert is_other in adapt(text).text
    assert is_other not in adapt(text.replace("        init()\n", "").replace("init", "other")).text


def test_a_loop_between_functions_sees_what_is_around_them():
    done = adapt("""
        import mindspore as ms
        from mindspore import nn
        from nets import resnet50, data
        def train(net, epochs):
            optimizer = nn.SGD(net.trainable_params())
            loss_fn = nn.MSELoss()
            def forward(x, y):
                return loss_fn(net(x), y)
            grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
            def step(x, y):
                loss, grads = grad_fn(x, y)
                optimizer(grads)
                return loss
            def rounds(model, data):
                for epoch in range(epochs):
                    for x, y in data.create_tuple_iterator():
                        step(x, y)
            rounds(net, data)
        train(resnet50(10), 9)
    """)
    assert done.is_complete and set(saved(done)) in ({"model", "optimizer"}, {"net", "optimizer"})


@pytest.mark.parametrize(("shuffle", "differs"), [("", True), (", shuffle=True", True), (", shuffle=False", False)])
def test_one_training_with_a_seed_tells_of_the_order(shuffle, differs):
    text = f"""
        import mindspore as ms
        ms.set_seed(1)
        data = ms.dataset.MnistDataset("data"{shuffle})
        model = ms.Model(net)
        model.train(9, data)
    """
    assert ("order of shuffled samples" in said(adapt(text), Kind.DIFFERS)) is differs
    assert "order of shuffled samples" not in said(adapt(text.replace("ms.set_seed(1)", "")), Kind.DIFFERS)


def test_an_iterator_from_before_the_loop_is_brought_to_where_it_was():
    before = NET + "ms.set_seed(1)\ntrain_net = nn.TrainOneStepCell(net, opt)\nbatches = data.create_dict_iterator()"
    text = LOOP.format(before=before, step="train_net(x, y)").replace("data.create_tuple_iterator()", "batches")
    done = adapt(text)
    assert "for resume_pass in range(first_epoch):\n        for resume_sample in batches:" in done.text
    assert "resume_pass" not in adapt(text.replace("ms.set_seed(1)\n", "")).text, "any order is as good"


def test_single_steps_are_saved_now_and_then():
    before = NET + "train_net = nn.TrainOneStepCell(net, opt)\nx = data.read()"
    text = LOOP.format(before=before, step="").replace("epoch in range(9)", "step in range(9000)")
    done = adapt(text.replace("for x, y in data.create_tuple_iterator():\n        ", "train_net(x)"))
    assert "time.monotonic() >= resume_due" in done.text and saved(done) == ["train_net"]


def test_of_several_processes_the_first_saves():
    before = "from mindspore.communication import init\ninit()\n" + NET + "train_net = nn.TrainOneStepCell(net, opt)"
    done = adapt(LOOP.format(before=before, step="train_net(x, y)"))
    assert 'saves_here = os.environ.get("RANK_ID"' in done.text and "if resume_dir and saves_here:" in done.text
    assert "one process saves for all" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    ("before", "step", "reason"),
    [
        ("", "step(x, y)", "changes nothing that is visible"),
        ("seen = []", "seen.append(step(x, y))", "no optimizer or training Cell of MindSpore"),
        ("from nets import hold", "hold().optimizer(step(x, y))", "the loop has no name for it"),
        ("from nets import nets", "nets.all[0].opt(x)", "the loop has no name for it"),
        (
            "ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.SEMI_AUTO_PARALLEL)\n" + NET,
            "opt(net(x))",
            "each process holds a part of the network",
        ),
        (NET + "best = None", "opt(net(best))\n        if y: best = copy.deepcopy(net)", "best is a network"),
        (NET + "best = None", "opt(net(best))\n        if y: best = net", "best is a network"),
        ("from nets import opt", "opt(step(x, y))", "has no name where the loop stands"),
    ],
)
def test_what_has_no_name_or_no_file_is_refused(before, step, reason):
    done = adapt("import copy\n" + LOOP.format(before=before, step=step))
    assert reason in said(done, Kind.HAND) and "take_trained" not in done.text


@pytest.mark.parametrize("draws", ["nn.Dropout(0.5)", "ops.randn(3)", "ops.StandardNormal()(3)"])
def test_random_numbers_of_mindspore_are_named(draws):
    done = adapt(LOOP.format(before=NET + f"z = {draws}", step="opt(net(x))"))
    assert done.is_complete and "random numbers that MindSpore draws by itself" in said(done, Kind.DIFFERS)


def test_a_split_without_a_seed_is_named():
    text = LOOP.format(before=NET + "train, test = data.split([0.8, 0.2])", step="opt(net(x))")
    assert "split deals the samples anew" in said(adapt(text), Kind.DIFFERS)
    assert "split" not in said(adapt(text.replace("train, test", "ms.set_seed(1)\ntrain, test")), Kind.DIFFERS)


@pytest.mark.parametrize(("words", "is_told"), [("", True), (", randomize=False", False)])
def test_a_split_before_a_training_in_one_call_is_named(words, is_told):
    text = f"""
    import mindspore as ms
    from nets import data, net, loss, optimizer
    rows, tests = data.split([0.8, 0.2]{words})
    model = ms.Model(net, loss, optimizer)
    model.train(9, rows)
    """
    assert ("split deals the samples anew" in said(adapt(text), Kind.DIFFERS)) == is_told


PLACES = """
import mindspore as ms
import mindspore.dataset as ds
from download import download
from nets import net
LINE
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'path = download(url, "./", kind="zip", replace=True)\ndata = ds.MnistDataset("MNIST_Data/train")',
            'path = contract.data_url or download(url, "./", kind="zip", replace=True)',
        ),
        (
            'download(url, "./c.csv")\nopen("./c.csv")',
            'os.path.join(contract.data_url, "c.csv") if contract.data_url else download(url, "./c.csv")',
        ),
        (
            'url = "https://a.b/net.ckpt"\ndownload(url, "./net.ckpt")\nms.load_checkpoint("./net.ckpt", net)',
            'contract.pretrain_url or download(url, "./net.ckpt")',
        ),
        (
            'from mindspore import SummaryCollector\nSummaryCollector("./summary")',
            'SummaryCollector(contract.output_path or "./summary")',
        ),
        (
            'ms.export(net, 1, file_name="net", file_format="MINDIR")',
            'ms.export(net, 1, file_name=os.path.join(contract.output_path or "", "net"), file_format="MINDIR")',
        ),
        (
            'text = ds.TextFileDataset(dataset_files="./text/a.txt")',
            'text = ds.TextFileDataset(dataset_files=os.path.join(contract.data_url or "./text", "a.txt"))',
        ),
    ],
)
def test_places_and_downloads_follow_the_contract(before, after):
    done = adapt_to(PLACES.replace("LINE", before), "xihe")
    assert after in done.text.splitlines()
    assert "download" not in said(done, Kind.HAND)


def test_a_download_of_what_nothing_reads_is_named():
    done = adapt_to(PLACES.replace("LINE", 'download(url, "./", kind="zip")'), "xihe")
    assert "download fetches something; there is no network" in said(done, Kind.HAND)


def test_an_iterator_that_a_function_of_the_loop_takes_from_the_module_is_told_of():
    text = (
        "import mindspore as ms\nfrom mindspore import nn\nfrom nets import resnet50, data\nms.set_seed(1)\n"
        + NET
        + "train_net = nn.TrainOneStepCell(net, opt)\nbatches = data.create_dict_iterator()\n"
        "def run(batches=batches):\n    for row in batches:\n        train_net(row)\n"
        "def train():\n    for epoch in range(9):\n        run()\ntrain()\n"
    )
    assert "the order of shuffled samples begins anew" in said(adapt(text), Kind.DIFFERS)
    assert "order of shuffled samples" not in said(adapt(text.replace("ms.set_seed(1)\n", "")), Kind.DIFFERS)
