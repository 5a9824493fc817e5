"""One idiom at a time: what it becomes, and what is refused instead of guessed."""

from __future__ import annotations

import textwrap

import pytest
from stage import read

from outlast.adapt import CONTRACTS, adapt_text
from outlast.migrate.engine import Kind


def adapt(text, contract="modelarts"):
    return adapt_text(textwrap.dedent(text), CONTRACTS[contract])


def said(done, kind):
    return " / ".join(f"{finding.message} {finding.advice}" for finding in done.findings if finding.kind is kind)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('np.load("x.npy")', 'np.load(os.path.join(contract.data_url or "", "x.npy"))'),
        ('np.load("d/x.npy")', 'np.load(os.path.join(contract.data_url or "d", "x.npy"))'),
        ("np.load('./d/e/x.npy')", "np.load(os.path.join(contract.data_url or './d/e', 'x.npy'))"),
        ('np.load(r"d/x.npy")', 'np.load(os.path.join(contract.data_url or "d", r"x.npy"))'),
        ('np.load(f"d/{n}.npy")', 'np.load(os.path.join(contract.data_url or "d", f"{n}.npy"))'),
        ('np.load("d/" + n)', 'np.load(os.path.join(contract.data_url or "d", "") + n)'),
        ('np.load("d/%s.npy" % n)', 'np.load(os.path.join(contract.data_url or "d", "%s.npy" % n))'),
        ('os.listdir("d")', 'os.listdir(contract.data_url or "d")'),
        ('np.load(Path("d") / n)', 'np.load(Path(contract.data_url or "d") / n)'),
        ('np.load(os.path.join("d", n))', 'np.load(os.path.join(contract.data_url or "d", n))'),
        ('np.save("o/x.npy", n)', 'np.save(os.path.join(contract.train_url or "o", "x.npy"), n)'),
        ('os.makedirs("o")', 'os.makedirs(contract.train_url or "o", exist_ok=bool(contract.train_url))'),
        ('os.mkdir("o")', 'os.makedirs(contract.train_url or "o", exist_ok=bool(contract.train_url))'),
        ('torch.load("w/r.pth")', 'torch.load(contract.pretrain_url or "w/r.pth")'),
        ('torch.load("d/train.pt")', 'torch.load(os.path.join(contract.data_url or "d", "train.pt"))'),
        ('open("d/x.txt")', 'open(os.path.join(contract.data_url or "d", "x.txt"))'),
        ('open("x.txt", "w")', 'open(os.path.join(contract.train_url or "", "x.txt"), "w")'),
        ('T.from_pretrained("gpt2")', 'T.from_pretrained(contract.pretrain_url or "gpt2")'),
    ],
)
def test_a_path_keeps_its_old_value_as_the_default(before, after):
    head = "import os\nimport numpy as np\nimport torch\nfrom pathlib import Path\nfrom t import T\nn = 'a'\n"
    assert after in adapt(head + before + "\n").text.splitlines()


@pytest.mark.parametrize(
    "kept",
    [
        'open("config.yaml")', 'open("/dev/null", "w")', 'np.load("http://host/x.npy")', 'print("data/x.npy")',
        'json.load(open("hparams.json"))', 'x = "data/x.npy"', '"""open("data/x")"""', 'model.load("x")',
    ],
)  # fmt: skip
def test_what_is_no_path_of_data_stays_as_it_is(kept):
    text = "import json\nimport numpy as np\nx = 1\n" + kept + "\n"
    assert kept in adapt(text).text.splitlines()


def test_a_file_that_is_written_and_read_is_a_result():
    done = adapt("""
        import os, torch
        if os.path.exists("last.pt"):
            state = torch.load("last.pt")
        torch.save({}, "last.pt")
    """)
    assert done.text.count('os.path.join(contract.train_url or "", "last.pt")') == 3


