"""Scripts that import from files beside them: all are changed together, and what they did before stays the same."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
from program_forms import PROGRAMS
from programs import POINTS, Program

from outlast.migrate.engine import Kind


@pytest.fixture(params=sorted(PROGRAMS))
def program(request, tmp_path):
    files, data = PROGRAMS[request.param]
    made = Program(tmp_path / "code", **files)
    made.data = data
    return made


def _with_data(program, folder):
    """The program where it was written, with its data beside it."""
    shutil.copytree(program.folder, folder)
    copied = Program(folder, program.entry)
    (folder / program.data).parent.mkdir(parents=True, exist_ok=True)
    (folder / program.data).write_text(POINTS)
    return copied


@pytest.mark.parametrize(("contract", "output"), [("modelarts", "train_url"), ("xihe", "output_path")])
def test_all_files_of_a_program_find_the_places_of_the_contract(program, contract, output, tmp_path):
    before = _with_data(program, tmp_path / "before")
    expected = before.run()
    assert expected.code == 0, expected.error
    done = program.adapt(contract)
    assert not done.by_hand

    after = _with_data(program, tmp_path / "after")
    plain = after.run()
    assert plain.lines == expected.lines and after.files() == before.files(), plain.error

    given, results = tmp_path / "given", tmp_path / "results"
    given.mkdir()
    (given / "points.csv").write_text(POINTS)
    flags = ("--data_url", str(given), f"--{output}", str(results))
    there = program.run(*flags)
    assert there.lines == expected.lines, there.error
    assert not program.files(), "results lie only where the contract says"
    written = sum(1 for path in results.rglob("*") if path.is_file() and path.name != "resume.pt")
    assert written == len(before.files()) - 1, "all results, and not the data"


def test_a_program_that_is_killed_goes_on_with_the_same_numbers(program, tmp_path):
    expected = _with_data(program, tmp_path / "before").run().lines
    program.adapt()
    (tmp_path / "points.csv").write_text(POINTS)
    flags = ("--data_url", str(tmp_path), "--train_url", str(tmp_path / "results"))
    first = program.run(*flags, until="epoch 2")
    second = program.run(*flags)
    assert second.code == 0, second.error
    assert first.lines == expected[:3]
    # It may have done more before the kill came.
    assert len(second.lines) < len(expected) and second.lines == expected[len(expected) - len(second.lines) :]


def test_what_a_module_does_not_run_for_the_script_stays(tmp_path):
    files, _ = PROGRAMS["paths that are handed over"]
    program = Program(tmp_path, **files)
    before = program.text("saving.py")
    program.adapt()
    after = program.text("saving.py")
    assert 'filename="never_used.pt"' in after and 'open("never.txt", "w")' in after
    assert after.partition("def never_called")[2] == before.partition("def never_called")[2]


def test_a_script_in_a_folder_of_its_own_finds_the_modules_of_its_project(tmp_path):
    files, _ = PROGRAMS["a package"]
    files = {
        **files,
        "scripts__train": 'import sys\nsys.path.append(".")\n' + files["train"].replace("                ", ""),
    }
    del files["train"]
    program = Program(tmp_path / "code", "scripts/train.py", **files)
    (tmp_path / "code/requirements.txt").write_text("torch\n")
    done = program.adapt()
    assert str(program.folder / "src/engine.py") in done.changed


def test_modules_outside_of_the_project_are_not_touched(tmp_path):
    Program(tmp_path, common="def save(text):\n    open('log.txt', 'w').write(text)\n")
    program = Program(tmp_path / "code", train="from common import save\nsave('x')\n")
    assert program.adapt().changed == [str(program.folder / "train.py")]


def test_a_training_of_a_module_that_the_script_repeats_is_refused(tmp_path):
    files, _ = PROGRAMS["a package"]
    again = files["train"].replace("fit(torch", "while True:\n                    fit(torch")
    done = Program(tmp_path, **{**files, "train": again}).adapt()
    (said,) = [finding.message for finding in done.by_hand]
    assert "the training of src/engine.py is done more than once" in said


def test_a_module_that_does_not_parse_is_left_alone(tmp_path):
    program = Program(tmp_path, train="import broken\nopen('out.txt', 'w').write('x')\n")
    (tmp_path / "broken.py").write_bytes(b"def :\n")
    assert program.adapt().changed == [str(tmp_path / "train.py")]


def test_findings_name_their_files(tmp_path):
    files, _ = PROGRAMS["constants"]
    done = Program(tmp_path, **files).adapt()
    told = done.to_json()["findings"]
    assert {finding["file"] for finding in told} == {str(tmp_path / name) for name in ("config.py", "train.py")}
    assert all(report.path.endswith((".py",)) for report in done.files)
    assert any(finding.kind is Kind.CHANGED for finding in done.findings)


def test_processes_that_are_started_anew_find_the_places(tmp_path):
    program = Program(tmp_path / "code", train="""
        import argparse
        import multiprocessing

        def work(rank):
            with open("data/points.csv") as lines:
                print(rank, len(lines.read()), flush=True)
            with open(f"rank{rank}.txt", "w") as out:
                out.write("done")

        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("--ranks", type=int, default=2)
            args = parser.parse_args()
            context = multiprocessing.get_context("spawn")
            for rank in range(args.ranks):
                process = context.Process(target=work, args=(rank,))
                process.start()
                process.join()
    """)  # fmt: skip
    assert not [each for each in program.adapt().by_hand if each.rule == "arguments"]
    (tmp_path / "points.csv").write_text(POINTS)
    results = tmp_path / "results"
    results.mkdir()
    command = [sys.executable, "train.py", "--data_url", str(tmp_path), "--train_url", str(results)]
    ran = subprocess.run(command, cwd=program.folder, capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == ["0", str(len(POINTS)), "1", str(len(POINTS))]
    assert sorted(path.name for path in results.iterdir()) == ["rank0.txt", "rank1.txt"]


def test_a_folder_that_a_function_of_another_file_expects_is_made(tmp_path):
    program = Program(tmp_path / "code", saving="""
        import os

        def save_results(folder, names):
            for name in names:
                with open(os.path.join(folder, name), "w") as out:
                    out.write(name)

        def read_names(folder):
            return [open(os.path.join(folder, f"{at}.txt")).read() for at in range(2)]
    """, train="""
        from saving import read_names, save_results

        train = read_names("data/points/train")
        test = read_names("data/points/test")
        save_results("data/points/test", train + test)
    """)  # fmt: skip
    program.adapt()
    for split in ("train", "test", "results"):
        (tmp_path / split).mkdir()
        for at in range(2):
            (tmp_path / split / f"{at}.txt").write_text(f"{split}{at}")
    ran = program.run("--data_url", str(tmp_path), "--train_url", str(tmp_path / "results"))
    assert ran.code == 0, ran.error
    assert len([path for path in (tmp_path / "results").rglob("t*") if path.is_file()]) == 4 and not program.files()


FETCHING = """
    from torchvision.models import resnet50, ResNet50_Weights
    def build_model(pretrained=False):
        return resnet50(weights=ResNet50_Weights.DEFAULT if pretrained else None)
