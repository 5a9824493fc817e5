"""A run over three platforms that refuse, forget, keep waiting and take away: it ends as if nothing had happened."""

import pytest
from platform_cloud import Cloud, straight


@pytest.fixture
def cloud(tmp_path):
    cloud = Cloud(tmp_path)
    yield cloud
    cloud.close()


def test_run_over_three_faulty_platforms_equals_the_straight_one(cloud, tmp_path):
    cloud.sign_in("free-v100", "limit=8s", "queue_patience=1s", submit="full taken-away stuck", poll="ok odd")
    cloud.sign_in("lab-pai", submit="lost-after vanish", poll="ok ok ok down down")
    cloud.sign_in("spare", submit="down")
    names = ("free-v100", "lab-pai", "spare")
    run = cloud.train(*(word for name in names for word in ("--on", name)), "--limit", "10s", epochs=60)
    view = cloud.wait(run)
    assert view.state == "succeeded", view.message
    assert cloud.weights(run) == straight(tmp_path / "straight", 60)
    used = [stint for stint in view.stint_list if stint.reason != "refused"]
    assert {stint.platform for stint in used} > {"free-v100"}
    assert all(stint.limit_s == (8.0 if stint.platform == "free-v100" else 10.0) for stint in view.stint_list)
    first = view.stint_list[0]
    assert (first.platform, first.why, first.reason) == ("free-v100", "first choice", "refused")
    assert "toy trouble (full)" in first.message
    assert all(stint.why for stint in view.stint_list)
    shown = cloud.outlast("show", run).stdout
    assert "free-v100 is full: toy trouble (full)" in shown and "back to free-v100, the first choice" in shown
