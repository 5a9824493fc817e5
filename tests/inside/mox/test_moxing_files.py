"""The surface of moxing.file: the same script against this machine, a mapped bucket and a real server."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.usefixtures("anywhere")


def test_text_and_bytes_are_written_read_and_appended(anywhere):
    anywhere.play("""
        url = root + "/深/a file.txt"
        file.make_dirs(root + "/深")
        file.write(url, "première\\n")
        file.append(url, "second")
        assert file.read(url) == "première\\nsecond"
        assert file.read(url, binary=True) == "première\\nsecond".encode()
        file.write(root + "/b", b"\\x00\\xff", binary=True)
        file.append(root + "/b", b"\\x01", binary=True)
        file.append(root + "/new", "made")
        file.append_remote(root + "/b", root + "/new")
        assert file.read(root + "/new", binary=True) == b"made\\x00\\xff\\x01"
        assert file.get_size(url) == len("première\\nsecond".encode())
        refused(OSError, file.read, root + "/none")
    """)


def test_every_mode_of_file_does_what_open_does(anywhere):
    anywhere.play("""
        import io
        file.make_dirs(root)
        url = root + "/f"
        with file.File(url, "w") as out:
            assert out.write("one\\ntwo\\n") == 8
            out.writelines(["three\\n"])
            assert out.writable() and not out.readable() and out.seekable()
            refused(io.UnsupportedOperation, out.read)
        with file.File(url, "r") as f:
            assert f.size() == 14 and f.readline() == "one\\n" and f.readlines() == ["two\\n", "three\\n"]
            assert f.read() == "" and f.seek(4) == 4 and f.tell() == 4 and f.read(3) == "two"
            refused(io.UnsupportedOperation, f.write, "x")
        assert list(file.File(url)) == ["one\\n", "two\\n", "three\\n"]
        for mode in ("rb", "br"):
            with file.File(url, mode) as f:
                f.seek(-6, 2)
                assert f.read() == b"three\\n" and f.seek(1) == 1 and f.read(2) == b"ne" and f.read(n=1) == b"\\n"
        with file.File(url, "ab") as f:
            f.write(b"four\\n")
        with file.File(url, "a+") as f:
            f.write("five\\n"); f.seek(0)
            assert f.readline() == "one\\n"
            f.write("six\\n")
        assert file.read(url) == "one\\ntwo\\nthree\\nfour\\nfive\\nsix\\n"
        for mode in ("r+b", "rb+", "b+r"):
            with file.File(url, mode) as f:
                assert f.read(3) in (b"one", b"ONE")
                f.seek(0); f.write(b"ONE")
        assert file.read(url)[:7] == "ONE\\ntwo"
        with file.File(url, "w+") as f:
            f.write("new"); f.seek(0)
            assert f.read() == "new"
        assert file.read(url) == "new"
        f = file.File(url, "wb")
        f.write(b"flushed"); f.flush()
        assert file.read(url) == "flushed" and f.size() == 7
        f.write(b" and closed"); f.close(); f.close()
        assert f.closed and file.read(url) == "flushed and closed"
        file.File(url + "2", "w").write("dropped without a close")
        assert file.read(url + "2") == "dropped without a close"
        refused(OSError, file.File, root + "/none", "r")
        refused(OSError, file.File, root + "/none", "r+")
        for mode in ("", "x", "rw", "rr", "b"):
            refused(ValueError, file.File, url, mode)
    """)


def test_file_serves_libraries_that_want_a_real_file(anywhere):
    anywhere.play("""
        import json, pickle, zipfile
        file.make_dirs(root)
        with file.File(root + "/z.zip", "wb") as out, zipfile.ZipFile(out, "w") as archive:
            archive.writestr("inner", b"x" * 3000000)
        with file.File(root + "/z.zip", "rb") as f:
            assert zipfile.ZipFile(f).read("inner") == b"x" * 3000000
        with file.File(root + "/p", "wb") as f:
            pickle.dump(list(range(1000)), f)
        with file.File(root + "/p", "rb") as f:
            assert pickle.load(f) == list(range(1000))
        with file.File(root + "/j", "w") as f:
            json.dump({"键": 1}, f)
        assert json.load(file.File(root + "/j")) == {"键": 1}
    """)


def test_folders_are_made_listed_walked_and_measured(anywhere):
    anywhere.play("""
        for name in ("dir0/file00", "dir0/sub/deep", "file1", ".hidden"):
            file.make_dirs(os.path.dirname(root + "/" + name))
            file.write(root + "/" + name, name)
        file.make_dirs(root + "/empty/folder")
        assert file.list_directory(root) == [".hidden", "dir0", "empty", "file1"]
        assert file.list_directory(root + "/", skip_dir=True) == [".hidden", "file1"]
        assert file.list_directory(root, skip_file=True, remove_sep=False) == ["dir0/", "empty/"]
        assert file.list_directory(root, recursive=True) == [
            ".hidden", "dir0", "dir0/file00", "dir0/sub", "dir0/sub/deep", "empty", "empty/folder", "file1"]
        assert refused(OSError, file.list_directory, root + "/file1").errno == 20
        refused(OSError, file.list_directory, root + "/none")
        assert file.glob(root + "/*") == [root + "/dir0", root + "/empty", root + "/file1"]
        assert file.glob(root + "/dir?/*0") == [root + "/dir0/file00"]
        assert file.glob(root + "/[d]ir0/sub/deep") == [root + "/dir0/sub/deep"]
        assert file.glob(root + "/no*") == []
        walked = [(at, sorted(folders), sorted(names)) for at, folders, names in file.walk(root)]
        assert walked[0] == (root, ["dir0", "empty"], [".hidden", "file1"])
        assert (root + "/dir0/sub", [], ["deep"]) in walked and len(walked) == 5
        assert [each[0] for each in file.walk(root, topdown=False)][-1] == root
        assert list(file.walk(root + "/none")) == []
        for at, folders, names in file.walk(root):
            del folders[:]
            assert at == root
        with file.scan_dir(root) as entries:
            found = {entry.name: entry for entry in entries}
        assert found["dir0"].is_dir() and found["file1"].is_file() and found["file1"].stat().st_size == 5
        assert found["file1"].path == root + "/file1"
        refused(NotADirectoryError, file.scan_dir, root + "/file1")
        assert file.get_size(root, recursive=True) == len("dir0/file00" "dir0/sub/deep" "file1" ".hidden")
        assert file.exists(root) and file.exists(root + "/dir0/") and not file.exists(root + "/none")
        assert file.is_directory(root + "/dir0") and not file.is_directory(root + "/file1")
        assert file.exists(root + "/empty/folder") and file.is_directory(root + "/empty/folder/")
        file.mk_dir(root + "/one")
        assert file.is_directory(root + "/one")
        refused(OSError, file.mk_dir, root + "/two/three")
    """)


def test_stat_tells_length_time_and_kind(anywhere):
    anywhere.play("""
        import stat, time
        file.make_dirs(root)
        file.write(root + "/f", "12345")
        found = file.stat(root + "/f")
        assert found.length == found.st_size == 5 and not found.is_directory and stat.S_ISREG(found.st_mode)
        assert abs(found.st_mtime - time.time()) < 30 and found.mtime_nsec == found.st_mtime_ns
        assert file.stat(root).is_directory and stat.S_ISDIR(file.stat(root).st_mode)
        refused(file.MoxFileNotExistsException, file.stat, root + "/none")
        refused(FileNotFoundError, file.stat, root + "/none")
    """)


def test_remove_needs_recursive_for_a_folder_and_never_takes_a_file_with_a_slash(anywhere):
    anywhere.play("""
        file.make_dirs(root + "/d/sub")
        file.write(root + "/d/f", "x"); file.write(root + "/d/sub/g", "x"); file.write(root + "/f", "x")
        file.remove(root + "/d"); file.remove(root + "/d/"); file.remove(root + "/f/"); file.remove(root + "/none")
        assert file.list_directory(root, recursive=True) == ["d", "d/f", "d/sub", "d/sub/g", "f"]
        file.remove(root + "/f")
        file.remove(root + "/d/", recursive=True)
        assert not file.exists(root + "/d") and not file.exists(root + "/f")
    """)


def test_copy_takes_one_file_in_any_direction(anywhere):
    anywhere.play("""
        local = here + "/in"
        file.write(local, "data")
        file.make_dirs(root)
        file.copy(local, root + "/a")
        file.copy(root + "/a", root + "/deep/b")
        file.copy(root + "/deep/b", here + "/out/c")
        file.copy(root + "/a", here + "/")
        file.copy(local, here + "/twice")
        for copy in (root + "/deep/b", here + "/out/c", here + "/a", here + "/twice"):
            assert file.read(copy) == "data"
        error = refused(file.MoxFileRespException, file.copy, root + "/deep", here + "/x")
        assert "copy_parallel" in str(error) and error.resp.status == 400
        refused(file.MoxFileNotExistsException, file.copy, root + "/none", here + "/x")
    """)


def test_copy_parallel_puts_what_is_in_the_source_directly_below_the_destination(anywhere):
    anywhere.play("""
        for name in ("a", "b/c", "b/d/e"):
            os.makedirs(os.path.dirname(here + "/src/" + name), exist_ok=True)
            file.write(here + "/src/" + name, name)
        os.makedirs(here + "/src/empty")
        file.copy_parallel(here + "/src", root + "/t", threads=0, is_processing=False)
        file.copy_parallel(root + "/t", root + "/u", threads=32)
        file.copy_parallel(root + "/u/", here + "/back")
        assert file.list_directory(here + "/back", recursive=True) == ["a", "b", "b/c", "b/d", "b/d/e", "empty"]
        assert file.read(here + "/back/b/d/e") == "b/d/e"
        file.write(here + "/src/a", "A")
        file.copy_parallel(here + "/src", root + "/t", file_list=["a", "b/c"])
        assert file.read(root + "/t/a") == "A"
        file.copy_parallel(root + "/t", here + "/some", file_list=["b/c"])
        file.copy_parallel(root + "/t", here + "/some", file_list=[root + "/t/b/d/e"])
        assert file.list_directory(here + "/some", recursive=True, skip_dir=True) == ["b/c", "b/d/e"]
        refused(file.MoxFileNotExistsException, file.copy_parallel, root + "/t", here + "/x", file_list=["none"])
        file.copy_parallel(root + "/t/a", here + "/single")
        assert file.read(here + "/single") == "A"
        file.copy_parallel(root + "/none", here + "/nothing")
        file.copy_parallel(root + "/t/empty", here + "/nothing2")
        assert not os.path.exists(here + "/nothing") and os.listdir(here + "/nothing2") == []
        assert file.list_directory(here + "/src", recursive=True) == ["a", "b", "b/c", "b/d", "b/d/e", "empty"]
    """)
    assert f"No files to copy: {anywhere.root}/none does not exist" in anywhere.said
    assert f"No files to copy: {anywhere.root}/t/empty is empty" in anywhere.said


def test_rename_moves_files_and_folders_also_between_machine_and_store(anywhere):
    anywhere.play("""
        file.make_dirs(root + "/d")
        file.write(root + "/d/f", "x"); file.write(here + "/local", "y")
        file.rename(root + "/d", root + "/e")
        file.rename(root + "/e/f", root + "/e/g")
        file.rename(here + "/local", root + "/e/h")
        assert not file.exists(root + "/d") and not os.path.exists(here + "/local")
        assert file.list_directory(root + "/e") == ["g", "h"]
        file.rename(root + "/e", here + "/home")
        assert sorted(os.listdir(here + "/home")) == ["g", "h"] and not file.exists(root + "/e")
        refused(OSError, file.rename, root + "/none", here + "/x")
        file.make_dirs(root + "/k")
        file.write(root + "/k/f", "x")
        refused(OSError, file.rename, root + "/k", root + "/k/inner")
        file.copy(root + "/k/f", root + "/k/f"); file.copy_parallel(root + "/k", root + "/k")
        file.rename(root + "/k/f", root + "/k/f")
        refused(OSError, file.make_dirs, root + "/k/f")
        assert file.read(root + "/k/f") == "x"
    """)
