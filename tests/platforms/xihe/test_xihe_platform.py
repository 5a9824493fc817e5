"""What an account on Xihe does for a stint: inputs, packages, records, cancelling, removing."""

import json
import os
import subprocess

import pytest
from xihe_lab import straight_weights

from outlast.errors import SpecError, Unavailable
from outlast.inside import layout
from outlast.inside.boot import BOOT
from outlast.inside.net.http import Http
from outlast.inside.records import End
from outlast.model.spec import Input, Output, PinnedEnvironment, Resources
from outlast.model.visitor import Visitor
from outlast.platforms import registry
from outlast.platforms.accounts import Account, Accounts
from outlast.platforms.base import JobState
from outlast.platforms.boot import boot_file
from outlast.platforms.xihe import snapshot, wire
from outlast.platforms.xihe.platform import Xihe
from outlast.platforms.xihe.rest import Refused
from outlast.platforms.xihe.snapshot import project_files, state_files
from outlast.platforms.xihe.websocket import read_message
from outlast.server.hub.trainings.book import TrainingBook
from outlast.server.hub.trainings.wishes import read_wish

SLEEPER = "import time\nprint('asleep', flush=True)\ntime.sleep(600)\n"


def find_repository(bench, name):
    return bench.lab.hub.find(Visitor("ann"), "ann", name)


def test_an_account_of_the_registry_becomes_the_platform(bench):
    values = {"endpoint": bench.lab.url, "user": "ann", "version": wire.COMPUTES[0].version}
    Accounts(bench.settings.home).save(Account("lab", "xihe", values, {"token": "secret-token"}), in_file=True)
    platform = registry.create("lab", bench.settings)
    assert isinstance(platform, Xihe)
    assert platform.store == bench.store.url
    assert platform.sees(platform.store) and not platform.sees("file:///data") and not platform.sees("s3://bucket")
    assert "secret-token" not in repr(platform.__dict__)


def test_a_token_of_somebody_else_is_noticed_when_one_signs_in(bench):
    standing = bench.sign_in(user="bob").standing()
    assert (standing.state, standing.detail) == (
        "signed-out", "the token belongs to 'ann', not to 'bob'; give its name with --set user=ann",
    )  # fmt: skip
    assert bench.sign_in(user="Ann").standing().state == "ready"


def test_a_service_that_does_not_tell_whose_token_it_is_believes_the_name(bench, monkeypatch):
    def ask(method, path, body=None):
        if path == "/v1/user":
            raise Refused("no such route", "no_route", 404, why="refused")
        return asked(method, path, body)

    asked = bench.platform._rest.ask
    monkeypatch.setattr(bench.platform._rest, "ask", ask)
    assert bench.platform.standing().state == "ready"


def test_standing_is_a_real_answer_of_the_service(bench):
    standing = bench.platform.standing()
    assert standing.state == "ready" and "signed in as ann" in standing.detail
    assert wire.COMPUTES[0].version in [offer.name for offer in standing.offers]
    assert all(offer.limit_s == 24 * 3600 for offer in standing.offers)


def test_a_request_that_no_machine_of_xihe_can_meet_is_refused_at_once(bench):
    for wanted, words in ((Resources(gpus=1), "--gpus 1"), (Resources(npus=2), "--npus 2"), (Resources(cpus=64), "64")):
        with pytest.raises(SpecError, match=words):
            bench.platform.check(bench.run(resources=wanted))
    bench.platform.check(bench.run(resources=Resources(npus=1, cpus=8)))
    with pytest.raises(SpecError, match="--nodes 2: xihe gives one machine"):
        bench.platform.check(bench.run(resources=Resources(nodes=2)))
    with pytest.raises(SpecError, match="obs://lab"):
        bench.platform.check(bench.run(maps={"obs://lab": "/data"}))


def test_the_plan_touches_nothing_and_tells_what_is_lost(bench):
    spec = bench.run(secrets=("KEY",), outputs=(Output(name="model", path="out", target="file:///data/out"),))
    plan = bench.platform.plan(bench.order(spec, 1))
    assert plan.command[0] == "POST" and "/v1/train/project/" in plan.command[1]
    said = " ".join(plan.notices)
    assert "24 hours" in said and "KEY" in said and "outlast fetch" in said
    assert bench.platform.poll([f"{spec.id}.0001"])[f"{spec.id}.0001"].state is JobState.ABSENT


