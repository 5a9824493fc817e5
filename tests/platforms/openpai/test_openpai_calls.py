"""The platform against a real server, through a proxy that loses, delays and forges: one job for one stint, always."""

import json
import time
import urllib.error
import urllib.request

import pytest
from openpai_lab import account, launch, platform

from outlast.errors import SpecError, Unavailable
from outlast.inside.move.address import parse
from outlast.inside.stores.access import Access
from outlast.model.spec import PinnedEnvironment, Resources
from outlast.platforms.base import JobState
from outlast.platforms.openpai.platform import OpenPai
from outlast.platforms.openpai.shelf import BucketShelf, HdfsShelf, open_shelf
from outlast.platforms.openpai.wire import Wanted
from servers.faults import Fault, answer, drop, drop_after, server_error, too_many
from servers.faulty import Faulty

PATIENCE_S = 150.0


@pytest.fixture
def proxy(pai):
    with Faulty(pai.url) as made:
        yield made


def until(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return found


def job(name, *commands, cluster="default"):
    return Wanted(name, "python:3.11", cluster, 1, 512, 0, commands or ("true",))


def names(lab, user="ann"):
    return [each["name"] for each in lab.pai(user, "GET", "v2/jobs").json()]


def forged(body, **matching):
    """An answer that the server never gave."""
    return Fault("answer", status=200, body=json.dumps(body), **matching)


# ---- how it stands


def test_a_good_account_is_told_what_it_may_do(pai, tmp_path):
    with platform(pai.url, tmp_path, virtual_cluster="fast") as lab:
        found = lab.standing()
    assert found.state in ("ready", "full")  # the machine has other work, too
    assert "OpenPAI v1.8.0 (Kubernetes); ann may use default, fast" in found.detail
    assert [offer.name for offer in found.offers] == ["default", "fast"]
    assert "cpus free" in found.offers[0].words
    assert found.queue.endswith(("waits", "wait"))


def test_an_address_needs_no_scheme_and_may_name_the_api(pai, tmp_path):
    for endpoint in (pai.authority, f"{pai.url}/rest-server/", f"{pai.url}/"):
        with platform(endpoint, tmp_path, generation="yarn") as lab:
            assert "(YARN)" in lab.standing().detail


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"password": "not this one"}, "does not let ann in: User name or password is incorrect"),
        ({"token": "no-such-token"}, "does not let ann in"),
        ({"virtual_cluster": "nowhere"}, "not 'nowhere'"),
    ],
)
def test_whoever_is_not_let_in_is_told_why(pai, tmp_path, values, words):
    with platform(pai.url, tmp_path, **values) as lab:
        found = lab.standing()
    assert found.state == "signed-out" and words in found.detail
    assert "not this one" not in found.detail and "no-such-token" not in found.detail


def test_a_cluster_that_is_away_is_down_and_another_server_is_none(pai, tmp_path):
    with Faulty(pai.url) as proxy:
        gone = proxy.url
    with platform(gone, tmp_path) as lab:
        assert lab.standing().state == "down"
        assert len(lab.pauses) == 2  # three tries
    with platform(f"{pai.url}/webhdfs", tmp_path) as lab:
        assert "does not answer as OpenPAI does" in lab.standing().detail


def test_an_application_token_is_enough(pai, tmp_path):
    token = pai.pai("ann", "POST", "v2/tokens/application").json()["token"]
    with platform(pai.url, tmp_path, token=token) as lab:
        assert lab.standing().state in ("ready", "full")


# ---- one job for one stint


@pytest.mark.parametrize("generation", ["k8s", "yarn"])
@pytest.mark.parametrize("fault", [drop, drop_after, server_error])
def test_a_submission_whose_answer_is_lost_leaves_one_job(pai, proxy, tmp_path, generation, fault):
    name = f"{fault.__name__}-{generation}_0001".replace("_", "-", 1)
    with platform(proxy.url, tmp_path, generation=generation) as lab:
        proxy.add(fault(method="POST", path="/jobs$"))
        lab._jobs.create(job(name))
        lab._jobs.create(job(name))
    assert names(pai).count(name) == 1
    assert not proxy.waiting


def test_a_cluster_that_never_answers_takes_no_job(pai, proxy, tmp_path):
    with platform(proxy.url, tmp_path) as lab:
        assert lab.poll(["x.0001"])["x.0001"].state is JobState.ABSENT
        proxy.add(drop(method="POST", path="/jobs$", times=99))
        with pytest.raises(Unavailable) as caught:
            lab._jobs.create(job("never_0001"))
    assert caught.value.why == "down" and caught.value.retryable
    assert "never_0001" not in names(pai)


def test_throttling_is_waited_for_when_it_is_short_and_told_when_it_is_long(proxy, tmp_path):
    with platform(proxy.url, tmp_path) as lab:
        lab.poll(["x.0001"])
        proxy.add(too_many(2, path="/jobs/", times=2))
        assert lab.poll(["x.0001"])["x.0001"].state is JobState.ABSENT
        assert lab.pauses[-2:] == [2.0, 2.0]
        proxy.add(too_many(600, path="/jobs/"))
        with pytest.raises(Unavailable) as caught:
            lab.poll(["x.0001"])
    assert caught.value.why == "full" and caught.value.retry_after_s == 600


