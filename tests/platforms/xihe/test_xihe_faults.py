"""Answers that get lost, a service that fails, tokens that are refused, results that do not come."""

import pytest
from xihe_lab import straight_weights

from outlast.errors import Unavailable
from outlast.platforms.base import JobState
from outlast.platforms.xihe import homecoming, wire
from outlast.platforms.xihe.rest import Refused


def test_one_stint_is_one_instance_however_many_answers_are_lost(bench, tampering):
    platform = bench.sign_in(tampering.url)
    spec = bench.run(env={"TURN": "6"})
    launch = bench.order(spec, 1)
    for pattern in (r"/v1/project$", r"/v1/model$", r"/training$"):
        tampering.on("POST", pattern, "lose")
    platform.submit(launch)
    platform.submit(launch)
    assert [each.name for each in bench.instances(spec)] == [wire.instance_name(launch.job_name)]
    platform.forget(spec.id)


def test_an_answer_lost_together_with_the_list_leaves_one_instance_for_the_next_try(bench, tampering):
    platform = bench.sign_in(tampering.url)
    spec = bench.run()
    launch = bench.order(spec, 1)
    tampering.on("POST", r"/training$", "lose", then=lambda: tampering.on("GET", r"/training$", (500, "broken"), 10))
    with pytest.raises(Unavailable) as caught:
        platform.submit(launch)
    assert caught.value.why == "down"
    tampering.rules.clear()
    platform.submit(launch)
    assert len(bench.instances(spec)) == 1
    platform.forget(spec.id)


def test_one_failing_answer_is_asked_for_again_and_many_are_told(bench, tampering):
    platform = bench.sign_in(tampering.url)
    spec = bench.run()
    launch = bench.order(spec, 1)
    tampering.on("GET", r"/v1/project/", (500, "broken"))
    assert platform.poll([launch.job_name])[launch.job_name].state is JobState.ABSENT
    tampering.on("GET", r"/v1/project/", (503, "broken"), times=10)
    with pytest.raises(Unavailable, match="is failing") as caught:
        platform.poll([launch.job_name])
    assert caught.value.why == "down"
    assert platform.standing().state == "down"


def test_a_service_that_is_away_is_told_with_its_address(bench):
    platform = bench.sign_in("http://127.0.0.1:9")
    with pytest.raises(Unavailable, match="does not answer at http://127") as caught:
        platform.submit(bench.order(bench.run(), 1))
    assert (caught.value.why, platform.standing().state) == ("down", "down")


def test_a_refused_token_says_how_to_sign_in_and_never_shows_itself(bench):
    platform = bench.sign_in(token="wrong-token-123")
    with pytest.raises(Unavailable, match="does not accept the token of account 'lab'") as caught:
        platform.submit(bench.order(bench.run(), 1))
    assert caught.value.why == "refused"
    assert "outlast login xihe --profile lab" in caught.value.hint
    standing = platform.standing()
    assert standing.state == "signed-out"
    assert "wrong-token-123" not in str(caught.value) + standing.detail


def test_a_git_token_that_is_refused_is_told_before_an_instance_is_made(bench):
    platform = bench.sign_in()
    platform._remote._token = "wrong-token-123"
    spec = bench.run()
    with pytest.raises(Unavailable, match="git push") as caught:
        platform.submit(bench.order(spec, 1))
    assert caught.value.why == "refused"
    assert "wrong-token-123" not in str(caught.value)
    assert bench.instances(spec) == []


def test_a_route_that_the_service_no_longer_has_is_named(bench, tampering):
    platform = bench.sign_in(tampering.url)
    tampering.on("POST", r"/training$", (404, "<html>404 page not found</html>"))
    with pytest.raises(Refused, match=r"does not have the route POST /v1/train/project/\w+/training") as caught:
        platform.submit(bench.order(bench.run(), 1))
    assert caught.value.why == "refused"


def test_a_full_quota_lets_the_stint_go_elsewhere(bench, tampering):
    platform = bench.sign_in(tampering.url)
    answer = {"code": "train_excced_max_num", "msg": "exceed max training num", "data": None}
    tampering.on("POST", r"/training$", (400, answer))
    with pytest.raises(Unavailable, match="exceed max training num") as caught:
        platform.submit(bench.order(bench.run(), 1))
    assert caught.value.why == "quota"


def test_too_many_questions_wait_as_long_as_the_service_says(bench, tampering):
    tampering.on("GET", r"/v1/project/", (429, {"code": "busy", "msg": "slow down"}))
    with pytest.raises(Unavailable, match="slow down") as caught:
        bench.sign_in(tampering.url).poll(["1116-a-b-c.0001"])
    assert caught.value.why == "full"


def test_results_that_were_cut_short_are_asked_for_again(bench, completed, tampering):
    platform = bench.sign_in(tampering.url)
    tampering.on("GET", r"/result/output", (500, "broken"), times=2)
    tampering.on("GET", r"/results/.*/output", "lose")
    assert bench.wait(bench.revisit(completed), platform).exit_code == 0
    assert bench.end(completed, 2).reason == "finished"
    assert bench.output(completed, "out/weights.txt").decode() == straight_weights()


def test_results_that_cannot_be_reached_are_waited_for_far_longer_than_damaged_ones(
    bench, completed, tampering, monkeypatch
):
    monkeypatch.setattr(homecoming, "TRIES", 2)
    monkeypatch.setattr(homecoming, "PATIENT_TRIES", 4)
    platform = bench.sign_in(tampering.url)
    tampering.on("GET", r"/results/.*/output", "lose", times=100)
    seen = []
    job = bench.until(
        bench.revisit(completed), lambda job: seen.append(job) or job.state is JobState.ENDED, platform
    )  # fmt: skip
    assert job.exit_code is None and "cannot download" in job.detail
    assert tampering.rules[0][2] == 100 - 4
    waiting = [each for each in seen[:-1] if each.state is not JobState.RUNNING or not each.is_silent]
    assert waiting == [], "a job whose results are on their way must not be given up"


def test_results_that_are_no_archive_end_the_job_without_them(bench, completed, tampering):
    platform = bench.sign_in(tampering.url)
    tampering.on("GET", r"/results/.*/output", (200, "not an archive"), times=100)
    job = bench.wait(bench.revisit(completed), platform)
    assert job.exit_code is None and "no whole archive" in job.detail
    assert bench.checkpoints(completed) == []
