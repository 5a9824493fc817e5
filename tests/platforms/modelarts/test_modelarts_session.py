"""Trouble on the way to the service: told apart, tried again briefly, never insisted on."""

from __future__ import annotations

import time

import pytest
from cloud_lab import PASSWORD, says

from outlast.errors import SpecError, Unavailable
from servers.faults import ALWAYS, drop, drop_after
from servers.ports import free_ports

SEARCH = "training-job-searches"
NOBODY = "1116-no-body-xyz.0001"


def refusal(platform):
    with pytest.raises(Unavailable) as caught:
        platform.poll([NOBODY])
    return caught.value


def asked(cloud, path=SEARCH):
    return [seen for seen in cloud.proxy.seen if path in seen.target]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (says, {"status": 429, "code": "ModelArts.2799", "times": 2}),
        (says, {"status": 403, "code": "APIG.0308"}),
        (says, {"status": 500, "code": "ModelArts.0010", "times": 3}),
        (says, {"status": 200, "raw": "<html>busy</html>", "times": 2}),
        (drop, {"times": 2}),
        (drop_after, {}),
    ],
    ids=["throttled", "throttled at the gate", "trouble", "no JSON", "lost before", "lost after"],
)
def test_trouble_of_a_moment_is_waited_for(cloud, make, words):
    cloud.proxy.add(make(path=SEARCH, **words))
    assert cloud.platform().poll([NOBODY])[NOBODY].state == "absent"
    assert not cloud.proxy.waiting


def test_throttling_that_lasts_is_told_with_the_time_that_was_asked_for(cloud):
    cloud.proxy.add(says(429, "ModelArts.2799", headers=[("Retry-After", "17")], path=SEARCH, times=ALWAYS))
    told = refusal(cloud.platform())
    assert (told.why, told.retry_after_s, told.retryable) == ("down", 17.0, True)
    assert len(asked(cloud)) == 4


def test_a_service_with_trouble_and_one_that_is_away_are_down(cloud):
    cloud.proxy.add(says(503, "ModelArts.0010", "all burns", path=SEARCH, times=ALWAYS))
    told = refusal(cloud.platform())
    assert told.why == "down" and "all burns (ModelArts.0010)" in told.message
    away = cloud.platform(endpoint=f"http://127.0.0.1:{free_ports(1)[0]}", project=cloud.project)
    told = refusal(away)
    assert told.why == "down" and "does not answer" in told.message and away.standing().state == "down"


def test_a_wrong_secret_is_told_once_and_the_key_is_not_locked_by_asking_on(cloud):
    now = [time.time()]
    platform = cloud.platform(secret="wrong", project=cloud.project, clock=lambda: now[0])
    for _ in range(20):
        told = refusal(platform)
        assert told.why == "refused" and "outlast login modelarts --profile cloud" in told.hint
        assert cloud.secret not in str(told)
    assert len(asked(cloud)) == 1 and platform.standing().state == "signed-out"
    now[0] += 61
    refusal(platform)
    assert len(asked(cloud)) == 2


@pytest.mark.parametrize("minutes", [-40, 40, 600])
def test_a_clock_that_is_off_is_corrected_by_the_refusal(cloud, minutes):
    platform = cloud.platform(clock=lambda: time.time() + minutes * 60, project=cloud.project)
    assert platform.poll([NOBODY])[NOBODY].state == "absent"
    before = len(cloud.proxy.seen)
    assert platform.poll([NOBODY])[NOBODY].state == "absent"
    assert len(cloud.proxy.seen) == before + 1, "the next question is right at once"
    assert "this machine's clock is" in platform.standing().detail


def test_a_token_is_fetched_with_the_password_and_renewed_once(cloud):
    platform = cloud.platform(key="", secret="", user="ann", password=PASSWORD)
    assert platform.poll([NOBODY])[NOBODY].state == "absent"
    cloud.proxy.add(says(401, "ModelArts.0202", "token expired", path=SEARCH))
    assert platform.poll([NOBODY])[NOBODY].state == "absent"
    assert len(asked(cloud, "/v3/auth/tokens")) == 2
    cloud.proxy.add(says(401, "APIG.0301", "token expired", path=SEARCH, times=ALWAYS))
    assert refusal(platform).why == "refused"
    refusal(platform)
    assert len(asked(cloud, "/v3/auth/tokens")) == 3


def test_a_wrong_password_is_no_trouble_of_the_service(cloud):
    platform = cloud.platform(key="", secret="", user="ann", password="guessed")
    assert refusal(platform).why == "refused"
    assert platform.standing().state == "signed-out" and "guessed" not in platform.standing().detail


def test_the_project_follows_from_the_region_unless_there_are_several(cloud):
    assert cloud.project in cloud.platform().standing().detail
    assert len(asked(cloud, "/v3/projects?name=cn-north-4")) == 1
    cloud.proxy.add(says(200, body={"projects": [{"id": "a"}, {"id": "b"}]}, path="/v3/projects"))
    told = refusal(cloud.platform())
    assert told.why == "refused" and "2 projects; give the project id" in told.message
    wrong = refusal(cloud.platform(project="0" * 32))
    assert wrong.why == "refused" and "leave the project id out" in wrong.hint


def test_an_account_without_a_way_in_is_told_what_it_lacks(cloud):
    with pytest.raises(SpecError, match="neither an access key with its secret nor a user with a password"):
        cloud.platform(key="", secret="")
    with pytest.raises(SpecError, match="is no address"):
        cloud.platform(endpoint="modelarts")
