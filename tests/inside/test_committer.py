"""Checkpoints go up beside the training; whatever happens, the store holds whole ones only."""

import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from outlast.inside import layout
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.committer import Committer
from outlast.inside.errors import PlaceError, RequestError, StoreFull
from outlast.inside.records import Manifest
from outlast.inside.seen import see
from outlast.inside.snapshot import COPY_BELOW_BYTES
from outlast.inside.stores.file import FileStore
from outlast.testing import MemoryStore

RUN = "1115-quiet-otter-7ka"
BIG = COPY_BELOW_BYTES + 100


class Desk:
    """A committer, its work folder, and the results it reported."""

    def __init__(self, tmp_path, store=None, **options):
        self.store = store or MemoryStore()
        self.root = tmp_path / "work"
        (self.root / "ckpt").mkdir(parents=True, exist_ok=True)
        self.results = queue.Queue()
        self.is_fenced = False
        options.setdefault("pauses_s", (0.0, 0.0, 0.0))
        options.setdefault("parent", None)
        self.scratch = tmp_path / "scratch"
        self.committer = Committer(
            self.store, RUN, 2, str(self.root), str(self.scratch), fenced=lambda: self.is_fenced,
            on_done=self.results.put, **options,
        )  # fmt: skip

    def write(self, name, body):
        """Write in place, and make the file look old so that nothing waits for the clock."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        self.clock = getattr(self, "clock", 1_000_000_000) + 1_000_000_000
        os.utime(path, ns=(self.clock, self.clock))

    def submit(self, *files, outputs=(), epoch=1):
        looks = [see(str(self.root), name) for name in files]
        outs = [see(str(self.root), name) for name in outputs]
        return self.committer.submit(looks, outs, {"epoch": epoch}, {"loss": 0.5}, 12.0, 10.0)

    def result(self):
        return self.results.get(timeout=150)

    def commit(self, *files, outputs=()):
        self.submit(*files, outputs=outputs)
        result = self.result()
        assert result.kind == "committed", result.problem
        return result

    def restore(self, tmp_path):
        checkpoints = Checkpoints(self.store, RUN)
        restored = checkpoints.restore(checkpoints.line(), str(tmp_path / "back"))
        folder = tmp_path / "back"
        return restored, {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


class Gate:
    """Lets the test hold the upload at a verb of the store."""

    def __init__(self, store, verb, part=""):
        self.reached = threading.Event()
        self.open = threading.Event()
        self._verb, self._part = verb, part
        store.on_call = self

    def __call__(self, verb, key):
        if verb == self._verb and self._part in key:
            self.reached.set()
            assert self.open.wait(150)


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path)
    yield desk
    desk.committer.close()


def test_files_and_outputs_become_one_checkpoint(desk, tmp_path):
    desk.write("ckpt/model.pt", b"m" * BIG)
    desk.write("ckpt/state.json", b"{}")
    desk.write("out/events", b"so far")
    result = desk.commit("ckpt/model.pt", "ckpt/state.json", outputs=["out/events", "ckpt/state.json"])
    assert (result.ticket, result.checkpoint, result.problem) == (1, "0002-000001", "")
    assert result.size_bytes == result.uploaded_bytes == BIG + 8
    manifest = result.manifest
    assert (manifest.stint, manifest.number, manifest.parent) == (2, 1, None)
    assert (manifest.progress, manifest.metrics) == ({"epoch": 1}, {"loss": 0.5})
    assert (manifest.elapsed_s, manifest.running_s) == (12.0, 10.0)
    restored, files = desk.restore(tmp_path)
    assert restored.checkpoint == "0002-000001"
    assert files == {"ckpt/model.pt": b"m" * BIG, "ckpt/state.json": b"{}", "out/events": b"so far"}
    assert desk.committer.drain(150) and not desk.committer.busy()
    assert not any(desk.scratch.iterdir()), "snapshots are let go"


def test_numbers_and_parents_form_a_chain(tmp_path):
    desk = Desk(tmp_path, parent="0001-000009")
    for number in (1, 2, 3):
        desk.write("ckpt/a", b"%d" % number)
        result = desk.commit("ckpt/a")
        assert result.checkpoint == layout.checkpoint_id(2, number)
        assert result.manifest.parent == ("0001-000009" if number == 1 else layout.checkpoint_id(2, number - 1))
    desk.committer.close()


def test_unchanged_files_are_neither_read_nor_sent_again(desk, monkeypatch):
    desk.write("ckpt/frozen", b"f" * BIG)
    desk.write("ckpt/head", b"1")
    desk.commit("ckpt/frozen", "ckpt/head")
    desk.write("ckpt/head", b"2")
    sent = []
    real = desk.committer._blobs.send_file
    monkeypatch.setattr(desk.committer._blobs, "send_file", lambda path: sent.append(path) or real(path))
    result = desk.commit("ckpt/frozen", "ckpt/head")
    assert len(sent) == 1 and result.uploaded_bytes == 1 and result.size_bytes == BIG + 1


def test_restored_files_are_known_from_the_start(desk, tmp_path):
    desk.write("ckpt/frozen", b"f" * BIG)
    desk.commit("ckpt/frozen")
    back = tmp_path / "back"
    restored, _ = desk.restore(tmp_path)
    second = Desk(tmp_path / "second", desk.store, known=restored.known, parent="0002-000001")
    (second.root / "ckpt").rmdir()
    (back / "ckpt").rename(second.root / "ckpt")
    second.committer._stint = 3
    second.committer._blobs.send_file = lambda path: pytest.fail(f"read {path} again")
    assert second.commit("ckpt/frozen").uploaded_bytes == 0
    second.committer.close()


def test_a_known_blob_that_was_lost_is_sent_again(desk, tmp_path):
    desk.write("ckpt/a", b"body")
    first = desk.commit("ckpt/a")
    desk.store.delete(layout.blob_key(first.manifest.files["ckpt/a"]["sha256"]))
    assert desk.commit("ckpt/a").uploaded_bytes == 4
    assert desk.restore(tmp_path)[1] == {"ckpt/a": b"body"}


def test_a_file_rewritten_during_upload_abandons_the_whole_set(desk, tmp_path):
    desk.write("ckpt/model.pt", b"1" * BIG)
    desk.commit("ckpt/model.pt")
    gate = Gate(desk.store, "put", "blobs/sha256")
    desk.write("ckpt/model.pt", b"2" * BIG)
    desk.submit("ckpt/model.pt")
    assert gate.reached.wait(150)
    desk.write("ckpt/model.pt", b"3" * BIG)
    gate.open.set()
    result = desk.result()
    assert (result.kind, result.checkpoint, result.manifest) == ("changed", None, None)
    assert "ckpt/model.pt" in result.problem
    restored, files = desk.restore(tmp_path)
    assert restored.checkpoint == "0002-000001" and files == {"ckpt/model.pt": b"1" * BIG}


def test_a_script_that_rewrites_faster_than_the_upload_still_gets_checkpoints(desk, tmp_path):
    gate = Gate(desk.store, "head", "blobs/sha256")
    for body, kind in ((b"1", "changed"), (b"3", "committed")):
        gate.reached.clear()
        gate.open.clear()
        desk.write("ckpt/model.pt", body * BIG)
        desk.submit("ckpt/model.pt")
        assert gate.reached.wait(150)
        desk.write("ckpt/model.pt", b"x" * BIG)
        gate.open.set()
        assert desk.result().kind == kind
    assert desk.restore(tmp_path)[1] == {"ckpt/model.pt": b"3" * BIG}


def test_a_set_that_changed_before_the_snapshot_is_reported_at_once(desk):
    desk.write("ckpt/a", b"1")
    look = see(str(desk.root), "ckpt/a")
    desk.write("ckpt/a", b"22")
    ticket = desk.committer.submit([look], [], {}, {}, 0.0, 0.0)
    result = desk.results.get_nowait()
    assert (result.ticket, result.kind) == (ticket, "changed")


def test_growing_outputs_do_not_abandon_a_checkpoint(desk, tmp_path, monkeypatch):
    monkeypatch.setattr("outlast.inside.snapshot.COPY_OUTPUT_BELOW_BYTES", 10)
    desk.write("ckpt/a", b"a")
    desk.write("out/log", b"l" * BIG)
    gate = Gate(desk.store, "head", "blobs/sha256")
    desk.submit("ckpt/a", outputs=["out/log"])
    assert gate.reached.wait(150)
    with (desk.root / "out/log").open("ab") as file:
        file.write(b"more")
    gate.open.set()
    assert desk.result().kind == "committed"
    assert desk.restore(tmp_path)[1] == {"ckpt/a": b"a", "out/log": b"l" * BIG + b"more"}
    with (desk.root / "out/log").open("ab") as file:
        file.write(b"!")
    assert desk.commit("ckpt/a", outputs=["out/log"]).manifest.files["out/log"]["size"] == BIG + 5


def test_only_the_newest_waits(desk):
    gate = Gate(desk.store, "put_if_absent")
    for number in range(4):
        desk.write("ckpt/a", b"%d" % number)
        assert desk.submit("ckpt/a", epoch=number) == number + 1
        if number == 0:
            assert gate.reached.wait(150)
            assert desk.committer.busy() and desk.committer.drain(0.01) is False
    replaced = [desk.results.get_nowait() for _ in range(2)]
    assert [(r.ticket, r.kind) for r in replaced] == [(2, "superseded"), (3, "superseded")]
    gate.open.set()
    assert desk.committer.drain(150)
    results = []
    while not desk.results.empty():
        results.append(desk.results.get())
    assert [(r.ticket, r.kind) for r in results] == [(1, "committed"), (4, "committed")]
    assert results[-1].manifest.progress == {"epoch": 3}
    assert Checkpoints(desk.store, RUN).ids() == ["0002-000001", "0002-000002"]


def test_a_fenced_stint_commits_nothing(desk):
    desk.write("ckpt/a", b"1")
    desk.is_fenced = True
    desk.submit("ckpt/a")
    assert desk.result().kind == "fenced"
    assert Checkpoints(desk.store, RUN).ids() == []
    with pytest.raises(RequestError, match="ended by somebody else"):
        desk.committer.commit_outputs([])
    assert desk.store.head(layout.outputs_key(RUN)) is None


@pytest.mark.parametrize("verb", ["put", "put_if_absent", "head", "get_range"])
def test_short_trouble_is_waited_out(desk, verb):
    desk.write("ckpt/a", b"1" * BIG)
    desk.store.fail_next(verb, PlaceError("no network"), times=3)
    assert desk.commit("ckpt/a").checkpoint == "0002-000001"


@pytest.mark.parametrize(("error", "kind"), [(PlaceError("no network"), "place"), (StoreFull("full"), "full")])
def test_long_trouble_is_reported_and_the_next_try_is_fresh(desk, error, kind):
    desk.write("ckpt/a", b"1")
    desk.store.fail_next("put", error, times=4)
    desk.submit("ckpt/a")
    result = desk.result()
    assert (result.kind, result.problem, result.checkpoint) == (kind, str(error), None)
    assert desk.commit("ckpt/a").checkpoint == "0002-000001"


def test_a_commit_whose_answer_got_lost_is_not_committed_twice(desk):
    real = desk.store.put_if_absent
    lost = []

    def lose(key, data):
        won = real(key, data)
        if not lost:
            lost.append(key)
            raise PlaceError("connection reset")
        return won

    desk.store.put_if_absent = lose
    desk.write("ckpt/a", b"1")
    assert desk.commit("ckpt/a").checkpoint == "0002-000001"
    assert Checkpoints(desk.store, RUN).ids() == ["0002-000001"]
    desk.write("ckpt/a", b"2")
    assert desk.commit("ckpt/a").checkpoint == "0002-000002"


def test_a_commit_that_succeeded_unseen_does_not_block_the_next(desk):
    real = desk.store.put_if_absent

    def lose(key, data):
        real(key, data)
        raise PlaceError("connection reset")

    desk.store.put_if_absent = lose
    desk.write("ckpt/a", b"1")
    desk.submit("ckpt/a")
    assert desk.result().kind == "place"
    desk.store.put_if_absent = real
    desk.write("ckpt/a", b"2")
    result = desk.commit("ckpt/a")
    assert (result.checkpoint, result.manifest.parent) == ("0002-000002", "0002-000001")


def test_a_bug_in_a_store_still_answers_the_ticket(desk):
    desk.write("ckpt/a", b"1")
    desk.store.fail_next("put", ZeroDivisionError("bug"))
    desk.submit("ckpt/a")
    result = desk.result()
    assert result.kind == "place" and "ZeroDivisionError" in result.problem
    assert desk.commit("ckpt/a").checkpoint


def test_after_close_nothing_is_committed(tmp_path):
    desk = Desk(tmp_path)
    gate = Gate(desk.store, "put", "blobs/sha256")
    desk.write("ckpt/a", b"1")
    desk.submit("ckpt/a")
    assert gate.reached.wait(150)
    desk.write("ckpt/a", b"2")
    desk.submit("ckpt/a")
    closing = threading.Thread(target=desk.committer.close)
    closing.start()
    assert desk.result().kind == "superseded"
    gate.open.set()
    closing.join(150)
    assert desk.result().kind == "superseded"
    desk.write("ckpt/a", b"3")
    desk.submit("ckpt/a")
    assert desk.result().kind == "superseded"
    assert Checkpoints(desk.store, RUN).ids() == [] and not desk.committer.busy()


def test_close_interrupts_a_pause(tmp_path):
    desk = Desk(tmp_path, pauses_s=(300.0, 300.0))
    desk.write("ckpt/a", b"1")
    desk.store.fail_next("put", PlaceError("no network"), times=9)
    desk.submit("ckpt/a")
    desk.committer.close()
    assert desk.result().kind in ("place", "superseded")


def test_outputs_are_written_once(desk):
    desk.write("out/model.bin", b"final")
    looks = [see(str(desk.root), "out/model.bin")]
    desk.store.fail_next("put_if_absent", PlaceError("no network"))
    manifest = desk.committer.commit_outputs(looks)
    assert Manifest.from_bytes(desk.store.get(layout.outputs_key(RUN))) == manifest
    assert manifest.files["out/model.bin"]["size"] == 5 and manifest.parent is None
    desk.write("out/model.bin", b"another")
    assert desk.committer.commit_outputs([see(str(desk.root), "out/model.bin")]) == manifest


def test_outputs_reuse_what_the_last_checkpoint_sent(desk):
    desk.write("out/model.bin", b"o" * BIG)
    desk.write("ckpt/a", b"1")
    desk.commit("ckpt/a", outputs=["out/model.bin"])
    desk.committer._blobs.put_file = lambda path: pytest.fail(f"read {path} again")
    manifest = desk.committer.commit_outputs([see(str(desk.root), "out/model.bin")])
    assert manifest.parent == "0002-000001"


def test_a_fresh_file_is_committed_as_it_is_after_its_tick(desk, tmp_path):
    # Two writes within one tick of the kernel's clock look alike: the digest of one must not stand for the other.
    path = desk.root / "ckpt" / "a"
    for body in (b"1", b"2"):
        path.write_bytes(body)
        now = time.time_ns()
        os.utime(path, ns=(now, now))
        looks = [see(str(desk.root), "ckpt/a")]
        desk.committer.submit(looks, [], {}, {}, 0.0, 0.0)
        assert desk.result().kind == "committed"
        assert looks[0].identity not in desk.committer._known


CHILD = """
import os, sys
from outlast.inside.committer import Committer
from outlast.inside.seen import see
from outlast.inside.stores.file import FileStore
store, work, stint = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.makedirs(work + "/ckpt")
done = []
committer = Committer(FileStore(store), "r", stint, work, work + "-scratch", None, lambda: False, done.append)
print("go", flush=True)
for number in range(1, 1000):
    for name in ("a", "b"):
        with open(work + "/ckpt/new", "wb") as file:
            file.write((b"%s %d %d " % (name.encode(), stint, number)) * 150_000)
        os.replace(work + "/ckpt/new", work + "/ckpt/" + name)
    committer.submit([see(work, "ckpt/a"), see(work, "ckpt/b")], [], {"n": number}, {}, 0.0, 0.0)
    committer.drain(60)