def test_unrelated_places_are_looked_for_by_their_last_names():
    done = adapt("""
        import numpy as np
        a = np.load("/mnt/a/x.npy")
        b = np.load("data/y.npy")
        c = [np.load(f"/srv/scans/{k}.npy") for k in range(3)]
    """)
    for name in ("x.npy", "y.npy"):
        assert f'np.load(os.path.join(contract.data_url, "{name}") if contract.data_url else ' in done.text
    assert (
        '(os.path.join(os.path.join(contract.data_url, "scans") if contract.data_url else "/srv/scans", f"' in done.text
    )
    assert "--data_url must hold scans, x.npy, y.npy" in said(done, Kind.DIFFERS)


def test_unrelated_places_of_one_name_are_refused():
    done = adapt('import numpy as np\na = np.load("/mnt/a/x.npy")\nb = np.load("/home/b/x.npy")\n')
    assert "/mnt/a/x.npy" in said(done, Kind.HAND) and 'np.load("/mnt/a/x.npy")' in done.text


def test_results_in_several_folders_find_these_folders_made():
    done = adapt('import numpy as np\nnp.save("a/x.npy", 1)\nnp.save("b/y.npy", 2)\n')
    assert 'os.makedirs(os.path.join(contract.train_url, "a"), exist_ok=True)' in done.text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while x < 3:\n    x += 1\n", "while loop"),
        ("for epoch in range(3):\n    epoch += x\n    x += 1\n", "its own counter"),
        ("for epoch in range(3):\n    if epoch:\n        x += last\n    last = x\n", "not there before the loop"),
        ("for epoch in range(3):\n    x += 1\nfor epoch in range(3):\n    x += 2\n", "2 training loops"),
        ("def f():\n    global x\n    x = 2\nfor epoch in range(3):\n    x += 1\n    f()\n", "global"),
    ],
)
def test_a_loop_that_is_not_certain_is_refused_with_its_reason(body, reason):
    text = "x = 0\n" + body
    done = adapt(text, "plain")
    assert reason in said(done, Kind.HAND)
    assert done.text == text


def test_the_last_round_is_not_saved_where_its_values_live_on():
    done = adapt("x = 0\nfor epoch in range(3):\n    x += 1\n    loss = x\nprint(loss)\n", "plain")
    assert "if resume_dir and epoch + 1 < 3:" in done.text


def test_a_download_ends_where_the_data_is_given():
    done = adapt('from torchvision import datasets\nd = datasets.MNIST("m", download=True)\n', "xihe")
    assert 'datasets.MNIST(contract.data_url or "m", download=not contract.data_url)' in done.text
    assert "--data data_url=FOLDER" in said(done, Kind.CHANGED)


@pytest.mark.parametrize(
    "line",
    [
        'requests.get("http://h/x")',
        'os.system("wget http://h/x")',
        'os.popen("kaggle datasets download x")',
        'subprocess.check_output(["git", "clone", "http://h/x"])',
        'yf.download("AAPL")',
        'tushare.get_k_data("600519")',
        'akshare.stock_zh_a_hist("600519")',
        'evaluate.load("accuracy")',
        'smp.Unet("resnet34")',
        'smp.Unet("resnet34", encoder_weights="imagenet")',
        "dgl.data.CoraGraphDataset()",
    ],
)
def test_other_downloads_are_reported_by_how_much_they_hurt(line):
    head = (
        "import os, subprocess, akshare, dgl, evaluate, requests, tushare\nimport segmentation_models_pytorch as smp\n"
    )
    text = f"{head}import yfinance as yf\nx = {line}\n"
    assert "there is no network" in said(adapt(text, "xihe"), Kind.HAND)
    assert "may not reach" in said(adapt(text, "modelarts"), Kind.DIFFERS)


def test_what_is_fetched_only_where_it_is_missing_is_told_so():
    done = adapt("""
        import os
        from urllib.request import urlretrieve
        from parts import read, unpack
        if not os.path.exists("rows"):
            unpack(urlretrieve("http://h/rows.zip")[0], "rows")
        read("rows")
    """)
    assert "urlretrieve fetches http://h/rows.zip where it is not there yet; this" in said(done, Kind.DIFFERS)


