"""The output of a run's nodes over HTTP."""

from outlast.inside import layout
from outlast.model.spec import Resources


def test_every_node_has_an_output_of_its_own(api):
    run = api.add_run(resources=Resources(nodes=2))
    api.order(run, 1)
    api.say(run, 1, 1, b"of the first\n")
    api.store.put(layout.log_key(run, 1, 1, 1), b"of the second\n")
    api.end(run, 1)
    for query, said in (({}, b"of the first\n"), ({"node": 1}, b"of the second\n")):
        with api.client("ann") as client:
            assert client.get(f"/runs/{run}/logs", params=query).content == said
    with api.client("ann") as client, client.stream("GET", f"/runs/{run}/logs/stream", params={"node": 1}) as response:
        assert "of the second" in "".join(response.iter_text())
    with api.client("ann") as client:
        refused = client.get(f"/runs/{run}/logs", params={"node": 2})
    assert refused.status_code == 404 and "numbered 0 to 1" in refused.json()["message"]
