"""Any folder packs and unpacks to the same folder, and ordinary tar agrees about what is in the shards."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest
from filetrees import contents, fill
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.inside.errors import NotFound, RequestError
from outlast.inside.move.local import LocalTree
from outlast.inside.move.packed import INDEX_NAME, Packed, is_packed, read_member, unsafe_link, unsafe_path
from outlast.inside.move.packing import send_packed
from outlast.inside.move.tarshard import member_head
from outlast.inside.move.unpacking import fetch_packed

LOCAL = LocalTree()
AWKWARD = {
    "plain.txt": "x",
    "empty": "",
    "a/b/c/d/e/f/deep.bin": b"\0" * 513,
    "with space/和 中文/ü ' \" \n newline.txt": "text",
    "long/" + "n" * 200 + "/" + "m" * 200: "long",
    "长" * 60 + ".jpg": "chinese and long",
    "a-b": "sorts before a/",
    "empty folder": None,
    "nest/empty": None,
    "link": "-> plain.txt",
    "a/up": "-> ../plain.txt",
    "a/b/far": "-> ../../empty folder",
    "long link": "-> " + "/".join(["long", "n" * 200, "m" * 200]),
    "dangling": "-> not there",
}

names = st.text(st.characters(exclude_characters="/\0", exclude_categories=("Cs",)), min_size=1, max_size=12).filter(
    lambda name: name not in (".", "..") and not name.startswith(".outlast-part-") and len(name.encode()) < 200
)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)
trees = st.dictionaries(paths, st.one_of(st.none(), st.binary(max_size=3000)), max_size=12)


def pack(source, target, **words):
    return send_packed(str(source), LOCAL, str(target), **words)


def with_system_tar(place, target):
    target.mkdir()
    for shard in sorted(place.glob("shard-*.tar")):
        subprocess.run(["tar", "-xf", shard, "-C", target], check=True, capture_output=True)
    return target


def times_and_modes(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            seen = path.stat()
            found[str(path.relative_to(folder))] = (seen.st_mtime_ns, seen.st_mode & 0o777)
    return found


def test_awkward_names_survive_and_system_tar_and_tarfile_agree(tmp_path):
    source = fill(tmp_path / "source", AWKWARD)
    (source / "plain.txt").chmod(0o640)
    (source / "empty").chmod(0o755)
    os.utime(source / "plain.txt", ns=(1, 1_234_567_890_123_456_789))
    outcome = pack(source, tmp_path / "packed", shard_bytes=4096)
    assert outcome.files == 7 and outcome.shards > 1 and outcome.complete
    fetch_packed(LOCAL, str(tmp_path / "packed"), str(tmp_path / "back"))
    assert contents(tmp_path / "back") == contents(source)
    assert times_and_modes(tmp_path / "back") == times_and_modes(source)
    assert contents(with_system_tar(tmp_path / "packed", tmp_path / "tarred")) == contents(source)
    seen = {}
    for shard in (tmp_path / "packed").glob("shard-*.tar"):
        with tarfile.open(shard) as tar:
            seen.update({member.name: member.size for member in tar})
    assert set(seen) == set(contents(source))


def test_names_that_are_no_text_survive(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    raw = os.fsencode(source)
    for name in (b"\xff\xfe", b"caf\xe9.jpg", b"\xe9" * 120):
        Path(os.fsdecode(raw + b"/" + name)).write_bytes(name)
    pack(source, tmp_path / "packed")
    fetch_packed(LOCAL, str(tmp_path / "packed"), str(tmp_path / "back"))
    assert sorted(os.listdir(os.fsencode(tmp_path / "back"))) == sorted(os.listdir(raw))
    assert sorted(os.listdir(os.fsencode(with_system_tar(tmp_path / "packed", tmp_path / "t")))) == sorted(
        os.listdir(raw)
    )


@settings(max_examples=40, deadline=None, print_blob=True)
@given(tree=trees, shard_bytes=st.sampled_from([2048, 8192, 1 << 20]))
def test_any_tree_comes_back_the_same(tree, shard_bytes):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source")
        source.mkdir()
        for path, data in tree.items():
            try:
                fill(source, {path: data})
            except OSError:
                continue  # a file where a folder should be: that tree cannot exist
        pack(source, Path(folder, "packed"), shard_bytes=shard_bytes)
        fetch_packed(LOCAL, f"{folder}/packed", f"{folder}/back")
        assert contents(Path(folder, "back")) == contents(source)
        assert contents(with_system_tar(Path(folder, "packed"), Path(folder, "tarred"))) == contents(source)


@settings(max_examples=60, deadline=None)
@given(
    path=paths,
    size=st.sampled_from([0, 1, 8**11 - 1, 8**11, 10**13]),
    mtime=st.sampled_from([-5, 0, 1, 8**11 - 1, 8**11]),
    mode=st.integers(0, 0o777),
)
def test_tarfile_reads_any_head_as_it_was_meant(path, size, mtime, mode):
    head = member_head(path, "file", size, mtime, mode)
    assert len(head) % 512 == 0
    info = tarfile.TarInfo.fromtarfile(_Heads(head))
    assert (info.name, info.size, info.mtime, info.mode) == (path.rstrip("/"), size, mtime, mode)


class _Heads(tarfile.TarFile):
    def __init__(self, head):
        import io

        super().__init__(fileobj=io.BytesIO(head + bytes(1024)), mode="r", errorlevel=0)
        self.offset = 0
        self.fileobj.seek(0)


def test_the_same_files_give_the_same_shards(tmp_path):
    source = fill(tmp_path / "source", AWKWARD)
    shutil.copytree(source, tmp_path / "copy", symlinks=True)
    pack(source, tmp_path / "one", shard_bytes=4096)
    pack(tmp_path / "copy", tmp_path / "two", shard_bytes=4096)
    # The folders of the copy are new, and the times of links; files and their order are the same.
    one = [member._replace(modified_ns=0) for member in Packed(LOCAL, str(tmp_path / "one")).members()]
    two = [member._replace(modified_ns=0) for member in Packed(LOCAL, str(tmp_path / "two")).members()]
    assert one == two and len(one) == len(AWKWARD)
    pack(source, tmp_path / "three", shard_bytes=4096)
    for shard in (tmp_path / "one").iterdir():
        assert shard.read_bytes() == (tmp_path / "three" / shard.name).read_bytes()


def test_shards_are_cut_at_their_size_and_a_large_file_has_its_own(tmp_path, bucket):
    files = {f"{at:03}": os.urandom(3000) for at in range(20)} | {"large": os.urandom(300_000)}
    source = fill(tmp_path / "source", files)
    send_packed(str(source), bucket, "set", shard_bytes=32 << 10)
    place = Packed(bucket, "set")
    by_shard = {}
    for member in place.members():
        by_shard.setdefault(member.shard, []).append(member.path)
    for number, shard in enumerate(place.header.shards):
        stored = bucket.objects[f"set/shard-{number:06d}.tar"][0]
        assert len(stored) == shard.size_bytes
        assert shard.size_bytes <= 32 << 10 or by_shard[number] == ["large"]
    fetch_packed(bucket, "set", str(tmp_path / "back"))
    assert contents(tmp_path / "back") == files


def test_an_empty_folder_packs_too(tmp_path, bucket):
    (tmp_path / "source").mkdir()
    outcome = send_packed(str(tmp_path / "source"), bucket, "set")
    assert (outcome.files, outcome.shards) == (0, 1) and is_packed(bucket, "set")
    fetch_packed(bucket, "set", str(tmp_path / "back"))
    assert contents(tmp_path / "back") == {}


def test_one_file_is_read_by_range_out_of_its_shard(tmp_path, bucket):
    files = {f"c{at % 3}/{at:03}.jpg": os.urandom(5000) for at in range(60)}
    send_packed(str(fill(tmp_path / "source", files)), bucket, "set")
    asked = []
    read = bucket.read
    bucket.read = lambda path, start=0, length=None: asked.append((path, length)) or read(path, start, length)
    assert b"".join(read_member(bucket, "set", "c1/031.jpg")) == files["c1/031.jpg"]
    assert asked[-1] == ("set/shard-000000.tar", 5000)
    assert all(path.endswith(INDEX_NAME) for path, _ in asked[:-1])
    with pytest.raises(NotFound, match=r"c1/999\.jpg"):
        read_member(bucket, "set", "c1/999.jpg")


def test_a_place_without_an_index_does_not_exist(tmp_path, bucket):
    send_packed(str(fill(tmp_path / "source", {"a": "1"})), bucket, "set")
    bucket.remove([f"set/{INDEX_NAME}"])
    assert not is_packed(bucket, "set")
    with pytest.raises(NotFound, match="no packed place"):
        fetch_packed(bucket, "set", str(tmp_path / "back"))


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside", "a/../../../outside"])
def test_a_link_that_leads_outside_is_refused_by_name(tmp_path, bucket, target):
    source = fill(tmp_path / "source", {"in/file": "1", "in/bad": f"-> {target}"})
    with pytest.raises(RequestError, match="in/bad"):
        send_packed(str(source), bucket, "set")
    assert not is_packed(bucket, "set")


def test_an_absolute_link_inside_becomes_a_relative_one(tmp_path, bucket):
    source = fill(tmp_path / "source", {"data/file": "1", "x/link": f"-> {tmp_path}/source/data/file"})
    send_packed(str(source), bucket, "set")
    fetch_packed(bucket, "set", str(tmp_path / "back"))
    assert contents(tmp_path / "back")["x/link"] == "-> ../data/file"


def test_a_pipe_is_refused_by_name(tmp_path, bucket):
    os.mkfifo(fill(tmp_path / "source", {"a": "1"}) / "pipe")
    with pytest.raises(RequestError, match="pipe is neither a file"):
        send_packed(str(tmp_path / "source"), bucket, "set")


@pytest.mark.parametrize(
    ("path", "target", "is_safe"),
    [
        ("a/b", "../c", True), ("a", "b/c", True), ("a/b/c", "../../d", True), ("a", "./b", True),
        ("a", "..", False), ("a/b", "../..", False), ("a", "b/..", False), ("d/e/l", "l1/..", False),
        ("a", "/etc", False), ("a", "", False), ("a", "b\0c", False),
    ],
)  # fmt: skip
def test_links_are_judged_by_where_they_can_lead(path, target, is_safe):
    assert (unsafe_link(path, target) == "") is is_safe


@pytest.mark.parametrize("path", ["", "/etc", "..", "a/../b", "a//b", "./a", "a/", "a\0b"])
def test_paths_that_do_not_stay_inside_are_seen(path):
    assert unsafe_path(path)
