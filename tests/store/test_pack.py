"""Which files travel, and that the archive has the same bytes everywhere."""

import os
import stat
import tarfile

import pytest

from outlast.errors import SpecError
from outlast.inside.unpack import unpack
from outlast.store import archive as archive_module
from outlast.store import pack as pack_module
from outlast.store.pack import plan_pack, write_pack


def make(folder, files):
    for name, body in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body if isinstance(body, bytes) else body.encode())


def names(plan):
    return [file.path for file in plan.files]


@pytest.fixture
def folder(tmp_path):
    code = tmp_path / "code"
    make(code, {"train.py": "print()", "net/model.py": "x", "net/data 集.txt": "y"})
    return code


def test_everything_travels_unless_something_says_no(folder):
    assert names(plan_pack(folder)) == ["net/data 集.txt", "net/model.py", "train.py"]


def test_what_is_never_code_stays(folder):
    left = [".git/config", "a/__pycache__/x.pyc", ".venv/bin/p", "node_modules/m.js", "old.pyc"]
    make(folder, dict.fromkeys([*left, ".outlast/checkpoint/a.pt", "net/.ipynb_checkpoints/n.ipynb"], "z"))
    # The folder "a" holds nothing that travels, yet a script may rely on it.
    assert names(plan_pack(folder)) == ["a", "net/data 集.txt", "net/model.py", "train.py"]


def test_gitignore_of_every_level_counts_and_the_nearest_wins(folder):
    make(folder, {
        ".gitignore": "*.log\n/top.txt\nbuild/\n", "a.log": "", "top.txt": "", "net/top.txt": "",
        "net/.gitignore": "!keep.log\nmodel.py\n", "net/keep.log": "", "net/other.log": "", "build/x": "",
    })  # fmt: skip
    assert names(plan_pack(folder)) == [
        ".gitignore", "net/.gitignore", "net/data 集.txt", "net/keep.log", "net/top.txt", "train.py",
    ]  # fmt: skip


def test_rules_of_the_repository_around_the_folder_count(tmp_path, folder):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.bin\n/code/net/\n")
    (folder / "a.bin").write_text("x")
    assert names(plan_pack(folder)) == ["train.py"]


def test_a_folder_that_is_ignored_as_a_whole_can_be_packed_when_named(tmp_path, folder):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("code/\n")
    assert "train.py" in names(plan_pack(folder))


def test_exclude_globs_leave_files_behind(folder):
    assert names(plan_pack(folder, exclude=["net/*.txt"])) == ["net/model.py", "train.py"]
    assert names(plan_pack(folder, exclude=["net"])) == ["train.py"]


def test_places_of_data_and_checkpoints_stay_behind(folder):
    make(folder, {"ckpt/a.pt": "x", "data/mnist/x": "x", "data/readme": "x"})
    plan = plan_pack(folder, leave_out=["ckpt", "./data/mnist/", "../elsewhere", "/abs/place"])
    assert names(plan) == ["data/readme", "net/data 集.txt", "net/model.py", "train.py"]


def test_include_wins_over_ignore_exclude_and_places(folder):
    make(folder, {".gitignore": "weights/\n*.bin\n", "weights/deep/w.bin": "x", "weights/other": "x", "b.bin": "x",
                  "ckpt/start.pt": "x", "ckpt/big.pt": "x"})  # fmt: skip
    plan = plan_pack(folder, ["weights/deep/w.bin", "b.bin", "ckpt/start.pt", "train.py"], ["train.py"], ["ckpt"])
    assert {"weights/deep/w.bin", "b.bin", "ckpt/start.pt", "train.py"} <= set(names(plan))
    assert "weights/other" not in names(plan) and "ckpt/big.pt" not in names(plan)


def test_a_broad_include_does_not_empty_a_virtual_environment_into_the_pack(folder):
    make(folder, {".venv/lib/readme.txt": "x", ".gitignore": "*.txt\n", "notes.txt": "x"})
    plan = plan_pack(folder, include=["*.txt"])
    assert "notes.txt" in names(plan) and ".venv/lib/readme.txt" not in names(plan)
    assert ".venv/lib/readme.txt" in names(plan_pack(folder, include=[".venv/lib/*.txt"]))


