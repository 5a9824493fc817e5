"""Stints as real jobs at a real door: one for each, findable, private, and gone when they are forgotten."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
from cloud_lab import CPU, ENGINE, FREE, says, wait_for

from outlast.errors import SpecError, Unavailable
from outlast.inside.stores.access import Access
from outlast.keeper.home import Home
from outlast.keeper.wake import end_keeper
from outlast.model.ids import new_run_id
from outlast.model.spec import Resources
from outlast.operations.signin import sign_in
from outlast.platforms.base import JobState
from outlast.platforms.modelarts import starter, wire
from outlast.platforms.modelarts.platform import ModelArts
from outlast.platforms.registry import create, load
from outlast.settings import Settings
from servers.faults import ALWAYS, drop, drop_after

CREATE = "/training-jobs$"


@pytest.fixture
def run(cloud):
    """A run's id; whatever was started for it is gone afterwards."""
    run = new_run_id()
    yield run
    cloud.proxy.clear()
    cloud.platform("sweeping").forget(run)


@pytest.mark.slow
def test_the_life_of_a_job(cloud, run):
    """Its runner finds no order in the store: it says so and fails, and everything private has left the bucket."""
    platform, launch = cloud.platform(), cloud.launch(run, secrets={"HF_TOKEN": "hunter-two"}, limit_s=7200.0)
    name = launch.job_name
    platform.submit(launch)
    platform.submit(launch)
    assert cloud.jobs(run) == [f"outlast-{run}_0001"]
    shown = json.dumps(platform._session.ask("GET", "v2", f"/training-jobs/{platform._ids[f'outlast-{run}_0001']}"))
    assert "hunter-two" not in shown and cloud.access.secret not in shown and "OUTLAST_BOOT" in shown
    job = wait_for(lambda: _over(platform, name))
    assert (job.state, job.exit_code) == (JobState.ENDED, 1) and "cannot begin" in job.detail
    assert f"stint 1 cannot begin: no such key: runs/{run}/stints/0001/order.json" in platform.logs(name)
    left = [key.rpartition("/")[2] for key in cloud.keys(f"boot/jobs/{run}_0001-")]
    assert len(left) == 2 and "vars.json" not in left and "outlast_start.py" in left
    platform.cancel(name)
    assert platform.clean_work(run, keep=[1]) == 0 and platform.clean_work(run) == 1
    assert not cloud.keys(f"boot/jobs/{run}") and len(cloud.keys("boot/outlast-boot-")) == 1
    platform.forget(run)
    assert platform.poll([name])[name].state is JobState.ABSENT and cloud.jobs(run) == []


def _over(platform, name):
    job = platform.poll([name])[name]
    return job if job.state is JobState.ENDED else None


@pytest.mark.parametrize(
    ("make", "words"),
    [(drop, {}), (drop_after, {}), (says, {"status": 500, "code": "ModelArts.0010"}), (drop, {"times": 2})],
    ids=["lost before", "lost after", "trouble", "lost twice"],
)
def test_a_lost_reply_leaves_one_job(cloud, run, make, words):
    cloud.proxy.add(make(path=CREATE, **words))
    platform, launch = cloud.platform(), cloud.launch(run)
    platform.submit(launch)
    assert len(cloud.jobs(run)) == 1
    assert platform.poll([launch.job_name])[launch.job_name].state is not JobState.ABSENT


def test_a_creation_that_is_never_heard_of_is_told_and_can_be_repeated(cloud, run):
    cloud.proxy.add(drop(path=CREATE, times=ALWAYS))
    platform, launch = cloud.platform(), cloud.launch(run)
    with pytest.raises(Unavailable) as told:
        platform.submit(launch)
    assert told.value.why == "down" and cloud.jobs(run) == []
    cloud.proxy.clear()
    platform.submit(launch)
    assert len(cloud.jobs(run)) == 1


def test_two_keepers_that_ask_at_once_have_one_job(cloud, run):
    platforms = [cloud.platform() for _ in range(3)]
    launch = cloud.launch(run)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda each: each.submit(launch), platforms))
    assert len(cloud.jobs(run)) == 1


@pytest.mark.parametrize(
    ("status", "code", "why", "hint"),
    [
        (400, "ModelArts.2833", "full", "one job on a free flavor"), (400, "ModelArts.2815", "quota", "delete jobs"),
        (403, "ModelArts.2785", "refused", "authorise ModelArts"), (400, "ModelArts.2781", "refused", "--check"),
        (400, "ModelArts.2757", "refused", "region"), (429, "ModelArts.2799", "down", ""), (418, "", "refused", ""),
    ],
)  # fmt: skip
def test_a_refusal_says_what_can_be_done(cloud, run, status, code, why, hint):
    cloud.proxy.add(says(status, code, path=CREATE, times=ALWAYS))
    with pytest.raises(Unavailable) as told:
        cloud.platform().submit(cloud.launch(run))
    assert told.value.why == why and hint in told.value.hint and "as told" in told.value.message
    tries = [seen for seen in cloud.proxy.seen if seen.target.endswith("/training-jobs")]
    assert len(tries) == (4 if status == 429 else 1)
    assert not cloud.keys(f"boot/jobs/{run}"), "what was laid out for it is not left behind"


