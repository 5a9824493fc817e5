"""The form of a new run without a browser: what it says as a request, as a command line, and read from elsewhere."""

import itertools
import shlex
import typing

import pytest
from typer.testing import CliRunner

from outlast.cli.run import app
from outlast.model.spec import CodePack, Input, Output, Resources, RunSpec
from outlast.operations.tomlfile import read_toml
from outlast.server.bodies import RunBody
from outlast.server.console.newrun.wanted import Code, Wanted, from_spec, from_toml, rows_of_text, text_of_rows

CODE = Code("a" * 64, "proj", ("lib/train.py", "main.py", "outlast.toml", "data.json", ".hidden.py"))
FULL = Wanted(
    name="mnist-1", target="main.py", code=CODE, platforms=("local", "slurm"), contract="modelarts",
    data=(("mnist", "obs://lab/mnist/"), ("", "s3://b/x"), ("mine", "upload:" + "b" * 64)), checkpoint="ckpt",
    outputs=("out", "train_url=obs://lab/out"), params=(("lr", "0.1"), ("api_key", "hush hush")),
    args="--epochs 10 --tag 'two words'", env=(("OMP", "1"),), cpus=2, memory="8G", gpus=1, network=False,
    limit="1h", stints="12", until="epoch>=100", grace="10s", retries=2,
)  # fmt: skip


def test_what_the_form_says_is_a_body_that_the_api_takes():
    body = RunBody.model_validate(FULL.body())
    assert body.data == ["mnist=obs://lab/mnist/", "s3://b/x", "mine=upload:" + "b" * 64]
    assert body.args == ["--epochs", "10", "--tag", "two words"]
    assert (body.code, body.platform, body.network, body.gpus) == ("a" * 64, "local,slurm", False, 1)
    assert RunBody.model_validate(Wanted().body()).model_dump(exclude_defaults=True) == {"target": "."}


def test_every_field_of_the_form_reaches_the_body():
    said = set(FULL.body()) | {"environment", "requirements", "npus", "nodes"}
    aliases = {"platforms": "platform", "outputs": "output"}
    assert {aliases.get(name, name) for name in typing.get_type_hints(Wanted)} == said


def test_the_command_line_says_the_same_and_no_secret():
    words = shlex.split(FULL.command().replace("\\\n", " "))
    assert words[:3] == ["outlast", "run", "main.py"]
    assert words[-4:] == ["--epochs", "10", "--tag", "two words"]
    for flag, value in (("--limit", "1h"), ("--gpus", "1"), ("--platform", "local,slurm"), ("--data", "mine=./mine")):
        assert value in [after for before, after in itertools.pairwise(words) if before == flag]
    assert "hush" not in FULL.command() and "api_key=***" in words
    # Every option is one that the command knows: an unknown one ends with "No such option".
    told = CliRunner().invoke(app, [*words[2:], "--dry-run"])
    assert "No such option" not in told.output


@pytest.mark.parametrize("text", ["", "lr=0.1", "lr=0.1;batch=4", "a=1=2;b=", "path=C:\\x;name=中文"])
def test_rows_and_the_line_of_parameters_are_the_same(text):
    assert text_of_rows(rows_of_text(text)) == text


def test_boot_files_are_offered_with_the_usual_ones_first():
    assert CODE.scripts == ["main.py", "outlast.toml", "lib/train.py", "data.json"]


def test_a_copy_of_a_run_asks_for_the_same_without_its_secrets():
    spec = RunSpec(
        id="1116-a", name="first", user="mia", created_at="2026-01-01T00:00:00Z", script="train.py",
        args=("--n", "a b"), params={"lr": "0.1"}, code=CodePack(sha256="c" * 64, size_bytes=10, files=1),
        python="python3",
        env={"OMP": "1", "WANDB_TOKEN": "hush"}, inputs=(Input(name="m", source="obs://b/m", path="m"),),
        outputs=(Output(name="out", path="o", target="obs://b/o"),), limit_s=5400.0, max_stints=3, until="epoch>=9",
        resources=Resources(cpus=2, memory_bytes=1 << 30, gpus=1), network=False, store="file:///x",
    ).to_json()  # fmt: skip
    form = from_spec(spec, None)
    assert form.env == (("OMP", "1"), ("WANDB_TOKEN", ""))
    assert (form.limit, form.stints, form.until, form.network) == ("1h30m", "3", "epoch>=9", False)
    assert (form.args, form.data, form.outputs) == ("--n 'a b'", (("m", "obs://b/m"),), ("out=obs://b/o",))
    assert form.name == ""  # the first one may still have it
    assert RunBody.model_validate(form.body()).memory == str(1 << 30)


def test_a_toml_file_fills_the_form(tmp_path):
    path = tmp_path / "outlast.toml"
    path.write_text(
        '[run]\nscript = "train.py"\nargs = ["--a", "b c"]\nlimit = "1h"\nretries = 2\nplatform = "local"\n'
        'contract = "modelarts"\nnetwork = false\n[params]\nlr = 0.1\n[resources]\ncpus = 2\nmemory = "4G"\n'
        '[data]\nm = "obs://b/m"\n[outputs]\ntrain_url = "obs://b/o"\n[env]\nA = "1"\n'
    )
    form = from_toml(read_toml(path), Wanted(name="kept", until="epoch>=3", code=CODE))
    assert (form.name, form.until, form.code) == ("kept", "epoch>=3", CODE)
    assert (form.target, form.args, form.limit, form.retries, form.cpus) == ("train.py", "--a 'b c'", "1h", 2, 2)
    assert (form.params, form.env) == ((("lr", "0.1"),), (("A", "1"),))
    assert (form.data, form.outputs) == ((("m", "obs://b/m"),), ("train_url=obs://b/o",))
    assert RunBody.model_validate(form.body()).network is False


def test_code_from_a_project_is_named_and_not_uploaded():
    wanted = Wanted(target="train.py", code=Code("", "ann/digits@0123456789", ("train.py",), f"ann/digits@{'01' * 20}"))
    assert wanted.body() == {"target": "train.py", "project": f"ann/digits@{'01' * 20}"}
    assert wanted.command() == "# in a clone of ann/digits at 0101010101\noutlast run train.py"


def test_the_command_line_names_the_server_that_it_asks():
    wanted = Wanted(target="train.py", name="mine")
    assert (
        wanted.command("https://lab.example") == "outlast --server https://lab.example run train.py \\\n  --name mine"
    )
