"""What is typed becomes a spec that can work, or one error that names the value and the next step."""

from __future__ import annotations

import sys
from dataclasses import asdict

import pytest

from outlast.model.request import RunRequest
from outlast.model.spec import DEFAULT_CHECKPOINT, CodePack
from outlast.operations.resolve import resolve
from outlast.settings import Settings

CODE = CodePack(sha256="0" * 64, size_bytes=1, files=1)


# ---- defaults and the way to a spec


def test_a_bare_script_gets_the_defaults(ask, folder, settings):
    resolved = ask()
    assert resolved.folder == folder
    assert (resolved.script, resolved.name, resolved.user) == ("train.py", "train", "ann")
    assert (resolved.checkpoint, resolved.output) == (DEFAULT_CHECKPOINT, None)
    assert (resolved.limit_s, resolved.max_stints, resolved.until) == (None, None, None)
    assert (resolved.grace_s, resolved.script_retries) == (10.0, 1)
    assert (resolved.platforms, resolved.network, resolved.sandbox) == (("local",), True, "auto")
    assert resolved.store == settings.store
    assert resolved.notices == ()


def test_a_resolved_request_becomes_a_spec(ask, folder):
    resolved = ask(
        data=("./mnist",), checkpoint="ckpt/", output="out", limit="1h", stints="5", until="epoch>=3",
        params=("lr=0.1", "tags=a=b"), env=("A=1",), secrets=("TOKEN",), cpus=2, memory="1G", args=("--x", "1"),
        name="mine", grace="20s", retries=0, network=False, sandbox="off",
    )  # fmt: skip
    spec = resolved.to_spec("1115-quiet-otter-7k", "2026-11-15T10:00:00.000Z", CODE)
    assert spec.id == "1115-quiet-otter-7k"
    assert spec.code_folder == str(folder)
    assert asdict(spec.inputs[0]) == {
        "name": "mnist", "source": (folder / "mnist").as_uri(), "path": "mnist", "writable": False,
        "asset": "",
    }  # fmt: skip
    assert (spec.checkpoint, spec.output) == ("ckpt", "out")
    assert (spec.limit_s, spec.max_stints, spec.until, spec.grace_s) == (3600, 5, "epoch>=3", 20)
    assert spec.params == {"lr": "0.1", "tags": "a=b"}
    assert (spec.env, spec.secrets, spec.args) == ({"A": "1"}, ("TOKEN",), ("--x", "1"))
    assert (spec.resources.cpus, spec.resources.memory_bytes) == (2, 1 << 30)
    assert (spec.script_retries, spec.network, spec.sandbox) == (0, False, "off")
    assert resolved.leave_out == ("ckpt", "out", "mnist")


def test_name_that_no_file_can_have_is_a_mistake_not_a_crash(refused):
    assert "(300 bytes)" in refused("a" * 300)
    assert "(300 bytes)" in refused(data=("x=./" + "a" * 300,))


def test_home_beside_the_script_is_no_code(folder):
    settings = Settings.load({"USER": "ann"}, folder / ".outlast-home")
    assert ".outlast-home" in resolve(RunRequest("train.py", cwd=folder), settings).leave_out


def test_resolving_changes_nothing(ask, folder):
    before = sorted(folder.rglob("*"))
    ask(checkpoint="ckpt", output="out", limit="1h")
    assert sorted(folder.rglob("*")) == before


# ---- the target


def test_a_missing_script_is_named_with_the_one_that_was_meant(refused, folder):
    assert f"no such script or folder: trian.py (in {folder}); did you mean train.py?" in refused("trian.py")
    assert "did you mean ./train.py?" in refused("./trian.py")


def test_a_script_in_another_folder_has_that_folder_as_its_code(ask, folder):
    resolved = ask("project/train.py", cwd=folder.parent)
    assert (resolved.folder, resolved.script) == (folder, "train.py")


def test_a_folder_means_its_usual_script(ask, folder):
    resolved = ask(".")
    assert (resolved.script, resolved.name) == ("train.py", "project")


def test_a_folder_with_two_usual_scripts_must_say_which(refused, folder):
    (folder / "main.py").touch()
    assert "both train.py and main.py" in refused(".")
    (folder / "main.py").unlink()
    (folder / "train.py").unlink()
    assert "outlast init" in refused(".")


def test_a_folder_means_the_script_of_its_file(ask, refused, folder):
    (folder / "src").mkdir()
    (folder / "src/fit.py").touch()
    (folder / "outlast.toml").write_text('[run]\nscript = "src/fit.py"\n')
    assert ask(".").script == "src/fit.py"
    (folder / "outlast.toml").write_text('[run]\nscript = "src/fti.py"\n')
    assert "did you mean src/fit.py?" in refused(".")
    (folder / "outlast.toml").write_text('[run]\nscript = "../elsewhere.py"\n')
    assert "outside the folder" in refused(".")


