"""What strangers try: names that climb, trees that git should not keep, paths beside the protocol, packs too large."""

import http.client
import subprocess

import pytest

from outlast.errors import UsageError
from outlast.hub.names import check_owner, check_repository_name, check_revision, read_path

BAD_NAMES = ["", ".", "..", "a..b", "../x", "a/b", ".hidden", "-rf", "x.git", "X.GIT", "a b", "a\n", "a\0", "é",
             "a" * 65, "x.lock", "a/", "%2e%2e", "a;b", "$(x)", "a\\b", "con:"]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_are_more_than_a_name_are_refused(hub_lab, name):
    with pytest.raises(UsageError):
        check_repository_name(name)
    made = hub_lab.call("ann", "POST", "/api/v1/repositories", json={"name": name, "kind": "model"})
    assert made.status_code in (400, 422), made.text


@pytest.mark.parametrize("name", ["api", "runs", "API", "new", "stores", "settings", "sign-in", "platforms", "compare"])
def test_owners_called_like_pages_of_the_server_are_refused(name):
    with pytest.raises(UsageError, match="pages begin so"):
        check_owner(name)


def test_no_page_of_the_server_can_be_taken_for_an_owner(hub_lab):
    document = hub_lab.call("root", "GET", "/api/v1/openapi.json").json()
    first = {path.split("/")[1] for path in document["paths"]}
    for name in first - {"{owner}"}:
        with pytest.raises(UsageError):
            check_owner(name)


@pytest.mark.parametrize(
    "text", ["-x", "a..b", "HEAD^", "main~1", "main@{1}", ":/x", "a b", "--all", "a:b", "", "/a", "a//b"]
)
def test_revisions_are_names_and_nothing_else(text):
    with pytest.raises(UsageError):
        check_revision(text)
    for good in ("main", "v1.2", "feature/a-b", "0123abcd"):
        assert check_revision(good) == good
    with pytest.raises(UsageError):
        read_path("a/b/c")


def _raw(hub_lab, method, path, headers=None):
    """A path as it is, which a client would tidy up."""
    connection = http.client.HTTPConnection("127.0.0.1", hub_lab.port, timeout=60)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        connection.putheader("Authorization", f"Bearer {hub_lab.tokens['ann']}")
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_only_the_protocol_is_served(hub_lab, work):
    path = hub_lab.make("ann", "project")
    work.begin("ann", path, files={"a.txt": "1"})
    work.push()
    for what in (
        "config", "HEAD", "description", "objects/info/packs", "hooks/pre-receive", "info/refs", "../about.json",
        "info/refs?service=git-upload-archive", "..%2fabout.json", "info/../config", "%2e%2e/about.json",
    ):  # fmt: skip
        status, body = _raw(hub_lab, "GET", f"/{path}.git/{what}")
        assert status in (403, 404), what
        assert b"repositoryformatversion" not in body and b'"kind"' not in body
    name = path.split("/")[1]
    for crooked in (
        f"/ann/../ann/{name}.git",
        f"/ann/..%2fann%2f{name}.git",
        f"//ann/{name}.git",
        "/ann/%00.git",
        "/../../etc.git",
    ):
        status, _ = _raw(hub_lab, "GET", f"{crooked}/info/refs?service=git-upload-pack")
        assert status == 404, crooked


def test_a_pack_that_says_it_is_too_large_is_not_read(hub_lab):
    path = hub_lab.make("ann", "project")
    headers = {"Content-Type": "application/x-git-receive-pack-request", "Content-Length": str(2 << 30)}
    status, body = _raw(hub_lab, "POST", f"/{path}.git/git-receive-pack", headers)
    assert status == 413 and b"larger than" in body


def _object(work, kind, data):
    """A git object that no honest git would make."""
    done = subprocess.run(
        ["git", "hash-object", "-t", kind, "-w", "--literally", "--stdin"], input=data, cwd=work.folder / "repo",
        env=work.environ, capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode().strip()


def _commit_tree(work, *entries):
    """A commit whose tree has these (mode, name, object) entries."""
    tree = _object(
        work, "tree", b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(oid) for mode, name, oid in entries)
    )
    commit = f"tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nbad\n"
    return _object(work, "commit", commit.encode())


@pytest.mark.parametrize("name", ["..", ".", ".git", ".GIT", "a/b"])
def test_trees_with_names_that_climb_are_refused(hub_lab, work, name):
    path = hub_lab.make("ann", "project")
    work.begin("ann", path)
    commit = _commit_tree(work, ("100644", name, _object(work, "blob", b"payload")))
    said = work.refused("push", "origin", f"{commit}:refs/heads/main", cwd="repo")
    assert "fsck error" in said or "unpack" in said or "index-pack" in said, said
    assert hub_lab.call("ann", "GET", f"/api/v1/repositories/{path}").json()["branches"] == {}


def test_submodules_that_carry_commands_are_refused(hub_lab, work):
    path = hub_lab.make("ann", "project")
    work.begin("ann", path)
    modules = _object(work, "blob", b'[submodule "x"]\n\tpath = x\n\turl = -u./payload\n')
    commit = _commit_tree(work, ("100644", ".gitmodules", modules), ("160000", "x", "1" * 40))
    work.refused("push", "origin", f"{commit}:refs/heads/main", cwd="repo")
    assert hub_lab.call("ann", "GET", f"/api/v1/repositories/{path}").json()["branches"] == {}


def test_hooks_and_configuration_are_never_a_users(hub_lab, work):
    path = hub_lab.make("ann", "project")
    marker = work.folder / "was-run"
    files = {
        "hooks/post-receive": f"#!/bin/sh\ntouch {marker}\n",
        "config": "[core]\n\thooksPath = hooks\n",
        ".gitconfig": "x",
    }
    work.begin("ann", path, files=files)
    work.push()
    bare = hub_lab.hub.bare(hub_lab.hub._read(*path.split("/"))).folder
    assert not (bare / "hooks").exists() and not marker.exists()
    work.commit({"more.txt": "x"})
    assert "push options" in work.refused("push", "-o", "x=y", "origin", "main", cwd="repo")


def test_two_at_once_make_one_repository(hub_lab):
    from concurrent.futures import ThreadPoolExecutor

    body = {"name": "wanted-by-many", "kind": "model"}
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: hub_lab.call("ben", "POST", "/api/v1/repositories", json=body), range(6)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 5
