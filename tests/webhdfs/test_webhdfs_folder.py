"""What the folder promises: nothing leads out of it, files are whole, and notes are true or absent."""

import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from outlast.webhdfs.filesystem import FILE, FOLDER, LINK, NewFile
from outlast.webhdfs.folder import FolderFileSystem
from outlast.webhdfs.ground import UNFINISHED, Ground
from outlast.webhdfs.notes import Notes
from outlast.webhdfs.refusals import Refusal

OVER = NewFile(overwrite=True)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def files(root):
    files = FolderFileSystem(root, user="ann")
    yield files
    files.close()
    assert not (root / UNFINISHED).exists()


def read(files, path):
    opened = files.open(path)
    try:
        return b"".join(opened.pieces(0, opened.size_bytes))
    finally:
        opened.close()


def refused(call, *arguments):
    with pytest.raises(Refusal) as caught:
        call(*arguments)
    return caught.value.name


def test_links_are_shown_and_never_followed(files, root, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "leaf").symlink_to(tmp_path / "outside" / "secret")
    (root / "inner").symlink_to("leaf")
    assert files.look("/link").kind == files.look("/leaf").kind == LINK
    assert [status.link for status in files.list("/") if status.name == "inner"] == ["leaf"]
    assert files.look("/link/secret") is None
    for path in ("/link", "/leaf", "/inner", "/link/secret"):
        assert refused(files.open, path) == "FileNotFoundException"
        with pytest.raises((Refusal, OSError)):
            files.append(path, [b"x"])
        with pytest.raises((Refusal, OSError)):
            files.create(path, [b"x"], OVER)
        with pytest.raises((Refusal, OSError)):
            files.truncate(path, 0)
    with pytest.raises((Refusal, OSError)):
        files.create("/link/new", [b"x"], OVER)
    with pytest.raises((Refusal, OSError)):
        files.make_folders("/link/sub", 0o755)
    files.set_times("/leaf", 1000, 1000)
    assert files.summary("/").size_bytes == 0
    assert files.delete("/link", recursive=True) and files.rename("/leaf", "/moved")
    assert (tmp_path / "outside" / "secret").read_text() == "secret"
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["secret"]
    assert (tmp_path / "outside" / "secret").stat().st_mtime > 1000


def test_a_tree_that_is_deleted_takes_links_away_and_not_what_they_lead_to(files, root, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").touch()
    (root / "d" / "e").mkdir(parents=True)
    (root / "d" / "e" / "link").symlink_to(tmp_path / "outside")
    assert files.delete("/d", recursive=True)
    assert (tmp_path / "outside" / "kept").exists() and files.look("/d") is None


def test_what_hdfs_cannot_name_is_not_there(files, root):
    os.mkfifo(root / "pipe")
    (root / "a:b").touch()
    (root / os.fsdecode(b"bad\xff")).touch()
    with socket.socket(socket.AF_UNIX) as held:
        held.bind(str(root / "socket"))
        (root / "ok").touch()
        assert [status.name for status in files.list("/")] == ["ok"]
        assert files.look("/").children == 1
        for path in ("/pipe", "/socket"):
            assert files.look(path) is None and refused(files.open, path) == "FileNotFoundException"


def test_names_of_the_server_are_kept_from_users(files, root):
    (root / ".reserved").mkdir()
    for path in (f"/{UNFINISHED}", "/.reserved", f"/{UNFINISHED}/x", "/.reserved/raw/x"):
        assert refused(files.create, path, [b"x"], OVER) == "HadoopIllegalArgumentException"
        assert refused(files.make_folders, path, 0o755) == "HadoopIllegalArgumentException"
        assert files.look(path) is None and files.delete(path, recursive=True) is False
    files.create("/f", [b"x"], OVER)
    assert refused(files.rename_exactly, "/f", f"/{UNFINISHED}", False) == "HadoopIllegalArgumentException"
    assert [status.name for status in files.list("/")] == ["f"]


def test_a_file_appears_whole_or_not_at_all(files, root):
    files.create("/f", [b"old"], OVER)

    def breaks():
        yield b"half"
        assert files.look("/d/f") is None and read(files, "/f").startswith(b"old")
        assert [status.name for status in files.list("/")] == ["f"]
        raise KeyError("the client went away")

    for path in ("/f", "/d/f"):
        with pytest.raises(KeyError):
            files.create(path, breaks(), OVER)
    with pytest.raises(KeyError):
        files.append("/f", breaks())
    assert read(files, "/f") == b"old" and files.look("/d") is None
    assert list((root / UNFINISHED).iterdir()) == []


def test_no_byte_is_taken_for_a_file_that_cannot_be(files):
    files.create("/f", [b"x"], OVER)

    def never():
        raise AssertionError("a byte was asked for")
        yield

    for path, how in (("/f", NewFile()), ("/f/g", OVER), ("/", OVER), ("/no/f", NewFile(make_parents=False))):
        assert refused(files.create, path, never(), how)
    assert refused(files.append, "/none", never()) == "FileNotFoundException"


@pytest.mark.parametrize("servers", [1, 2])
def test_of_eight_writers_one_makes_the_file(files, root, servers):
    files.make_folders("/new", 0o755)
    all_files = [files, *(FolderFileSystem(root) for _ in range(servers - 1))]  # as if in processes of their own
    barrier = threading.Barrier(8)

    def write(number):
        def pieces():
            barrier.wait(timeout=150)
            yield b"%d" % number * 1000

        try:
            all_files[number % servers].create("/new/f", pieces(), NewFile())
        except Refusal as refusal:
            assert refusal.name == "FileAlreadyExistsException"
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(write, range(8)))
    for each in all_files[1:]:
        each.close()
    assert won.count(True) == 1
    assert read(files, "/new/f") == b"%d" % won.index(True) * 1000


