"""Whole scripts of the corpus, and shapes that they do not have: what each becomes, or why it is refused."""

from __future__ import annotations

from checked import adapt, said
from stage import read

from outlast.adapt import CONTRACTS, adapt_text
from outlast.migrate.engine import Kind


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
        print(len("hello"))
        import argparse
        print(open("data/a.txt").read())
    """)
    assert done.text.index("import argparse") < done.text.index("argparse.ArgumentParser") < done.text.index("hello")