"""


def test_weights_that_a_module_fetches_come_from_the_contract(tmp_path):
    program = Program(tmp_path, models=FETCHING, train="""
        from models import build_model
        model = build_model(pretrained=True)
    """)  # fmt: skip
    done = program.adapt("xihe")
    assert 'torch.hub.set_dir(hub_folder(os.environ.get("CONTRACT_PRETRAIN_URL")))' in program.text("models.py")
    assert program.text("train.py").index("CONTRACT_PRETRAIN_URL") < program.text("train.py").index("from models")
    assert not [each for each in done.findings if each.kind is Kind.HAND and "network" in each.message]


def test_weights_of_two_files_share_one_folder(tmp_path):
    program = Program(tmp_path, models=FETCHING, train="""
        import torch
        from models import build_model
        model = build_model(pretrained=True)
        model.load_state_dict(torch.load("start.pth"))
    """)  # fmt: skip
    done = program.adapt("xihe")
    assert 'torch.load(os.path.join(contract.pretrain_url or "", "start.pth"))' in program.text("train.py")
    assert "torch.hub.set_dir(" in program.text("models.py")
    assert any("must be a folder: it holds start.pth" in each.message for each in done.findings)


def test_what_one_file_saves_and_another_one_reads_is_a_result(tmp_path):
    program = Program(tmp_path / "code", saving="""
        def save(text):
            with open("models/net.txt", "w") as out:
                out.write(text)
    """, loading="""
        def load():
            return open("models/net.txt").read()
    """, train="""
        import os
        from loading import load
        from saving import save

        os.makedirs("models", exist_ok=True)
        save(open("data/points.csv").read())
        print(len(load()))
    """)  # fmt: skip
    program.adapt()
    (tmp_path / "points.csv").write_text(POINTS)
    ran = program.run("--data_url", str(tmp_path), "--train_url", str(tmp_path / "results"))
    assert ran.lines == [str(len(POINTS))], ran.error


def test_a_name_that_a_function_joins_to_its_own_folder_stays(tmp_path):
    program = Program(tmp_path / "code", saving="""
        import os

        def save_state(text, save_path="saved", save_file=None):
            os.makedirs(save_path, exist_ok=True)
            with open(os.path.join(save_path, save_file), "w") as out:
                out.write(text)
    """, train="""
        from saving import save_state
        save_state("x", save_file="last.pth")
    """)  # fmt: skip
    program.adapt()
    ran = program.run("--train_url", str(tmp_path / "results"))
    assert ran.code == 0, ran.error
    assert [path.name for path in (tmp_path / "results").rglob("*.pth")] == ["last.pth"]


def test_a_training_of_a_library_in_a_function_of_another_file_goes_on(tmp_path):
    program = Program(tmp_path, tuning="""
        from transformers import Trainer, TrainingArguments

        def finetune(model, rows):
            trainer = Trainer(model=model, args=TrainingArguments(output_dir="out"), train_dataset=rows)
            trainer.train()
    """, train="""
        from tuning import finetune
        finetune(None, [])
    """)  # fmt: skip
    done = program.adapt()
    assert not done.by_hand and "resume_from_checkpoint" in program.text("tuning.py")


def test_processes_of_functions_that_are_not_run_are_none(tmp_path):
    program = Program(
        tmp_path,
        train="""
            import torch
            from tools import mean
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for epoch in range(3):
                optimizer.step()
                print(mean([1]))
        """,
        tools="""
            import os
            import torch

            def init_distributed_mode():
                torch.distributed.init_process_group("gloo", rank=int(os.environ["RANK"]))

            def mean(values):
                world_size = get_world_size()
                if world_size < 2:
                    return sum(values) / len(values)

            def get_world_size():
                return torch.distributed.get_world_size() if torch.distributed.is_initialized() else 1
        """,
    )
    done = program.adapt()
    assert "one process saves for all" not in " ".join(each.message for each in done.findings)
    assert any("the script saves nothing" in each.message for each in done.findings)


def test_what_a_class_of_another_file_fetches_to_where_it_reads_is_data(tmp_path):
    """With the contract's data nothing is fetched, so nothing of it is a result."""
    rows = """
        import os
        class Rows:
            def __init__(self, root, download=False):
                self.root = root
                if download:
                    self.download()
                with open(os.path.join(self.root, "rows.txt")) as file:
                    self.rows = file.read().split()
            def download(self):
                os.makedirs(self.root, exist_ok=True)
                with open(os.path.join(self.root, "rows.txt"), "w") as file:
                    file.write("1 2 3")
    """
    program = Program(
        tmp_path / "code", rows=rows, train='from rows import Rows\nprint(Rows("../rows", download=True).rows)\n'
    )
    program.adapt()
    assert program.run().lines == ["['1', '2', '3']"]
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "rows.txt").write_text("7 8")
    flags = ("--data_url", str(tmp_path / "given"), "--train_url", str(tmp_path / "results"))
    assert program.run(*flags).lines == ["['7', '8']"]


def test_a_folder_that_data_told_from_different_ones_need_is_named(tmp_path):
    text = 'print(open("../../data/a/x.txt").read(), open("data/y.txt").read())\n'
    done = Program(tmp_path, train=text).adapt()
    assert "--data_url must hold the folder data" in [finding.message for finding in done.findings]
