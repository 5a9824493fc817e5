"""Contracts in a request: what is named, where it lies, what is foreseen, and what is refused."""

from __future__ import annotations

import json

import pytest

from outlast.errors import SpecError
from outlast.keeper.home import Home
from outlast.model.request import RunRequest
from outlast.model.spec import DEFAULT_CHECKPOINT, CodePack, RunSpec
from outlast.operations.contracts import rendered, with_single_files
from outlast.operations.resolve import resolve
from outlast.settings import Settings
from outlast.store.maps import save_map

CODE = CodePack(sha256="0" * 64, size_bytes=1, files=1)
STRICT = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--data_url")
parser.add_argument("--train_url")
parser.add_argument("--batchsize")
parser.parse_args()
"""


@pytest.fixture
def folder(tmp_path):
    project = tmp_path / "project"
    (project / "mnist").mkdir(parents=True)
    (project / "lenet.ckpt").write_text("weights")
    (project / "boot.py").write_text(STRICT)
    return project


@pytest.fixture
def settings(tmp_path):
    return Settings.load({"USER": "ann"}, Home(tmp_path / "home").path)


@pytest.fixture
def ask(folder, settings):
    def ask(target="boot.py", **words):
        words.setdefault("cwd", folder)
        return resolve(RunRequest(target=target, **words), settings)

    return ask


def refused(ask, **words):
    with pytest.raises(SpecError) as caught:
        ask(**words)
    return str(caught.value)


def v2(ask, **words):
    return ask(**{"contract": "modelarts", "data": ("data_url=./mnist",), "output": ("train_url=./out",), **words})


# ---- where things lie


def test_inputs_and_outputs_lie_where_their_names_say(ask, folder):
    resolved = v2(ask, data=("data_url=./mnist", "pretrain_url=./lenet.ckpt"))
    assert [(each.name, each.path) for each in resolved.inputs] == [
        ("data_url", ".outlast/inputs/data_url_0"),
        ("pretrain_url", ".outlast/inputs/pretrain_url_0/lenet.ckpt"),
    ]
    (output,) = resolved.outputs
    assert (output.path, output.target) == (".outlast/outputs/train_url_0", (folder / "out").as_uri())


@pytest.mark.parametrize(
    ("contract", "places"),
    [
        ("modelarts", (".outlast/outputs/train_url_0", ".outlast/outputs/train_url_0")),
        ("xihe", (".outlast/outputs/train_url_0", ".outlast/outputs/train_url_0")),
        ("modelarts-v1", (DEFAULT_CHECKPOINT, None)),
    ],
)
def test_a_script_saves_and_looks_for_its_checkpoint_in_its_first_output(ask, contract, places):
    resolved = v2(ask, contract=contract)
    assert (resolved.checkpoint, resolved.output) == places
    said = v2(ask, contract=contract, checkpoint="ckpt", output=("train_url=./out", "result"))
    assert (said.checkpoint, said.output) == ("ckpt", "result")


def test_all_of_several_outputs_come_home(ask):
    resolved = v2(ask, output=("train_url=./out", "aim_repo=./aim"))
    assert (resolved.checkpoint, resolved.output) == (".outlast/outputs/train_url_0", ".outlast/outputs")


def test_a_plain_script_can_have_one_place_brought_somewhere(ask, folder):
    resolved = ask(output=("out=./results",))
    assert resolved.output == "out" and resolved.checkpoint == DEFAULT_CHECKPOINT
    assert [(each.path, each.target) for each in resolved.outputs] == [("out", (folder / "results").as_uri())]
    assert "only one place" in refused(ask, output=("a=./x", "b=./y"))


def test_neither_results_nor_buckets_nor_logs_become_code(ask, folder, settings):
    save_map(settings.home, "obs://bucket", folder / "bucket")
    assert {"mnist", "out", "bucket", "MA_LOG"} <= set(v2(ask).leave_out)


def test_the_log_appears_in_the_project_when_asked(ask, folder):
    assert v2(ask).log_folder is None
    assert v2(ask, ma_log=True).log_folder == str(folder / "MA_LOG")


# ---- the first generation


def test_the_first_generation_has_addresses_and_folders_play_buckets(ask, folder, settings):
    save_map(settings.home, "obs://bucket", folder / "bucket")
    resolved = v2(
        ask, contract="modelarts-v1", data=("data_url=./mnist", "pretrain_url=./lenet.ckpt", "more=obs://bucket/m")
    )
    assert [each.source for each in resolved.inputs] == [
        "obs://outlast-data-url/", "obs://outlast-pretrain-url/lenet.ckpt", "obs://bucket/m",
    ]  # fmt: skip
    assert [each.target for each in resolved.outputs] == ["obs://outlast-train-url/"]
    assert resolved.maps == {
        "obs://bucket": str(folder / "bucket"),
        "obs://outlast-data-url": str(folder / "mnist"),
        "obs://outlast-pretrain-url": str(folder / "lenet.ckpt"),
        "obs://outlast-train-url": str(folder / "out"),
    }


def test_no_bucket_may_hold_the_home_of_outlast(ask, settings):
    words = {"contract": "modelarts", "data": ("data_url=./mnist",)}
    save_map(settings.home, "obs://all", settings.home.parent)
    assert "holds Outlast's own home" in refused(ask, **words)
    assert "holds Outlast's own home" in refused(ask, **{**words, "contract": "modelarts-v1", "data": ("d=..",)})
    assert ask(data=("./mnist",)).maps


def test_a_limit_needs_no_checkpoint_place_where_saving_is_uploading(ask):
    assert not [words for words in v2(ask, contract="modelarts-v1", limit="1h").notices if "--checkpoint" in words]
    assert [words for words in ask(contract="modelarts", limit="1h").notices if "--checkpoint" in words]


@pytest.mark.parametrize(("contract", "option"), [("modelarts", "train_url"), ("xihe", "output_path")])
def test_results_that_nobody_brings_home_are_pointed_out(ask, folder, contract, option):
    (folder / "boot.py").write_text(STRICT.replace("train_url", option))
    words = {"contract": contract, "data": ("data_url=./mnist",)}
    assert f"--output {option}=./out" in ask(**words).notices[0]
    assert ask(**words, output=(f"{option}=./here",)).notices == ()
    (folder / "boot.py").write_text("import sys\nprint(sys.argv)")
    assert ask(**words).notices == ()


DEAF = 'import numpy\nnumpy.load("mnist/x.npy")\n'


@pytest.mark.parametrize("contract", ["modelarts", "modelarts-v1", "xihe"])
def test_a_script_that_reads_no_arguments_is_offered_to_be_adapted(ask, folder, contract):
    (folder / "boot.py").write_text(DEAF)
    (said,) = ask(contract=contract, data=("data_url=./mnist",)).notices
    assert said.startswith("boot.py reads no arguments and will not see --data_url")
    assert said.endswith(f"outlast adapt boot.py --contract {contract}")
    assert ask(contract=contract).notices == ask(data=("./mnist",)).notices == ()


@pytest.mark.parametrize(
    "files",
    [
        {"boot.py": DEAF + "import moxing\n"},
        {"boot.py": DEAF + "import os\nprint(os.environ['MA_INPUTS'])\n"},
        {"boot.py": DEAF + "import options\n", "options.py": "import argparse\n"},
        {"boot.py": DEAF + "from lib.options import args\n", "lib/options.py": "import click\n"},
    ],
)
def test_nobody_is_told_so_who_may_hear_of_the_contract(ask, folder, files):
    (folder / "lib").mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    assert ask(contract="modelarts", data=("data_url=./mnist",)).notices == ()


# ---- what is installed and what is off


def test_pip_requirements_are_installed_unasked_and_only_under_these_contracts(ask, folder):
    (folder / "requirements.txt").write_text("numpy\n")
    assert v2(ask).requirements is None
    (folder / "pip-requirements.txt").write_text("numpy\n")
    assert v2(ask).requirements == v2(ask, contract="xihe").requirements == "pip-requirements.txt"
    assert ask().requirements is None
    assert v2(ask, requirements="requirements.txt").requirements == "requirements.txt"


def test_requirements_beside_the_boot_file_come_first(ask, folder):
    (folder / "src").mkdir()
    for place in ("", "src/"):
        (folder / f"{place}pip-requirements.txt").write_text("numpy\n")
    (folder / "src" / "boot.py").write_text(STRICT)
    (folder / "outlast.toml").write_text('[run]\nscript = "src/boot.py"\ncontract = "xihe"\n')
    assert ask(".").requirements == "src/pip-requirements.txt"


def test_xihe_has_no_network_and_nobody_can_have_it(ask):
    assert v2(ask, contract="xihe").network is False
    assert v2(ask).network is True
    assert "no network under --contract xihe" in refused(ask, contract="xihe", network=True)


# ---- what the script would die of


def test_options_that_the_script_refuses_are_foreseen_or_dropped(ask, tmp_path):
    resolved = v2(ask, output=("train_url=./out", "aim_repo=./aim"), running_parameters="batchsize=4;lr=0.1")
    assert resolved.drop_args == ()
    (words,) = resolved.notices
    assert "does not accept --aim_repo, --lr" in words and "--drop-unknown" in words
    dropped = v2(ask, output=("train_url=./out", "aim_repo=./aim"), params=("lr=0.1",), drop_unknown=True)
    assert dropped.drop_args == ("aim_repo", "lr")
    spec = dropped.to_spec("r", "", CODE)
    assert "--lr=0.1" not in rendered(spec, tmp_path).argv


def test_the_option_of_the_aim_repository_is_foreseen_too(ask, tmp_path):
    (words,) = v2(ask, contract="xihe", aim=True).notices
    assert "does not accept --aim_repo" in words
    dropped = v2(ask, contract="xihe", aim=True, drop_unknown=True)
    assert dropped.drop_args == ("aim_repo",)
    assert "--aim_repo" not in " ".join(rendered(dropped.to_spec("r", "", CODE), tmp_path).argv)


def test_what_the_user_typed_for_the_script_is_not_foreseen(ask):
    assert v2(ask, args=("--lr=3",)).notices == ()


def test_the_count_of_cards_is_foreseen(ask):
    assert "--num_gpus" in v2(ask, contract="modelarts-v1", gpus=2).notices[0]
    assert v2(ask, contract="modelarts", gpus=2).notices == ()


# ---- what the stint will see


def test_rendering_names_the_folders_that_the_stint_will_really_have(ask, tmp_path):
    spec = v2(ask, running_parameters="batchsize=4").to_spec("1116-run", "", CODE)
    seen = rendered(spec, tmp_path / "home", stint=3)
    code = tmp_path / "home" / "work" / "1116-run" / "0003" / "tree" / "code"
    assert seen.argv[1:] == [
        "boot.py", f"--data_url={code}/.outlast/inputs/data_url_0", f"--train_url={code}/.outlast/outputs/train_url_0",
        "--batchsize=4",
    ]  # fmt: skip
    assert not (tmp_path / "home" / "work" / "1116-run").exists()


def test_a_single_file_in_a_store_lies_below_its_folder(ask):
    resolved = v2(ask, data=("data_url=obs://bucket/mnist.zip",))
    (given,) = with_single_files(resolved, {"data_url"}).inputs
    assert given.path == ".outlast/inputs/data_url_0/mnist.zip"
    assert with_single_files(resolved, ()).inputs[0].path == ".outlast/inputs/data_url_0"


def test_a_spec_of_an_older_version_can_still_be_read(ask):
    body = ask().to_spec("r", "t", CODE).to_json()
    for name in ("contract", "outputs", "maps", "drop_args", "log_folder"):
        del body[name]
    assert RunSpec.from_json(json.loads(json.dumps(body))).contract == "plain"


# ---- the file


def test_the_file_says_the_same(ask, folder):
    (folder / "outlast.toml").write_text(
        '[run]\nscript = "boot.py"\ncontract = "modelarts"\nma_log = true\ndrop_unknown = true\n'
        '[data]\ndata_url = "./mnist"\n[outputs]\ntrain_url = "./out"\n[params]\nbatchsize = 4\nlr = 0.1\n'
    )
    resolved = ask(".")
    assert (resolved.contract, resolved.drop_args) == ("modelarts", ("lr",))
    assert resolved.log_folder and [each.target for each in resolved.outputs] == [(folder / "out").as_uri()]
    said = ask(".", output=("train_url=./other", "more=./more"), ma_log=False, contract="xihe")
    assert (said.contract, said.log_folder) == ("xihe", None)
    assert [each.name for each in said.outputs] == ["train_url", "more"]
    (folder / "outlast.toml").write_text("[outputs]\ntrain_url = 3\n")
    assert "outputs.train_url = 3" in refused(ask)


# ---- refusals


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"contract": "modelart"}, "did you mean 'modelarts'?"),
        ({"contract": "openpai"}, "outlast run new_job.pai.json"),
        ({"contract": "xihe", "data": ("./mnist",)}, "--data data_url=./mnist"),
        ({"contract": "xihe", "data": ("data_url=model:ann/lenet/a.ckpt",)}, "no folder plays it here"),
        ({"data": ("dataset:ann/mnist",)}, "no folder plays it here"),
        ({"contract": "xihe", "data": ("a=./mnist",), "output": ("a=./out",)}, "both be passed as --a"),
        ({"contract": "xihe", "data": ("a=./mnist",), "params": ("a=1",)}, "both be passed as --a"),
        ({"contract": "xihe", "data": ("a=./mnist",), "output": ("b=./mnist/x",)}, "written into the input"),
        ({"output": ("out=",)}, "says no target"),
        ({"output": ("out=gs://b/x",)}, "nothing can be brought to gs://"),
        ({"output": ("out=./lenet.ckpt",)}, "is a file"),
        ({"output": ("out=.",)}, "holds the script boot.py itself"),
        ({"output": ("a", "b")}, "names two places: a and b"),
        ({"output": ("a=./x", "a=./y")}, "have the same name 'a'"),
        ({"params": ("a=1",), "running_parameters": "a=2"}, "given twice"),
        ({"running_parameters": "a=1;b"}, "'b' is not NAME=VALUE"),
    ],
)
def test_what_cannot_work_is_refused(ask, words, said):
    assert said in refused(ask, **words)


def test_a_job_file_has_a_contract_of_its_own(ask, folder):
    (folder / "job.pai.json").write_text("{}")
    assert "job file of OpenPAI" in refused(ask, target="job.pai.json", contract="xihe")
