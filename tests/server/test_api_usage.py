"""How busy the machines of a run were, over REST."""

import pytest

from outlast.inside import layout
from outlast.inside.usage import Usage


@pytest.fixture(scope="session")
def run(api):
    run = api.add_run("ann", name="busy")
    for stint in (1, 2):
        usage = Usage()
        for at_s in range(stint * 10):
            usage.add(at_s, {"cpu_percent": 10.0 * stint, "memory_bytes": at_s, "memory_limit_bytes": 100})
        api.order(run, stint)
        api.store.put(layout.usage_key(run, stint), usage.to_bytes())
    return run


def test_each_stint_tells_its_columns(api, run):
    found = api.call("ann", "GET", f"/runs/{run}/usage").json()
    assert found["run"] == run and [each["stint"] for each in found["stints"]] == [1, 2]
    second = found["stints"][1]
    assert second["span_s"] == 1 and second["at_s"] == list(range(20))
    assert second["columns"] == {"cpu_percent": [20.0] * 20, "memory_bytes": list(range(20))}
    assert second["limits"] == {"memory_bytes": 100}


def test_it_is_hidden_from_curves_and_from_others(api, run):
    assert api.call("ann", "GET", f"/runs/{run}/metrics").json()["series"] == {}
    assert api.call("tim", "GET", f"/runs/{run}/usage").status_code == 404
    assert api.call(None, "GET", f"/runs/{run}/usage").status_code == 401
    silent = api.add_run("ann", name="silent")
    assert api.call("ann", "GET", f"/runs/{silent}/usage").json()["stints"] == []
    assert api.call("ann", "GET", "/runs/nothing/usage").status_code == 404
