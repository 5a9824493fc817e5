"""Scripts that lie in a package which imports them, too, and functions that have the same name in several files."""

from __future__ import annotations

from programs import POINTS, Program

PACKAGE = {
    "net____init__": "from net.predict import label\nfrom net.train import train\n",
    "net__predict": """
        import argparse
        import torch

        def label(folder):
            return torch.load(folder + "/model.pt")

        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--model_dir", required=True)
            args = parser.parse_args()
            print(label(args.model_dir))

        if __name__ == "__main__":
            main()
    """,
    "net__rows": """
        def rows(folder):
            return [tuple(map(float, line.split(","))) for line in open(folder + "/points.csv")]
    """,
    "net__train": """
        import argparse
        import os
        import torch
        from net.rows import rows

        def train(args):
            os.makedirs(args.model_dir, exist_ok=True)
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            losses = [] if args.fresh else list(open("losses"))
            for epoch in range(4):
                for x, y in rows(args.corpus_dir):
                    STEP
                losses.append(epoch)
                print("epoch", epoch, len(losses))
            torch.save(model.state_dict(), args.model_dir + "/model.pt")

        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("corpus_dir")
            parser.add_argument("--model_dir", default="models")
            parser.add_argument("--fresh", default=True)
            train(parser.parse_args())

        if __name__ == "__main__":
            main()
    """,
}


def test_a_script_that_its_own_package_imports_takes_the_options_once(tmp_path):
    program = Program(tmp_path / "code", "net/train.py", **PACKAGE)
    (tmp_path / "code" / "setup.py").write_text("")
    done = program.adapt()
    assert not done.by_hand
    data, out = tmp_path / "in", tmp_path / "out"
    data.mkdir()
    (data / "points.csv").write_text(POINTS)
    environ = {"PYTHONPATH": str(tmp_path / "code")}
    flags = ("--data_url", str(data), "--train_url", str(out))
    first = program.run(*flags, until="epoch 1", environ=environ)
    assert first.lines[-1] == "epoch 1 2", first.error
    second = program.run(*flags, environ=environ)
    assert second.lines == ["epoch 1 2", "epoch 2 3", "epoch 3 4"], second.error
    assert {each.name for each in out.iterdir()} == {"model.pt", "resume.pt"}


def test_a_function_of_another_file_is_not_run_because_the_script_has_one_of_its_name(tmp_path):
    program = Program(tmp_path / "code", "net/train.py", **PACKAGE)
    (tmp_path / "code" / "setup.py").write_text("")
    before = program.text("net/predict.py")
    done = program.adapt()
    assert program.text("net/predict.py") == before
    assert "pretrain_url" not in " ".join(done.given)


def test_a_function_is_run_that_the_script_takes_from_another_file(tmp_path):
    program = Program(
        tmp_path,
        tools="""
            def main(path):
                return [tuple(map(float, line.split(","))) for line in open("rows/" + path)]
        """,
        train="""
            import tools

            def main():
                print(len(tools.main("points.csv")))

            main()
        """,
    )
    program.adapt()
    assert "CONTRACT_DATA_URL" in program.text("tools.py")


def test_a_file_that_is_imported_in_two_ways_is_one_file(tmp_path):
    program = Program(
        tmp_path / "shop",
        settings='class Settings:\n    logs = "shop/logs"\n',
        record="""
            import os
            from torch.utils.tensorboard import SummaryWriter
            from shop.settings import Settings

            class Record:
                def __init__(self, name):
                    self.folder = os.path.join(Settings.logs, name)
                    self.writer = SummaryWriter(log_dir=self.folder)
        """,
        train="""
            from record import Record
            from settings import Settings

            record = Record("small")
        """,
    )
    (tmp_path / "setup.py").write_text("")
    done = program.adapt()
    assert 'logs = os.environ.get("CONTRACT_TRAIN_URL") or "shop/logs"' in program.text("settings.py")
    assert not any("not visible" in finding.message for finding in done.findings)


def test_a_copy_of_a_file_in_another_folder_is_another_file(tmp_path):
    rows = 'def rows():\n    return list(open("rows/points.csv"))\n'
    program = Program(
        tmp_path,
        one____init__="",
        two____init__="",
        one__rows=rows,
        two__rows=rows,
        train="import one.rows\nimport two.rows\n\nprint(len(one.rows.rows()) + len(two.rows.rows()))\n",
    )
    program.adapt()
    assert "CONTRACT_DATA_URL" in program.text("one/rows.py") and "CONTRACT_DATA_URL" in program.text("two/rows.py")
