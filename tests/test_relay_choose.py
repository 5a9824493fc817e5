"""Which platform is next: an order of preference, what stands against each, and never a dead end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from outlast.relay import Choice, PlaceSeen, choose, elsewhere

FREE, LAB, HERE = PlaceSeen("free-v100"), PlaceSeen("lab-pai"), PlaceSeen("local")
FULL = PlaceSeen("free-v100", closed_s=30.0, trouble="is full: no V100 is free")
DOWN = PlaceSeen("lab-pai", closed_s=5.0, trouble="has been down for 3 min")
SPENT = PlaceSeen("free-v100", spent="10 h of this week", renews_s=3600.0)


def test_one_platform_is_no_choice():
    assert choose([HERE]) == Choice("local", "")
    assert choose([HERE], "local", "lost stint 1") == Choice("local", "")


def test_first_choice_is_taken_and_taken_again():
    assert choose([FREE, LAB]) == Choice("free-v100", "first choice")
    assert choose([FREE, LAB], "free-v100") == Choice("free-v100", "first choice")


def test_next_one_is_taken_and_says_what_stands_against_those_before_it():
    assert choose([FULL, LAB]) == Choice("lab-pai", "free-v100 is full: no V100 is free")
    assert choose([FULL, DOWN, HERE]).why == "free-v100 is full: no V100 is free; lab-pai has been down for 3 min"
    assert choose([SPENT, LAB]).why == "free-v100's 10 h of this week are used up"


def test_first_choice_is_tried_again_as_soon_as_nothing_stands_against_it():
    assert choose([FREE, LAB], "lab-pai") == Choice("free-v100", "back to free-v100, the first choice")


def test_platform_that_lost_a_stint_lets_the_others_go_first_in_a_circle():
    places = [FREE, LAB, HERE]
    assert choose(places, "free-v100", "lost stint 1") == Choice("lab-pai", "free-v100 lost stint 1")
    assert choose(places, "lab-pai", "lost stint 2") == Choice("local", "lab-pai lost stint 2")
    assert choose(places, "local", "lost stint 3") == Choice("free-v100", "local lost stint 3")
    assert choose([FREE, DOWN], "free-v100", "lost stint 1").platform == "free-v100"


def test_when_nothing_is_left_it_waits_for_the_first_that_can_be_asked_again():
    choice = choose([FULL, DOWN])
    assert (choice.platform, choice.wait_s) == ("", 5.0)
    assert choice.why.startswith("waits for a platform: free-v100 is full") and "down for 3 min" in choice.why
    assert choose([SPENT]).wait_s == 3600.0


def test_allowance_that_does_not_renew_is_waited_for_without_a_date():
    never = PlaceSeen("free-v100", spent="10 h")
    assert choose([never]) == Choice("", "waits for a platform: free-v100's 10 h are used up", None)


def test_elsewhere_is_another_one_that_can_be_asked():
    assert elsewhere([FREE, LAB], "free-v100") == "lab-pai"
    assert elsewhere([FULL, LAB], "lab-pai") == ""
    assert elsewhere([HERE], "local") == ""


places = st.lists(
    st.builds(
        PlaceSeen,
        name=st.sampled_from(["a", "b", "c", "d"]),
        closed_s=st.sampled_from([0.0, 0.0, 3.0, 500.0]),
        spent=st.sampled_from(["", "", "1 h"]),
        renews_s=st.sampled_from([None, 60.0]),
    ),
    min_size=1,
    unique_by=lambda place: place.name,
)


@given(places, st.sampled_from(["", "a", "b", "z"]), st.sampled_from(["", "lost stint 7"]))
def test_an_open_platform_is_always_found_and_a_closed_one_never(places, last, failed):
    choice = choose(places, last, failed)
    by_name = {place.name: place for place in places}
    if choice.platform:
        assert by_name[choice.platform].is_open
        first = next(place.name for place in places if place.is_open)
        assert choice.platform == first or (failed and last in by_name)
        assert choice.why or len(places) == 1
        if failed and choice.platform == last:
            assert not any(place.is_open for place in places if place.name != last)
    else:
        assert not any(place.is_open for place in places)
        assert choice.why.startswith("waits for a platform: ")
        assert choice.wait_s is None or choice.wait_s > 0
        if choice.wait_s is None:
            assert all(place.spent and place.renews_s is None for place in places)
