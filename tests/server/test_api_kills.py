"""A server that is killed at the worst moment loses nothing and does nothing twice."""

import contextlib
import hashlib
import random
import threading
import time

import httpx
from api_lab import Events

from outlast.server.uploads import PART_BYTES


def test_followers_and_uploads_go_on_with_the_next_server(api):
    run = api.add_run("ann", name="outliving")
    api.order(run, 1)
    api.say(run, 1, 1, b"before\n")
    data = random.Random(2).randbytes(PART_BYTES + 5)
    digest = hashlib.sha256(data).hexdigest()
    body = {"sha256": digest, "size_bytes": len(data), "kind": "file"}
    api.call("ann", "POST", "/uploads", json=body).raise_for_status()
    api.call("ann", "PUT", f"/uploads/{digest}/parts/1", content=data[:PART_BYTES]).raise_for_status()
    with api.client("ann") as client, client.stream("GET", f"/runs/{run}/logs/stream") as response:
        events = Events(response)
        assert next(iter(events))[1]["text"] == "before\n"
        api.kill()
    api.say(run, 1, 2, b"after\n")
    api.end(run, 1)
    headers = {"Last-Event-ID": events.cursor}
    with api.client("ann") as client, client.stream("GET", f"/runs/{run}/logs/stream", headers=headers) as response:
        (_, first), (kind, _) = list(Events(response))
    assert (first["text"], kind) == ("after\n", "end")
    assert api.call("ann", "GET", f"/uploads/{digest}").json()["missing"] == [2]
    api.call("ann", "PUT", f"/uploads/{digest}/parts/2", content=data[PART_BYTES:]).raise_for_status()
    assert api.call("ann", "POST", f"/uploads/{digest}/complete").json()["complete"] is True


def test_a_submit_whose_server_dies_starts_one_run_when_it_is_repeated(api):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    script = api.folder / "survivor" / "train.py"
    script.parent.mkdir()
    script.write_text("print('survived')\n")

    def ask():
        words = {"json": {"target": str(script)}, "headers": {"Idempotency-Key": "survive"}}
        with api.client("root") as client:
            return client.post("/runs", **words)

    def ask_and_lose():
        with contextlib.suppress(httpx.TransportError):
            ask()

    first = threading.Thread(target=ask_and_lose)
    first.start()
    time.sleep(random.Random(seed).random() * 0.6)  # anywhere within a submit, which takes about so long
    api.kill()
    first.join()
    answers = [ask() for _ in range(2)]
    assert [each.status_code for each in answers] == [201, 201], answers[0].text
    assert len({each.json()["id"] for each in answers}) == 1
    of_script = [each for each in api.call("root", "GET", "/runs").json()["runs"] if each["name"] == "train"]
    mine = [each["id"] for each in of_script if each["user"] == "root"]
    assert mine.count(answers[0].json()["id"]) == 1
    folders = [
        spec for spec in (api.settings.home / "store" / "runs").glob("*/spec.json") if "survivor" in spec.read_text()
    ]
    assert len(folders) == 1