def test_a_required_option_need_not_be_given_with_the_contracts():
    done = adapt("""
        import argparse, os
        p = argparse.ArgumentParser()
        p.add_argument("--data-dir", required=True)
        a = p.parse_args()
        print(os.listdir(a.data_dir))
    """)
    assert 'p.add_argument("--data-dir", required=False)' in done.text
    assert "if a.data_url:\n    a.data_dir = a.data_url\nelif a.data_dir is None:\n    p.error(" in done.text


def test_arguments_that_do_not_reach_the_paths_are_taken_away_at_the_top():
    done = adapt("""
        import argparse
        import numpy as np
        X = np.load("d/x.npy")
        def main():
            p = argparse.ArgumentParser()
            p.add_argument("--lr", type=float, default=1.0)
            args = p.parse_args()
        main()
    """)
    assert "contract, sys.argv[1:] = contract_parser.parse_known_args()" in done.text


def test_names_of_the_script_are_never_taken():
    done = adapt(
        "import numpy as np\ncontract = resume_dir = 1\nx = np.load('d/x.npy')\nfor epoch in range(3):\n    x += 1\n"
    )
    assert "contract_.data_url" in done.text and "resume_dir_ = os.environ" in done.text


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_endings_comments_and_a_missing_last_newline_survive(ending):
    text = ending.join(
        [
            "# top",
            "import numpy as np",
            "",
            "# data",
            "x = np.load('d/x.npy')  # here",
            "for epoch in range(3):",
            "    x += 1",
        ]
    )
    done = adapt_text(text, CONTRACTS["modelarts"]).text
    assert done.startswith("# top" + ending) and "# data" in done and "  # here" in done
    assert done.count("\n") == done.count(ending)
    compile(done, "x", "exec")


def test_what_does_not_parse_is_left_alone():
    done = adapt_text("def x(:\n", CONTRACTS["xihe"])
    assert done.text == "def x(:\n" and not done.is_complete and "left alone" in said(done, Kind.UNPARSED)
    assert not adapt_text("", CONTRACTS["xihe"]).is_complete


def test_a_keras_fit_goes_on_and_keeps_its_callbacks():
    done = adapt("import tensorflow as tf\nm = tf.keras.Model()\nm.fit(1, epochs=3, callbacks=[a])\n", "plain")
    assert "resume_fit(m.fit)(1, epochs=3, callbacks=[a])" in done.text


def test_the_resumed_torch_script_carries_scheduler_scaler_and_values():
    done = adapt("""
        import torch
        net = torch.nn.Linear(1, 1).cuda()
        opt = torch.optim.SGD(net.parameters(), 0.1)
        sched = torch.optim.lr_scheduler.StepLR(opt, 1)
        scaler = torch.cuda.amp.GradScaler()
        seen = []
        for epoch in range(1, 4):
            opt.step(); sched.step(); scaler.update()
            seen.append(epoch)
    """, "plain")  # fmt: skip
    for name in ("net", "opt", "sched", "scaler"):
        assert f'{name}.load_state_dict(resumed["{name}"])' in done.text
    assert 'seen = resumed["seen"]' in done.text and "range(first_epoch, 4)" in done.text and "cuda_random" in done.text


def test_random_numbers_of_whatever_card_there_is_are_kept():
    done = adapt("""
        import torch
        net = torch.nn.Linear(1, 1).to(torch.accelerator.current_accelerator())
        opt = torch.optim.SGD(net.parameters(), 0.1)
        for epoch in range(4):
            opt.step()
    """, "plain")  # fmt: skip
    assert 'torch.cuda.set_rng_state_all(resumed["cuda_random"])' in done.text


def test_an_option_with_a_value_of_its_own_decides_nothing():
    done = adapt("""
        import argparse
        import numpy as np
        p = argparse.ArgumentParser()
        p.add_argument("--data_url", default="/cache/data")
        args = p.parse_args()
        x = np.load("d/x.npy")
    """)
    assert 'np.load("d/x.npy")' in done.text and "has a value of its own" in said(done, Kind.DIFFERS)


