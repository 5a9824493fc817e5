"""Stints of two nodes as training jobs of two tasks, with the real command line, a real keeper and real containers."""

from __future__ import annotations

import pytest
from cloud_lab import CPU, wait_for
from test_modelarts_chain import User

from servers.nodes_training import TRAINING, expected_sum


@pytest.fixture
def pair(cloud, tmp_path):
    user = User(cloud, tmp_path)
    (tmp_path / "train.py").write_text(TRAINING)
    yield user
    user.close()


@pytest.mark.slow
def test_a_chain_of_jobs_with_two_nodes_is_worth_what_the_straight_one_is(pair, cloud):
    pair.sign_in(flavor=CPU)
    options = ("--on", "free", "--nodes", "2", "--output", "out", "--env", "ONCE=5")
    run = pair.outlast("run", "--detach", "train.py", *options).split()[0]
    view = pair.wait(run)
    assert view.state == "succeeded", pair.story(view)
    assert [stint.reason for stint in view.stint_list] == ["hand-over", "hand-over", "finished"]
    pair.outlast("fetch", run, "--to", pair.folder / "got")
    assert int(next((pair.folder / "got").rglob("sum.txt")).read_text()) == expected_sum()
    for stint, first in ((1, 1), (2, 5), (3, 9)):
        log = pair.outlast("logs", run, "--stint", stint, "--node", "1")
        assert "node 1 of 2" in log and f"step {first} sum" in log
    # Two containers share the folder of a job, so the keeper clears it away, behind the end that it tells first.
    wait_for(lambda: not [key for key in cloud.keys(f"boot/jobs/{run}", "mirror") if key.endswith("vars.json")])
