"""Following a run: nothing is lost and nothing repeated, whatever breaks."""

import random
import threading

import pytest
from api_lab import PATIENCE_S, Events


@pytest.fixture
def run(api):
    run = api.add_run("ann")
    api.order(run, 1)
    return run


def _texts(api, run, cursor="", most=None, **query):
    """Up to `most` events from a cursor on, the last cursor, and how the stream ended."""
    headers = {"Last-Event-ID": cursor} if cursor else {}
    said, end = [], None
    with (
        api.client("ann") as client,
        client.stream("GET", f"/runs/{run}/logs/stream", headers=headers, params=query) as r,
    ):
        assert r.status_code == 200 and r.headers["content-type"].startswith("text/event-stream")
        events = Events(r)
        if most == 0:
            return said, cursor, end
        for kind, body in events:
            if kind != "message":
                end = body["state"]
                break
            said.append(body)
            if len(said) == most:
                break
        return said, events.cursor, end


def test_a_reader_that_is_cut_off_at_random_misses_and_repeats_nothing(api, run):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    written = []

    def write():
        for stint in (1, 2, 3):
            api.order(run, stint)
            for number in range(1, 13):
                text = f"{stint}.{number} {'x' * dice.randrange(3000)}\r\nnext é中\n"
                written.append(text)
                api.say(run, stint, number, text.encode())
            # Without a checkpoint the run would be over: the next stint would have nothing to go on from.
            api.keep(run, {"weights.bin": b"%d" % stint}, key=f"{stint:04d}-000001")
            api.end(run, stint, "finished" if stint == 3 else "hand-over")

    writer = threading.Thread(target=write)
    writer.start()
    read, cursor, end, cuts = [], "", None, random.Random(seed + 1)
    for _ in range(200):
        said, cursor, end = _texts(api, run, cursor, most=cuts.randrange(1, 6))
        read += [each["text"] for each in said]
        if end:
            break
    writer.join(PATIENCE_S)
    assert end == "succeeded"
    assert read == written


def test_what_a_runner_that_was_given_up_still_sends_arrives_once(api, run):
    api.say(run, 1, 1, b"early\n")
    api.end(run, 1, "lost")
    api.order(run, 2)
    api.say(run, 2, 1, b"successor\n")
    said, cursor, _ = _texts(api, run, most=2)
    assert [each["text"] for each in said] == ["early\n", "successor\n"]
    api.say(run, 1, 2, b"late\n")
    api.say(run, 2, 2, b"done\n")
    api.end(run, 2)
    said, _, end = _texts(api, run, cursor)
    assert sorted((each["stint"], each["text"]) for each in said) == [(1, "late\n"), (2, "done\n")]
    assert end == "succeeded"


def test_a_character_that_a_cut_went_through_is_whole(api, run):
    data = "é中🦦".encode()
    for number, piece in enumerate([data[:1], data[1:4], data[4:7], data[7:]], 1):
        api.say(run, 1, number, piece)
    api.end(run, 1)
    said, *_ = _texts(api, run)
    assert "".join(each["text"] for each in said) == "é中🦦"
    again, *_ = _texts(api, run, cursor="1.3")
    assert "".join(each["text"] for each in again) == "中🦦"


def test_text_and_stream_fit_together(api, run):
    api.say(run, 1, 1, b"first\n")
    response = api.call("ann", "GET", f"/runs/{run}/logs")
    assert response.content == b"first\n"
    api.say(run, 1, 2, b"second\n")
    api.end(run, 1)
    said, *_ = _texts(api, run, cursor=response.headers["outlast-cursor"])
    assert [each["text"] for each in said] == ["second\n"]


def test_any_part_of_the_text_can_be_had(api, run):
    whole = b"".join(b"line %d of the output\n" % number for number in range(100))
    for number in range(10):
        api.say(run, 1, number + 1, whole[number * 210 : number * 210 + (210 if number < 9 else len(whole))])
    api.end(run, 1)
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    with api.client("ann") as client:
        for _ in range(20):
            first = dice.randrange(len(whole))
            last = dice.randrange(first, len(whole) + 50)
            got = client.get(f"/runs/{run}/logs", headers={"Range": f"bytes={first}-{last}"})
            assert (got.status_code, got.content) == (206, whole[first : last + 1])
            assert got.headers["content-range"] == f"bytes {first}-{min(last, len(whole) - 1)}/{len(whole)}"
        assert client.get(f"/runs/{run}/logs", headers={"Range": "bytes=-7"}).content == whole[-7:]
        assert client.get(f"/runs/{run}/logs", headers={"Range": f"bytes={len(whole)}-"}).status_code == 416
        assert client.get(f"/runs/{run}/logs", headers={"Range": "lines=1-2"}).content == whole
        assert client.get(f"/runs/{run}/logs", params={"stint": 2}).status_code == 404


def test_one_stint_alone_ends_with_it(api, run):
    api.say(run, 1, 1, b"one\n")
    api.end(run, 1, "hand-over")
    api.order(run, 2)
    api.say(run, 2, 1, b"two\n")
    said, _, end = _texts(api, run, stint=1)
    assert ([each["text"] for each in said], end) == (["one\n"], "ended")


def test_a_run_that_is_removed_ends_its_followers(api, run):
    from outlast.inside import layout

    with api.client("ann") as client, client.stream("GET", f"/runs/{run}/logs/stream") as response:
        api.store.delete(layout.spec_key(run))
        kind, body = next(iter(Events(response)))
    assert (kind, body["state"]) == ("error", "not_found")


@pytest.mark.parametrize("cursor", ["x", "1", "1.1,2.2,3.3", "-1.2", "1.9999999999"])
def test_a_wrong_cursor_is_refused(api, run, cursor):
    assert api.call("ann", "GET", f"/runs/{run}/logs/stream", params={"cursor": cursor}).status_code == 400


def test_metrics_come_as_columns_and_as_events(api, run):
    from outlast.inside import layout

    lines = b"".join(
        b'{"at_s": %d, "epoch": %d, "step": null, "values": {"loss": %s}, "from": "log"}\n' % (n, n, value)
        for n, value in enumerate([b"1.5", b'"nan"', b"0.5"])
    )
    api.store.put(layout.metrics_key(run, 1, 1), lines)
    api.end(run, 1)
    loss = api.call("ann", "GET", f"/runs/{run}/metrics").json()["series"]["loss"]
    assert (loss["value"], loss["epoch"], loss["step"]) == ([1.5, None, 0.5], [0, 1, 2], [None] * 3)
    assert api.call("ann", "GET", f"/runs/{run}/metrics", params={"name": "acc"}).json()["series"] == {}
    with api.client("ann") as client, client.stream("GET", f"/runs/{run}/metrics/stream") as response:
        (_, first), (kind, _) = list(Events(response))
    assert [point["values"]["loss"] for point in first["points"]] == [1.5, None, 0.5] and kind == "end"