def test_a_spec_file_is_a_target(ask, folder):
    (folder / "small.toml").write_text('[run]\nscript = "train.py"\nlimit = "10m"\n')
    resolved = ask("small.toml")
    assert (resolved.name, resolved.limit_s, resolved.script) == ("small", 600, "train.py")


def test_a_script_of_any_kind_must_be_runnable(ask, refused, folder):
    (folder / "fit.sh").touch()
    assert ask("fit.sh").script == "fit.sh"
    (folder / "fit").write_text("#!/bin/sh\n")
    assert "chmod +x" in refused("fit")
    (folder / "fit").chmod(0o755)
    assert ask("fit").script == "fit"


def test_the_command_line_wins_over_the_file_and_the_file_over_defaults(ask, folder):
    (folder / "other.py").touch()
    (folder / "outlast.toml").write_text(
        '[run]\nscript = "other.py"\nlimit = "2h"\ncheckpoint = "a"\nargs = ["--a"]\nretries = 4\n'
        '[params]\nlr = 0.1\nmomentum = 0.9\n[env]\nA = "file"\nB = "file"\n[data]\nmnist = "./mnist"\n'
        "[resources]\ncpus = 3\n[pack]\nexclude = ['*.txt']\n"
    )
    (folder / "big").mkdir()
    resolved = ask(limit="1h", args=("--b",), params=("lr=0.2",), env=("A=line",), data=("mnist=big",))
    assert resolved.script == "train.py"
    assert (resolved.limit_s, resolved.checkpoint, resolved.script_retries) == (3600, "a", 4)
    assert resolved.args == ("--b",)
    assert resolved.params == {"lr": "0.2", "momentum": "0.9"}
    assert resolved.env == {"A": "line", "B": "file"}
    assert [(given.name, given.path) for given in resolved.inputs] == [("mnist", "mnist")]
    assert resolved.inputs[0].source == (folder / "big").as_uri()
    assert resolved.resources.cpus == 3
    assert resolved.exclude == ("*.txt",)


# ---- numbers and words


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"limit": "soon"}, "--limit 'soon': not a duration"),
        ({"limit": "0.5s"}, "--limit '0.5s': shorter than the shortest accepted, 1.0 s"),
        ({"limit": "0"}, "--limit '0': shorter"),
        ({"limit": "10s", "grace": "10s"}, "--grace '10s': not shorter than the limit of 10 s"),
        ({"grace": "x"}, "--grace 'x': not a duration"),
        ({"stints": "0"}, "--stints '0'"),
        ({"stints": "many"}, "auto, or a whole number"),
        ({"until": "epoch=3"}, "--until 'epoch=3'"),
        ({"retries": -1}, "--retries -1"),
        ({"cpus": 0}, "--cpus 0"),
        ({"gpus": -1}, "--gpus -1"),
        ({"memory": "lots"}, "--memory 'lots': not a size"),
        ({"memory": "0"}, "--memory '0'"),
        ({"name": "a b"}, "--name 'a b': not a name"),
        ({"platform": "locl"}, "unknown platform 'locl' (--on); did you mean 'local'? installed: local"),
        ({"platform": "local,local"}, "names a platform twice"),
        ({"sandbox": "yes"}, "--sandbox 'yes'"),
        ({"requirements": "reqs.txt"}, "--requirements 'reqs.txt': no such file"),
        ({"python": "./nopython"}, "--python './nopython': no such file"),
        ({"python": "python9.9"}, "--python 'python9.9': not found on PATH"),
        ({"python": "./mnist"}, "did you mean ./mnist/bin/python?"),
        ({"python": "./train.py"}, "not executable"),
        ({"params": ("lr",)}, "--param lr has no value"),
        ({"params": ("lr=1", "lr=2")}, "--param lr is given twice"),
        ({"params": ("=1",)}, "--param is given a value without a name"),
        ({"params": ("a b=1",)}, "parameter 'a b'"),
        ({"params": ("lr=1",), "args": ("--lr=2",)}, "lr is given twice"),
        ({"env": ("A=1", "A=2")}, "--env A is given twice"),
        ({"env": ("1A=1",)}, "--env 1A: not the name of a variable"),
        ({"env": ("SURELY_UNSET",)}, "--env SURELY_UNSET: not set here"),
        ({"secrets": ("A", "A")}, "--secret A is given twice"),
        ({"secrets": ("A-B",)}, "--secret A-B: not the name"),
        ({"secrets": ("A",), "env": ("A=1",)}, "A is both a variable (--env) and a secret"),
    ],
)
def test_a_wrong_value_is_refused_by_its_flag(refused, words, expected):
    assert expected in refused(**words)