"""


def test_killed_at_any_moment_the_store_has_whole_checkpoints_only(tmp_path):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    store = FileStore(str(tmp_path / "store"))
    checkpoints = Checkpoints(store, "r")
    seen_before = []
    for stint in range(1, 21):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, store.root, str(tmp_path / f"w{stint}"), str(stint)], stdout=subprocess.PIPE
        )
        assert child.stdout.readline() == b"go\n"
        threading.Event().wait(chance.uniform(0.0, 0.15))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        ids = checkpoints.ids()
        assert ids[: len(seen_before)] == seen_before, "nothing committed is lost"
        seen_before = ids
        if ids:
            back = tmp_path / f"b{stint}"
            restored = checkpoints.restore([ids[-1]], str(back))
            assert restored.checkpoint == ids[-1], restored.skipped
            number, of = restored.manifest.progress["n"], restored.manifest.stint
            for name in ("a", "b"):
                assert (back / "ckpt" / name).read_bytes() == (b"%s %d %d " % (name.encode(), of, number)) * 150_000
    assert seen_before, "some commits should have come through"


def test_a_full_store_keeps_the_previous_checkpoint(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting needs more rights")
    try:
        desk = Desk(tmp_path, FileStore(str(disk)))
        desk.write("ckpt/a", b"old" * 1000)
        desk.commit("ckpt/a")
        desk.write("ckpt/a", os.urandom(3 << 20))
        desk.submit("ckpt/a")
        result = desk.result()
        assert result.kind == "full" and "outlast gc" in result.problem
        restored, files = desk.restore(tmp_path)
        assert restored.checkpoint == "0002-000001" and files == {"ckpt/a": b"old" * 1000}
        desk.committer.close()
    finally:
        subprocess.run(["umount", str(disk)], check=True)
