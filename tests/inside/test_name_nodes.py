"""Which runs need a mapped name node, and what the hosts file of their sandbox says."""

from pathlib import Path

import pytest

from outlast.inside.namenodes import HOSTS, hosts_text, led_here, name_nodes, needed, show_hosts

MAPS = {"hdfs://namenode:50070": "/data/hdfs", "obs://bucket": "/data/bucket"}


def addresses(**spec):
    return [node.address for node in needed({"maps": MAPS, "contract": "plain", **spec})]


@pytest.mark.parametrize(
    "spec",
    [
        {"contract": "openpai"},
        {"args": ["--fs", "http://namenode:50070/"]},
        {"args": ["--fs=NameNode:50070"]},
        {"params": {"url": "http://namenode:50070;http://other:50070"}},
        {"env": {"FS": "hdfs://namenode:50070"}},
        {"inputs": [{"source": "hdfs://namenode:50070/data"}]},
        {"outputs": [{"target": "hdfs://namenode:50070/out"}]},
    ],
)
def test_a_run_that_names_the_address_needs_it(spec):
    assert addresses(**spec) == ["hdfs://namenode:50070"]


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"args": ["--port", "50070"]},
        {"args": ["http://namenode:500701/"]},
        {"args": ["http://my-namenode:50070/", "http://a.namenode:50070"]},
        {"env": {"namenode:50070": "x"}},
        {"contract": "openpai", "maps": {}},
        {"contract": "openpai", "maps": None},
    ],
)
def test_other_runs_do_not(spec):
    assert addresses(**spec) == []


def test_the_loopback_address_has_two_names():
    maps = {"hdfs://127.0.0.1:50070": "/data"}
    assert needed({"maps": maps, "args": ["http://localhost:50070"]})
    assert not needed({"maps": maps, "args": ["http://localhost:9870"]})


def test_an_address_without_a_port_means_the_usual_one():
    (node,) = name_nodes({"hdfs://namenode": "/data"})
    assert node.url == "http://namenode:9870"
    for text in ("hdfs://namenode/data", "hdfs://namenode", "http://namenode:9870/"):
        assert needed({"maps": {"hdfs://namenode": "/data"}, "args": [text]}), text
    assert not needed({"maps": {"hdfs://namenode": "/data"}, "args": ["hdfs://namenode.lab/data", "namenode"]})


def test_names_can_be_led_here_and_numbers_cannot():
    roots = ("hdfs://b:1", "hdfs://a.lab:2", "hdfs://10.0.0.1:3", "hdfs://127.0.0.1:4", "hdfs://localhost:5")
    nodes = name_nodes(dict.fromkeys(roots, "/d"))
    assert led_here(nodes) == ["a.lab", "b"]
    assert {node.host for node in nodes if not node.leads_here and not node.can_be_led_here} == {"10.0.0.1"}


def test_a_name_means_this_machine_and_nothing_else():
    hosts = "# mine\n127.0.0.1 localhost\n10.1.1.1\tnamenode other # the real one\n10.1.1.2 NameNode\n\n::1 ip6\n"
    assert hosts_text(hosts, ["namenode"]) == (
        "127.0.0.1\tnamenode\n# mine\n127.0.0.1 localhost\n10.1.1.1\tother\n\n::1 ip6\n"
    )
    assert hosts_text("", ["b", "a"]) == "127.0.0.1\ta\n127.0.0.1\tb\n"


def test_a_hosts_file_is_written_only_for_a_run_that_needs_one(tmp_path):
    assert show_hosts({"maps": MAPS}, str(tmp_path)) == [] and list(tmp_path.iterdir()) == []
    ((path, shown),) = show_hosts({"maps": MAPS, "contract": "openpai"}, str(tmp_path))
    assert shown == HOSTS
    assert Path(path).read_text() == hosts_text(Path(HOSTS).read_text(), ["namenode"])
