"""The moving region, drawn to a fixed width: what must be on it, and that it never breaks the screen."""

from __future__ import annotations

import dataclasses
import random

import pytest
import simulated

from outlast.cli.scene import Scene, bar, draw, main_metric
from outlast.cli.words import display_width
from outlast.model.states import RunState
from outlast.model.view import RunView


def scene_at(at_s: float) -> Scene:
    scene = Scene()
    scene.look(simulated.Simulation().view(at_s), 100.0)
    return scene


def plain(lines) -> list[str]:
    return [line.plain for line in lines]


def test_region_shows_stint_epoch_rate_and_time_left():
    scene = scene_at(20.0)
    scene.hear(b"epoch 14/30 loss 0.5\n")
    stint, training, *rest = plain(draw(scene, 100.0, 100, 30))
    assert stint.startswith("stint 2 ") and "6.0 s of 15 s · 9.0 s left" in stint
    assert training.startswith("training ") and "epoch 15/30 · 0.8 epochs/s · 18 s to go" in training
    assert any("loss 0.4" in line and "val_acc" in line for line in rest)
    assert any("98 %" in line and "memory 202.2 MB" in line for line in rest)
    assert rest[-1] == "│ epoch 14/30 loss 0.5"


def test_time_goes_on_between_two_beats():
    scene = scene_at(20.0)
    assert "7.5 s of 15 s" in plain(draw(scene, 101.5, 100, 30))[0]


def test_time_left_never_becomes_negative():
    scene = scene_at(13.9)
    assert "15 s of 15 s · 0.0 s left" in plain(draw(scene, 102.9, 100, 30))[0]


def test_preparing_and_handing_over_are_named():
    assert "preparing: restoring" in plain(draw(scene_at(14.2), 100.0, 100, 30))[0]
    assert "handing over" in plain(draw(scene_at(13.6), 100.0, 100, 30))[0]


def test_nothing_known_yet_draws_one_calm_line():
    assert plain(draw(Scene(), 0.0, 80, 24)) == ["waiting …"]
    scene = Scene()
    scene.look(RunView(id="i", name="n", state=RunState.QUEUED, platform="local", created_at=""), 0.0)
    assert plain(draw(scene, 0.0, 80, 24)) == ["stint 1   waiting …"]


def test_what_a_run_waits_for_is_said():
    scene = scene_at(20.0)
    assert scene.view is not None
    waiting = dataclasses.replace(scene.view.stint_list[-1], elapsed_s=None, detail="waits for 1 cpu")
    scene.view = dataclasses.replace(scene.view, stint_list=(waiting,))
    assert plain(draw(scene, 100.0, 100, 30))[0] == "stint 2   waits for 1 cpu …"
    pausing = dataclasses.replace(scene.view.stint_list[0], detail="")
    scene.view = dataclasses.replace(scene.view, stint_list=(pausing,), message="next try in 5 s\nmore")
    assert plain(draw(scene, 100.0, 100, 30))[0] == "stint 2   next try in 5 s …"


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 200])
@pytest.mark.parametrize("locale", ["C.UTF-8", "zh_CN.UTF-8"])
def test_no_line_is_wider_than_the_screen(width, locale, monkeypatch):
    monkeypatch.setenv("LANG", locale)
    scene = scene_at(20.0)
    scene.hear(("很长的一行输出 " * 40 + "\n").encode())
    for line in draw(scene, 100.0, width, 30):
        assert display_width(line.plain) <= width


def test_low_screen_gets_a_low_region():
    scene = scene_at(20.0)
    scene.hear(b"one\ntwo\nthree\n")
    assert len(draw(scene, 100.0, 80, 10)) <= 6
    assert plain(draw(scene, 100.0, 80, 10))[-1] == "│ three"


def test_terminal_without_unicode_gets_ascii():
    scene = scene_at(20.0)
    scene.hear(b"out\n")
    lines = plain(draw(scene, 100.0, 80, 30, plain_glyphs=True))
    assert lines[-1] == "| out"
    assert set(lines[0].split("  ")[1].strip()) <= set("#-") or "#" in lines[0]


def test_output_that_overwrites_itself_shows_its_last_state():
    scene = Scene()
    scene.hear(b" 10%|#   |\r 50%|##  |\r100%|####|\n\x1b[31mred\x1b[0m\n")
    assert list(scene.output) == ["100%|####|", "red"]


def test_half_lines_wait_for_their_end_at_any_cut():
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    text = "".join(f"line {number} ünï 漢字\n" for number in range(50)).encode()
    scene = Scene()
    at = 0
    while at < len(text):
        size = chance.randint(1, 40)
        scene.hear(text[at : at + size])
        at += size
    assert list(scene.output)[-1] == "line 49 ünï 漢字"
    assert all("�" not in line for line in scene.output)


def test_endless_line_without_a_newline_stays_small():
    scene = Scene()
    for _ in range(100):
        scene.hear(b"x" * 100_000)
    assert len(scene._half_line) <= 4096


def test_bar_is_exactly_as_wide_as_asked_at_every_fraction():
    for permille in range(-100, 1200, 7):
        assert len(bar(permille / 1000, 30, "cyan").plain) == 30
    assert bar(1.0, 10, "cyan").plain == "━" * 10
    assert bar(0.0, 10, "cyan").plain == "─" * 10


def test_curve_prefers_the_loss():
    assert main_metric(["acc", "loss"]) == "loss"
    assert main_metric(["acc", "val_loss"]) == "val_loss"
    assert main_metric(["acc"]) == "acc"
    assert main_metric([]) is None


def test_metric_that_is_not_a_number_does_not_break_the_region():
    scene = scene_at(20.0)
    assert scene.view is not None
    scene.view = dataclasses.replace(scene.view, metrics={"loss": float("nan"), "acc": "nan"})  # type: ignore[dict-item]
    assert any("loss nan" in line for line in plain(draw(scene, 100.0, 80, 30)))


def test_accelerators_are_listed():
    scene = scene_at(20.0)
    assert scene.view is not None
    card = {"kind": "npu", "index": 0, "busy_percent": 87, "memory_used_bytes": 10 * 1024**3}
    scene.view = dataclasses.replace(scene.view, device={"accelerators": [card]})
    assert any("npu 0 87 % 10.0 GB" in line for line in plain(draw(scene, 100.0, 100, 30)))
