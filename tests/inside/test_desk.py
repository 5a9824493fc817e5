import json
import os
import random
import socket
import threading
import time

import pytest

from outlast.inside import desk as desk_module
from outlast.inside import deskline
from outlast.inside.desk import MESSAGE_LIMIT_BYTES, Desk, DeskHandler, reachable
from outlast.inside.deskline import DeskLine, Reporter
from outlast.inside.notepad import Notepad


class Book(DeskHandler):
    """Writes everything down."""

    def __init__(self):
        self.calls = []

    def on_hello(self, message):
        self.calls.append(("hello", message))

    def on_track(self, message):
        self.calls.append(("track", message))

    def on_progress(self, message):
        self.calls.append(("progress", message))

    def on_save(self, message):
        self.calls.append(("save", message))
        return {"ticket": 7}

    def names(self):
        return [name for name, _ in self.calls]


def wait_until(condition, limit_s=150.0):
    until_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < until_s, f"nothing happened for {limit_s} s"
        time.sleep(0.005)


@pytest.fixture
def book():
    return Book()


@pytest.fixture
def desk(tmp_path, book):
    with Desk(str(tmp_path / "socket"), book) as made:
        yield made


def line_to(desk, rank=0):
    return DeskLine(desk.path, lambda: {"rank": rank, "version": "1"})


def raw(desk):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with reachable(desk.path) as address:
        client.connect(address)
    client.settimeout(10)
    return client


def ask(client, **message):
    client.sendall(json.dumps(message).encode() + b"\n")
    return json.loads(client.makefile().readline())


def test_a_client_says_hello_by_itself_and_its_process_is_known(desk, book):
    line = line_to(desk, rank=3)
    assert line.request({"op": "save", "progress": {"epoch": 2}}, 5) == {"n": 1, "ok": True, "ticket": 7}
    assert book.calls == [
        ("hello", {"rank": 3, "version": "1", "pid": os.getpid()}),
        ("save", {"progress": {"epoch": 2}, "writing_s": 0.0}),
    ]
    line.close()


def test_paths_longer_than_a_socket_address_work_at_both_ends(tmp_path, book):
    deep = tmp_path / ("d" * 120) / ("e" * 120)
    deep.mkdir(parents=True)
    with Desk(str(deep / "socket"), book) as desk:
        line = line_to(desk)
        assert line.request({"op": "ack"}, 5)["ok"]
        line.close()
    assert not (deep / "socket").exists()


def test_paths_with_spaces_and_other_letters_work(tmp_path, book):
    deep = tmp_path / "训练 läuft"
    deep.mkdir()
    with Desk(str(deep / "socket"), book) as desk:
        line = line_to(desk)
        assert line.request({"op": "ack"}, 5)["ok"]
        line.close()


def test_an_old_socket_is_replaced(tmp_path, book):
    path = str(tmp_path / "socket")
    stale = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stale.bind(path)
    stale.close()
    with Desk(path, book) as desk, raw(desk) as client:
        assert ask(client, op="ack", n=1)["ok"]


def test_rubbish_costs_only_its_own_sender(desk):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    good = raw(desk)
    for _ in range(30):
        with raw(desk) as bad:
            try:
                bad.sendall(dice.choice([b"\xff\xfe\n", b"[1]\n", b"{\n", b"null\n", b"[" * 50000 + b"\n"]))
                bad.sendall(bytes(dice.randrange(256) for _ in range(dice.randrange(2000))) + b"\n")
            except OSError:
                pass
        assert ask(good, op="ack", n=1) == {"ok": True, "n": 1}
    good.close()
    wait_until(lambda: desk.clients == 0)


@pytest.mark.parametrize(
    "message",
    [
        {"op": "nonsense"},
        {"op": "close"},
        {"op": "__init__"},
        {"op": None},
        {"op": ["save"]},
        {},
    ],
)
def test_an_unknown_op_is_refused_by_name(desk, message):
    with raw(desk) as client:
        reply = ask(client, n=4, **message)
        assert reply["ok"] is False
        assert "unknown op" in reply["message"]


