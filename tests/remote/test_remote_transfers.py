"""What travels between a client and a server: once, whole, and through broken connections."""

import contextlib
import hashlib
import math
import random
import select
import socket
import threading

import pytest

from outlast import RunRequest
from outlast.errors import NotFoundError, UsageError
from outlast.inside import layout
from outlast.inside.errors import NotFound, RequestError
from outlast.inside.records import Order
from outlast.keeper.home import Home
from outlast.model.states import EndReason, RunState
from outlast.operations.locate import locate
from outlast.remote.decode import decode_run
from outlast.remote.logs import read_events
from outlast.remote.sending import send_data, send_file
from outlast.remote.server import Server, server_of
from outlast.remote.store import ServedStore
from outlast.server.uploads import PART_BYTES


@pytest.fixture
def counted(monkeypatch):
    """The parts that were sent."""
    sent = []
    real = Server.send_part
    monkeypatch.setattr(Server, "send_part", lambda self, path, *rest: (sent.append(path), real(self, path, *rest)))
    return sent


def test_a_broken_upload_goes_on_with_the_missing_parts(served, there, counted, tmp_path):
    data = random.Random(7).randbytes(2 * PART_BYTES + 3)
    digest = hashlib.sha256(data).hexdigest()
    file = tmp_path / "big.bin"
    file.write_bytes(data)
    body = {"sha256": digest, "size_bytes": len(data), "kind": "file", "name": "big.bin"}
    served.call("ann", "POST", "/uploads", json=body).raise_for_status()
    served.call(
        "ann", "PUT", f"/uploads/{digest}/parts/2", content=data[PART_BYTES : 2 * PART_BYTES]
    ).raise_for_status()
    server = server_of(there.client().settings)
    words = {"kind": "file", "name": "big.bin", "tell": lambda words: None, "what": "big.bin"}
    assert send_file(server, file, **words) == digest
    assert [path[-2:] for path in counted] == ["/1", "/3"]
    assert send_file(server, file, **words) == digest and len(counted) == 2


def test_code_and_data_that_are_there_are_not_sent_again(there, project, counted):
    request = RunRequest("train.py", cwd=project, data=("./mnist",))
    there.client().runs.plan(request)
    before = len(counted)
    plan = there.client().runs.plan(request)
    assert len(counted) == before
    assert plan.spec.inputs[0].source == (project / "mnist").as_uri() and plan.spec.inputs[0].path == "mnist"
    assert plan.spec.name == "train" and plan.spec.user == "ann"


def test_a_folder_gives_its_name_and_links_in_data_are_followed(there, project, tmp_path):
    assert there.client().runs.plan(str(project)).spec.name == "digits"
    (tmp_path / "data" / "empty").mkdir(parents=True)
    (tmp_path / "data" / "linked.txt").symlink_to(project / "mnist" / "a.txt")
    (tmp_path / "data" / "again").symlink_to(tmp_path / "data")
    server, home = server_of(there.client().settings), Home(there.home)
    digest = send_data(server, home, tmp_path / "data", tell=lambda words: None)
    assert server.ask("GET", f"/uploads/{digest}")["complete"] is True
    (tmp_path / "data" / "broken").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="leads nowhere"):
        send_data(server, home, tmp_path / "data", tell=lambda words: None)


def test_outputs_cannot_be_brought_to_a_folder_of_this_machine(there, project):
    with pytest.raises(UsageError, match="cannot bring outputs to a folder of this machine"):
        there.client().runs.plan(RunRequest("train.py", cwd=project, output=("x=./results",), contract="modelarts"))


class Relay:
    """Passes connections on to a server, and cuts the first one that submits a run when its answer comes."""

    def __init__(self, port):
        self.cut = 0
        self._port = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=(near,), daemon=True).start()

    def _relay(self, near):
        asked = b""
        with near, socket.create_connection(("127.0.0.1", self._port)) as far, contextlib.suppress(OSError):
            while True:
                for end in select.select([near, far], [], [])[0]:
                    data = end.recv(65536)
                    if not data:
                        return
                    if end is near:
                        asked = (asked + data)[:100]
                    elif asked.startswith(b"POST /api/v1/runs ") and not self.cut:
                        self.cut += 1
                        return
                    (far if end is near else near).sendall(data)

    def close(self):
        self._listening.close()


def test_an_answer_that_is_lost_does_not_start_a_second_run(served, there, project):
    relay = Relay(served.port)
    try:
        client = there.client()
        client = type(client)(settings=client.settings, server=relay.url)
        view = client.runs.submit(RunRequest("train.py", cwd=project, data=("./mnist",), name="lost-answer"))
        assert relay.cut == 1
        assert [run.id for run in there.client().runs.list(name="lost-answer")] == [view.id]
        there.client().runs.wait(view.id, timeout=120)
    finally:
        relay.close()