def test_a_secret_given_with_its_value_is_refused_without_repeating_it(refused):
    assert "hunter2" not in refused(secrets=("TOKEN=hunter2",))


def test_independent_problems_are_reported_together(refused):
    lines = refused(limit="x", cpus=0, checkpoint="../c", output="/o", data=("nope", "nada"), env=("A",)).splitlines()
    assert len(lines) == 7


def test_the_grace_fits_into_a_short_limit(ask):
    assert ask(limit="15s").grace_s == 3.75
    assert ask(limit="1h").grace_s == 10
    assert ask(limit="15s", grace="5s").grace_s == 5


def test_a_variable_without_a_value_is_taken_from_here(ask, monkeypatch):
    monkeypatch.setenv("PROXY", "http://proxy:1")
    assert ask(env=("PROXY", "EMPTY=")).env == {"PROXY": "http://proxy:1", "EMPTY": ""}


def test_arguments_of_the_command_line_win_over_parameters_of_the_file(ask, refused, folder):
    (folder / "outlast.toml").write_text("[params]\nlr = 0.1\nb = 2\n")
    assert ask(args=("--lr", "0.2")).params == {"b": "2"}
    (folder / "outlast.toml").write_text('[run]\nargs = ["--lr", "1"]\n[params]\nlr = 0.1\n')
    assert "twice: in params and in run.args" in refused()


def test_requirements_travel_with_the_code(ask, refused, folder):
    (folder / "req").mkdir()
    (folder / "req/base.txt").touch()
    assert ask(requirements="req/base.txt").requirements == "req/base.txt"
    assert ask("train.py", cwd=folder, requirements=str(folder / "req/base.txt")).requirements == "req/base.txt"
    (folder.parent / "outer.txt").touch()
    assert "outside the code folder" in refused(requirements="../outer.txt")
    assert "requirements file" in refused(requirements="req/base.txt", output="req")
    assert ask("project/train.py", cwd=folder.parent, requirements="project/req/base.txt").requirements


def test_the_active_environment_decides_on_the_interpreter(ask, tmp_path, monkeypatch):
    for name in ("venv", "conda", "path"):
        (tmp_path / name / "bin").mkdir(parents=True)
    for path in ("venv/bin/python", "conda/bin/python", "path/bin/python3"):
        (tmp_path / path).symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path / "path/bin"))
    assert ask().python == str(tmp_path / "path/bin/python3")
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    assert ask().python == str(tmp_path / "conda/bin/python")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "venv"))
    assert ask().python == str(tmp_path / "venv/bin/python")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "gone"))
    assert ask().python == str(tmp_path / "conda/bin/python")
    assert ask(python="python3").python == str(tmp_path / "path/bin/python3")
    assert ask(python=str(tmp_path / "venv/bin/python")).python == str(tmp_path / "venv/bin/python")


def test_without_any_python_on_the_path_ours_is_used(ask, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert ask().python == sys.executable


def test_names_are_made_from_odd_file_names(ask, folder):
    (folder / "训练 v2!.py").touch()
    (folder / "训练.py").touch()
    assert ask("训练 v2!.py").name == "v2"
    assert ask("训练.py").name == "run"


# ---- notices


def test_a_script_that_cannot_be_continued_is_pointed_out(ask, folder):
    assert "--checkpoint PATH" in ask(limit="1h").notices[0]
    assert ask().notices == ()
    assert ask(limit="1h", checkpoint="ckpt").notices == ()
    for text in ("from outlast import epochs\n", 'place = os.environ.get("OUTLAST_CHECKPOINT") or args.out\n'):
        (folder / "train.py").write_text(text)
        assert ask(limit="1h").notices == ()


def test_old_checkpoints_that_stay_behind_are_mentioned(ask, folder):
    (folder / "ckpt").mkdir()
    assert ask(checkpoint="ckpt").notices == ()
    (folder / "ckpt/model.pt").touch()
    assert "starts without them" in ask(checkpoint="ckpt").notices[0]


def test_variables_that_look_like_secrets_are_mentioned_without_their_value(ask):
    notices = ask(env=("WANDB_API_KEY=hunter2", "TOKENIZERS=", "A=1"), params=("password=hunter2",)).notices
    assert len(notices) == 2
    assert "--secret WANDB_API_KEY" in notices[0]
    assert "hunter2" not in " ".join(notices)