def test_a_free_job_waits_for_the_one_before_and_ends_when_it_is_cancelled(cloud, run):
    platform, first = cloud.platform(flavor=FREE), f"{run}.0001"
    waiting = b"import time\nwhile True:\n    time.sleep(0.1)\n"
    cloud.boto.put_object(Bucket=cloud.bucket, Key="code/wait.py", Body=waiting)
    code = f"/{cloud.bucket}/code/"
    wish = wire.Wish(wire.name_of(first), "", code, f"{code}wait.py", ENGINE, FREE)
    platform._session.ask("POST", "v2", "/training-jobs", wire.job_body(wish))
    with pytest.raises(Unavailable) as told:
        platform.submit(cloud.launch(run, 2))
    assert (told.value.why, told.value.retry_after_s) == ("full", 20.0)
    platform.cancel(first)
    job = wait_for(lambda: _over(platform, first))
    assert job.preempted and job.detail.startswith("stopped")
    platform.cancel(first)


def test_jobs_that_vanish_are_absent_and_those_of_others_are_not_ours(cloud, run):
    platform, launch = cloud.platform(), cloud.launch(run)
    assert platform.poll([]) == {} and platform.logs(launch.job_name) == ""
    platform.cancel(launch.job_name)
    platform.submit(launch)
    cloud.platform("somebody").forget(run)
    both = platform.poll([launch.job_name, f"{run}.0002"])
    assert {job.state for job in both.values()} == {JobState.ABSENT}


def test_a_list_that_is_behind_does_not_hide_a_job(cloud, run):
    platform, launch = cloud.platform(), cloud.launch(run)
    platform.submit(launch)
    cloud.proxy.add(says(200, body={"items": [], "count": 0}, path="training-job-searches", times=ALWAYS))
    assert platform.poll([launch.job_name])[launch.job_name].state is not JobState.ABSENT


def test_a_phase_that_nobody_has_seen_before_goes_on(cloud, run):
    item = {"metadata": {"id": "1", "name": f"outlast-{run}_0001"}, "status": {"phase": "Thawing", "start_time": 7}}
    cloud.proxy.add(says(200, body={"items": [item]}, path="training-job-searches", skip=1))
    job = cloud.platform().poll([f"{run}.0001"])[f"{run}.0001"]
    assert (job.state, job.detail) == (JobState.RUNNING, "is in the phase 'Thawing', unknown here")


def test_many_jobs_are_asked_for_with_few_questions(cloud, run):
    platform = cloud.platform()
    platform.poll([f"{run}.0001"])
    cloud.proxy.clear()
    assert len(platform.poll([f"{new_run_id()}.{stint:04d}" for stint in range(1, 60)])) == 59
    assert len(cloud.proxy.seen) == 1


def test_standing_tells_what_the_account_may_do(cloud):
    ready = cloud.platform(flavor=FREE).standing()
    assert ready.state == "ready" and "modelarts.p3.large.public.free: 1 NVIDIA-V100" in ready.detail
    assert "free, 1 h at a time" in ready.detail and " of 10000 jobs" in ready.detail
    assert [offer.name for offer in ready.offers if offer.is_free] == [FREE, "modelarts.vm.gpu.free"]
    wrong = cloud.platform(flavor="modelarts.vm.gpu.none").standing()
    assert wrong.state == "down" and "is not offered here; offered: modelarts.vm.cpu.2u" in wrong.detail


def test_a_store_that_is_not_there_is_named_and_made_by_signing_in(cloud):
    store = f"obs://{cloud.bucket}-new/outlast"
    platform = cloud.platform(store=store)
    told = platform.standing()
    assert told.state == "down" and f"its store {store} has no bucket" in told.detail
    account = cloud.account(store=store)
    settings = Settings.load({}, home=cloud.make_home("signing-in"))
    done = sign_in(settings, "modelarts", {**account.values, **account.secrets}, name="lab", in_file=True)
    assert done.standing.state == "ready" and f"made the bucket of {store}" in done.standing.detail
    assert platform.standing().state == "ready" and platform.make_store() == ""
    kept = create("lab", settings)
    assert isinstance(kept, ModelArts) and kept.store == store and kept.standing().state == "ready"
    end_keeper(Home(settings.home))
    cloud.boto.delete_bucket(Bucket=f"{cloud.bucket}-new")