def test_output_is_followed_byte_for_byte_through_a_killed_server(served, there):
    run = served.add_run("ann", name="followed")
    served.order(run, 1)
    pieces = [b"first \xff\xfe\n", "半".encode()[:2], "半".encode()[2:] + b"\n", b"last\r\n"]
    served.say(run, 1, 1, pieces[0])
    following = there.client().runs.logs(run, follow=True)
    assert next(following) == pieces[0]
    served.kill()
    for number, piece in enumerate(pieces[1:], start=2):
        served.say(run, 1, number, piece)
    served.end(run, 1)
    assert b"".join(following) == b"".join(pieces[1:])
    assert b"".join(there.client().runs.logs(run)) == b"".join(pieces)
    with pytest.raises(NotFoundError, match="no stint 7"):
        next(there.client().runs.logs(run, stint=7, follow=True))


def test_an_event_that_was_cut_off_is_none():
    whole = b'retry: 1000\n\nid: 1.2\ndata: {"a":1}\n\n: still here\n\nid: 1.3\nevent: end\ndata: {}\n\n'
    assert [(each.kind, each.data, each.cursor) for each in read_events([whole])] == [
        ("message", '{"a":1}', "1.2"), ("end", "{}", "1.3"),
    ]  # fmt: skip
    for cut in range(len(whole)):
        events = list(read_events([whole[:cut], b""], "0.9"))
        assert len(events) == whole[:cut].count(b"}\n\n")
    byte_by_byte = list(read_events(whole[at : at + 1] for at in range(len(whole))))
    assert len(byte_by_byte) == 2


def test_a_run_folder_is_read_through_the_server_and_never_written(served, there):
    run = served.add_run("ann", name="looked-into")
    served.store.put(
        layout.order_key(run, 1),
        Order(run=run, stint=1, token="hush", platform="local", limit_s=None, grace_s=1.0).to_bytes(),
    )
    segments = {number: b"%d\n" % number * 3 for number in range(1, 30)}
    for number, data in segments.items():
        served.say(run, 1, number, data)
    served.keep(run, {"out/model.bin": b"weights" * 1000})
    found = locate(there.client().settings, "looked-into")
    store = found.store
    assert found.run == run and isinstance(store, ServedStore)
    assert Order.from_bytes(store.get(layout.order_key(run, 1))).token == ""
    assert {number: store.get(layout.log_key(run, 1, number)) for number in segments} == segments
    with pytest.raises(NotFound):
        store.get(layout.log_key(run, 1, 30))
    served.say(run, 1, 30, b"more")
    assert store.get(layout.log_key(run, 1, 30)) == b"more"
    entry = store.head(layout.spec_key(run))
    assert entry is not None and entry.size_bytes == len(store.get(layout.spec_key(run)))
    assert store.head(layout.end_key(run, 1)) is None
    sha256 = hashlib.sha256(b"weights" * 1000).hexdigest()
    assert store.get_range(layout.blob_key(sha256), 3, 8) == (b"weights" * 3)[3:11]
    assert store.get_range(layout.blob_key(sha256), 7000, 1) == b""
    assert store.head(layout.blob_key(sha256)).size_bytes == 7000
    for write in (lambda: store.put("runs/x", b""), lambda: store.delete("runs/x")):
        with pytest.raises(RequestError):
            write()


def test_bytes_of_other_runs_cannot_be_had_by_their_digest(served, there):
    theirs = served.add_run("ben", name="hidden")
    served.keep(theirs, {"out/secret.bin": b"of ben alone"})
    mine = served.add_run("ann", name="asking")
    sha256 = hashlib.sha256(b"of ben alone").hexdigest()
    for run in (mine, theirs):
        assert served.call("ann", "GET", f"/runs/{run}/blobs/{sha256}").status_code == 404
    assert served.call("ben", "GET", f"/runs/{theirs}/blobs/{sha256}").content == b"of ben alone"
    for path in ("../../x", "stints/../../../etc", "%2e%2e/x", "nothing"):
        assert served.call("ann", "GET", f"/runs/{mine}/folder/{path}").status_code == 404


def test_answers_of_newer_servers_are_read_and_null_means_nan():
    body = {
        "id": "a", "name": "a", "state": "running", "platform": "local", "created_at": "", "metrics": {"loss": None},
        "stints": [{"number": 1, "state": "ended", "platform": "local", "reason": "hand-over", "colour": "blue"}],
        "stint_count": 3, "epoch": None, "invented_later": {"x": 1},
    }  # fmt: skip
    view = decode_run(body)
    assert math.isnan(view.metrics["loss"]) and view.epoch is None and view.stints == 3
    assert view.state is RunState.RUNNING and view.stint_list[0].reason is EndReason.HAND_OVER