def test_inputs_come_from_repositories_of_xihe_or_travel_with_the_state(bench, tmp_path):
    remote = bench.platform._remote
    bench.platform._rest.make_repository("dataset", "ann", "numbers", "x")
    remote.push("ann", "numbers", {"data.txt": b"one", "other.txt": b"two"}, "numbers", lfs=True)
    commit = remote.head("ann", "numbers")
    local = tmp_path / "home/platforms/lab/store/inputs/0123456789abcdef/local"
    local.mkdir(parents=True)
    (local / "part.txt").write_text("three")
    asset = f"dataset:ann/numbers/data.txt@{commit}"
    inputs = (
        Input(name="numbers", source="file:///elsewhere/data.txt", path="numbers.txt", asset=asset),
        Input(name="local", source=local.as_uri(), path="local"),
    )
    script = "import os\nos.makedirs('out')\nopen('out/all', 'w').write("
    script += "open('numbers.txt').read() + open('local/part.txt').read())\n"
    spec = bench.run(script, inputs=inputs)
    assert bench.stint(spec, 1).exit_code == 0
    assert bench.end(spec, 1).reason == "finished", bench.log(spec, 1)
    assert bench.output(spec, "out/all") == b"onethree"


def test_a_repository_that_has_moved_on_is_not_taken_for_the_pinned_one(bench):
    remote = bench.platform._remote
    bench.platform._rest.make_repository("model", "ann", "moved", "x")
    remote.push("ann", "moved", {"a": b"1"}, "first", lfs=True)
    pinned = Input(name="m", source="file:///gone", path="m", asset=f"model:ann/moved@{remote.head('ann', 'moved')}")
    remote.push("ann", "moved", {"a": b"2"}, "second", lfs=True)
    with pytest.raises(Unavailable, match="input m lies at file:///gone") as caught:
        bench.platform.submit(bench.order(bench.run(inputs=(pinned,)), 1))
    assert caught.value.why == "refused"


def test_packages_are_installed_by_xihe_and_secrets_are_only_those_of_the_script(bench):
    pinned = PinnedEnvironment(name="torch", requirements=("torch==2.4",))
    files = {"needs.txt": b"numpy\n# a comment\n\nscipy>=1\n"}
    spec = bench.run(files=files, requirements="needs.txt", environment=pinned, secrets=("KEY",))
    secrets = {"KEY": "of the script", "OUTLAST_ACCESSES": json.dumps({"s3://": {"key": "of the store"}})}
    launch = bench.order(spec, 1, secrets=secrets)
    made = project_files(boot_file(bench.platform._cache), bench.store, launch, {"run_url": "x"})
    assert made["pip-requirements.txt"] == b"torch==2.4\nnumpy\nscipy>=1\n"
    assert all(len(content) < wire.PLAIN_LIMIT_BYTES for content in made.values())
    variables = json.loads(made["vars.json"])
    assert variables["OUTLAST_SECRET_KEY"] == "of the script"
    assert "of the store" not in json.dumps(variables)
    body = json.loads(variables[BOOT])
    assert (body["store"], body["arguments"]) == ("carried:", {"run_url": "x"})
    carried = json.loads(state_files(bench.store, launch, ())[layout.spec_key(spec.id)])
    assert carried["requirements"] is None and carried["environment"] is None


def test_a_state_that_is_too_large_is_refused_in_words(bench, monkeypatch):
    monkeypatch.setattr(snapshot, "STATE_LIMIT_BYTES", 1000)
    with pytest.raises(Unavailable, match="takes along") as caught:
        bench.platform.submit(bench.order(bench.run(), 1))
    assert caught.value.why == "refused" and "dataset:owner/name" in caught.value.hint


def test_a_run_folder_that_has_not_arrived_is_waited_for(bench):
    launch = bench.order(bench.run(), 2, resume_from="0001-000001")
    with pytest.raises(Unavailable, match=r"0001-000001\.json has not reached") as caught:
        bench.platform.submit(launch)
    assert caught.value.why == "down"


