"""Runs in the store of an account, stints driven by hand, and a door in front of the server that misbehaves."""

import contextlib
import hashlib
import http.client
import http.server
import io
import json
import re
import sys
import tarfile
import threading
import time

import pytest

from outlast.inside import layout
from outlast.inside.blobs import Blobs
from outlast.inside.records import Claim, Control, End, Manifest, Order, now_text, to_bytes
from outlast.inside.stores.file import FileStore
from outlast.model.ids import new_run_id
from outlast.model.spec import CodePack, RunSpec
from outlast.platforms.accounts import Account
from outlast.platforms.base import JobState, Launch
from outlast.platforms.xihe.platform import Xihe
from outlast.settings import Settings

PATIENCE_S = 240.0

#: Trains two epochs, then says "saved, come back" until all are done; the weights are those of a straight training.
SCRIPT = """
import hashlib, json, os, sys

EPOCHS = 6
turn = int(os.environ.get("TURN", "2"))
state = {"epoch": 0, "weights": "0" * 64}
if os.path.exists("ckpt/state.json"):
    state = json.load(open("ckpt/state.json"))
    print("continues after epoch", state["epoch"])
os.makedirs("ckpt", exist_ok=True)
data = open(os.environ["DATA"]).read() if "DATA" in os.environ else ""
until = min(EPOCHS, state["epoch"] + turn)
while state["epoch"] < until:
    state["epoch"] += 1
    state["weights"] = hashlib.sha256((state["weights"] + data + str(state["epoch"])).encode()).hexdigest()
    print("epoch %d/%d loss=%.4f" % (state["epoch"], EPOCHS, 1 / state["epoch"]), flush=True)
    with open("ckpt/large.bin.tmp", "wb") as file:
        file.write(state["weights"].encode() * 5000)
    os.replace("ckpt/large.bin.tmp", "ckpt/large.bin")
    with open("ckpt/state.tmp", "w") as file:
        json.dump(state, file)
    os.replace("ckpt/state.tmp", "ckpt/state.json")
if state["epoch"] < EPOCHS:
    sys.exit(85)
os.makedirs("out", exist_ok=True)
open("out/weights.txt", "w").write(state["weights"])
"""


def straight_weights(data=""):
    """What the script arrives at without any interruption."""
    weights = "0" * 64
    for epoch in range(1, 7):
        weights = hashlib.sha256((weights + data + str(epoch)).encode()).hexdigest()
    return weights


