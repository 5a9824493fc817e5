"""Named environments: the list, what can be added, and what a run is pinned to."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import pytest

from outlast.errors import HomeError, NotFoundError, SpecError
from outlast.model.request import RunRequest
from outlast.operations.environments import YOURS, Environments, find_version
from outlast.operations.resolve import resolve
from outlast.settings import Settings

OURS = f"{sys.version_info[0]}.{sys.version_info[1]}"
TORCH = "pytorch_1.8.0-cuda_10.2-py_3.7-ubuntu_18.04-x86_64"
ASCEND = "mindspore_1.7.0-cann_5.1.0-py_3.7-euler_2.8.3-aarch64"


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A home and a project; no other Python is on PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    find_version.cache_clear()
    yield Shop(tmp_path)
    find_version.cache_clear()


class Shop:
    def __init__(self, folder):
        self.folder = folder
        self.settings = Settings.load({}, home=folder / "home")
        self.environments = Environments(self.settings)
        self.write("project/train.py", "print('hi')\n")

    def write(self, path, text):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def add(self, name="tiny", text="numpy\n", **more):
        return self.environments.add(name, requirements=self.write("r.txt", text), **more)

    def resolve(self, environment, target="project", **words):
        request = RunRequest(target=target, cwd=self.folder, environment=environment, **words)
        return resolve(request, self.settings)


def test_the_list_has_what_platforms_offer_and_says_what_can_be_used(shop):
    known = {each.name: each for each in shop.environments.list()}
    assert known[ASCEND].here == "image only" and known[TORCH].here == "needs python3.7"
    assert known[TORCH].requirements == ("torch==1.8.0",) and known[ASCEND].requirements == ()
    assert not (shop.folder / "home").exists(), "looking creates nothing"


def test_an_environment_that_was_added_comes_first_and_goes_again(shop):
    made = shop.add("torch-cpu", "# mine\ntorch[extra] == 2.4 # a\nnumpy\n")
    assert (made.framework, made.version, made.platform, made.here) == ("PyTorch", "2.4", YOURS, "yes")
    assert shop.environments.list()[0] == made and shop.environments.find("TORCH-c") == made
    assert (shop.folder / "home" / "environments.json").stat().st_mode & 0o077 == 0
    with pytest.raises(SpecError, match="already"):
        shop.add("torch-cpu")
    assert shop.add("torch-cpu", framework="JAX 0.4", force=True).version == "0.4"
    assert shop.environments.remove("torch-cpu").framework == "JAX"
    with pytest.raises(NotFoundError):
        shop.environments.remove("torch-cpu")


def test_included_files_become_part_of_it(shop):
    shop.write("more.txt", "numpy\n")
    assert shop.add(text="-r more.txt\n--find-links wheels\ntorch\n").requirements == (
        "numpy", "--find-links wheels", "torch",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-e .\n", "installs from a folder"), ("./local.whl\n", "installs from a folder"),
        ("-c limits.txt\nnumpy\n", "constraints"), ("# nothing\n", "asks for nothing"),
        ("--index-url https://ann:hunter2@host/simple\nnumpy\n", "line 1 holds a password"),
        ("-r none.txt\n", "includes none.txt"),
    ],
)  # fmt: skip
def test_requirements_that_mean_something_else_elsewhere_are_refused(shop, text, words):
    shop.write("limits.txt", "numpy<2\n")
    with pytest.raises(SpecError) as caught:
        shop.add(text=text)
    assert words in str(caught.value) and "hunter2" not in str(caught.value)
    assert not (shop.folder / "home" / "environments.json").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({}, "a requirements file or an image"), ({"image": "x", "requirements": "r.txt"}, "a requirements file or an"),
        ({"image": "a b"}, "not the name of an image"), ({"image": "x", "python": "3.6"}, "not a version"),
        ({"image": "x", "python": "three"}, "not a version"), ({"requirements": "none.txt"}, "no such requirements"),
    ],
)  # fmt: skip
def test_what_is_no_environment_is_refused(shop, words, message):
    with pytest.raises(SpecError, match=message):
        shop.environments.add("x", **words)
    with pytest.raises(SpecError, match="not a name"):
        shop.add("a b")
    with pytest.raises(SpecError, match="built-in"):
        shop.add(TORCH.upper())


def test_a_damaged_file_is_named(shop):
    shop.write("home/environments.json", "{}")
    with pytest.raises(HomeError, match=r"environments\.json is damaged"):
        shop.environments.list()


def test_a_run_carries_what_it_is_pinned_to(shop):
    shop.add(python=OURS)
    resolved = shop.resolve("ti")
    assert asdict(resolved.environment) == {"name": "tiny", "requirements": ("numpy",), "image": ""}
    shop.write("project/outlast.toml", '[run]\nscript = "train.py"\nenvironment = "tiny"\n')
    assert shop.resolve(None).environment == resolved.environment
    shop.environments.remove("tiny")
    with pytest.raises(SpecError, match=r"run\.environment in outlast\.toml 'tiny': no environment 'tiny'"):
        shop.resolve(None)


def test_an_environment_that_cannot_be_had_here_is_refused_before_anything_starts(shop):
    with pytest.raises(SpecError, match="exists only as an image of Xihe"):
        shop.resolve(ASCEND)
    with pytest.raises(SpecError, match=r"needs Python 3\.7"):
        shop.resolve(TORCH)
    with pytest.raises(SpecError, match="may mean mindspore_1"):
        shop.resolve("mindspore_1.9.0")
    with pytest.raises(SpecError, match="did you mean 'tiny'"):
        shop.add()
        shop.resolve("tinny")


def test_an_interpreter_that_was_named_is_believed(shop):
    assert shop.resolve(TORCH, python=sys.executable).python == sys.executable


def test_the_right_python_on_path_is_used(shop, monkeypatch):
    shop.add(python="3.8")
    door = shop.write("bin/python3.8", "#!/bin/sh\nexit 1\n")
    door.chmod(0o755)
    monkeypatch.setenv("PATH", str(door.parent))
    with pytest.raises(SpecError, match=r"needs Python 3\.8"):
        shop.resolve("tiny")  # the name leads nowhere
    find_version.cache_clear()
    door.write_text("#!/bin/sh\nexit 0\n")
    assert shop.resolve("tiny").python == str(door)


def test_an_image_is_for_the_roles_of_an_openpai_job(shop):
    shop.environments.add("img", image="lab/img:1")
    with pytest.raises(SpecError, match="images are only used for OpenPAI jobs so far"):
        shop.resolve("img")
    job = {"jobName": "j", "image": "other", "taskRoles": [{"name": "a", "command": "true"}]}
    shop.write("job/new_job.pai.json", json.dumps(job))
    resolved = shop.resolve("img", "job/new_job.pai.json")
    assert [role["image"] for role in resolved.job["roles"]] == ["lab/img:1"]
    assert shop.resolve(None, "job/new_job.pai.json").job["roles"][0]["image"] == "other"
