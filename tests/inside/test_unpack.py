"""An archive from a stranger cannot write outside its own folder."""

import gzip
import io
import os
import stat
import tarfile

import pytest

from outlast.inside.errors import Damaged, RequestError
from outlast.inside.unpack import unpack


def build(path, *members):
    """Members: (name, body) for a file, or a ready TarInfo."""
    with tarfile.open(path, "w") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return str(path)


def special(name, kind, linkname="", mode=0o644):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, linkname, mode
    return info


def sym(name, target):
    return special(name, tarfile.SYMTYPE, target)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "file").write_text("untouched")
    return tmp_path


def assert_refused(place, *members, error=RequestError):
    archive = build(place / "a.tar", ("good.py", b"x"), *members)
    with pytest.raises(error) as caught:
        unpack(archive, str(place / "into"))
    assert (place / "victim" / "file").read_text() == "untouched"
    assert sorted(p.name for p in place.iterdir()) in (["a.tar", "victim"], ["a.tar", "into", "victim"])
    return str(caught.value)


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a/../../x", "..", "a/..", "../victim/file", "a//../b"])
def test_paths_that_leave_are_refused_before_anything_is_written(place, name):
    assert repr(name) in assert_refused(place, (name, b"evil"))
    assert not (place / "into").exists()


@pytest.mark.parametrize("target", ["../victim", "/etc", "a/../../victim", "x/..", "", "..", "../into/../victim"])
def test_links_that_lead_out_are_refused(place, target):
    assert "link" in assert_refused(place, sym("link", target))


def test_links_that_wind_through_other_links_are_refused(place):
    # By its letters d/e/f/up/../../.. is d; by the kernel's way it is above the folder.
    winding = [sym("d/e/f/up", "../../../top"), special("top", tarfile.DIRTYPE), sym("d/e/f/out", "up/../..")]
    assert_refused(place, *winding)


def test_nothing_is_written_through_a_link(place):
    for members in ([sym("dir", "sub"), ("dir/file", b"evil")], [sym("a", "b"), sym("a/c", "d")],
                    [sym("a", "sub"), special("h", tarfile.LNKTYPE, "a/x")]):  # fmt: skip
        assert "link" in assert_refused(place, *members)


def test_nothing_is_written_through_a_link_that_was_there_before(place):
    (place / "into").mkdir()
    (place / "into" / "dir").symlink_to(place / "victim")
    (place / "into" / "leaf").symlink_to(place / "victim" / "file")
    unpack(build(place / "a.tar", ("leaf", b"mine")), str(place / "into"))
    assert (place / "into" / "leaf").read_bytes() == b"mine"
    assert_refused(place, ("dir/file", b"evil"))


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_and_pipes_are_refused(place, kind):
    assert "device" in assert_refused(place, special("dev", kind))


@pytest.mark.parametrize("target", ["/etc/passwd", "../victim/file", ".."])
def test_hard_links_out_are_refused(place, target):
    assert_refused(place, special("h", tarfile.LNKTYPE, target))


def test_a_hard_link_to_nothing_is_damage(place):
    assert_refused(place, special("h", tarfile.LNKTYPE, "missing"), error=Damaged)


def test_honest_archives_come_out_whole(place):
    script = special("run.sh", tarfile.REGTYPE, mode=0o4755)
    locked = special("locked", tarfile.DIRTYPE, mode=0o500)
    links = [sym("a/up", "../run.sh"), sym("dangling", "not/here"), special("a/hard", tarfile.LNKTYPE, "./locked/f")]
    archive = build(place / "a.tar", ("./a/b c/é.py", b"body"), script, locked, ("locked/f", b"1"), *links)
    assert unpack(archive, str(place / "into")) == 6
    into = place / "into"
    assert (into / "a" / "b c" / "é.py").read_bytes() == b"body"
    assert stat.S_IMODE((into / "run.sh").stat().st_mode) == 0o755, "no set-user-id"
    assert (into / "a" / "up").resolve() == into.resolve() / "run.sh"
    assert (into / "a" / "hard").read_bytes() == b"1"
    assert unpack(archive, str(into)) == 6, "unpacking again replaces"


def test_what_is_no_archive_or_cut_short_is_damage(place):
    (place / "junk").write_bytes(b"this is no archive" * 100)
    build(place / "a.tar", ("big", os.urandom(50_000)))
    data = (place / "a.tar").read_bytes()
    (place / "cut").write_bytes(data[:20_000])
    (place / "cut.gz").write_bytes(gzip.compress(data)[:15_000])
    for name in ("junk", "cut", "cut.gz"):
        with pytest.raises(Damaged, match=name):
            unpack(str(place / name), str(place / "into"))


def test_a_compressed_archive_is_read_too(place):
    build(place / "a.tar", ("f", b"x"))
    (place / "a.tar.gz").write_bytes(gzip.compress((place / "a.tar").read_bytes()))
    assert unpack(str(place / "a.tar.gz"), str(place / "into")) == 1
