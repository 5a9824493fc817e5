"""`outlast repo` and `outlast publish` as somebody types them, at home and against the server."""

import json
import os
import sys
import zipfile

import pytest

from outlast.cli.entry import main


@pytest.fixture
def outlast(hub_lab, tmp_path, monkeypatch, capsys):
    """The command line within this process: what it prints, when it ends with `code`."""

    def outlast(*words, user=None, code=0):
        environ = {"OUTLAST_HOME": hub_lab.environ["OUTLAST_HOME"], "LANG": "C.UTF-8", "NO_COLOR": "1"}
        if user is not None:
            environ = {
                **environ, "OUTLAST_HOME": str(tmp_path / "laptop"), "OUTLAST_SERVER": hub_lab.url,
                "OUTLAST_TOKEN": hub_lab.tokens[user],
            }  # fmt: skip
        with monkeypatch.context() as patch, open(os.devnull) as nobody:  # noqa: PTH123 - standard input of nobody
            for name in [each for each in os.environ if each.startswith(("OUTLAST_", "LC_"))]:
                patch.delenv(name)
            for name, value in environ.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", nobody)
            ended = main(list(words))
        said = capsys.readouterr()
        assert ended == code, said.out + said.err
        return said.out + said.err

    return outlast


def test_a_repository_is_made_shown_changed_and_removed(outlast):
    assert "made the private model ann/typed" in outlast("repo", "create", "ann/typed", "--kind", "model", "--tag", "a")
    assert "ann/typed" in outlast("repo", "list", "--owner", "ann", "--search", "typed")
    shown = json.loads(outlast("repo", "show", "ann/typed", "--json"))
    assert (shown["kind"], shown["tags"], shown["commit"]) == ("model", ["a"], None)
    assert shown["clone_url"].endswith("/ann/typed.git")
    assert "everybody" in outlast("repo", "change", "ann/typed", "--public", "--description", "typed by hand")
    assert "nothing to change" in outlast("repo", "change", "ann/typed", code=2)
    assert "give --yes" in outlast("repo", "remove", "ann/typed", code=2)
    assert "removed ann/typed" in outlast("repo", "remove", "ann/typed", "--yes")
    assert "no repository ann/typed" in outlast("repo", "show", "ann/typed", code=10)


def test_mistakes_get_one_clear_answer(outlast):
    assert "kinds: model, dataset, project" in outlast("repo", "create", "ann/x", "--kind", "modle", code=2)
    assert "write it like ann/lenet" in outlast("repo", "create", "lenet", "--kind", "model", code=2)
    assert "did you mean 'create'" in outlast("repo", "crate", code=2)
    assert "no run 'nothing'" in outlast("publish", "nothing", "ann/x", code=10)


def test_the_same_words_work_against_a_server(hub_lab, outlast):
    made = outlast("repo", "create", "cas/remote", "--kind", "dataset", user="cas")
    assert f"{hub_lab.url}/cas/remote.git" in made
    assert "cas/remote" in outlast("repo", "list", user="cas")
    assert "cas/remote" not in outlast("repo", "list", user="ben")
    assert "no repository cas/remote" in outlast("repo", "show", "cas/remote", user="ben", code=10)
    outlast("repo", "create", "ben/theirs", "--kind", "model", user="cas", code=11)
    assert "removed" in outlast("repo", "remove", "cas/remote", "--yes", user="cas")
    run = hub_lab.add_run("cas", {"w.bin": b"weights"})
    told = json.loads(outlast("publish", run, "cas/from-afar", "--json", user="cas"))
    assert told["path"] == "cas/from-afar" and told["new"] is True


def test_renaming_forking_and_downloading_read_the_same_at_home_and_at_a_server(hub_lab, work, outlast, monkeypatch):
    path = hub_lab.make("cas", "project")
    work.begin("cas", path, files={"train.py": "print(1)"})
    work.push()
    monkeypatch.chdir(work.folder)
    for user in ("cas", None):
        new = f"cas/typed-{user}"
        assert f"{path} is called {new} now" in outlast("repo", "rename", path, new, user=user)
        mine = f"cas/fork-{user}"
        assert f"made the private project {mine} from {path}" in outlast("repo", "fork", path, mine, user=user)
        assert "is there already" in outlast("repo", "fork", path, mine, user=user, code=2)
        said = outlast("repo", "download", f"{mine}@main", user=user)
        assert f"fork-{user}-main.zip" in said
        assert "is there already" in outlast("repo", "download", f"{mine}@main", user=user, code=2)
        told = json.loads(outlast("repo", "download", mine, "-o", "x.tar.gz", "--force", "--json", user=user))
        assert told["size_bytes"] == (work.folder / "x.tar.gz").stat().st_size and len(told["commit"]) == 40
        with zipfile.ZipFile(f"fork-{user}-main.zip") as archive:
            assert archive.read(f"fork-{user}-main/train.py") == b"print(1)"
        assert "no revision 'v9'" in outlast("repo", "download", f"{mine}@v9", user=user, code=10)
        assert "ends in .zip or .tar.gz" in outlast("repo", "download", mine, "-o", "x.rar", user=user, code=2)
        path = new
    assert "no repository" in outlast("repo", "fork", path, "ben/x", user="ben", code=10)