def test_options_that_a_contract_passes_are_not_the_scripts_own():
    done = adapt("""
        import argparse, os
        p = argparse.ArgumentParser()
        p.add_argument("--aim_repo", required=True)
        args = p.parse_args()
        os.makedirs(args.aim_repo, exist_ok=True)
        os.replace("o/a.tmp", "o/a.json")
        print(open("o/a.json").read())
    """, "xihe")  # fmt: skip
    assert '("--aim_repo", required=True)' in done.text
    assert done.text.count('os.path.join(args.output_path or "o", "a.json")') == 2


def test_a_path_that_leads_nowhere_is_named():
    done = adapt('import numpy as np\nx = np.load("a/b".upper())\n')
    assert '"a/b".upper() stays as it is' in said(done, Kind.DIFFERS)


def corpus(name, contract="modelarts"):
    return adapt_text(read(name), CONTRACTS[contract])


def test_a_folder_that_a_format_fills_in_is_followed_and_its_literal_stays():
    done = corpus("torch_gan_classes").text
    assert 'torch.save(generator.state_dict(), "%s/generator_%d.pth" % (opt.outf, epoch))' in done
    assert '"{}/optimizer.pth".format(opt.outf)' in done
    assert "if opt.train_url:\n    opt.outf = opt.train_url" in done


def test_a_folder_with_a_placeholder_is_never_replaced_by_the_option():
    head = "import numpy as np\nname, at = 'a', 1\n"
    done = adapt(head + 'np.save("out/%s/x_%d.npy" % (name, at), at)\n').text
    assert 'os.path.join(contract.train_url or "out", "%s/x_%d.npy" % (name, at))' in done


def test_a_model_called_generator_is_a_model():
    done = corpus("torch_gan_classes").text
    assert 'generator.load_state_dict(resumed["generator"])' in done and "get_state()" not in done


def test_optimizers_of_other_libraries_and_named_counters_resume():
    done = corpus("torch_finetune_loop")
    assert done.is_complete
    for line in ('model.load_state_dict(resumed["model"])', 'optimizer.load_state_dict(resumed["optimizer"])',
                 'scheduler.load_state_dict(resumed["scheduler"])', 'total = resumed["total"]',
                 'rounds = trange(first_round, int(args.epochs), desc="Epoch")'):  # fmt: skip
        assert line in done.text, line
    assert 'parser.add_argument("--data_dir", required=False)' in done.text
    assert "args.model_name_or_path = args.pretrain_url" in done.text


def test_an_optimizer_that_is_out_of_sight_is_refused():
    text = """
        import torch
        from engine import Engine
        engine, losses = Engine(), []
        for epoch in range(5):
            loss = engine(epoch)
            loss.backward()
            losses.append(loss.item())
    """
    assert "the optimizer is not in the loop's function" in said(adapt(text), Kind.HAND)


def test_values_in_self_and_global_names_go_along():
    done = corpus("torch_class_values").text
    assert 'self.best = resumed["self.best"]' in done and '"self.history": self.history' in done
    assert 'root = contract.data_url or "/srv/streets/train"' in done
    assert 'best = resumed["best"]' in corpus("torch_global_value").text


def test_global_names_are_put_back_from_a_function_that_does_not_declare_them():
    text = read("torch_global_value").replace(
        "for epoch in range(5):", "def run(model, optimizer):\n  for epoch in range(5):"
    )
    text = text.replace("    keep_the_best(train())", "      optimizer.step()\n      keep_the_best(train())")
    text = text.replace("    print(epoch", "      print(epoch")
    assert 'globals()["best"] = resumed["best"]' in adapt(text).text


def test_flags_that_are_required_get_a_second_name():
    done = corpus("tf1_estimator")
    assert 'flags.DEFINE_alias("data_url", "data_dir")' in done.text
    assert 'flags.DEFINE_alias("train_url", "output_dir")' in done.text
    assert done.is_complete and "Estimator saves and resumes by itself" in said(done, Kind.DIFFERS)


