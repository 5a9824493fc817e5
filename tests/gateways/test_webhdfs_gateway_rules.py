"""The rules of the shared folder on their own, and the folder served by two processes at once."""

import itertools

import pytest

from outlast.server.gateways.webhdfs import open_files
from outlast.server.gateways.webhdfs.guarded import GuardedFileSystem
from outlast.server.gateways.webhdfs.permissions import EXECUTE, READ, WRITE, Who, above, bits_of
from outlast.webhdfs.filesystem import FOLDER, NewFile, Status
from outlast.webhdfs.folder import FolderFileSystem
from outlast.webhdfs.notes import Note, Notes
from outlast.webhdfs.refusals import Refusal


def _status(permission, owner="ann", group="lab"):
    return Status(FOLDER, 0, owner, group, permission, 0, 0, 0, 0, 1, 0)


def test_only_the_first_class_that_fits_counts():
    ann, cat, ben, root = Who("ann"), Who("cat", frozenset({"lab"})), Who("ben"), Who("root", frozenset(), True)
    for permission, bit in itertools.product(range(0o1000), (READ, WRITE, EXECUTE)):
        status = _status(permission)
        assert ann.may(status, bit) == bool(permission & bit << 6)
        assert cat.may(status, bit) == bool(permission & bit << 3)
        assert ben.may(status, bit) == bool(permission & bit)
        assert root.may(status, bit)


def test_the_way_to_a_path_and_what_an_action_means():
    assert list(above("/")) == [] and list(above("/a")) == ["/"] and list(above("/a/b/c")) == ["/", "/a", "/a/b"]
    assert [bits_of(text) for text in ("---", "r-x", "rwx")] == [0, READ | EXECUTE, 7]


@pytest.fixture
def home(tmp_path):
    from outlast.keeper.home import Home

    return Home(tmp_path / "home")


def _as(files, name, is_super=False):
    return GuardedFileSystem(files, Who(name, frozenset(), is_super), lambda other: other in ("ann", "ben"))


def test_a_second_start_keeps_what_an_admin_has_set(home):
    files = open_files(home)
    _as(files, "root", True).set_permission("/Output", 0o700)
    _as(files, "root", True).set_owner("/Output", "ann", "")
    files.close()
    files = open_files(home)
    try:
        assert files.look("/Output").permission == 0o700 and files.look("/").permission == 0o1777
        _as(files, "ann").create("/Output/f", [b"x"], NewFile())
        with pytest.raises(Refusal, match="Permission denied: user=ben, access=EXECUTE"):
            _as(files, "ben").look("/Output/f")
    finally:
        files.close()


def test_notes_that_are_lost_open_nothing(home):
    files = open_files(home)
    _as(files, "ann").create("/ann/f", [b"x"], NewFile(permission=0o777))
    files.close()
    (home.path / "hdfs" / "notes.db").unlink()
    files = open_files(home)
    try:
        for name in ("ann", "ben"):
            with pytest.raises(Refusal, match="Permission denied"):
                _as(files, name).open("/ann/f")
        _as(files, "root", True).open("/ann/f").close()
    finally:
        files.close()


def test_two_processes_note_files_without_undoing_each_other(tmp_path):
    first, second = Notes(tmp_path / "notes.db"), Notes(tmp_path / "notes.db")
    try:
        for number in range(50):
            for notes, name in ((first, "a"), (second, "b")):
                notes.begin(f"/{name}{number}", Note(number, 0, name))
        names = {f"{name}{number}": number for name in "ab" for number in range(50)}
        found = second.of_all("/", names)
        assert len({note.id for note in found.values()}) == 100
        assert {name: note.owner for name, note in found.items()} == {name: name[0] for name in names}
        assert first.of("/b7", 7) == found["b7"]
    finally:
        first.close()
        second.close()


def test_two_processes_do_not_add_to_one_file_at_once(tmp_path):
    (tmp_path / "tree").mkdir()
    first, second = (FolderFileSystem(tmp_path / "tree", Notes(tmp_path / "notes.db")) for _ in range(2))
    first.create("/f", [b"one"], NewFile())

    def pieces():
        yield b" two"
        with pytest.raises(Refusal, match="already being written to"):
            second.append("/f", [b"never"])
        yield b" three"

    first.append("/f", pieces())
    second.append("/f", [b" four"])
    assert (tmp_path / "tree" / "f").read_bytes() == b"one two three four"
    first.close()
    second.close()
