"""Searching in lists of any length, whatever the service means by an offset; and servers that have only `/v1`."""

from __future__ import annotations

import pytest
from cloud_lab import says, wait_for
from hypothesis import given
from hypothesis import strategies as st

from outlast.errors import Unavailable
from outlast.model.ids import new_run_id
from outlast.platforms.base import JobState
from outlast.platforms.modelarts.generations import First, Second
from servers.faults import ALWAYS

#: One of the first generation that pip cannot make here, so that nothing is installed for it.
ENGINE = "TF-1.15-python3.7-aarch64"


class Listing:
    """A service with nothing but a list of jobs, newest first; `offset` counts pages, or rows."""

    def __init__(self, names, by_rows):
        self.names = list(names)
        self.by_rows = by_rows
        self.asked = 0

    def ask(self, method, generation, path, body=None, query=(), *, once=False):
        self.asked += 1
        if generation == "v2":
            (needle,) = body["filters"][0]["value"]
            start, size = body["offset"] * (1 if self.by_rows else body["limit"]), body["limit"]
            found = self._page(needle, start, size)
            return {"items": [{"metadata": {"id": str(at), "name": name}, "status": {"phase": "Running"}}
                              for at, name in found]}  # fmt: skip
        words = dict(query)
        size = int(words["per_page"])
        found = self._page(words["search_content"], (int(words["page"]) - 1) * size, size)
        return {"jobs": [{"job_id": at, "version_id": 1, "job_name": name, "status": 8} for at, name in found]}

    def _page(self, needle, start, size):
        fits = [(at, name) for at, name in enumerate(self.names) if needle in name]
        return fits[start : start + size]


@given(
    st.integers(0, 700), st.booleans(), st.sampled_from([First, Second]), st.lists(st.integers(0, 799), max_size=4),
    st.booleans(),
)  # fmt: skip
def test_every_job_that_is_there_is_found(count, by_rows, generation, wanted, among_others):
    others = "job" if among_others else "outlast-r"
    names = [f"outlast-r_{at:04d}" if at % 2 else f"{others}_{at:04d}" for at in range(count)]
    listing = Listing(names, by_rows)
    asked = {f"outlast-r_{at:04d}" for at in wanted}
    assert set(generation(listing).find(asked)) == asked & set(names)
    assert listing.asked <= 5 + len(asked)


@pytest.mark.slow
def test_a_server_that_has_only_the_first_generation_is_recognised(cloud):
    run = new_run_id()
    cloud.proxy.add(says(404, "APIG.0101", "the API does not exist", path="/v2/", times=ALWAYS))
    platform, launch = cloud.platform(engine=ENGINE), cloud.launch(run)
    standing = platform.standing()
    assert standing.state == "ready" and "modelarts.vm.gpu.free" in [each.name for each in standing.offers]
    platform.submit(launch)
    platform.submit(launch)
    name = launch.job_name
    listed = [each.name for page in platform._api().pages(f"outlast-{run}_") for each in page]
    assert listed == [f"outlast-{run}_0001"]
    job = wait_for(lambda: job if (job := platform.poll([name])[name]).state is JobState.ENDED else None)
    assert job.detail == "failed" and "stint 1 cannot begin: no such key" in platform.logs(name)
    platform.cancel(name)
    assert platform.clean_work(run) == 1
    platform.forget(run)
    assert platform.poll([name])[name].state is JobState.ABSENT


def test_a_generation_that_was_asked_for_is_the_one_that_is_used(cloud):
    cloud.proxy.add(says(404, "APIG.0101", path="/v2/", times=ALWAYS))
    with pytest.raises(Unavailable) as told:
        cloud.platform(api="v2").poll(["r.0001"])
    assert told.value.why == "refused"
    cloud.proxy.clear()
    assert cloud.platform(api="v1").poll(["r.0001"])["r.0001"].state is JobState.ABSENT
    assert not [seen for seen in cloud.proxy.seen if seen.target.startswith("/v2/")]


def test_an_engine_that_the_first_generation_does_not_have_is_refused(cloud):
    platform = cloud.platform(api="v1", engine="none-1.0")
    run = new_run_id()
    with pytest.raises(Unavailable) as told:
        platform.submit(cloud.launch(run))
    assert told.value.why == "refused" and "there is no engine 'none-1.0'" in told.value.message
    assert not cloud.keys(f"boot/jobs/{run}"), "what was laid out for it is not left behind"
