"""What platforms say, and what a plan foretells, in the terminal."""

from __future__ import annotations

import json

import pytest

from outlast.inside import layout
from outlast.inside.records import Order, now_text
from outlast.inside.stores import open_store
from outlast.model.hearsay import Happening, Hearsay
from outlast.testing.runs import fake_settings, write_run


@pytest.fixture
def unheard(tmp_path, monkeypatch):
    """A run whose one stint has a job and no runner; a platform that nobody signed in to keeps the keeper from it."""
    settings = fake_settings(tmp_path / "home")
    store = open_store(settings.store)
    spec = write_run(store, settings, name="far", marker=False)
    order = Order(run=spec.id, stint=1, token="t", platform="cloud", created_at=now_text())
    store.put(layout.order_key(spec.id, 1), order.to_bytes())
    events = tuple(Happening(f"2026-11-16T17:20:{at:02d}+08:00", f"event {at}") for at in range(7))
    store.put(layout.platform_key(spec.id, 1), Hearsay(events).to_bytes())
    monkeypatch.setattr("outlast.operations.runs.ensure_keeper", lambda *_: None)
    return spec.id


def test_show_has_the_last_events_of_a_stint_that_cannot_be_heard(outlast, unheard):
    code, out, _ = outlast("show", unheard)
    section = out.partition("\nevents\n")[2].splitlines()
    assert code == 0 and section[0] == "  2026-11-16 17:20:02 event 2" and section[4].endswith("event 6")
    assert section[5] == "  and 2 older"
    assert "event 6" in out.partition("\nstints\n")[2].partition("\n\n")[0]  # beside the stint
    shown = json.loads(outlast("show", unheard, "--json")[1])
    assert shown["stints"][0]["detail"] == "event 6" and len(shown["stints"][0]["events"]) == 7


def test_logs_without_output_say_what_the_platform_says_beside_it(outlast, unheard):
    code, out, err = outlast("logs", unheard)
    assert (code, out) == (0, "") and err.splitlines()[-1] == "cloud: 2026-11-16 17:20:06 event 6"
    assert outlast("logs", unheard, "--stint", "1")[2].count("event") == 7


def test_logs_with_output_are_the_output_alone(outlast, unheard, tmp_path):
    open_store(fake_settings(tmp_path / "home").store).put(layout.log_key(unheard, 1, 1), b"epoch 1\n")
    assert outlast("logs", unheard) == (0, "epoch 1\n", "")


def test_a_dry_run_says_how_to_find_out_how_long_it_takes(outlast, tmp_path, monkeypatch):
    (tmp_path / "train.py").write_text("print('epoch 1/2')\n")
    monkeypatch.chdir(tmp_path)
    code, out, _ = outlast("run", "train.py", "--dry-run")
    assert code == 0
    assert "forecast   how long it will take is not known yet; measure it with: outlast probe train.py" in out
    told = json.loads(outlast("run", "train.py", "--dry-run", "--json")[1])["forecast"]
    assert told["stints"] is None and told["possible"] is True and told["shares"] == []
