"""A real HDFS behind connections that break: every job ends whole, or with one clear error and nothing half done."""

import pytest

from outlast.inside.errors import PlaceError
from outlast.inside.hdfs.store import TEMP_FOLDER, HdfsStore
from outlast.inside.net.retry import Policy
from servers.faults import ALWAYS, answer, cut, drop, drop_after, slow_down, truncate
from servers.faulty import Faulty

QUICK = Policy(first_s=0.01, longest_s=0.05)


class Line:
    """A store whose requests to either kind of node pass a proxy."""

    def __init__(self, hadoop, name_node, data_node):
        self.name_node, self.data_node = name_node, data_node
        self.folder = hadoop.folder()
        self.store = HdfsStore(hadoop.access, name_node.authority, self.folder, QUICK)
        self.direct = HdfsStore(hadoop.access, hadoop.authority, self.folder)

    def parts(self):
        return [each.name for each in self.direct._client.list(f"{self.folder}/{TEMP_FOLDER}")]


@pytest.fixture
def line(hadoop):
    with (
        Faulty(f"http://{hadoop.data_node}") as data_node,
        Faulty(hadoop.url, {hadoop.data_node: data_node.authority}) as name_node,
    ):
        yield Line(hadoop, name_node, data_node)


@pytest.mark.parametrize("operation", ["CREATE", "RENAME", "GETFILESTATUS"])
@pytest.mark.parametrize("fault", [drop, drop_after, slow_down], ids=["drop", "drop-after", "503"])
def test_puts_survive_a_name_node_that_fails_twice(line, operation, fault):
    line.name_node.add(fault(path=f"op={operation}", times=2))
    line.store.put("k", b"one")
    assert line.direct.get("k") == b"one"
    assert line.name_node.waiting == [] and line.parts() == []


@pytest.mark.parametrize("fault", [drop, drop_after, slow_down], ids=["drop", "drop-after", "503"])
def test_puts_survive_a_data_node_that_fails_twice(line, fault):
    body = bytes(range(256)) * 8192
    line.data_node.add(fault(method="PUT", times=2))
    line.store.put("k", body)
    assert line.direct.get("k") == body
    assert line.data_node.waiting == [] and line.parts() == []


def test_a_claim_whose_answer_was_lost_is_still_ours(line):
    line.name_node.add(drop_after(path="op=RENAME"))
    assert line.store.put_if_absent("claim", b"mine") is True
    line.name_node.add(drop_after(path="op=RENAME"))
    assert line.store.put_if_absent("claim", b"yours") is False
    assert line.direct.get("claim") == b"mine" and line.parts() == []


def test_a_claim_that_somebody_else_got_meanwhile_is_lost(line):
    class Late:
        """Bytes whose writer is overtaken while they are sent."""

        def seekable(self):
            return False

        def read(self, size):
            line.direct.put("claim", b"theirs")
            return b""

    line.name_node.add(drop(path="op=RENAME"))
    assert line.store.put_if_absent("claim", Late()) is False
    assert line.direct.get("claim") == b"theirs" and line.parts() == []


@pytest.mark.parametrize("fault", [cut, truncate], ids=["cut", "truncated"])
def test_reads_go_on_where_they_broke(line, fault):
    body = bytes(range(256)) * 8192
    line.direct.put("k", body)
    line.data_node.add(fault(method="GET", times=3))
    assert line.store.get("k") == body
    offsets = [seen.target.partition("offset=")[2].partition("&")[0] for seen in line.data_node.seen]
    assert len(set(offsets)) == len(offsets) == 4, "each try begins where the last one ended"


def test_a_broken_listing_is_read_again(line):
    line.direct.put("a/b", b"")
    line.name_node.add(cut(path="op=LISTSTATUS", times=2), answer(500, path="op=LISTSTATUS"))
    assert [entry.key for entry in line.store.list("")] == ["a/b"]


def test_what_stays_broken_ends_in_one_error_and_a_second_attempt_finishes(line):
    line.data_node.add(drop(times=ALWAYS))
    with pytest.raises(PlaceError, match=f"data node {line.data_node.authority}.*cannot be reached.*/etc/hosts"):
        line.store.put("k", b"x")
    assert list(line.direct.list("")) == []
    line.data_node.clear()
    line.store.put("k", b"x")
    assert line.direct.get("k") == b"x"


def test_a_name_node_that_is_away_is_named(hadoop):
    with Faulty(hadoop.url) as proxy:
        pass
    with pytest.raises(PlaceError, match=proxy.authority):
        HdfsStore(hadoop.access, proxy.authority, "/x", QUICK).get("k")
