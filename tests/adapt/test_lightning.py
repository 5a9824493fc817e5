"""Scripts whose loop the Trainer of Lightning owns."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest
from checked import adapt, adapt_plainly, said
from pretend_lightning import Counting, DrawingTrainer, NewTrainer, Trainer, fill_random
from stage import play

from outlast.migrate.engine import Kind

LIGHTNING = """
{imports}
data = make()
trainer = {trainer}
trainer.fit({given})
"""


@pytest.mark.parametrize(
    ("imports", "trainer", "base"),
    [
        ("import lightning as L", "L.Trainer(max_epochs=3)", "L.pytorch.callbacks.Checkpoint"),
        ("import lightning.pytorch as pl", "pl.Trainer(max_epochs=3,)", "pl.callbacks.Checkpoint"),
        ("from lightning import Trainer", "Trainer(max_epochs=3)", "lightning.pytorch.callbacks.Checkpoint"),
        (
            "import pytorch_lightning as pl", "pl.Trainer()",
            'getattr(pl.callbacks, "Checkpoint", pl.callbacks.Callback)',
        ),
        (
            "from pytorch_lightning import Trainer", "Trainer(max_epochs=3)",
            'getattr(pytorch_lightning.callbacks, "Checkpoint", pytorch_lightning.callbacks.Callback)',
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("given", ["Net(), data", "Net(), data,", "model=Net()", 'Net(), ckpt_path="last"'])
def test_lightning_gets_a_callback_and_the_folder_for_its_results(imports, trainer, base, given):
    done = adapt(LIGHTNING.format(imports=imports, trainer=trainer, given=given))
    assert done.is_complete and f"class SaveResume({base}):" in done.text
    assert "default_root_dir=contract.train_url" in done.text
    assert f"resume_fit(trainer.fit, contract.train_url)({given})" in done.text
    assert "saves nothing" not in said(done, Kind.DIFFERS)


def test_the_folder_that_lightning_was_given_stays_by_hand():
    trainer = 'L.Trainer(default_root_dir="runs")'
    done = adapt(LIGHTNING.format(imports="import lightning as L", trainer=trainer, given="Net()"))
    assert 'default_root_dir=contract.train_url or "runs"' in done.text


@pytest.mark.parametrize(("given", "asks"), [("Net(), ckpt_path=last", True), ("Net()", False)])
def test_a_checkpoint_of_its_own_that_is_further_on_is_taken(given, asks):
    done = adapt(LIGHTNING.format(imports="import lightning as L\nlast = None", trainer="L.Trainer()", given=given))
    assert ('if is_further(words.get("ckpt_path")):' in done.text) is asks
    assert ('kept[0].get("global_step", 0) > kept[1]["global_step"]' in done.text) is asks


def test_every_source_of_random_numbers_goes_into_the_checkpoint():
    text = LIGHTNING.format(
        imports="import random, lightning as L, numpy as np", trainer="L.Trainer()", given="Net(np.random.rand(3))"
    )
    done = adapt(text)
    for part in ('"torch_random": torch.get_rng_state()', '"numpy_random": np.random.get_state()',
                 '"random": random.getstate()', 'np.random.set_state(self.state["numpy_random"])',
                 "import torch"):  # fmt: skip
        assert part in done.text


@pytest.mark.parametrize(
    "place", ["ModelCheckpoint(dirpath={})", "ModelCheckpoint({})", "TensorBoardLogger({}, name='x')",
              "CSVLogger(save_dir={})"],
)  # fmt: skip
def test_places_that_the_trainer_does_not_decide_go_to_the_output_folder(place):
    head = "import lightning as L\nfrom lightning.pytorch.callbacks import ModelCheckpoint\n"
    head += "from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger\n"
    text = f"{head}place = {place.format(repr('runs/a'))}\nL.Trainer(callbacks=place).fit(net)\n"
    done = adapt(text)
    assert place.format("contract.train_url or 'runs/a'") in done.text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("L.Trainer(max_epochs=3).fit(net)", "resume_fit(L.Trainer(max_epochs=3, {root}).fit, {folder})(net)"),
        ("L.Trainer(**cfg).fit(net)", "L.Trainer(**dict(cfg, **({maybe}))).fit"),
        ("t = L.Trainer.from_argparse_args(cfg)\nt.fit(net)", "from_argparse_args(cfg, **({maybe}))"),
        ("if net: L.Trainer().fit(net)", "if net: resume_fit(L.Trainer({root}).fit, {folder})(net)"),
        ("with L.Trainer() as t:\n    t.fit(net)", "    resume_fit(t.fit, {folder})(net)"),
        ("def build():\n    return L.Trainer()\nt = build()\nt.fit(net)", "resume_fit(t.fit, {folder})(net)"),
        ("def run(t):\n    t.fit(net)\nrun(L.Trainer())", "resume_fit(t.fit, {folder})(net)"),
        ("trainer = hydra.utils.instantiate(cfg)\ntrainer.fit(net)", "resume_fit(trainer.fit, {folder})(net)"),
        ("class T(L.Trainer):\n    pass\nt = T()\nt.fit(net)", "t = T(**({maybe}))"),
        (
            "class App:\n    def __init__(self):\n        self.t = L.Trainer()\n    def go(self):\n"
            "        self.t.fit(net)\nApp().go()",
            "resume_fit(self.t.fit, {folder})(net)",
        ),
    ],
)  # fmt: skip
def test_a_trainer_is_found_wherever_it_is_made(body, expected):
    done = adapt(f"import hydra\nimport lightning as L\nfrom here import cfg, net\n{body}\n")
    folder = "contract.train_url"
    maybe = f'{{"default_root_dir": {folder}}} if {folder} else {{}}'
    assert expected.replace("{root}", f"default_root_dir={folder}").format(folder=folder, maybe=maybe) in done.text
    assert done.is_complete and "goes on from its last epoch" in said(done, Kind.CHANGED)


def test_fits_that_follow_each_other_have_checkpoints_of_their_own():
    done = adapt_plainly("import lightning as L\nL.Trainer(max_epochs=1).fit(net)\nL.Trainer(max_epochs=2).fit(net)\n")
    assert 'fit, None, "resume-1.ckpt")(net)' in done.text and 'fit, None, "resume-2.ckpt")(net)' in done.text


def test_of_two_branches_only_one_has_a_checkpoint():
    done = adapt_plainly("import lightning as L\nt = L.Trainer()\nif x:\n    t.fit(a)\nelse:\n    t.fit(b)\n")
    assert done.text.count("resume_fit(t.fit)(") == 2


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("while net:\n    L.Trainer().fit(net)", "more than once"),
        ("import optuna\nfor fold in range(3):\n    L.Trainer().fit(net)", "more than once"),
        ('L.Trainer(strategy="fsdp").fit(net)', "each process holds a part of the model (fsdp"),
        ("from there import go\ngo(L.Trainer())", "fits in another file"),
        ("from lightning.pytorch.cli import LightningCLI\ncli = LightningCLI(net)", "--ckpt_path=last"),
    ],
)
def test_what_is_not_certain_is_left_alone(body, words):
    done = adapt(f"import lightning as L\nfrom here import net\n{body}\n")
    assert words in said(done, Kind.HAND) and "OUTLAST_CHECKPOINT" not in done.text


def test_a_command_line_of_lightning_that_only_builds_is_wired():
    done = adapt(
        "from lightning.pytorch.cli import LightningCLI\ncli = LightningCLI(net, run=False)\n"
        "cli.trainer.fit(cli.model, datamodule=cli.datamodule)\n"
    )
    assert "resume_fit(cli.trainer.fit, contract.train_url)(cli.model" in done.text


def test_a_module_of_lightning_alone_is_no_trainer():
    done = adapt_plainly("import lightning as L\nfor epoch in range(3):\n    total = epoch\n")
    assert "Lightning" not in " ".join(finding.message for finding in done.findings)


def test_the_class_stands_behind_the_import_that_it_needs():
    text = "import sys\nsys.path.append('lib')\nimport pytorch_lightning as pl\n\npl.Trainer().fit(1)\n"
    done = adapt_plainly(text)
    assert (
        done.text.index("import pytorch_lightning") < done.text.index("class SaveResume") < done.text.index("fit)(1)")
    )


def test_the_class_stands_in_the_block_that_imports_what_it_needs():
    lines = LIGHTNING.format(imports="import lightning as L", trainer="L.Trainer()", given="Net()").splitlines()
    done = adapt("from net import Net, make\nif __name__ == '__main__':\n" + "\n".join("    " + each for each in lines))
    assert done.is_complete and "\n    class SaveResume(L.pytorch.callbacks.Checkpoint):" in done.text
    assert done.text.index("import lightning as L") < done.text.index("class SaveResume")


def test_a_rate_that_follows_a_metric_goes_on_where_it_was(tmp_path, monkeypatch):
    torch, lightning = types.ModuleType("torch"), types.ModuleType("lightning")
    lightning.pytorch = types.ModuleType("lightning.pytorch")
    lightning.pytorch.callbacks = types.SimpleNamespace(Checkpoint=object)
    lightning.Trainer = type("Trainer", (NewTrainer,), {"store": {}})
    fill_random(torch)
    for module in (torch, lightning, lightning.pytorch):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    net = "class Net:\n    automatic_optimization = True\n"
    text = adapt_plainly(f"import lightning as L\n{net}trainer = L.Trainer()\ntrainer.fit(Net())\n").text
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "keeps")}
    whole = ["epoch 0 64", "epoch 1 32", "epoch 2 16", "epoch 3 8"]
    assert play(text, tmp_path).output.splitlines() == whole
    for done, kill_after in ((0, 2), (1, 2), (2, 2), (3, None)):
        played = play(text, tmp_path, env=env, kill_after=kill_after)
        assert played.output.splitlines() == whole[done : done + 2]


ONE_FIT = "import lightning as L\nL.Trainer().fit(net)\n"


def test_a_fit_that_is_passed_leaves_the_numbers_that_it_left(tmp_path, monkeypatch):
    """Behind the last epoch a Trainer draws some more; what the next fold draws comes behind these."""
    torch, lightning = types.ModuleType("torch"), types.ModuleType("lightning")
    lightning.pytorch = types.ModuleType("lightning.pytorch")
    lightning.pytorch.callbacks = types.SimpleNamespace(Checkpoint=object)
    lightning.Trainer = type("Trainer", (DrawingTrainer,), {"store": {}, "max_epochs": 2})
    fill_random(torch)
    for module in (torch, lightning, lightning.pytorch):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    text = adapt_plainly(
        "import random\nimport lightning as L\nclass Net:\n    automatic_optimization = True\nrandom.seed(3)\n"
        "for fold in range(2):\n    print('drawn', random.random())\n    L.Trainer().fit(Net())\n"
    ).text
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "keeps")}
    whole = [each for each in play(text, tmp_path).output.splitlines() if "drawn" in each]
    assert play(text, tmp_path, env=env, kill_after=5).was_killed
    assert [each for each in play(text, tmp_path, env=env).output.splitlines() if "drawn" in each] == whole


def test_each_of_several_folds_goes_on_where_it_was(tmp_path, monkeypatch):
    torch, lightning = types.ModuleType("torch"), types.ModuleType("lightning")
    lightning.pytorch = types.ModuleType("lightning.pytorch")
    lightning.pytorch.callbacks = types.SimpleNamespace(Checkpoint=object)
    lightning.Trainer = type("Trainer", (NewTrainer,), {"store": {}, "max_epochs": 2})
    fill_random(torch)
    for module in (torch, lightning, lightning.pytorch):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    done = adapt_plainly(
        "import lightning as L\nclass Net:\n    automatic_optimization = True\n"
        "def train(rows):\n    trainer = L.Trainer()\n    trainer.fit(Net())\n"
        "for rows in ('a', 'b'):\n    print(rows)\n    train(rows)\n"
    )
    assert "callback.leave(trainer)" in done.text and "callback.leave" not in adapt_plainly(ONE_FIT).text
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "keeps")}
    whole = ["a", "epoch 0 64", "epoch 1 32", "b", "epoch 0 64", "epoch 1 32"]
    assert play(done.text, tmp_path).output.splitlines() == whole
    # A round is kept when its metric is known: the one that was told last is done again.
    for kill_after, expected in ((3, whole[:3]), (3, ["a", "epoch 1 32", "b"]), (None, ["a", "b", *whole[4:]])):
        assert play(done.text, tmp_path, env=env, kill_after=kill_after).output.splitlines() == expected


@pytest.mark.parametrize("end", ["", "/"])
def test_checkpoints_of_all_stints_lie_where_those_of_the_first_one_do(tmp_path, monkeypatch, end):
    torch, lightning = types.ModuleType("torch"), types.ModuleType("lightning")
    lightning.pytorch = types.ModuleType("lightning.pytorch")
    lightning.pytorch.callbacks = types.SimpleNamespace(Checkpoint=object)
    lightning.Trainer = type("Trainer", (Counting,), {"store": {}})
    fill_random(torch)
    for module in (torch, lightning, lightning.pytorch):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    text = "import lightning as L\nclass Net:\n    automatic_optimization = True\ntrainer = L.Trainer()\n"
    done = adapt(text + "trainer.fit(Net())\nprint(trainer.checkpoint_callbacks[0].dirpath)\n")
    assert "the loggers of Lightning count their starts" in said(done, Kind.DIFFERS)
    given = ["--train_url", f"{tmp_path / 'out'}{end}"]
    for _ in range(2):
        assert play(done.text, tmp_path, *given, kill_after=2).was_killed
    assert str(tmp_path / "out/logs/version_0/checkpoints") in play(done.text, tmp_path, *given).output
    assert len(list((tmp_path / "out/logs").iterdir())) == 3
    assert "version_0" in play(done.text, tmp_path).output, "by hand as ever"


GATHERS = """
import lightning as L


