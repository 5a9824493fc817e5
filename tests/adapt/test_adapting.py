"""One idiom at a time: what it becomes, and what is refused instead of guessed."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.adapt import CONTRACTS, adapt_text
from outlast.migrate.engine import Kind


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
        'smp.Unet("resnet34", encoder_weights=FETCHED)',
        "dgl.data.CoraGraphDataset()",
    ],
)
def test_other_downloads_are_reported_by_how_much_they_hurt(line):
    head = (
        "import os, subprocess, akshare, dgl, evaluate, requests, tushare\nimport segmentation_models_pytorch as smp\n"
    )
    text = f'{head}import yfinance as yf\nFETCHED = "imagenet"\nx = {line}\n'
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


@pytest.mark.parametrize(("default", "is_told"), [('"results"', True), ("None", False), ('""', False)])
def test_a_folder_for_results_that_is_always_set_is_no_sign_of_the_platform(default, is_told):
    done = adapt(f"""
        import argparse, torch
        from torch import nn
        parser = argparse.ArgumentParser()
        parser.add_argument("--output_path", default={default})
        args = parser.parse_args()
        net = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for epoch in range(9):
            for batch in range(3):
                optimizer.zero_grad()
                net(torch.ones(1)).sum().backward()
                optimizer.step()
        torch.save(net, args.output_path + "/net.pt")
    """, "xihe")  # fmt: skip
    assert ("it goes on only in a stint" in said(done, Kind.DIFFERS)) == is_told
    assert ("or args.output_path\nresume_path" in done.text) == (not is_told)


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
