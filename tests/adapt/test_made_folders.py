"""The contract's output folder is made once, however often a program is adapted."""

import pytest
from checked import adapt
from programs import Program

FILES = {
    "train": """
        import glob
        import os
        import torch
        from torch import nn
        from helpers import get_args, makedirs
        args = get_args()
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        makedirs(args.save_path)
        for epoch in range(3):
            for x, y in [(1.0, 2.0), (2.0, 3.0)]:
                STEP
            if epoch % 2 == 0:
                prefix = os.path.join(args.save_path, "net")
                path = prefix + "_{}.pt".format(epoch)
                torch.save(model, path)
            if epoch == 1:
                prefix = os.path.join(args.save_path, "best")
                path = prefix + "_{}.pt".format(epoch)
                torch.save(model, path)
                for old in glob.glob(prefix + "*"):
                    if old != path:
                        os.remove(old)
            print("epoch", epoch)
    """,
    "helpers": """
        import argparse
        import os
        def makedirs(name):
            try:
                os.makedirs(name)
            except OSError:
                pass
        def get_args():
            parser = argparse.ArgumentParser()
            parser.add_argument("--save_path", default="results")
            return parser.parse_args()
    """,
}


def test_a_folder_that_another_file_makes_is_made_no_second_time(tmp_path):
    program = Program(tmp_path / "code", **FILES)
    program.adapt()  # and again: nothing may change
    ran = program.run("--train_url", str(tmp_path / "out"))
    assert ran.code == 0, ran.error
    assert {path.name for path in (tmp_path / "out").glob("*_*")} == {"net_0.pt", "net_2.pt", "best_1.pt"}


def test_a_folder_is_not_made_by_what_its_name_was_before(tmp_path):
    program = Program(
        tmp_path / "code",
        train="""
            import os
            import torch
            torch.manual_seed(0)
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(3):
                for x, y in [(1.0, 2.0), (2.0, 3.0)]:
                    STEP
                folder = "pictures/"
                if not os.path.exists(folder):
                    os.makedirs(folder)
                with open(folder + "%d.txt" % epoch, "w") as f:
                    f.write("drawn")
                if epoch == 2:
                    folder = "numbers/"
                    with open(folder + "loss.txt", "w") as f:
                        f.write(str(loss.item()))
                print("epoch", epoch)
        """,
    )
    program.adapt()
    ran = program.run("--train_url", str(tmp_path / "out"))
    assert ran.code == 0, ran.error
    assert (tmp_path / "out/numbers/loss.txt").exists() and (tmp_path / "out/pictures/2.txt").exists()


def test_the_folder_of_a_file_of_an_unknown_name_goes_where_the_file_goes():
    done = adapt("""
        import os
        import torch
        from nets import net, named
        name = named()
        os.makedirs(os.path.dirname(name), exist_ok=True)
        torch.save(net, name + ".pth")
    """)
    assert 'os.makedirs(os.path.dirname(os.path.join(contract.train_url or "", name)), exist_ok=True)' in done.text
    assert 'torch.save(net, os.path.join(contract.train_url or "", name + ".pth"))' in done.text


ASKING = {
    "a text": ('"out"', '"out/nets"'),
    "an option": ("args.out", 'os.path.join(args.out, "nets")'),
    "a name": ("out", "nets"),
}


@pytest.mark.parametrize("how", ASKING)
def test_folders_below_one_that_is_asked_for_are_made_in_every_start(how, tmp_path):
    asked, made = ASKING[how]
    program = Program(tmp_path / "code", train=f"""
        import argparse, os
        parser = argparse.ArgumentParser()
        parser.add_argument("--out", default="out")
        args = parser.parse_args()
        out = args.out
        nets = out + "/nets"
        if not os.path.exists({asked}):
            os.makedirs({asked})
            os.mkdir({made})
        with open({made} + "/net.txt", "w") as f:
            f.write("net")
    """)  # fmt: skip
    program.adapt()
    (tmp_path / "results").mkdir()
    for _ in range(2):
        ran = program.run("--train_url", str(tmp_path / "results"))
        assert ran.code == 0, ran.error
    assert (tmp_path / "results/nets/net.txt").is_file() or (tmp_path / "results/out/nets/net.txt").is_file()
    assert not (tmp_path / "code/out").exists()
    assert program.run().code == 0 and (tmp_path / "code/out/nets/net.txt").is_file()


def test_a_folder_is_made_again_where_only_its_file_was_asked_for():
    done = adapt("""
        import os
        last = "models/a/last.txt"
        if os.path.exists(last):
            print(open(last).read())
        else:
            os.makedirs("models/a")
        with open(last, "w") as f:
            f.write("net")
    """)
    assert "exist_ok=bool(contract.train_url))" in done.text


def test_the_folder_of_an_option_is_there_for_what_is_made_in_it(tmp_path):
    program = Program(
        tmp_path / "code",
        train="""
        import argparse, os
        parser = argparse.ArgumentParser()
        parser.add_argument("--output_dir", default="")
        args = parser.parse_args()
        nets = os.path.join(args.output_dir, "nets")
        if not os.path.exists(nets):
            os.mkdir(nets)
        with open(os.path.join(nets, "net.txt"), "w") as f:
            f.write("net")
    """,
    )
    program.adapt()
    ran = program.run("--train_url", str(tmp_path / "deep/results"))
    assert ran.code == 0, ran.error
    assert (tmp_path / "deep/results/nets/net.txt").is_file()


def test_what_files_begin_with_is_no_folder_where_they_are_read_again():
    done = adapt(
        """
        import matplotlib.pyplot as plt
        from PIL import Image
        for epoch in range(3):
            path = "out/drawn/epoch_" + str(epoch + 1) + ".png"
            plt.savefig(path)
        drawn = []
        for epoch in range(3):
            path = "out/drawn/epoch_" + str(epoch + 1) + ".png"
            drawn.append(Image.open(path))
        drawn[0].save("out/all.gif", append_images=drawn[1:])
        """
    )
    assert 'os.makedirs(os.path.join(contract.train_url, "drawn"), exist_ok=True)' in done.text
    assert 'epoch_"), exist_ok' not in done.text


def test_a_folder_that_rounds_set_is_not_looked_for_in_the_checkpoint_by_a_second_adapt():
    done = adapt("""
        import os
        import torch

        net = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        folder = "./saved"
        for epoch in range(3):
            if epoch == 1:
                folder = os.path.join(folder, "later")
            net(torch.ones(1)).sum().backward()
            optimizer.step()
            torch.save(net.state_dict(), os.path.join(folder, "net.pt"))
    """)
    assert 'folder = contract.train_url or "./saved"' in done.text and 'folder = resumed["folder"]' in done.text