def test_keys_that_the_bucket_does_not_take_are_refused(cloud, run):
    platform = cloud.platform("stranger", access=cloud.access._replace(secret="wrong"))
    with pytest.raises(Unavailable) as told:
        platform.submit(cloud.launch(run))
    assert told.value.why == "refused" and "the store of cloud cannot be used" in told.value.message


def test_what_it_can_never_run_is_said_before_anything_is_spent(cloud):
    spec = cloud.launch("r").spec
    platform = cloud.platform(flavor=FREE)
    platform.check(dataclasses.replace(spec, resources=Resources(cpus=8, gpus=1)))
    for change, words in (
        ({"sandbox": "on"}, "--sandbox on is not possible on cloud"),
        ({"network": False}, "--no-network is not possible on cloud"),
        ({"resources": Resources(gpus=2)}, "--gpus 2 is more than modelarts.p3.large.public.free has"),
        ({"resources": Resources(npus=1)}, "--npus 1 is more than"),
        ({"resources": Resources(nodes=2)}, "--nodes 2: the free flavor"),
    ):
        with pytest.raises(SpecError, match=words):
            platform.check(dataclasses.replace(spec, **change))
    for store in ("", "file:///data"):
        with pytest.raises(SpecError, match="starts jobs from a place in OBS"):
            cloud.platform(store=store).check(spec)


def test_it_sees_obs_and_what_is_the_same_server(cloud, monkeypatch):
    platform = cloud.platform()
    assert platform.sees("obs://anywhere/x") and not platform.sees("file:///x") and not platform.sees("hdfs://a/x")
    assert platform.sees(f"s3://{cloud.bucket}/x"), "without keys of its own s3:// is opened with those of obs://"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AK")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "SK")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert not platform.sees(f"s3://{cloud.bucket}/x") and not platform.sees("s3://nobody@bucket/x")


def test_limits_are_those_of_the_flavor_or_of_the_user(cloud):
    assert cloud.platform(flavor=FREE).limit_s == 3480.0 and cloud.platform(flavor=CPU).limit_s is None
    assert cloud.platform(flavor=FREE, limit="30min").limit_s == 1800.0


def test_the_registry_knows_it_and_its_fields_ask_for_what_is_needed(cloud):
    kind = load("modelarts")
    fields = {field.name: field for field in kind.fields}
    assert {name for name, field in fields.items() if field.secret} == {"secret", "password", "token"}
    assert {name for name, field in fields.items() if field.required} == {"region", "store", "flavor", "engine"}
    assert kind.__name__ == type(cloud.platform()).__name__


def test_in_the_cloud_the_account_opens_its_own_store(cloud, run):
    """Its keys are those of OBS there; elsewhere a stint gets what the keeper knows."""
    own, root = cloud.platform(endpoint="", project="p"), f"obs://{cloud.bucket}"
    access = Access("obs", "https://obs.cn-north-4.myhuaweicloud.com", "cn-north-4", cloud.key, cloud.secret)
    known = {"OUTLAST_ACCESSES": json.dumps({root: cloud.access._asdict(), "s3://x": {"kind": "s3"}})}
    for given in ({}, known):
        kept = json.loads(own._with_keys(cloud.launch(run, secrets=given)).secrets["OUTLAST_ACCESSES"])
        assert kept[root] == access._asdict() and ("s3://x" in kept) is bool(given)
    elsewhere = cloud.launch(run, store="obs://elsewhere/x")
    assert own._with_keys(elsewhere) is elsewhere and own.store_access() == access
    other = cloud.platform()
    assert other.store_access() is None and other._with_keys(cloud.launch(run, secrets=known)).secrets == known
    assert root in json.loads(other._with_keys(cloud.launch(run)).secrets["OUTLAST_ACCESSES"])


def test_the_starter_starts_once_and_hides_what_it_read(tmp_path):
    begin = tmp_path / "outlast_start.py"
    begin.write_bytes(Path(starter.__file__).read_bytes())
    (tmp_path / "boot.py").write_text("import os, sys; print(os.environ['SECRET'], sys.argv[1:])")
    private = {"variables": {"SECRET": "hunter-two"}, "boot": "boot.py", "remove": "http://127.0.0.1:1/gone"}
    (tmp_path / "vars.json").write_text(json.dumps(private))
    command = [sys.executable, str(begin), "--data_url=x"]
    first = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    assert (first.returncode, first.stdout) == (0, "hunter-two ['--data_url=x']\n"), first.stderr
    assert not (tmp_path / "vars.json").exists()
    second = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    assert second.returncode == 1 and "a job is started once" in second.stderr
