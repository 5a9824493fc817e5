"""Clones and fetches by every version of git's protocol, packed requests, and requests that are none."""

import gzip
import zlib

import pytest
from hub_lab import Work


@pytest.fixture(scope="session")
def pushed(hub_lab, tmp_path_factory):
    work = Work(hub_lab, tmp_path_factory.mktemp("upload-pack"))
    path = hub_lab.make("ann", "project")
    work.begin("ann", path, files={"a.txt": "1"})
    for number in range(60):  # so many that a request for them is packed
        work.git("branch", f"side-{number}", cwd="repo")
    work.git("push", "--quiet", "--all", "origin", cwd="repo")
    return path


@pytest.mark.parametrize("version", ["0", "1", "2"])
def test_every_version_of_the_protocol_clones_and_fetches(hub_lab, work, pushed, version):
    protocol = ("-c", f"protocol.version={version}")
    work.git(*protocol, "clone", "--quiet", hub_lab.address("ann", pushed), "cloned")
    assert (work.folder / "cloned" / "a.txt").read_text() == "1"
    assert len(work.git("branch", "--remotes", cwd="cloned").splitlines()) == 62
    other = work.begin("ann", pushed, into="other")
    work.git(*protocol, "fetch", "--quiet", "--depth=1", "origin", "main", "side-3", cwd="other")
    assert other.is_dir() and "a step" in work.git("log", "--format=%s", "FETCH_HEAD", cwd="other")
    assert "refs/heads/side-59" in work.git(*protocol, "ls-remote", "origin", cwd="other")


def test_two_repositories_never_tell_each_others_refs(hub_lab, work, pushed):
    secret = hub_lab.make("cas")
    work.begin("cas", secret, files={"b.txt": "2"})
    work.git("push", "--quiet", "origin", "HEAD:refs/heads/hidden", cwd="repo")
    for _ in range(2):
        assert "hidden" not in work.git("ls-remote", hub_lab.address("ann", pushed))
        assert "hidden" in work.git("ls-remote", hub_lab.address("cas", secret))


def _post(hub_lab, path, content, **headers):
    words = {"Content-Type": "application/x-git-upload-pack-request", "Git-Protocol": "version=2", **headers}
    return hub_lab.call("ann", "POST", f"/{path}.git/git-upload-pack", content=content, headers=words)


def test_packed_requests_are_unpacked(hub_lab, pushed):
    asked = b"0014command=ls-refs\n0000"
    plain = _post(hub_lab, pushed, asked)
    assert plain.status_code == 200 and b"refs/heads/main" in plain.content
    assert _post(hub_lab, pushed, gzip.compress(asked), **{"Content-Encoding": "gzip"}).content == plain.content


@pytest.mark.parametrize(
    "content",
    [b"nothing like gzip", gzip.compress(b"0014command=ls-refs\n")[:-9], gzip.compress(bytes(100 << 20)),
     gzip.compress(b"0032have " + b"a" * 40 + b"\n") * 10, zlib.compress(b"\0" * 10)],
    ids=["no gzip", "torn", "bomb", "many", "zeros"],
)  # fmt: skip
def test_a_packed_request_that_lies_gets_nothing_and_harms_nothing(hub_lab, pushed, content):
    answer = _post(hub_lab, pushed, content, **{"Content-Encoding": "gzip"})
    assert b"refs/" not in answer.content and answer.status_code in (200, 400, 413)
    assert _post(hub_lab, pushed, b"0014command=ls-refs\n0000").status_code == 200


def test_what_git_would_not_ask_is_refused(hub_lab, pushed):
    assert _post(hub_lab, pushed, b"0000", **{"Content-Type": "text/plain"}).status_code == 415
    assert _post(hub_lab, pushed, b"0000", **{"Content-Encoding": "br"}).status_code == 415
    first = hub_lab.call("ann", "GET", f"/{pushed}.git/info/refs?service=git-upload-pack")
    assert first.content.startswith(b"001e# service=git-upload-pack\n0000")
    assert "no-cache" in first.headers["cache-control"]
