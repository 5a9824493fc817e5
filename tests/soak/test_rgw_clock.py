"""A machine whose clock is wrong by twenty minutes, before a server that really looks at the time."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest

pytestmark = pytest.mark.soak


@pytest.fixture(params=[-1200, 1200], ids=["slow", "fast"])
def wrong_clock(request, tmp_path_factory):
    """Variables for a process that sees another time."""
    shift = tmp_path_factory.mktemp("clock") / "shift"
    shift.write_text(str(request.param))
    return {"PYTHONPATH": str(Path(__file__).parents[1] / "jumping_clock"), "JUMPING_CLOCK": str(shift)}


def test_this_server_refuses_a_wrong_clock(gateway, start_task, wrong_clock):
    bucket = gateway.bucket()
    assert start_task(gateway.access, "knock", bucket=bucket).hear()["status"] == 200
    found = start_task(gateway.access, "knock", environ=wrong_clock, bucket=bucket).hear()
    assert found["status"] == 403
    assert "RequestTimeTooSkewed" in found["body"]


def test_with_a_wrong_clock_everything_works(gateway, start_task, wrong_clock, tmp_path):
    for number in range(100):
        (tmp_path / f"{number:02d}").write_bytes(b"x" * number)
    bucket = gateway.bucket()
    told = start_task(gateway.access, "all_verbs", environ=wrong_clock, bucket=bucket, folder=str(tmp_path)).hear()
    assert told["found"] == {
        "put": True, "head": True, "get": "x", "read": "x", "list": ["k"], "bucket": True, "claim": True,
        "stream": None, "delete": None,
    }  # fmt: skip
    assert (told["ended"], told["trouble"]) == (100, [])
    with urllib.request.urlopen(told["link"]) as answer:
        assert answer.read() == b"x"