class Net(L.LightningModule):
    automatic_optimization = True

    def __init__(self):
        self.losses, self.best, self.outputs, self.rows = [], 9, [], None

    def setup(self, stage):
        self.rows = [1]

    def on_train_epoch_end(self):
        self.losses.append(len(self.losses))
        self.best = min(self.best, 5)
        self.outputs.append(1)
        self.outputs.clear()


seen, other = [], []


class Tell(L.Callback):
    def on_train_epoch_end(self, trainer, module):
        seen.append(trainer.current_epoch)
        module.on_train_epoch_end()


trainer = L.Trainer()
trainer.callbacks.append(Tell())
model = Net()
trainer.fit(model)
print(seen, model.losses, model.best)
"""


def test_what_the_scripts_own_classes_gather_goes_on(tmp_path, monkeypatch):
    torch, lightning = types.ModuleType("torch"), types.ModuleType("lightning")

    class Callback:
        on_fit_start = on_train_start = load_state_dict = lambda self, *given: None
        state_dict = dict

    lightning.pytorch = types.ModuleType("lightning.pytorch")
    lightning.pytorch.callbacks = types.SimpleNamespace(Checkpoint=Callback)
    lightning.LightningModule, lightning.Callback = object, Callback
    lightning.Trainer = type("Trainer", (NewTrainer,), {"store": {}})
    fill_random(torch)
    for module in (torch, lightning, lightning.pytorch):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    text = adapt_plainly(GATHERS).text
    assert 'for key in {"best", "losses"} & set(' in text and "gathered=[seen]" in text, "no more than what is gathered"
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "keeps")}
    whole = play(GATHERS, tmp_path).output.splitlines()
    play(text, tmp_path, env=env, kill_after=2)
    assert play(text, tmp_path, env=env).output.splitlines() == [*whole[1:]]


@pytest.mark.parametrize("by_hand", [True, False])
def test_versions_before_1_6_go_on_too(tmp_path, monkeypatch, by_hand):
    torch, lightning = types.ModuleType("torch"), types.ModuleType("pytorch_lightning")
    torch.store = {}
    fill_random(torch)

    def save(state, path):
        torch.store[path] = state
        Path(path).touch()

    torch.save = save
    lightning.Trainer = Trainer
    lightning.callbacks = types.SimpleNamespace(Callback=object)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "pytorch_lightning", lightning)
    text = adapt_plainly("import pytorch_lightning as pl\ntrainer = pl.Trainer()\ntrainer.fit(1)\n").text
    env = {} if by_hand else {"OUTLAST_CHECKPOINT": str(tmp_path / "keeps")}
    whole = ["epoch 0 0", "epoch 1 10", "epoch 2 20", "epoch 3 30"]
    first = play(text, tmp_path, env=env, kill_after=3)
    assert first.output.splitlines() == whole[:3]
    second = play(text, tmp_path, env=env)
    assert second.output.splitlines() == whole[0 if by_hand else 2 :]
    third = play(text, tmp_path, env=env)
    assert third.output.splitlines() == (whole if by_hand else [])


def test_processes_that_lightning_starts_anew_find_the_contracts_options():
    """They are started with what `sys.argv` holds by then."""
    text = (
        "import pytorch_lightning as pl\nfrom nets import Net\ntrainer = pl.Trainer(max_epochs=3)\ntrainer.fit(Net())\n"
    )
    done = adapt(text.replace("from nets import Net", "import torch").replace("Net()", "torch.nn.Linear(1, 1)"))
    assert "contract, _ = contract_parser.parse_known_args()" in done.text
