"""What only the file store promises: whole files after kill -9, clear words when the disk refuses."""

import contextlib
import io
import os
import random
import resource
import signal
import subprocess
import sys
import time

import pytest

from outlast.inside.errors import PlaceError, RequestError, StoreFull
from outlast.inside.stores.file import FileStore

WRITER = """
import sys
from outlast.inside.stores.file import FileStore
store = FileStore(sys.argv[1])
body = bytes([int(sys.argv[2])]) * 3_000_000
print("go", flush=True)
for number in range(1000):
    store.put("same/key", body)
    store.put_if_absent("new/%06d" % number, body)
"""


@contextlib.contextmanager
def tiny_disk(folder, size="1m"):
    """A file system that is soon full; without the right to mount one, a limit on the size of files."""
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode == 0:
        try:
            yield
        finally:
            subprocess.run(["umount", str(folder)], check=True)
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_writer_killed_in_the_middle_leaves_no_partial_key(tmp_path):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    store = FileStore(str(tmp_path))
    for value in range(1, 13):
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(value)], stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"go\n"
        deadline = time.monotonic() + chance.uniform(0.0, 0.06)
        while time.monotonic() < deadline:
            os.sched_yield()
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        for entry in store.list(""):
            body = store.get(entry.key)
            assert len(body) == 3_000_000 and len(set(body)) == 1, entry.key
            store.delete(entry.key)


def test_what_killed_writers_left_is_removed_after_a_day(tmp_path):
    store = FileStore(str(tmp_path))
    for _ in range(2):
        store.writer().write(b"left behind")
    temps = sorted((tmp_path / ".tmp").iterdir())
    day_ago = time.time() - 90_000
    os.utime(temps[0], (day_ago, day_ago))
    FileStore(str(tmp_path))
    assert sorted((tmp_path / ".tmp").iterdir()) == temps[1:]
    assert store.remove_stale(older_than_s=-1) == len(b"left behind")


def test_the_temp_folder_is_no_key(tmp_path):
    store = FileStore(str(tmp_path))
    for key in (".tmp/x", ".tmp"):
        with pytest.raises(RequestError, match="unfinished"):
            store.put(key, b"")


def test_a_full_disk_says_so_and_keeps_what_was_there(tmp_path):
    with tiny_disk(tmp_path / "disk"):
        store = FileStore(str(tmp_path / "disk" / "store"))
        store.put("old", b"kept")
        for put in (store.put, store.put_quick, store.put_if_absent):
            with pytest.raises(StoreFull, match=r"disk/store.*outlast gc"):
                put("new", os.urandom(2 << 20))
            with pytest.raises(StoreFull):
                put("old" if put != store.put_if_absent else "new", io.BytesIO(os.urandom(2 << 20)))
        assert store.get("old") == b"kept"
        assert [entry.key for entry in store.list("")] == ["old"]
        assert list((tmp_path / "disk" / "store" / ".tmp").iterdir()) == []
        store.put("small", b"x" * 1000)


def test_a_read_only_disk_is_a_fault_of_the_place(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", str(folder)], capture_output=True).returncode:
        folder.chmod(0o500)
        if os.access(folder, os.W_OK):
            pytest.skip("this user can write anywhere and mount nothing")
    try:
        store = FileStore(str(folder))
        with pytest.raises(PlaceError, match=str(folder)):
            store.put("k", b"")
        assert list(store.list("")) == []
    finally:
        subprocess.run(["umount", str(folder)], capture_output=True, check=False)


def test_a_key_below_another_key_is_refused(tmp_path):
    store = FileStore(str(tmp_path))
    store.put("a", b"x")
    for put in (store.put, store.put_if_absent):
        with pytest.raises(RequestError, match="a/b"):
            put("a/b", b"y")
        store.put("d/e", b"x")
        with pytest.raises(RequestError):
            put("d", b"y")
    with pytest.raises(RequestError):
        store.put("x" * 300, b"")


def test_files_get_the_mode_that_the_umask_says(tmp_path):
    old = os.umask(0o027)
    try:
        FileStore(str(tmp_path)).put("k", b"")
    finally:
        os.umask(old)
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o640


def test_deleting_the_last_key_leaves_no_empty_folders(tmp_path):
    store = FileStore(str(tmp_path))
    store.put("runs/x/stints/0001/log/000001", b"")
    store.delete("runs/x/stints/0001/log/000001")
    assert [path.name for path in tmp_path.iterdir()] == [".tmp"]


def test_strange_files_in_the_folder_do_not_disturb_listing(tmp_path):
    store = FileStore(str(tmp_path))
    store.put("k", b"")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "bad\udcff").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    assert [entry.key for entry in store.list("")] == ["k"]
