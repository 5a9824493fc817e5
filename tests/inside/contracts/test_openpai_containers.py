"""Instances in their image: a real container, its folder and variables, and its end."""

import subprocess

import pytest
import small_image
from openpai_bench import JobBench, ask_to_leave, role, wait_for

from outlast.inside.contracts.openpai.containers import Mounts, container_command, has_image

PODMAN = small_image.engine()
needs_podman = pytest.mark.skipif(PODMAN is None, reason="podman does not work here")


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    small_image.build(PODMAN, tmp_path_factory.mktemp("image"))
    return small_image.NAME


def bench_in(image, folder, command, engine=PODMAN, **fields):
    return JobBench(
        folder, role("task", command, image=image, engine=engine), mounts=Mounts([str(folder)]), **fields
    )  # fmt: skip


def deaf_engine(folder):
    """An engine that passes on no signal, as podman does right after it has started a container."""
    path = folder / "podman"
    path.write_text(f'#!/bin/sh\ntrap "" TERM\n{PODMAN} "$@"\n')
    path.chmod(0o755)
    return str(path)


@needs_podman
def test_an_instance_runs_in_its_image_and_sees_its_folder_and_variables(tmp_path, image):
    command = "ls /; echo $PAI_JOB_NAME from $PWD > note; exit 0"
    bench = bench_in(image, tmp_path, command, env={"GREETING": "with 'quotes'\nand lines"})
    code, output = bench.play()
    assert code == 0, output
    assert "home" not in output.split()  # not this machine's root
    assert (bench.root / "note").read_text() == f"ann~mnist from {bench.root}\n"


@needs_podman
def test_its_exit_code_is_the_instances(tmp_path, image):
    code, output = bench_in(image, tmp_path, "exit 7", v2=True).play()
    assert code == 255
    assert "originUserExitCode: 7" in output


@needs_podman
@pytest.mark.parametrize("is_deaf", [False, True])
def test_a_request_to_leave_reaches_the_program_in_the_container(tmp_path, image, is_deaf):
    inner = "trap 'touch saved; exit 85' TERM; touch ready; while :; do sleep 0.1; done"
    engine = deaf_engine(tmp_path) if is_deaf else PODMAN
    bench = bench_in(image, tmp_path, f'bash -c "{inner}"; exit $?', engine)
    process = bench.start()
    wait_for(bench.root / "ready", process)
    code, _ = ask_to_leave(process)
    assert (bench.root / "saved").exists()
    assert code == 85


@needs_podman
def test_no_container_outlives_a_runner_that_was_killed(tmp_path, image):
    bench = bench_in(image, tmp_path, "touch ready; sleep 600")
    process = bench.start()
    wait_for(bench.root / "ready", process)
    process.kill()
    process.communicate(timeout=150)
    listing = [PODMAN, "ps", "--quiet", "--filter", "name=outlast-test-task-0"]
    for _ in range(40):
        left = subprocess.run(listing, capture_output=True, text=True, timeout=150).stdout
        if not left:
            break
    assert left == ""


def test_values_of_variables_stand_in_no_command_line():
    command = container_command(
        "/usr/bin/docker", "img", "n", ["true"], folder="/w", mounts=Mounts(["/w"], ["/lib/outlast"]),
        names={"B", "A"}, shm_mb=64,
    )  # fmt: skip
    assert command[:10] == [
        "/usr/bin/docker", "run", "--rm", "--interactive", "--name", "n", "--network", "host", "--entrypoint", "",
    ]  # fmt: skip
    assert command[10:23] == [
        "--shm-size", "64m", "--volume", "/w:/w:rw", "--volume", "/lib/outlast:/lib/outlast:ro", "--env", "A",
        "--env", "B", "--workdir", "/w", "img",
    ]  # fmt: skip
    assert command[-2:] == ["init", "true"]


def test_host_names_lead_to_this_machine_in_a_container():
    command = container_command(
        "docker", "img", "n", ["true"], folder="/w", mounts=Mounts(), names=(), shm_mb=0, hosts=["a", "name.node"]
    )
    at = command.index("--add-host")
    assert command[at : at + 4] == ["--add-host", "a:127.0.0.1", "--add-host", "name.node:127.0.0.1"]


def test_an_engine_that_does_not_work_has_no_image():
    assert not has_image("/bin/false", "img")
    assert not has_image("/no/such/engine", "img")