@pytest.mark.parametrize(
    "message",
    [
        {"op": "progress", "epoch": "many", "epochs": None, "step": True},
        {"op": "save", "progress": 3},
        {"op": "hello", "rank": "first", "version": 3},
        {"op": "passed", "boundary": "x"},
    ],
)
def test_fields_of_the_wrong_kind_never_reach_the_handler(desk, book, message):
    with raw(desk) as client:
        assert ask(client, n=1, **message)["ok"]
    for name, seen in book.calls:
        if name == "hello":
            assert seen == {"rank": 0, "version": "3", "pid": os.getpid()}
        else:
            assert seen in ({"boundary": False}, {"progress": {}, "writing_s": 0.0})


def test_a_message_without_end_is_cut_off(desk):
    with raw(desk) as client, pytest.raises(OSError):
        for _ in range(MESSAGE_LIMIT_BYTES // 1000 * 3):
            client.sendall(b"x" * 1000)
            time.sleep(0)
        if client.recv(1) == b"":
            raise OSError("hung up")
    wait_until(lambda: desk.clients == 0)


def test_a_fault_in_the_runner_is_told_in_its_words_and_the_line_stays_open(tmp_path):
    class Broken(DeskHandler):
        def on_save(self, message):
            raise OSError("no space left in the store")

    with Desk(str(tmp_path / "socket"), Broken()) as desk, raw(desk) as client:
        assert ask(client, op="save", n=1) == {"ok": False, "message": "no space left in the store", "n": 1}
        assert ask(client, op="ack", n=2)["ok"]


def test_saving_lasts_until_the_snapshot_is_taken(tmp_path):
    seen = []

    class Watching(DeskHandler):
        def on_save(self, message):
            seen.append(desk.is_saving)

    with Desk(str(tmp_path / "socket"), Watching()) as desk, raw(desk) as client:
        assert not desk.is_saving
        ask(client, op="saving", n=1)
        assert desk.is_saving
        ask(client, op="save", n=2)
        assert seen == [True]
        assert not desk.is_saving


def test_a_script_that_dies_while_exchanging_files_leaves_the_desk_saving(desk):
    with raw(desk) as client:
        ask(client, op="saving", n=1)
    wait_until(lambda: desk.clients == 0)
    assert desk.is_saving


def test_handler_calls_never_overlap(tmp_path):
    class Exclusive(DeskHandler):
        inside = 0
        worst = 0

        def on_progress(self, message):
            self.inside += 1
            self.worst = max(self.worst, self.inside)
            time.sleep(0.001)
            self.inside -= 1

    handler = Exclusive()
    with Desk(str(tmp_path / "socket"), handler) as desk:
        lines = [line_to(desk, rank) for rank in range(6)]
        work = [
            threading.Thread(target=lambda line=line: [line.request({"op": "progress"}, 10) for _ in range(20)])
            for line in lines
        ]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
        for line in lines:
            line.close()
    assert handler.worst == 1


def test_too_many_clients_are_turned_away_and_the_others_are_served(desk, monkeypatch):
    monkeypatch.setattr(desk_module, "CLIENT_LIMIT", 3)
    clients = [raw(desk) for _ in range(3)]
    for client in clients:
        ask(client, op="ack", n=1)
    with raw(desk) as late:
        assert late.recv(1) == b""
    assert ask(clients[0], op="ack", n=2)["ok"]
    for client in clients:
        client.close()


def test_other_ranks_wait_for_the_decision_of_rank_0(desk):
    with raw(desk) as leader, raw(desk) as other:
        ask(leader, op="hello", rank=0, n=1)
        answers = []
        asking = threading.Thread(target=lambda: answers.append(ask(other, op="may_leave", boundary=3, n=1)))
        asking.start()
        ask(leader, op="passed", boundary=2, n=2)
        assert answers == []
        ask(leader, op="passed", boundary=3, n=3)
        asking.join(150)
        assert answers == [{"ok": True, "leave": False, "n": 1}]
        asking = threading.Thread(target=lambda: answers.append(ask(other, op="may_leave", boundary=4, n=2)))
        asking.start()
        ask(leader, op="ack", n=4)
        asking.join(150)
        assert answers[1]["leave"] is True


def test_without_a_rank_0_nobody_waits(desk):
    with raw(desk) as other:
        assert ask(other, op="may_leave", boundary=3, n=1)["leave"] is False


def test_nobody_waits_for_a_rank_0_that_died(desk):
    with raw(desk) as other:
        with raw(desk) as leader:
            ask(leader, op="hello", rank=0, n=1)
            answers = []
            asking = threading.Thread(target=lambda: answers.append(ask(other, op="may_leave", boundary=3, n=1)))
            asking.start()
        asking.join(150)
        assert answers[0]["leave"] is False


def test_closing_twice_and_with_clients_waiting_is_harmless(tmp_path, book):
    desk = Desk(str(tmp_path / "socket"), book)
    client = raw(desk)
    ask(client, op="ack", n=1)
    desk.close(patience_s=0.05)
    desk.close()
    assert client.recv(1) == b""
    client.close()
    assert not (tmp_path / "socket").exists()


def test_what_was_said_before_the_end_is_heard_when_the_desk_closes(tmp_path, book):
    desk = Desk(str(tmp_path / "socket"), book)
    with raw(desk) as client:
        client.sendall((json.dumps({"op": "progress", "step": 1}) + "\n").encode() * 1000)
    wait_until(lambda: desk.clients or book.calls)
    desk.close()
    assert len(book.calls) == 1000


def test_a_line_to_nobody_answers_none_and_does_not_try_again_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(deskline, "_PAUSE_S", 3600.0)
    line = DeskLine(str(tmp_path / "nobody"), dict)
    assert line.request({"op": "save"}, 5) is None
    with socket.socket(socket.AF_UNIX) as late:
        late.bind(str(tmp_path / "nobody"))
        late.listen()
        late.setblocking(False)
        assert not any(line.send({"op": "progress"}) for _ in range(1000))
        with pytest.raises(BlockingIOError):
            late.accept()


def test_a_broken_line_is_made_anew(tmp_path, book):
    path = str(tmp_path / "socket")
    first = Desk(path, book)
    line = DeskLine(path, lambda: {"rank": 0, "version": "1"})
    assert line.request({"op": "ack"}, 5)["ok"]
    first.close(patience_s=0.05)
    with Desk(path, book):
        assert line.request({"op": "ack"}, 5)["ok"]
        line.close()
    assert book.names() == ["hello", "hello"]


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next_one(tmp_path):
    release = threading.Event()

    class Slow(DeskHandler):
        def on_save(self, message):
            release.wait(150)
            return {"ticket": 1}

    with Desk(str(tmp_path / "socket"), Slow()) as desk:
        line = line_to(desk)
        assert line.request({"op": "save"}, 0.05) is None
        release.set()
        line._silent_until_s = 0.0
        assert "ticket" not in line.request({"op": "ack"}, 5)
        line.close()


def test_progress_is_sent_without_anybody_asking_and_only_the_latest(desk, book):
    line = line_to(desk)
    reporter = Reporter(line)
    for step in range(50):
        reporter.report({"step": step})
    wait_until(lambda: ("progress", {"step": 49, "boundary": False}) in book.calls)
    assert book.names().count("progress") < 50
    line.close()


def test_a_note_with_a_text_arrives_and_a_spoiled_one_does_not(desk, book, tmp_path):
    notepad = Notepad(str(tmp_path / "points"), lambda sentence, once: None)
    notepad.note(2.0, 3, {"loss": 0.5, "samples": "ab"})
    for bad in ([1], {"at": "x", "values": {}}, {"at": 1, "values": 3}, {"at": 1, "values": {"a": "b"}, "step": "c"}):
        notepad._jot(bad)
    desk.gather()
    at = book.calls[0][1].pop("at")
    assert 0 < at < time.monotonic()
    assert book.calls == [
        ("track", {"epoch": 2.0, "step": 3, "values": {"loss": 0.5, "samples": "ab"}}),
        ("track", {"at": 1.0, "epoch": None, "step": None, "values": {}}),
    ]
