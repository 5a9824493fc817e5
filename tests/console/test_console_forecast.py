"""The forecast of a planned run, as the New run page says it."""

from outlast.server.console.newrun.plan import forecast_words

TOLD = {
    "sentence": "as the plan says",
    "stints": 3,
    "total_s": 200.0,
    "done_at": "2026-11-16T19:17+00:00",
    "lost_fraction": 0.1,
}


def test_numbers_become_words():
    assert forecast_words(TOLD) == "3 stints · 3 min 20 s · done at 2026-11-16 19:17 · 10 % lost"
    assert forecast_words({**TOLD, "stints": 1}).startswith("1 stint · ")


def test_without_numbers_the_plan_has_the_word():
    assert forecast_words({**TOLD, "stints": None}) == "as the plan says"
