"""Results that are named by the clock: each stint finds what the ones before have left."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt, adapt_plainly, said
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

ROUNDS = """
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for epoch in range(5):
            loss = sum(step(net, opt, x, y) for x, y in POINTS)
            if epoch == 1:
                torch.save(net.state_dict(), best)
            print(epoch, loss)
        net.load_state_dict(torch.load(best))
        print("end", net(1.0).item())
"""
SHAPES = {
    "a folder": """
        import os, time
        folder = os.path.join("runs", time.strftime("%H%M") + str(time.time_ns()))
        stamp = str(time.time())
        os.makedirs(os.path.join(folder, stamp))
        best = os.path.join("runs", f"{stamp}.pt")
    """,
    "parts of a moment": """
        from datetime import datetime
        now = datetime.now()
        stamp = "{}-{}".format(now.second, now.microsecond)
        best = "best_" + stamp + ".pt"
    """,
    "a number in a text, a moment with a form": """
        import os, time
        from datetime import datetime
        now = datetime.now()
        folder = f"runs/{int(time.time() * 1000)}_{now:%H%M%S%f}"
        os.makedirs(folder)
        best = f"{folder}/best.pt"
    """,
    "a moment that is written": """
        import datetime
        now = datetime.datetime.now()
        best = "best_" + now.strftime("%H%M%S%f") + ".pt"
    """,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_name_that_the_clock_makes_is_the_same_in_each_stint(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(SHAPES[shape]) + textwrap.dedent(ROUNDS)
    lines = run(text).output.splitlines()
    done = adapt_plainly(text)
    assert run(done.text).output.splitlines() == lines
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=3).was_killed
    assert run(done.text, env=env).output.splitlines() == lines[2:]


def test_a_folder_named_in_a_function_that_calls_the_training_is_the_same_in_each_stint(run, tmp_path):
    text = (
        HEAD
        + STEP
        + textwrap.dedent("""
        import os
        from datetime import datetime
        def fit(net, opt, folder):
            for epoch in range(4):
                loss = sum(step(net, opt, x, y) for x, y in POINTS)
                torch.save(net.state_dict(), f"{folder}/{epoch}.pt")
                print(epoch, loss)
            return sorted(os.listdir(folder))
        def main():
            folder = f"runs/{datetime.now():%H%M%S%f}"
            os.makedirs(folder)
            net = nn.Linear(1, 1)
            print("end", fit(net, torch.optim.SGD(net.parameters()), folder))
        main()
    """)
    )
    lines = run(text).output.splitlines()
    done = adapt_plainly(text)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=3).was_killed
    assert run(done.text, env=env).output.splitlines()[-1] == lines[-1]


PICTURES = {
    "a path makes its folder": """
        folder = Path("runs", str(time.time_ns()))
        folder.mkdir(parents=True)
    """,
    "it is made of a name": """
        stamp = time.strftime("%H%M") + str(time.time_ns())
        folder = Path("runs") / f"{time.time_ns()}_of"
        folder.mkdir(parents=True, exist_ok=True)
    """,
}


@pytest.mark.parametrize("shape", PICTURES)
def test_a_folder_in_which_the_rounds_only_draw_and_count_is_the_same_in_each_stint(shape, run, tmp_path):
    text = HEAD + STEP + "import os, time\nimport numpy as np\nfrom pathlib import Path\n"
    text += textwrap.dedent(PICTURES[shape]) + textwrap.dedent("""
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for epoch in range(4):
            loss = sum(step(net, opt, x, y) for x, y in POINTS)
            np.save(folder / f"{epoch}.npy", loss)
            print(epoch, loss)
        print("end", sorted(os.listdir(folder)))
    """)
    lines = run(text).output.splitlines()
    done = adapt_plainly(text)
    assert "all stints have the first one's" in said(done, Kind.CHANGED)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=3).was_killed
    assert run(done.text, env=env).output.splitlines()[-1] == lines[-1]


def test_a_folder_that_something_else_makes_is_none_of_a_path():
    text = CURVES.format("client.mkdir(str(time.time()))").replace('SummaryWriter(f"runs/{time.time()}")', "None")
    assert "first_name" not in adapt(text.replace("from torch.utils.tensorboard import None\n", "")).text


CURVES = """
import time
import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter
{}
writer = SummaryWriter(f"runs/{{time.time()}}")
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters())
for epoch in range(5):
    opt.zero_grad()
    loss = net(torch.ones(1)).sum()
    loss.backward()
    opt.step()
    writer.add_scalar("loss", loss.item(), epoch)
