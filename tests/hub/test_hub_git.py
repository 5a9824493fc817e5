"""Clone, push and fetch with the real git, and what is refused with words that reach the terminal."""

import contextlib
import os
import random
import socket
import subprocess
import time
from pathlib import Path

import pytest

from outlast.hub.fastimport import stream


def test_what_was_pushed_can_be_cloned(hub_lab, work):
    path = hub_lab.make("ann", "project")
    work.begin("ann", path, files={"train.py": "print(1)\n", "a b/ünicode.txt": "x"})
    work.push()
    work.clone("ann", path, "again")
    assert (work.folder / "again" / "train.py").read_text() == "print(1)\n"
    assert (work.folder / "again" / "a b" / "ünicode.txt").exists()
    work.commit({"train.py": "print(2)\n"})
    work.push()
    work.git("pull", "--quiet", cwd="again")
    assert (work.folder / "again" / "train.py").read_text() == "print(2)\n"


def test_a_branch_that_is_not_called_main_can_be_cloned_too(hub_lab, work):
    path = hub_lab.make("ann", "project")
    work.begin("ann", path, files={"train.py": "1"})
    work.git("branch", "--move", "master", cwd="repo")
    work.git("push", "--quiet", "origin", "master", cwd="repo")
    assert (work.clone("ann", path, "again") / "train.py").read_text() == "1"


def test_shallow_and_partial_clones_and_force_pushes_work(hub_lab, work):
    path = hub_lab.make("ann", "project")
    work.begin("ann", path, files={"a.txt": "1"})
    for number in range(5):
        work.commit({"a.txt": f"later {number}"})
    work.push()
    work.clone("ann", path, "shallow", "--depth", "1")
    assert work.git("rev-list", "--count", "HEAD", cwd="shallow").strip() == "1"
    work.clone("ann", path, "partial", "--filter=blob:none")
    work.git("reset", "--quiet", "--hard", "HEAD~3", cwd="repo")
    work.commit({"a.txt": "another history"})
    assert "non-fast-forward" in work.refused("push", "origin", "main", cwd="repo")
    work.push("repo", "--force")
    assert (work.clone("ann", path, "forced") / "a.txt").read_text() == "another history"


def test_a_push_larger_than_a_mebibyte_streams(hub_lab, work):
    path = hub_lab.make("ann", "project")
    files = {f"data/{number}.bin": os.urandom(150_000) for number in range(20)}
    work.begin("ann", path, files=files)
    work.push()
    assert (work.clone("ann", path, "again") / "data" / "7.bin").read_bytes() == files["data/7.bin"]


def test_five_thousand_small_files(hub_lab, work):
    path = hub_lab.make("ann", "dataset")
    work.begin("ann", path)
    files = {f"{n % 50}/{n}.txt": (f"sample {n}\n".encode(), 0o644) for n in range(5000)}
    words = ["git", "fast-import", "--quiet", "--date-format=now"]  # no need to write them all to the disk first
    data = stream(files, "many", "ann", None)
    subprocess.run(words, input=data, cwd=work.folder / "repo", env=work.environ, check=True, timeout=600)
    work.push()
    work.clone("ann", path, "again", "--bare")
    assert len(work.git("ls-tree", "-r", "--name-only", "main", cwd="again").splitlines()) == 5000


def test_of_several_pushes_at_once_none_is_lost(hub_lab, work):
    path = hub_lab.make("ann", "project")
    work.begin("ann", path, files={"a.txt": "1"})
    work.push()
    pushes = []
    for number in range(4):
        into = f"clone{number}"
        work.clone("ann", path, into)
        work.git("checkout", "--quiet", "-b", f"branch{number}", cwd=into)
        work.commit({f"{number}.txt": "x"}, into)
        command = ["git", "push", "--quiet", "origin", f"branch{number}"]
        pushes.append(subprocess.Popen(command, cwd=work.folder / into, env=work.environ))
    assert [push.wait(120) for push in pushes] == [0] * 4
    heads = work.git("ls-remote", "--heads", hub_lab.address("ann", path))
    assert all(f"refs/heads/branch{number}" in heads for number in range(4))


