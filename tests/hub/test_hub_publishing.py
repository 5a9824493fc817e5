"""Publishing a run: its outputs become a model repository with a card, and no byte is copied."""

import os

import pytest

from outlast import Client
from outlast.errors import CredentialError, NotFoundError, UsageError
from outlast.model.spec import CodePack, Input
from outlast.model.visitor import Visitor
from outlast.operations.publishing import publish_run


@pytest.fixture
def client(hub_lab):
    return Client(settings=hub_lab.settings)


def _blobs(hub_lab):
    return {entry.key for entry in hub_lab.hub.store.list("blobs/")}


def test_outputs_become_a_model_that_git_can_clone(hub_lab, work, client):
    weights = os.urandom(300_000)
    files = {"out/model.bin": weights, "out/a b [1].bin": b"\0\1\2", "out/config.json": b'{"a": 1}', "out/.git/x": b"x"}
    given = Input(name="data", source="file:///private/place", path="data", asset="dataset:ann/mnist@abc")
    run = hub_lab.add_run("ann", files, params={"lr": "0.1"}, inputs=(given,))
    before = _blobs(hub_lab)
    done = client.repositories.publish(run, "ann/published", licence="mit", tags=("vision",))
    assert (done.new, done.files, done.copied_bytes) == (True, 3, 0)
    assert _blobs(hub_lab) == before, "nothing is copied"
    cloned = work.clone("ann", "ann/published", "again")
    assert (cloned / "model.bin").read_bytes() == weights
    assert (cloned / "a b [1].bin").read_bytes() == b"\0\1\2"
    assert (cloned / "config.json").read_text() == '{"a": 1}'
    assert not work.git("status", "--porcelain", cwd="again"), "what is checked out is what was committed"
    card = (cloned / "README.md").read_text()
    for words in ("license: mit", "'vision'", "dataset:ann/mnist@abc", "lr=0.1", run, "model.bin"):
        assert words in card
    assert "/private/place" not in card
    assert client.repositories.get("ann/published").commit == done.commit


@pytest.mark.parametrize(
    ("place", "files", "published"),
    [
        (".outlast/outputs/output_path_0", [".outlast/outputs/output_path_0/w.bin"], ["w.bin"]),
        ("work/out", ["work/out/a/w.bin", "work/out/b.txt"], ["a/w.bin", "b.txt"]),
        ("out", ["out/a.txt", "ckpt/b.txt"], ["ckpt/b.txt", "out/a.txt"]),
        ("w.bin", ["w.bin"], ["w.bin"]),
        (None, ["out/a/b.txt", "out/c.txt"], ["a/b.txt", "c.txt"]),
    ],
)
def test_the_content_of_the_output_place_becomes_that_of_the_model(hub_lab, client, place, files, published):
    run = hub_lab.add_run("ann", dict.fromkeys(files, b"x"), output=place)
    path = f"ann/{run}"
    done = client.repositories.publish(run, path)
    bare = hub_lab.hub.bare(hub_lab.hub._read(*path.split("/")))
    own = (".gitattributes", "README.md")
    assert [each.path for each in bare.items(done.commit, recursive=True) if each.path not in own] == published


def test_a_card_names_the_project_that_the_code_came_from(hub_lab, client):
    code = CodePack(sha256="0" * 64, size_bytes=0, files=1, asset="project:ann/lenet@abc")
    done = client.repositories.publish(hub_lab.add_run("ann", {"w.txt": b"x"}, code=code), "ann/from-a-project")
    bare = hub_lab.hub.bare(hub_lab.hub._read("ann", "from-a-project"))
    card = next(each for each in bare.items(done.commit) if each.path == "README.md")
    assert b"| code | project:ann/lenet@abc |" in bare.read(card.oid)


def test_publishing_again_adds_a_commit(hub_lab, client):
    first = client.repositories.publish(hub_lab.add_run("ann", {"w.bin": b"\0" * 10}), "ann/twice")
    second = client.repositories.publish(
        hub_lab.add_run("ann", {"w.bin": b"\1" * 10, "README.md": b"mine"}), "ann/twice"
    )
    assert first.new and not second.new and first.commit != second.commit
    found = hub_lab.hub._read("ann", "twice")
    bare = hub_lab.hub.bare(found)
    assert [each.id for each in bare.log(second.commit)] == [second.commit, first.commit]
    readme = next(each for each in bare.items(second.commit) if each.path == "README.md")
    assert bare.read(readme.oid) == b"mine"


def test_what_cannot_be_published_is_refused_before_anything_is_made(hub_lab, client):
    with pytest.raises(NotFoundError, match="has no outputs"):
        client.repositories.publish(hub_lab.add_run("ann", {}), "ann/nothing")
    run = hub_lab.add_run("ann", {"w.bin": b"1"})
    with pytest.raises(UsageError, match="names no repository"):
        client.repositories.publish(run, "lenet")
    with pytest.raises(UsageError, match="pages begin so"):
        client.repositories.publish(run, "api/x")
    path = hub_lab.make("ann", "dataset")
    with pytest.raises(UsageError, match="is a dataset"):
        client.repositories.publish(run, path)
    other = hub_lab.make("ben", visibility="public")
    with pytest.raises(CredentialError, match="belongs to ben"):
        publish_run(hub_lab.settings, run, other, Visitor("ann"))
    names = [each.path for each in client.repositories.list()]
    assert "ann/nothing" not in names


def test_over_http_one_publishes_what_one_sees_to_what_one_owns(hub_lab):
    run = hub_lab.add_run("ann", {"w.bin": b"weights"})

    def publish(user, path):
        return hub_lab.call(user, "POST", f"/api/v1/runs/{run}/publish", json={"repository": path})

    done = publish("ann", "ann/over-http")
    assert done.status_code == 201 and done.json()["files"] == 1, done.text
    assert publish("cas", "cas/stolen").status_code == 404
    assert publish("ben", "ann/over-http").status_code == 403
    assert publish("vic", "vic/x").status_code == 403
    assert publish("ben", "vision/of-the-group").status_code == 201
    assert hub_lab.call("ann", "GET", "/api/v1/repositories/vision/of-the-group").json()["group"] is True