def test_a_token_that_has_run_out_is_renewed_once_by_the_password(pai, proxy, tmp_path):
    with platform(proxy.url, tmp_path, token="run-out", password="correct horse battery") as lab:
        assert lab.poll(["x.0001"])["x.0001"].state is JobState.ABSENT
        assert [each.method for each in proxy.seen if "login" in each.target] == ["POST"]
        proxy.add(answer(401, path="/jobs/", times=2))
        with pytest.raises(Unavailable) as caught:
            lab.poll(["x.0001"])
    assert caught.value.why == "down"
    assert sum("login" in each.target for each in proxy.seen) == 2


@pytest.mark.parametrize(
    ("user", "cluster", "why"), [("tim", "default", "quota"), ("ben", "fast", "refused"), ("ben", "none", "refused")]
)
def test_what_the_cluster_refuses_is_told_by_its_kind(pai, tmp_path, user, cluster, why):
    with platform(pai.url, tmp_path, user=user, token=pai.tokens[user]) as lab, pytest.raises(Unavailable) as caught:
        lab._jobs.create(job("refused_0001", cluster=cluster))
    assert caught.value.why == why
    assert "refused_0001" not in names(pai, user)


# ---- what became of jobs


@pytest.mark.parametrize("generation", ["k8s", "yarn"])
def test_a_job_is_followed_to_its_end_with_its_words(pai, tmp_path, generation):
    name = f"failing-{generation}.0001"
    with platform(pai.url, tmp_path, generation=generation) as lab:
        lab._jobs.create(job(name.replace(".", "_"), "echo a word from the container; exit 3"))
        ended = until(lambda: found if (found := lab.poll([name])[name]).state is JobState.ENDED else None)
        assert ended.exit_code == 3 and "openpai exit code 255" in ended.detail and not ended.preempted
        assert "a word from the container" in lab.logs(name)
        told = pai.pai("ann", "GET", f"v2/jobs/ann~{name.replace('.', '_')}/events?type=Warning").json()
        assert [event["reason"] for event in told["data"]] == ["ScriptError"]
        lab.cancel(name)  # no error
        lab.forget(f"failing-{generation}")
    assert (name.replace(".", "_") in names(pai)) is (generation == "k8s")


def test_a_job_is_stopped_and_a_job_that_vanished_is_absent(pai, proxy, tmp_path):
    with platform(proxy.url, tmp_path) as lab:
        lab._jobs.create(job("stopped_0001", "sleep 600"))
        lab.cancel("stopped.0001")
        lab.cancel("stopped.0002")  # which never was
        proxy.add(answer(404, path="/jobs/"))
        assert lab.poll(["stopped.0001"])["stopped.0001"].state is JobState.ABSENT
        ended = until(lambda: found if (found := lab.poll(["stopped.0001"])["stopped.0001"]).state == "ended" else None)
        assert ended.detail == "was stopped (openpai exit code -210)"
        proxy.clear()
        assert lab.poll(["stopped.0001"])["stopped.0001"] is ended
        assert proxy.seen == []  # what has ended is not asked about again
        assert lab.logs("stopped.0002") == ""


def test_many_jobs_cost_one_call_and_an_unknown_state_is_named(proxy, tmp_path):
    entries = [{"name": f"many_{n:04d}", "username": "ann", "state": "RUNNING", "retries": 0} for n in range(1, 9)]
    entries[3]["state"] = "FROZEN"
    entries.append({"name": "many_0009", "username": "ben", "state": "FAILED"})
    with platform(proxy.url, tmp_path) as lab:
        lab.poll(["x.0001"])
        proxy.clear()
        proxy.add(forged(entries, path=r"/jobs\?"))
        found = lab.poll([f"many.{n:04d}" for n in range(1, 9)])
    assert {job.state for name, job in found.items() if name != "many.0004"} == {JobState.RUNNING}
    assert found["many.0004"].state is JobState.QUEUED and "'FROZEN'" in found["many.0004"].detail
    (seen,) = proxy.seen
    assert "username=ann" in seen.target and "keyword=many" in seen.target


def test_a_job_that_the_cluster_began_anew_is_stopped(proxy, tmp_path):
    status = {"state": "WAITING", "launchedTime": 5, "retryDetails": {"user": 0, "platform": 1, "resource": 0}}
    with platform(proxy.url, tmp_path) as lab:
        lab.poll(["x.0001"])
        proxy.clear()
        proxy.add(forged({"jobStatus": status}, path="/jobs/ann~again_0001$"))
        found = lab.poll(["again.0001"])["again.0001"]
    assert found.state is JobState.ENDED and found.preempted
    assert [each.method for each in proxy.seen] == ["GET", "PUT"]


# ---- stints