class Bench:
    """One account of `ann`, the store that its stints work on, and a keeper's part played by hand."""

    def __init__(self, lab, folder):
        self.lab = lab
        self.folder = folder
        self.settings = Settings.load({"OUTLAST_HOME": str(folder / "home")})
        (folder / "home").mkdir()
        self.platform = self.sign_in()
        self.store = FileStore(str(folder / "home" / "platforms" / "lab" / "store"))

    def sign_in(self, endpoint="", token="", **values):
        words = {"endpoint": endpoint or self.lab.url, "git_endpoint": self.lab.url, "user": "ann", **values}
        secrets = {"token": token or self.lab.tokens["ann"], "git_token": self.lab.tokens["ann"]}
        platform = Xihe.from_account(Account("lab", "xihe", words, secrets), self.settings)
        platform._pace_s = platform._homecoming._pace_s = 0.2
        platform._rest._http.timeout_s = PATIENCE_S  # a machine that does ten other things is no fault
        platform._cache = self.lab.folder / "boot"  # making the boot file takes seconds of computing
        return platform

    def run(self, script=SCRIPT, files=None, **fields):
        """A run in the account's store, as the keeper's mirror would have put it there."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as pack:
            for name, data in {"train.py": script.encode(), **(files or {})}.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                pack.addfile(entry, io.BytesIO(data))
        data = packed.getvalue()
        words = {
            "id": new_run_id(), "name": "chain", "user": "ann", "created_at": now_text(), "script": "train.py",
            "code": CodePack(sha256=Blobs(self.store).put_bytes(data), size_bytes=len(data), files=1),
            "python": sys.executable, "checkpoint": "ckpt", "output": "out", "store": "file:///elsewhere",
            "platforms": ("lab",),
        }  # fmt: skip
        spec = RunSpec(**{**words, **fields})
        self.store.put(layout.spec_key(spec.id), to_bytes(spec.to_json()))
        self.store.put(layout.control_key(spec.id), Control(at=now_text()).to_bytes())
        return spec

    def order(self, spec, stint, resume_from=None, secrets=None, **fields):
        order = Order(
            run=spec.id, stint=stint, token=f"token-{stint}", platform="lab", store=self.platform.store,
            resume_from=resume_from, created_at=now_text(), **fields,
        )  # fmt: skip
        self.store.put_if_absent(layout.order_key(spec.id, stint), order.to_bytes())
        return Launch(spec, order, secrets or {})

    def stint(self, spec, stint, resume_from=None, **fields):
        """One stint from its order to the end of its job."""
        launch = self.order(spec, stint, resume_from, **fields)
        self.platform.submit(launch)
        return self.wait(launch)

    def wait(self, launch, platform=None):
        return self.until(launch, lambda job: job.state is JobState.ENDED, platform)

    def until(self, launch, holds, platform=None):
        deadline = time.monotonic() + PATIENCE_S
        while True:
            job = (platform or self.platform).poll([launch.job_name])[launch.job_name]
            if holds(job):
                return job
            assert time.monotonic() < deadline, job
            time.sleep(0.1)

    def checkpoints(self, spec):
        keys = [each.key for each in self.store.list(layout.checkpoints_prefix(spec.id))]
        return sorted(filter(None, map(layout.checkpoint_of_key, keys)), key=layout.checkpoint_order)

    def end(self, spec, stint):
        return End.from_bytes(self.store.get(layout.end_key(spec.id, stint)))

    def claim(self, spec, stint):
        return Claim.from_bytes(self.store.get(layout.claim_key(spec.id, stint)))

    def log(self, spec, stint):
        keys = [each.key for each in self.store.list(layout.log_prefix(spec.id, stint))]
        return b"".join(map(self.store.get, keys)).decode()

    def output(self, spec, path):
        manifest = Manifest.from_bytes(self.store.get(layout.outputs_key(spec.id)))
        return Blobs(self.store).get_bytes(manifest.files[path]["sha256"])

    def instances(self, spec, platform=None):
        found = platform or self.platform
        return found._rest.instances(found._project(spec.id))

    def revisit(self, spec, stint=2):
        """A stint that another home has asked for: this one knows nothing of what became of it."""
        self.store.put(layout.spec_key(spec.id), to_bytes(spec.to_json()))
        return self.order(spec, stint)


@pytest.fixture
def bench(hub_lab, tmp_path):
    return Bench(hub_lab, tmp_path)


@pytest.fixture(scope="session")
def journey(hub_lab, tmp_path_factory):
    """A run that two instances have carried to its end; every test may look at it, none may change it."""
    bench = Bench(hub_lab, tmp_path_factory.mktemp("completed"))
    spec = bench.run(env={"TURN": "3"})
    jobs = [bench.stint(spec, 1)]
    jobs.append(bench.stint(spec, 2, bench.checkpoints(spec)[-1]))
    return bench, spec, jobs


@pytest.fixture
def completed(journey):
    return journey[1]


class Tampering:
    """A door in front of the server. Rules say what happens to a request: `lose` the answer, or answer otherwise."""

    def __init__(self, lab):
        self.lab = lab
        self.rules = []  # (method, pattern, times left, what)
        door = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *words):
                pass

            def _serve(self):
                door.serve(self)

            do_GET = do_POST = do_PUT = do_DELETE = _serve

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def on(self, method, pattern, what, times=1, then=lambda: None):
        self.rules.append([method, re.compile(pattern), times, what, then])

    def serve(self, handler):
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        what = None
        for rule in self.rules:
            if rule[0] == handler.command and rule[1].search(handler.path) and rule[2] > 0:
                rule[2] -= 1
                what = rule[3]
                rule[4]()
                break
        if isinstance(what, tuple):
            status, answer = what
            return self._answer(handler, status, answer.encode() if isinstance(answer, str) else to_json(answer))
        status, answer = self._forward(handler, body)
        if what == "lose":
            handler.close_connection = True
            with contextlib.suppress(OSError):
                handler.connection.close()
            return None
        return self._answer(handler, status, answer)

    def _forward(self, handler, body):
        line = http.client.HTTPConnection("127.0.0.1", self.lab.port, timeout=PATIENCE_S)
        headers = {name: value for name, value in handler.headers.items() if name.lower() != "connection"}
        try:
            line.request(handler.command, handler.path, body, headers)
            response = line.getresponse()
            return response.status, response.read()
        finally:
            line.close()

    def _answer(self, handler, status, body):
        handler.send_response(status)
        if status != 204:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def to_json(value):
    return json.dumps(value).encode()


@pytest.fixture
def tampering(hub_lab):
    door = Tampering(hub_lab)
    yield door
    door.close()
