"""What is said of results: nothing of places that are only read, and where the logs of several stints lie."""

from __future__ import annotations

import pytest
from checked import adapt, said
from programs import Program

from outlast.migrate.engine import Kind

FILES = "from pathlib import Path\nOUT_PATH = Path(__file__).parent / 'out'\n"
LOOP = "w = 0\nfor epoch in range(3):\n    w = w + x\nprint(w)\n"
HEAD = "import numpy as np\nfrom files import OUT_PATH\n"
MADE = "import lightning as L\nmodule = L.LightningModule()\n"
FIT = MADE + "{settings}\ntrainer = L.Trainer({given})\ntrainer.fit(module)\n"


@pytest.mark.parametrize(
    "read",
    ["x = np.load(OUT_PATH / 'x.npy')\n", "x_file = OUT_PATH / 'x.npy'\nx = np.load(x_file)\n"],
)
def test_a_place_of_another_file_that_is_only_read_is_none_of_results(read, tmp_path):
    done = Program(tmp_path, files=FILES, train=HEAD + read + LOOP).adapt()
    assert "not understood" not in said(done, Kind.DIFFERS)
    assert "the script saves nothing" in said(done, Kind.DIFFERS)


def test_a_place_of_another_file_that_something_unknown_takes_is_named(tmp_path):
    train = HEAD + "x = np.load('in/x.npy')\n" + LOOP + "keep(w, OUT_PATH / 'w.npy')\n"
    done = Program(tmp_path, files=FILES, train=train).adapt()
    assert "OUT_PATH / 'w.npy' (line 8)" in said(done, Kind.DIFFERS)


def test_logs_of_a_trainer_of_settings_are_said_to_lie_apart():
    done = adapt(FIT.format(settings='settings = {"max_epochs": 3}', given="**settings"))
    assert "logs lie in a folder of their own" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize("given", ["**settings", "logger=settings['logger']"])
def test_settings_may_have_a_logger_that_does_not_count(given):
    done = adapt(FIT.format(settings='settings = {"logger": False}', given=given))
    assert "logs lie" not in said(done, Kind.DIFFERS)


def test_all_stints_have_the_folder_of_curves_that_the_first_one_named_by_the_clock():
    done = adapt("""
        import datetime, os
        import tensorflow as tf
        logs = os.path.join("logs", datetime.datetime.now().strftime("%Y%m%d-%H%M%S"))
        curves = tf.keras.callbacks.TensorBoard(log_dir=logs)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        model.fit(x, y, epochs=3, callbacks=[curves])
    """)
    assert 'first_name(datetime.datetime.now().strftime("%Y%m%d-%H%M%S"), ' in done.text


@pytest.mark.parametrize("name", ["net.pdf", "net.svg", "net.html"])
def test_what_an_unknown_method_draws_by_a_plain_keyword_is_a_result(name):
    done = adapt(f"from nets import Net\nnet = Net()\nnet.show(save_path='{name}')\n")
    assert f"save_path=os.path.join(contract.train_url or '', '{name}')" in done.text


def test_names_of_tensors_are_no_places():
    done = adapt(
        "import nets\nPAIRS = [('conv1.weight', 'layers.0.weight'), ('conv1.bias', 'save.bias')]\nnets.go(PAIRS)\n"
    )
    assert "weight" not in said(done, Kind.DIFFERS) and "bias" not in said(done, Kind.DIFFERS)
