"""Output folders that exist: the platform makes them, and the second stint finds what the first one left."""

from __future__ import annotations

import pytest
from checked import adapt, said
from stage import play

from outlast.migrate.engine import Kind

LOOP = """
total = 0
for epoch in range(4):
    total += epoch
    print(epoch, total)
with open(os.path.join(out, "total.txt"), "w") as file:
    file.write(str(total))
"""
OPTION = 'p = argparse.ArgumentParser()\np.add_argument("--save-dir", default="runs")\nargs = p.parse_args()\n'
WAYS = {
    "ends": 'out = "runs"\nif os.path.exists(out):\n    print("there already")\n    sys.exit(1)\nos.makedirs(out)\n',
    "raises": OPTION + 'out = args.save_dir\nif os.path.isdir(out):\n    raise RuntimeError("there")\nos.mkdir(out)\n',
    "asks": 'out = "runs"\nif os.path.exists(out) and input("overwrite? ") != "y":\n    exit()\n'
    "os.makedirs(out, exist_ok=False)\n",
    "clears": OPTION + "out = args.save_dir\nif os.path.exists(out):\n    shutil.rmtree(out)\nos.makedirs(out)\n",
    "clears unasked": 'out = "runs"\nshutil.rmtree(out, ignore_errors=True)\nos.makedirs(out)\n',
    "clears or makes": OPTION
    + "out = args.save_dir\nif not os.path.exists(out):\n    os.makedirs(out)\nelse:\n"
    "    shutil.rmtree(out)\n    os.makedirs(out)\n",
    "asserts": 'out = "runs"\nassert not os.path.exists(out), "there already"\nos.makedirs(out)\n',
    "paths": 'out = Path("runs")\nif out.exists():\n    raise SystemExit("there")\nout.mkdir()\n',
    "below": OPTION + 'out = os.path.join(args.save_dir, "one")\nif os.path.exists(out):\n'
    "    raise RuntimeError(out)\nos.makedirs(out)\n",
    "leaves": 'out = "runs"\nos.makedirs(os.path.join(out, "figures"))\n',
    "minds an error": 'out = "runs"\ntry:\n    os.mkdir(out)\nexcept FileExistsError:\n    sys.exit("there already")\n',
    "required": OPTION.replace('default="runs"', "required=True") + "out = args.save_dir\nos.mkdir(out)\n",
}  # fmt: skip
HEAD = "import argparse, os, shutil, sys\nfrom pathlib import Path\n"


@pytest.mark.parametrize("way", WAYS)
def test_a_folder_that_exists_neither_ends_nor_empties_the_training(way, tmp_path):
    text = HEAD + WAYS[way] + LOOP
    done = adapt(text)
    words = ["--save-dir=runs"] if way == "required" else []
    for name in ("before", "after", "platform"):
        (tmp_path / name).mkdir()
    before = play(text, tmp_path / "before", *words)
    assert play(done.text, tmp_path / "after", *words) == before
    results = tmp_path / "results"
    results.mkdir()
    (results / "from_before.txt").write_text("kept")
    first = play(done.text, tmp_path / "platform", f"--train_url={results}", kill_after=2)
    assert first.was_killed
    second = play(done.text, tmp_path / "platform", f"--train_url={results}")
    assert second.output.splitlines() == before.output.splitlines()[1:] and not second.files
    assert (results / "from_before.txt").exists() and list(results.rglob("total.txt"))


@pytest.mark.parametrize("way", ["ends", "clears"])
def test_without_the_option_the_folder_is_minded_as_before(way, tmp_path):
    text = HEAD + WAYS[way] + LOOP
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "old.txt").write_text("old")
    if way == "ends":
        with pytest.raises(AssertionError, match="exit 1"):
            play(adapt(text).text, tmp_path)
    else:
        assert set(play(adapt(text).text, tmp_path).files) == {"runs/total.txt"}