def test_two_who_push_to_one_branch_never_overwrite_each_other(hub_lab, work):
    path = hub_lab.make("ann", "project")
    work.begin("ann", path, files={"a.txt": "1"})
    work.push()
    work.clone("ann", path, "other")
    work.commit({"mine.txt": "x"})
    work.commit({"theirs.txt": "x"}, "other")
    work.push()
    assert "rejected" in work.refused("push", "origin", "main", cwd="other")


def test_a_large_file_is_refused_with_its_name_and_the_way_out(hub_lab, work):
    path = hub_lab.make("ann", "model")
    work.begin("ann", path, files={"README.md": "small", "big one.bin": b"x" * (200 * 1024 + 1)})
    said = work.refused("push", "origin", "main", cwd="repo")
    assert "remote: refused: 1 file is larger than 200 KB and not in LFS" in said
    assert "big one.bin" in said and "git lfs migrate import" in said
    command = said[said.index("git lfs install") :].splitlines()[0].strip()
    done = work.run("sh", "-c", command, cwd="repo")
    assert done.returncode == 0, done.stderr
    assert (work.clone("ann", path, "again") / "big one.bin").stat().st_size == 200 * 1024 + 1


def test_a_file_of_exactly_the_limit_passes_and_an_old_large_one_blocks_nobody(hub_lab, work):
    path = hub_lab.make("ann", "project")
    work.begin("ann", path, files={"fits.bin": b"x" * (200 * 1024)})
    work.push()
    found = hub_lab.hub._read(*path.split("/"))
    hub_lab.hub.bare(found).write_commit({"old.bin": (b"y" * 300_000, 0o644)}, "made before the rule", "root")
    work.git("pull", "--quiet", "--rebase", "origin", "main", cwd="repo")
    work.commit({"new.txt": "x"})
    work.push()


def test_a_push_beyond_the_quota_is_refused_though_its_size_is_not_announced(hub_lab, work):
    path = hub_lab.make("tim", "dataset")
    work.begin("tim", path, files={f"{number}.bin": random.Random(number).randbytes(150_000) for number in range(15)})
    said = work.refused("push", "origin", "main", cwd="repo")
    assert "refused: this push needs 2," in said and "the group tiny has room for" in said
    assert hub_lab.call("tim", "GET", f"/api/v1/repositories/{path}").json()["stored_bytes"] < 100_000
    work.clone("tim", path, "other")
    work.commit({"a.txt": "fits"}, "other")
    work.push("other")


def test_in_a_project_the_way_out_is_another_repository(hub_lab, work):
    path = hub_lab.make("ann", "project")
    work.begin("ann", path, files={"big.bin": b"x" * 300_000, "train.py": "print()"})
    said = work.refused("push", "origin", "main", cwd="repo")
    assert "a project holds code only" in said and "git rm --cached big.bin" in said
    done = work.run("sh", "-c", said[said.index("git rm") :].splitlines()[0].strip(), cwd="repo")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("ref", ["refs/outlast/x", "refs/pull/1/head"])
def test_only_branches_and_tags_are_taken(hub_lab, work, ref):
    path = hub_lab.make("ann", "project")
    work.begin("ann", path, files={"a.txt": "1"})
    assert "neither a branch nor a tag" in work.refused("push", "origin", f"HEAD:{ref}", cwd="repo")
    work.git("tag", "v1", cwd="repo")
    work.git("push", "--quiet", "origin", "v1", cwd="repo")


def test_a_client_that_leaves_takes_its_git_along(hub_lab):
    path = hub_lab.make("ann", "project")
    folder = hub_lab.hub.folder(hub_lab.hub._read(*path.split("/")))
    head = (
        f"POST /{path}.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {hub_lab.tokens['ann']}\r\n"
        "Content-Type: application/x-git-receive-pack-request\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n00\r\n"
    )
    with socket.create_connection(("127.0.0.1", hub_lab.port)) as connection:
        connection.sendall(head.encode())
        _wait_for(lambda: any("receive-pack" in words for words in _processes_at(folder)))
    _wait_for(lambda: not _processes_at(folder))
    _wait_for(lambda: not list(folder.glob(".known-*")))


def _processes_at(folder):
    """Command lines of the git processes that serve a repository."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"GIT_PROJECT_ROOT={folder}\0".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text())
    return found


def _wait_for(holds):
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