def test_a_name_that_somebody_else_took_in_the_last_moment_stays_theirs(root):
    ground = Ground(root)
    (root / "f").write_bytes(b"theirs")
    with ground.part() as (part, file):
        file.write(b"ours")
        with pytest.raises(FileExistsError):
            ground.settle(part, "/f", replace=False)
    assert (root / "f").read_bytes() == b"theirs"
    with ground.part() as (part, file):
        file.write(b"ours")
        ground.settle(part, "/f", replace=True)
    assert (root / "f").read_bytes() == b"ours"
    ground.sweep()


def test_one_writer_adds_at_a_time(files):
    files.create("/f", [b"1"], OVER)

    def second():
        yield b"2"
        assert refused(files.append, "/f", [b"x"]) == "AlreadyBeingCreatedException"
        assert refused(files.truncate, "/f", 0) == "AlreadyBeingCreatedException"
        yield b"3"

    files.append("/f", second())
    files.append("/f", [b"4"])
    assert read(files, "/f") == b"1234"


def test_a_reader_keeps_the_file_that_it_opened(files):
    files.create("/f", [b"old"], OVER)
    opened = files.open("/f")
    files.create("/f", [b"newer"], OVER)
    assert b"".join(opened.pieces(0, 10)) == b"old"
    opened.close()


def test_notes_survive_a_restart_a_rename_and_their_own_loss(root, tmp_path):
    def start():
        return FolderFileSystem(root, Notes(tmp_path / "notes.db"), user="ann")

    files = start()
    files.create("/d/f", [b"x"], NewFile(permission=0o600, replication=3, block_bytes=4096))
    files.set_owner("/d/f", "bob", "lab")
    files.set_attribute("/d/f", "user.k", b"\0", frozenset(["CREATE"]))
    before = files.look("/d/f")
    files.close()
    files = start()
    assert files.look("/d/f") == before and before.owner == "bob" and before.permission == 0o600
    files.rename_exactly("/d", "/e", False)
    assert files.look("/e/f") == before and files.attributes("/e/f") == {"user.k": b"\0"}
    files.close()
    (tmp_path / "notes.db").write_bytes(b"no database at all" * 100)
    for leftover in tmp_path.glob("notes.db-*"):
        leftover.unlink()
    files = start()
    after = files.look("/e/f")
    assert after.owner != "bob" and after.file_id > before.file_id and after.size_bytes == 1
    files.close()


def test_a_file_that_others_put_there_has_no_old_notes(files, root):
    files.create("/f", [b"x"], NewFile(permission=0o600))
    before = files.look("/f")
    (root / "other").write_bytes(b"yy")
    (root / "other").chmod(0o640)
    (root / "other").rename(root / "f")
    after = files.look("/f")
    assert after.permission == 0o640 and after.file_id != before.file_id
    assert refused(files.open, f"/.reserved/.inodes/{before.file_id}") == "FileNotFoundException"
    assert read(files, f"/.reserved/.inodes/{after.file_id}") == b"yy"


def test_a_neighbour_with_a_similar_name_keeps_its_notes(files):
    for path in ("/a/f", "/a-b/f", "/a0/f", "/ab/f"):
        files.create(path, [b"x"], NewFile(permission=0o600))
    ids = {path: files.look(path).file_id for path in ("/a/f", "/a-b/f", "/a0/f", "/ab/f")}
    assert files.rename("/a", "/z") and files.delete("/a-b", recursive=True)
    assert [files.look(path).file_id for path in ("/z/f", "/a0/f", "/ab/f")] == [
        ids["/a/f"], ids["/a0/f"], ids["/ab/f"],
    ]  # fmt: skip


def test_sums_count_replicas(files):
    files.create("/d/f", [b"12345"], NewFile(replication=3))
    files.create("/d/e/g", [b"12"], NewFile())
    assert files.summary("/d") == (2, 2, 7, 17)
    assert files.summary("/d/f") == (0, 1, 5, 15)


def test_listings_are_sorted_by_bytes_and_come_in_pages(served, monkeypatch):
    from webhdfs_served import ask

    assert FolderFileSystem.page_entries == 1000
    monkeypatch.setattr(FolderFileSystem, "page_entries", 10)
    names = sorted([f"{number:02d}" for number in range(15)] + ["é", "Z", "数"], key=str.encode)
    (served.folder / "d").mkdir()
    for name in names:
        (served.folder / "d" / name).touch()
    (answer,) = ask(served.authority, "GET", "/d", "op=LISTSTATUS")
    assert [status["pathSuffix"] for status in answer.document()["FileStatuses"]["FileStatus"]] == names
    found, after = [], ""
    for left in (8, 0):
        (answer,) = ask(served.authority, "GET", "/d", f"op=LISTSTATUS_BATCH&startAfter={after}")
        page = answer.document()["DirectoryListing"]
        assert page["remainingEntries"] == left
        found += [status["pathSuffix"] for status in page["partialListing"]["FileStatuses"]["FileStatus"]]
        after = found[-1]
    assert found == names


def test_kinds_and_times_are_the_folders_own(files, root):
    (root / "f").write_bytes(b"123")
    os.utime(root / "f", ns=(5_000_000_000, 7_001_999_999))
    status = files.look("/f")
    assert (status.kind, status.accessed_ms, status.modified_ms) == (FILE, 5000, 7001)
    files.set_times("/f", -1, 9000)
    assert (root / "f").stat().st_mtime_ns == 7_001_999_999
    assert (files.look("/").kind, files.look("/").accessed_ms) == (FOLDER, 0)