def test_a_file_of_results_that_is_asked_for_is_the_scripts_own_way():
    text = HEAD + 'out = "runs"\nif os.path.exists(os.path.join(out, "total.txt")):\n    sys.exit()\n' + LOOP
    assert 'if os.path.exists(os.path.join(out, "total.txt")):' in adapt(text).text


def test_a_folder_that_cannot_be_told_apart_is_left_by_hand():
    text = """
        import os
        import click
        @click.command()
        @click.option("--out", required=True)
        def main(out):
            if os.path.exists(out):
                raise RuntimeError("there")
            os.makedirs(out)
            open(os.path.join(out, "x.txt"), "w").close()
        main()
    """
    assert "an error is raised where the output folder exists" in said(adapt(text), Kind.HAND)


ROTATION = """
import argparse, os, shutil
p = argparse.ArgumentParser()
p.add_argument("--save-dir", default="runs")
args = p.parse_args()
os.makedirs(args.save_dir, exist_ok=True)
kept = []
for epoch in range(5):
    here = os.path.join(args.save_dir, "model_%d" % epoch)
    os.makedirs(here, exist_ok=True)
    with open(os.path.join(here, "m.txt"), "w") as file:
        file.write(str(epoch))
    kept.append(here)
    if len(kept) > 2:
        old = os.path.join(args.save_dir, "model_%d" % (epoch - 2))
        if os.path.exists(old):
            shutil.rmtree(old)
    print(epoch)
"""


def test_old_models_give_way_below_the_contracts_folder_too(tmp_path):
    done = adapt(ROTATION)
    results = tmp_path / "results"
    results.mkdir()
    play(done.text, tmp_path, f"--train_url={results}")
    assert sorted(path.name for path in results.glob("model_*")) == ["model_3", "model_4"]


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ("shutil.copytree('code', 'runs/a/code')\nopen('runs/a/x.txt', 'w').close()", ["code/part.py", "x.txt"]),
        ("shutil.copytree('code', 'runs')\nopen('runs/x.txt', 'w').close()", ["part.py", "x.txt"]),
        ("os.makedirs('out')\nopen('out/x.txt', 'w').close()\nshutil.make_archive('all', 'zip', 'out')",
         ["all.zip", "out/x.txt"]),
        ("os.makedirs('work')\nos.chdir('work')\nopen('x.txt', 'w').close()", ["x.txt"]),
    ],
)  # fmt: skip
def test_whole_folders_go_to_the_contracts_too(lines, left, tmp_path):
    done = adapt(f"import os, shutil\n{lines}\n")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "part.py").touch()
    results = tmp_path / "results"
    results.mkdir()
    for _ in range(2):  # started again, everything is there already
        play(done.text, tmp_path, f"--train_url={results}")
        found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
        assert found == ["code/part.py", *(f"results/{each}" for each in left)]
    assert "os.chdir" not in said(done, Kind.HAND)


def test_a_script_that_goes_to_a_folder_of_its_own_is_told():
    done = adapt("import os\nos.chdir('/content/drive/me')\nopen('x.txt', 'w').close()\n")
    assert "the script goes to '/content/drive/me' before it uses other paths" in said(done, Kind.HAND)


@pytest.mark.parametrize(
    ("made", "saved"),
    [('"models/%s" % args.name', '"models/%s/%d.pth" % (args.name, {})'), ('"models"', '"models/%d.pth" % {}')],
)
def test_folders_that_the_script_makes_are_not_made_again(made, saved, tmp_path):
    """Neither by the names that they have before something is filled in, nor twice."""
    done = adapt(f"""
import argparse, os, torch
p = argparse.ArgumentParser()
p.add_argument("--name", default="streets")
p.add_argument("--epoch", type=int, default=0)
args = p.parse_args()
os.makedirs({made}, exist_ok=True)
net = torch.nn.Linear(1, 1)
if args.epoch:
    net.load_state_dict(torch.load({saved.format("args.epoch")}))
torch.save(net.state_dict(), {saved.format("1")})
""")
    assert done.text.count("os.makedirs(") == 1