def test_folders_that_go_to_a_reader_elsewhere_are_data():
    done = corpus("torch_path_constants").text
    assert 'images = Path(os.path.join(contract.data_url or "./data", "imgs/"))' in done
    assert '"order": order.get_state()' in done


def test_a_generator_without_a_name_is_kept_by_its_loader_or_refused():
    text = read("torch_path_constants").replace("generator=order", "generator=torch.Generator().manual_seed(0)")
    assert '"loader.generator": loader.generator.get_state()' in adapt_text(text, CONTRACTS["plain"]).text
    text = text.replace("loader = torch", "loaders = {}\n    loaders[0] = torch").replace("in loader", "in loaders[0]")
    assert "the generator of the samples has no name" in said(adapt_text(text, CONTRACTS["plain"]), Kind.HAND)


def test_weights_from_the_folder_of_own_results_are_results():
    text = """
        import torch
        from mindspore import load_checkpoint
        from mindspore.train.callback import ModelCheckpoint
        saves = ModelCheckpoint(prefix="net", directory="./ckpt")
        found = load_checkpoint("./ckpt/net-10_100.ckpt")
    """
    assert 'load_checkpoint(os.path.join(contract.train_url or "./ckpt", "net-10_100.ckpt"))' in adapt(text).text


def test_a_place_that_nothing_explains_is_named():
    text = 'from nets import Streets\nstreets = Streets("/srv/streets")\nprint("/srv/other")\n'
    assert said(adapt(text), Kind.DIFFERS).count("stays as it is") == 1


def test_arguments_are_taken_away_from_code_that_is_read_later():
    assert "contract, sys.argv[1:] =" in adapt('out = "x"\nexec(open("configurator.py").read())\n').text
    assert "contract, sys.argv[1:] =" in adapt("from options import TrainOptions\nopt = TrainOptions().parse()\n").text


def test_a_model_that_another_file_trains_is_refused():
    text = """
        from models import create_model
        from options import TrainOptions
        opt = TrainOptions().parse()
        model = create_model(opt)
        seen = 0
        for epoch in range(opt.first, opt.epochs):
            seen += 1
            model.optimize_parameters()
    """
    assert "model.optimize_parameters() may change what is not saved" in said(adapt(text), Kind.HAND)
    assert "nothing reads --data_url" in said(adapt(text), Kind.DIFFERS)


def test_a_required_option_of_click_gets_a_second_name():
    text = """
        import click
        import numpy as np
        @click.command()
        @click.option("--data-dir", required=True)
        def main(data_dir):
            print(np.load(data_dir + "/x.npy"))
        main()
    """
    done = adapt(text)
    assert '@click.option("--data-dir", "--data_url", required=True)' in done.text
    assert "x.npy" not in said(done, Kind.DIFFERS)


def test_the_old_reader_of_mnist_takes_the_data():
    text = """
        from tensorflow.examples.tutorials.mnist import input_data
        mnist = input_data.read_data_sets("MNIST_data/", one_hot=True)
    """
    assert 'read_data_sets(os.path.join(contract.data_url or "MNIST_data", "")' in adapt(text).text


def test_what_is_added_stands_behind_all_imports_whatever_lies_between_them():
    done = adapt("""
        import os
        import sys
        sys.path.append("..")
        os.environ["THREADS"] = "1"
        import argparse
        import numpy as np
        print(np.load("data/a.npy"))
    """)
    assert "import numpy as np\n\ncontract_parser = argparse" in done.text.replace("\n\n\n", "\n\n")


def test_an_import_further_down_is_no_import_for_what_stands_above():
    done = adapt("""
        import os
        print("hello")
        import argparse
        print(open("data/a.txt").read())
    """)
    assert done.text.index("import argparse") < done.text.index("argparse.ArgumentParser") < done.text.index("hello")
