"""Names, and what the VS Code client makes of a workspace."""

import re

import pytest

from outlast.errors import SpecError
from outlast.openpai.globs import match_files
from outlast.openpai.names import (
    framework_name,
    generated_name,
    k8s_role_name,
    rewrite,
    split_framework,
    substitute,
)
from outlast.openpai.vscode import VsCodeSettings, find_workspace, read_settings


def test_names():
    assert framework_name("ann", "mnist") == "ann~mnist"
    assert split_framework("ann~mn~ist") == ("ann", "mn~ist")
    assert split_framework("old") == (None, "old")
    assert re.fullmatch(r"mnist_[0-9a-f]{8}", generated_name("mnist"))
    assert generated_name("mnist") != generated_name("mnist")
    assert k8s_role_name("PS_server.1") == "psserver1"


def test_the_client_replaces_the_first_of_each_in_places_and_commands():
    body = {
        "jobName": "mnist", "codeDir": "$PAI_DEFAULT_FS_URI/$PAI_USER_NAME/$PAI_JOB_NAME", "dataDir": "",
        "taskRoles": [{"name": "a", "command": "cd $PAI_JOB_NAME && echo $PAI_JOB_NAME $PAI_USER_NAME"}],
    }  # fmt: skip
    new = rewrite(body, "mnist_1", "ann")
    assert new["jobName"] == "mnist_1"
    assert new["codeDir"] == "$PAI_DEFAULT_FS_URI/ann/mnist_1"
    assert new["taskRoles"][0]["command"] == "cd mnist_1 && echo $PAI_JOB_NAME ann"
    assert body["taskRoles"][0]["command"].startswith("cd $PAI_JOB_NAME")


def test_the_server_replaces_every_name_but_only_whole_ones():
    text = "$PAI_DEFAULT_FS_URI/$PAI_USERNAME/$PAI_JOB_NAME/$PAI_JOB_NAME_2/$PAI_JOB_NAME"
    assert substitute(text, "m", "ann", "hdfs://h:1") == "hdfs://h:1/ann/m/$PAI_JOB_NAME_2/m"


FILES = ["a.py", "b.txt", "sub/c.py", "sub/deep/d.py", ".hidden.py", ".git/e.py", "sub/.f.py", "venv/g.py", "[x].py"]


@pytest.fixture
def folder(tmp_path):
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        (["**/*.py"], [], ["[x].py", "a.py", "sub/c.py", "sub/deep/d.py"]),
        (["*.py"], [], ["[x].py", "a.py"]),
        (["**"], ["**/*.py"], ["b.txt"]),
        (["sub"], [], ["sub/c.py", "sub/deep/d.py"]),
        (["sub/**"], ["sub/deep"], ["sub/c.py"]),
        (["**/*.py", "!sub/**"], [], ["[x].py", "a.py"]),
        (["*.{py,txt}"], [], ["[x].py", "a.py", "b.txt"]),
        (["?.py"], [], ["a.py"]),
        (["[ab].*"], [], ["a.py", "b.txt"]),
        (["[!a].*"], [], ["b.txt"]),
        (["**/.*.py"], [], [".hidden.py", "sub/.f.py"]),
        (["./sub/*.py"], [], ["sub/c.py"]),
        (["**/d.py"], [], ["sub/deep/d.py"]),
        ([r"\[x\].py"], [], ["[x].py"]),
        ([], [], []),
    ],
)
def test_globs(folder, include, exclude, expected):
    assert match_files(folder, include, exclude) == expected


def test_settings_are_read_from_the_nearest_workspace(tmp_path):
    assert read_settings(tmp_path) == VsCodeSettings()
    job = tmp_path / "jobs" / "deep" / "a.pai.json"
    job.parent.mkdir(parents=True)
    assert find_workspace(job) == job.parent
    settings = tmp_path / ".vscode" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"pai.job.upload.enabled": false, // no\n "pai.job.upload.exclude": ["x"], "other": [1]}')
    assert find_workspace(job) == tmp_path
    assert read_settings(tmp_path) == VsCodeSettings(False, ("**/*.py",), ("x",), None)


@pytest.mark.parametrize("text", ['{"pai.job.upload.enabled": "yes"}', '{"pai.job.upload.include": "*.py"}', "[]"])
def test_wrong_settings_name_their_key(tmp_path, text):
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "settings.json").write_text(text)
    with pytest.raises(SpecError, match=r"settings\.json"):
        read_settings(tmp_path)