def test_old_records_make_room_and_never_more_than_five_are_kept(bench):
    spec = bench.run(env={"TURN": "6"})
    bench.platform._rest.make_repository("project", "ann", wire.project_name(spec.id), spec.id)
    book = TrainingBook(bench.lab.hub.folder(find_repository(bench, wire.project_name(spec.id))))
    for stint in range(1, 6):
        name = wire.instance_name(f"{spec.id}.{stint:04d}")
        wish = read_wish(wire.training_body(name, "boot.py", wire.COMPUTES[0], (), "scheduled in vain"))
        book.change(book.add(wish, "ann", "no-run", "0" * 40, lambda each: True), error="no machine is left")
    job = bench.wait(bench.order(spec, 5))
    assert (job.exit_code, job.preempted) == (None, False) and "could not be scheduled" in job.detail
    assert "no machine is left" in job.detail and "schedule_failed: no machine is left" in bench.log(spec, 5)
    bench.platform.submit(bench.order(spec, 6))
    kept = [each.name[-4:] for each in bench.instances(spec)]
    assert sorted(kept) == ["0002", "0003", "0004", "0005", "0006"]
    bench.platform.forget(spec.id)


def test_a_running_instance_is_silent_shows_its_log_and_can_be_cancelled(bench):
    spec = bench.run(SLEEPER)
    launch = bench.order(spec, 1)
    bench.platform.submit(launch)
    job = bench.until(launch, lambda job: "asleep" in bench.platform.logs(launch.job_name))
    assert job.state is JobState.RUNNING and job.is_silent
    project, instance = bench.platform._find(launch.job_name)
    path = f"/v1/train/project/{project}/training/{instance.id}"
    heard = read_message(Http(bench.lab.url), path, [("PRIVATE-TOKEN", bench.lab.tokens["ann"])])
    assert "asleep" in heard["log"]
    # A later stint waits until this one has left, and sends it away.
    with pytest.raises(Unavailable, match="still ending") as caught:
        bench.platform.submit(bench.order(spec, 2))
    assert caught.value.why == "full"
    bench.platform.cancel(launch.job_name)
    bench.platform.cancel(launch.job_name)
    job = bench.wait(launch)
    assert job.preempted and "was ended on Xihe" in job.detail
    assert "asleep" in bench.log(spec, 1)
    bench.platform.cancel(launch.job_name)


def test_a_stint_that_was_fenced_brings_nothing_home(bench, completed):
    launch = bench.revisit(completed)
    fence = End(reason="lost", by="keeper").to_bytes()
    bench.store.put_if_absent(layout.end_key(completed.id, 2), fence)
    assert bench.wait(launch).state is JobState.ENDED
    assert bench.checkpoints(completed) == []
    assert bench.store.get(layout.end_key(completed.id, 2)) == fence


def test_two_instances_carry_one_training_to_the_weights_of_a_straight_run(journey):
    bench, spec, jobs = journey
    assert [(job.exit_code, job.detail) for job in jobs] == [(0, ""), (0, "")]
    for stint, reason in ((1, "hand-over"), (2, "finished")):
        log = bench.log(spec, stint)
        assert (bench.end(spec, stint).reason, bench.claim(spec, stint).token) == (reason, f"token-{stint}"), log
        assert ("continues after epoch 3" in log) is (stint == 2)
    assert bench.output(spec, "out/weights.txt").decode() == straight_weights()


def test_another_process_knows_what_became_of_jobs_without_asking(bench, completed):
    launch = bench.revisit(completed)
    bench.wait(launch)
    away = bench.sign_in("http://127.0.0.1:9")
    assert away.poll([launch.job_name])[launch.job_name].exit_code == 0
    assert away.poll([launch.job_name]) == bench.platform.poll([launch.job_name])


def test_forgetting_a_run_removes_its_repositories(bench):
    spec = bench.run()
    name = f"{spec.id}.0001"
    bench.platform.submit(bench.order(spec, 1))
    bench.platform.forget(spec.id)
    bench.platform.forget(spec.id)
    for kind, repository in (("project", wire.project_name(spec.id)), ("model", wire.state_name(spec.id))):
        assert bench.platform._rest.repository_id(kind, "ann", repository) is None
    assert bench.platform.poll([name])[name].state is JobState.ABSENT


def test_the_token_is_in_no_argument_of_git(bench, tmp_path, monkeypatch):
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    spy.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/said\nexec {real} "$@"\n')
    spy.chmod(0o755)
    monkeypatch.setenv("PATH", f"{spy.parent}{os.pathsep}{os.environ['PATH']}")
    bench.platform._rest.make_repository("model", "ann", "spied-on", "x")
    bench.platform._remote.push("ann", "spied-on", {"large": b"x" * 300_000, "small": b"y"}, "spied", lfs=True)
    said = (tmp_path / "said").read_text()
    assert "push" in said and bench.lab.tokens["ann"] not in said
    assert not list((tmp_path / "home/platforms/lab").glob("push-*"))
