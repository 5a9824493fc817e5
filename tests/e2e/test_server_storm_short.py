"""A run over three servers that play ModelArts, OpenPAI and Xihe ends as if nothing had happened to any of them."""

from __future__ import annotations

import pytest
from lab import kill
from storm_lab import Storm
from storm_servers import PATIENCE_S

from outlast.inside import processes
from outlast.platforms.base import job_name
from servers.faults import ALWAYS, answer, drop_after, rephrase, server_error, stall_after, too_many

EPOCHS, AT_ONCE, PACE_S = 12, 3, 0.8
#: A request's signature is good for fifteen minutes.
CLOCK_S = 1200
CREATE = {"method": "POST", "path": r"/(training-jobs|jobs|training)$"}


@pytest.fixture
def storm(tmp_path, seaweed):
    """The clock of the region is twenty minutes ahead."""
    storm = Storm(tmp_path, seaweed, clock_s=CLOCK_S)
    yield storm
    storm.close()


@pytest.mark.slow
@pytest.mark.timeout(1800)  # a loaded machine takes its time
def test_a_run_over_three_servers_with_faults_ends_with_the_weights_of_the_straight_run(storm):
    """Each fault waits for what it is to hit, so that it hits on a machine of any speed."""
    kept_back = stall_after(**CREATE)
    storm.region.proxy.add(kept_back)
    run = storm.train(EPOCHS, PACE_S, AT_ONCE)

    # The job is made, and the keeper that asked for it never learns of that.
    storm.until(kept_back.reached.is_set, PATIENCE_S)
    assert [kill(pid) for pid in storm.keepers()]
    kept_back.released.set()
    storm.wake()

    # The server dies and its job goes on. The next choice loses an answer, forgets a token, and speaks of new phases.
    storm.cluster.proxy.add(
        drop_after(**CREATE), answer(401, path="/jobs/", skip=1), server_error(path="webhdfs", skip=9),
        rephrase('"RUNNING"', '"HIBERNATING"', path="/jobs/", skip=2, times=2),
    )  # fmt: skip
    wait_for_script(storm, run, "modelarts")
    storm.region.kill()

    # A machine dies, and there is no other in that place.
    wait_for_script(storm, run, "openpai")
    storm.cluster.proxy.add(too_many(0, **CREATE, times=ALWAYS))
    storm.hub.proxy.add(drop_after(**CREATE))
    for job in storm.cluster.jobs():
        processes.kill_tree(job)

    # The first server is back, in another time, and loses a request now and then. Somebody deletes a job that runs.
    open_stint(storm, run, "xihe")
    storm.cluster.proxy.clear()
    storm.region.shift_clock(-CLOCK_S)
    storm.region.obs.add(server_error(skip=5), drop_after(method="PUT", skip=2))
    storm.region.start()
    stint = wait_for_script(storm, run, "modelarts", "openpai")
    hand = storm.hand(stint.platform)
    hand.cancel(job_name(run, stint.number))
    hand.forget(run)

    view = storm.wait(run, 600)
    storm.check(view, EPOCHS)
    used = [stint for stint in view.stint_list if stint.reason != "refused"]
    assert {stint.platform for stint in used} == {"modelarts", "openpai", "xihe"}
    assert len(used) >= EPOCHS // AT_ONCE


def open_stint(storm, run, *platforms):
    """Wait for a stint in one of these places that has not ended."""

    def found():
        stint = storm.newest(run)
        return stint if stint is not None and stint.platform in platforms else None

    return storm.until(found, PATIENCE_S, pause_s=0.05)


def wait_for_script(storm, run, *platforms):
    """The same, with the script running there."""

    def found():
        stint = storm.newest(run)
        has_script = stint is not None and stint.platform in platforms and storm.place(stint.platform).jobs("train.py")
        return stint if has_script else None

    return storm.until(found, PATIENCE_S, pause_s=0.05)