@pytest.mark.parametrize(
    ("name", "body"),
    [(".env", "A=1"), (".env.prod", "A=1"), ("tls/server.pem", ""), ("a.key", ""), ("id_rsa", ""), ("id_ed25519_x", ""),
     ("Credentials-lab.json", "{}"), (".netrc", ""), ("x.pfx", ""), ("kubeconfig", ""),
     (".npmrc", "//host/:_authToken=abc"), ("notes.txt", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc"),
     ("other", "\n-----BEGIN PRIVATE KEY-----\n")],
)  # fmt: skip
def test_secrets_are_refused_by_name_with_the_ways_out(folder, name, body):
    make(folder, {name: body})
    with pytest.raises(SpecError) as caught:
        plan_pack(folder, include=[name])
    assert name in str(caught.value)
    assert all(way in str(caught.value) for way in (".gitignore", "--exclude", "--allow-secret-files"))
    assert name not in names(plan_pack(folder, exclude=[name]))
    assert name in names(plan_pack(folder, allow_secret_files=True))


def test_templates_and_public_keys_are_not_secrets(folder):
    make(folder, {".env.example": "A=", "id_rsa.pub": "ssh-rsa", ".npmrc": "color=false", "monkey.txt": "key"})
    assert {".env.example", "id_rsa.pub", ".npmrc"} <= set(names(plan_pack(folder)))


def test_links_inside_travel_and_links_out_are_refused(folder, tmp_path):
    (folder / "same.py").symlink_to("train.py")
    (folder / "net" / "up.py").symlink_to("../train.py")
    (folder / "net" / "absolute.py").symlink_to(folder / "train.py")
    (folder / "net" / "winding.py").symlink_to("../net/../train.py")
    (folder / "lib").symlink_to("net")
    plan = plan_pack(folder)
    assert {file.path: file.link for file in plan.files if file.link} == {
        "same.py": "train.py", "net/up.py": "../train.py", "net/absolute.py": "../train.py",
        "net/winding.py": "../train.py", "lib": "net",
    }  # fmt: skip
    write_pack(plan, tmp_path / "p.tar")
    assert unpack(str(tmp_path / "p.tar"), str(tmp_path / "out")) == 8
    assert (tmp_path / "out" / "net" / "absolute.py").read_text() == "print()"
    for target in ("/etc", "../..", "../code-2"):
        (folder / "out").symlink_to(target)
        with pytest.raises(SpecError, match=r"out is a link out of the code folder.*--data"):
            plan_pack(folder)
        assert "out" not in names(plan_pack(folder, leave_out=["out"]))
        (folder / "out").unlink()


def test_the_archive_depends_only_on_the_files(folder, tmp_path):
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o744)
    make(folder, {"deep/" * 30 + "long name é.py": "x"})
    first = write_pack(plan_pack(folder), tmp_path / "1.tar")
    other = tmp_path / "elsewhere" / "copy"
    old = os.umask(0o077)
    try:
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.is_file():
                make(other, {str(path.relative_to(folder)): path.read_bytes()})
                os.utime(other / path.relative_to(folder), (1, 1))
    finally:
        os.umask(old)
    (other / "run.sh").chmod(0o755)
    second = write_pack(plan_pack(other), tmp_path / "2.tar")
    assert first == second
    assert (tmp_path / "1.tar").read_bytes() == (tmp_path / "2.tar").read_bytes()
    assert first.size_bytes == (tmp_path / "1.tar").stat().st_size
    with tarfile.open(tmp_path / "1.tar") as archive:
        for member in archive:
            assert (member.mtime, member.uid, member.gid, member.uname, member.gname) == (0, 0, 0, "", "")
            assert member.mode == (0o755 if member.name == "run.sh" else 0o644)


def test_a_pack_survives_the_way_there(folder, tmp_path):
    (folder / "empty").mkdir()
    (folder / "bad\udcff name").write_bytes(b"latin")
    write_pack(plan_pack(folder), tmp_path / "p.tar")
    unpack(str(tmp_path / "p.tar"), str(tmp_path / "out"))
    found = {str(p.relative_to(tmp_path / "out")): p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    expected = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert found == expected
    assert (tmp_path / "out" / "empty").is_dir()


def test_a_large_pack_is_mentioned_and_a_huge_one_refused(folder, monkeypatch):
    make(folder, {f"data/{n}.bin": b"x" * (1000 + n) for n in range(7)})
    monkeypatch.setattr(pack_module, "NOTICE_BYTES", 5000)
    (notice,) = plan_pack(folder).notices
    assert "6.9 KB" in notice and "data/6.bin" in notice and "data/2.bin" in notice and "data/1.bin" not in notice
    monkeypatch.setattr(pack_module, "LIMIT_BYTES", 6000)
    with pytest.raises(SpecError, match="--data"):
        plan_pack(folder)


def test_a_file_that_grew_since_the_plan_is_packed_as_it_is_now(folder, tmp_path):
    plan = plan_pack(folder)
    (folder / "train.py").write_text("print('longer')")
    assert write_pack(plan, tmp_path / "p.tar") == write_pack(plan_pack(folder), tmp_path / "q.tar")


def test_a_file_that_vanishes_or_keeps_changing_is_named(folder, tmp_path, monkeypatch):
    plan = plan_pack(folder)
    (folder / "net" / "model.py").unlink()
    with pytest.raises(SpecError, match=r"net/model\.py vanished while it was being packed"):
        write_pack(plan, tmp_path / "p.tar")
    plan = plan_pack(folder)
    real = tarfile.TarFile.addfile

    def grow(self, member, source=None):
        real(self, member, source)
        with (folder / "train.py").open("a") as file:
            file.write("#")

    monkeypatch.setattr(archive_module.tarfile.TarFile, "addfile", grow)
    with pytest.raises(SpecError, match=r"train.py changed while it was being packed"):
        write_pack(plan, tmp_path / "p.tar")


def test_pipes_stay_behind_with_a_notice_and_a_missing_folder_is_named(folder, tmp_path):
    os.mkfifo(folder / "pipe")
    assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)
    plan = plan_pack(folder)
    assert "pipe" not in names(plan) and "pipe" in plan.notices[0]
    with pytest.raises(SpecError, match="nowhere"):
        plan_pack(tmp_path / "nowhere")


def test_a_bad_pattern_is_named():
    with pytest.raises(SpecError, match="--exclude"):
        plan_pack(pack_module.Path(__file__).parent, exclude=["!"])