"""


def test_curves_of_all_stints_lie_in_one_folder():
    done = adapt(CURVES.format(""))
    assert 'first_stamp = first_name(str(time.time()), os.environ.get("OUTLAST_CHECKPOINT") or contract' in done.text
    assert "{first_stamp}" in done.text and "{time.time()}" not in done.text


@pytest.mark.parametrize(
    "line",
    [
        'with open("settings.txt", "w") as file:\n    file.write("5")',
        'import json\njson.dump({}, open("settings.json", "w"))',
        'def end(losses):\n    with open("losses.txt", "w") as file:\n        print(losses, file=file)',
    ],
)
def test_files_that_are_written_in_one_go_do_not_matter(line):
    assert "first_name" in adapt(CURVES.format(line)).text


@pytest.mark.parametrize(
    "line", ['log = open("log.txt", "w")', "{}\n\ndef add():\n    open('log.txt', 'a').write('5')\n\nends = [add]"]
)
def test_a_start_that_empties_files_keeps_its_own_folder_and_that_is_told(line):
    done = adapt(CURVES.format(line.format("with open('log.txt', 'w') as file:\n    file.write('5')")))
    assert "first_name" not in done.text
    assert "time.time() is another one in each start" in said(done, Kind.DIFFERS)


def test_a_time_that_names_nothing_stays_the_time():
    text = HEAD + STEP + "import time\nstart = str(time.time())\nbest = 'best.pt'\n" + textwrap.dedent(ROUNDS)
    assert "first_name" not in adapt_plainly(text).text


def test_a_function_reads_the_folder_where_its_name_is_made():
    text = """
        import argparse, time
        stamp = time.strftime("%H%M")
        def main(args):
            best = args.out + "/" + stamp + ".pt"
            net = nn.Linear(1, 1)
            opt = torch.optim.SGD(net.parameters())
            for epoch in range(5):
                for x, y in POINTS:
                    step(net, opt, x, y)
                torch.save(net.state_dict(), best)
        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("--out", default="out")
            main(parser.parse_args())
    """
    done = adapt(HEAD + STEP + textwrap.dedent(text))
    assert 'first_name(time.strftime("%H%M"), os.environ.get("OUTLAST_CHECKPOINT") or contract.train_url' in done.text


KERAS = """
import datetime, os
import keras
stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
out = os.path.join("runs", stamp)
os.makedirs(out)
def train(model, x):
    best = os.path.join(out, "best.keras")
    model.fit(x, x, epochs=9, callbacks=[keras.callbacks.ModelCheckpoint(best, save_best_only=True)])
    return keras.models.load_model(best)
train(keras.Sequential(), [1.0])
"""


def test_what_a_callback_of_keras_keeps_has_the_first_ones_name():
    text = adapt(KERAS).text
    assert 'stamp = first_name(datetime.datetime.now().strftime("%Y%m%d-%H%M%S"), ' in text
    assert "first_name" not in adapt(KERAS.replace("save_best_only=True", "").replace("(best, )", "('a.keras')")).text


WAY = """
def {0}(model, x):
    best = os.path.join("nets", "%s.keras" % time.strftime("%H%M%S"))
    model.fit(x, epochs=9, callbacks=[keras.callbacks.ModelCheckpoint(best)])
{0}(keras.Sequential(), [1.0])
"""


def test_each_way_to_train_has_the_name_of_its_own_first_stint():
    text = adapt("import os, time\nimport keras\n" + WAY.format("begin") + WAY.format("refine")).text
    assert text.count('first_name(time.strftime("%H%M%S"), ') == 2
    assert '"resume.name")' in text and '"resume-2.name")' in text


def test_a_folder_of_that_name_may_be_there_in_the_next_stint():
    assert 'os.makedirs(out, exist_ok=bool(os.environ.get("OUTLAST_CHECKPOINT")))' in adapt_plainly(KERAS).text
    assert "os.makedirs(out, exist_ok=bool(contract.train_url))" in adapt(KERAS).text


def test_an_estimator_goes_on_in_the_folder_that_the_clock_named_first():
    done = adapt("""
        import os
        from datetime import datetime
        import tensorflow as tf
        def now():
            return datetime.now().strftime("%H%M%S")
        def main(base):
            place = os.path.join(base, now())
            estimator = tf.estimator.Estimator(model_fn=print, model_dir=place)
            estimator.train(input_fn=print)
        main("runs")
    """)
    assert 'place = os.path.join(base, first_name(now(), os.environ.get("OUTLAST_CHECKPOINT") or' in done.text
    assert done.is_complete


TENSORFLOW = """
    import os
    import time
    import tensorflow as tf

    model, optimizer = tf.keras.Sequential(), tf.keras.optimizers.Adam()
    stamp = time.strftime("%m%d-%H%M")
    curves = tf.summary.create_file_writer("curves/" + stamp)
    for epoch in range(5):
        with tf.GradientTape() as tape:
            loss = model(rows)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        model.save_weights(f"saved-{stamp}-{epoch}.weights.h5")
"""
MINDSPORE = """
    import os
    import time
    import mindspore as ms
    from mindspore import nn

    net = nn.Dense(1, 1)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    folder = os.path.join("saved", time.strftime("%m%d-%H%M"))
    os.makedirs(folder)
    for epoch in range(5):
        loss = step(rows, rows)
        ms.save_checkpoint(net, os.path.join(folder, f"{epoch}.ckpt"))
"""


@pytest.mark.parametrize("text", [TENSORFLOW, MINDSPORE])
def test_networks_of_other_libraries_save_under_the_name_of_the_first_stint_too(text):
    done = adapt(text)
    assert 'first_name(time.strftime("%m%d-%H%M"), ' in done.text
    assert "all stints have the first one's" in said(done, Kind.CHANGED)