def test_a_stint_is_submitted_once_with_its_secrets_out_of_sight(trusting, tmp_path):
    store = f"hdfs://{trusting.authority}/outlast"
    image = PinnedEnvironment(name="torch", image="lab/torch:1")
    given = launch(store, run="1116-once-owl-aaa", secrets={"TOKEN": "open-sesame"}, environment=image)
    with Faulty(trusting.url) as proxy, platform(proxy.url, tmp_path, memory="2G") as lab:
        lab.submit(given)
        lab.submit(given)
        assert [each.method for each in proxy.seen if each.target.endswith("/jobs")] == ["POST"]
        assert lab.poll([given.job_name])[given.job_name].state is not JobState.ABSENT
        plan = lab.plan(given)
    config = trusting.call(None, "GET", "/rest-server/api/v2/jobs/ann~1116-once-owl-aaa_0001/config").text
    assert "open-sesame" not in config and json.loads(config)["secrets"] == "******"
    assert json.loads(config)["prerequisites"][0]["uri"] == "lab/torch:1"
    assert json.loads(config)["taskRoles"]["main"]["resourcePerInstance"] == {"cpu": 2, "memoryMB": 4096, "gpu": 0}
    assert "lab/torch:1" in plan.command and plan.notices == ()
    boots = trusting.call(None, "GET", "/webhdfs/v1/outlast/boot?op=LISTSTATUS&user.name=ann").json()
    assert len(boots["FileStatuses"]["FileStatus"]) == 1


def test_on_yarn_a_job_says_nothing_secret_and_a_bucket_is_refused(trusting, tmp_path):
    store = f"hdfs://{trusting.authority}/outlast"
    given = launch(store, run="1116-plain-owl-aaa", secrets={"TOKEN": "open-sesame"}, names=("TOKEN",))
    with platform(trusting.url, tmp_path, generation="yarn") as lab:
        lab.submit(given)
        assert "mode 600" in lab.plan(given).notices[0]
        assert not lab.sees("s3://bucket/outlast")
        with pytest.raises(Unavailable) as caught:
            lab.submit(launch("s3://bucket/outlast", run="1116-bare-owl-aaa"))
        until(lambda: lab.poll([given.job_name])[given.job_name].state is JobState.ENDED)
    assert caught.value.why == "refused" and "store=hdfs://" in caught.value.hint
    where = "/rest-server/api/v1/user/ann/jobs/1116-plain-owl-aaa_0001/config"
    assert "open-sesame" not in trusting.call(None, "GET", where).text
    left = trusting.hdfs(None, "GET", f"/outlast/runs/{given.order.run}/stints/0001", "LISTSTATUS")
    assert "parcel.json" not in left.text


def test_what_can_never_run_there_is_refused_at_once(tmp_path):
    with platform("http://pai.invalid", tmp_path) as lab:
        for spec in ({"resources": Resources(npus=1)}, {"network": False}):
            with pytest.raises(SpecError):
                lab.check(launch("hdfs://nn:50070/o", **spec).spec)
        lab.check(launch("hdfs://nn:50070/o").spec)
        assert lab.sees("hdfs://nn/x") and lab.sees("obs://b/x") and lab.sees("s3://b")
        assert not lab.sees("file:///data") and not lab.sees("/data")
    for values in ({"generation": "mesos"}, {"memory": "much"}, {"limit": "long"}):
        with pytest.raises(SpecError):
            OpenPai(account("http://pai.invalid", **values), tmp_path)
    with pytest.raises(SpecError):
        open_shelf("file:///data", None)


# ---- where containers find their boot file


def test_a_private_file_of_hdfs_is_its_owner_s_from_the_start(trusting):
    shelf = HdfsShelf(Access("hdfs", user="ann"), parse(f"hdfs://{trusting.authority}/shelf"))
    shelf.keep_private("runs/x/parcel.json", b"secret")
    found = trusting.call(None, "GET", "/webhdfs/v1/shelf/runs/x/parcel.json?op=GETFILESTATUS&user.name=ann").json()
    assert found["FileStatus"]["permission"] == "600"
    with urllib.request.urlopen(shelf.link("runs/x/parcel.json")) as answer:
        assert answer.read() == b"secret"
    shelf.discard("runs/x/parcel.json")
    shelf.discard("runs/x/parcel.json")
    assert shelf._client.status("/shelf/runs/x/parcel.json") is None


def test_a_boot_file_in_a_bucket_is_put_once_and_its_link_opens_it_alone(seaweed):
    shelf = BucketShelf(seaweed.access, parse(f"s3://{seaweed.bucket()}/deep/place"))
    shelf.keep("boot/a.py", b"print(1)\n")
    before = shelf._client.head("deep/place/boot/a.py")
    shelf.keep("boot/a.py", b"print(1)\n")
    assert shelf._client.head("deep/place/boot/a.py") == before
    with urllib.request.urlopen(shelf.link("boot/a.py")) as answer:
        assert answer.read() == b"print(1)\n"
    other = shelf.link("boot/a.py").replace("a.py", "b.py")
    shelf.keep("boot/b.py", b"print(2)\n")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(other)
    caught.value.close()
    assert caught.value.code == 403
