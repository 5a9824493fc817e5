"""`outlast run job.pai.json`: what the job says for the request, and `outlast import openpai`."""

import json

import pytest

from outlast.errors import SpecError
from outlast.inside.contracts.openpai.contract import CODE
from outlast.model.request import RunRequest
from outlast.operations.import_openpai import import_openpai
from outlast.operations.resolve import resolve
from outlast.operations.submit import plan_run
from outlast.settings import Settings
from outlast.store.pack import plan_pack

V1 = {
    "jobName": "mnist", "image": "no/such:image", "codeDir": "$PAI_DEFAULT_FS_URI/$PAI_USER_NAME/$PAI_JOB_NAME",
    "taskRoles": [{"name": "task", "command": "cd $PAI_JOB_NAME && python train.py --lr 0.1", "cpuNumber": 999}],
}  # fmt: skip
V2 = """
protocolVersion: 2
name: mnist_v2
type: job
prerequisites: [{name: img, type: dockerimage, uri: "no/such:image"}]
secrets: {password: sesame-street}
taskRoles:
  worker:
    dockerImage: img
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 8}
    commands: ["python train.py"]
"""


class Workspace:
    def __init__(self, folder):
        self.folder = folder / "workspace"
        self.home = folder / "home"
        self.settings = Settings.load({}, home=self.home)
        self.write("train.py", "print('hi')\n")
        self.write("notes.txt", "not code\n")
        self.write("lib/model.py", "")

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def vscode(self, **values):
        self.write(".vscode/settings.json", {f"pai.job.{key.replace('__', '.')}": each for key, each in values.items()})

    def resolve(self, name="new_job.pai.json", **words):
        return resolve(RunRequest(name, cwd=self.folder, **words), self.settings)

    def packed(self, resolved):
        plan = plan_pack(resolved.folder, resolved.include, resolved.exclude, resolved.leave_out)
        return [file.path for file in plan.files]


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


def test_a_v1_job_becomes_a_run_of_exactly_the_files_that_the_client_would_upload(workspace):
    workspace.write("new_job.pai.json", V1)
    workspace.write("odd [1]*.py", "")
    resolved = workspace.resolve(user="ann")
    assert (resolved.contract, resolved.name) == ("openpai", "mnist")
    assert workspace.packed(resolved) == ["lib/model.py", "odd [1]*.py", "train.py"]
    job = resolved.job
    assert (job["user"], job["name"], job["code_name"], job["code_from"]) == ("ann", "mnist", "mnist", CODE)
    assert job["roles"][0]["command"] == "cd mnist && python train.py --lr 0.1"
    assert any("found at mnist/" in notice for notice in resolved.notices)
    assert any("not in the image no/such:image" in notice for notice in resolved.notices)


def test_it_asks_for_no_more_than_this_machine_has_and_says_so(workspace):
    workspace.write("new_job.pai.json", V1)
    resolved = workspace.resolve()
    assert 1 <= resolved.resources.cpus < 999
    assert any("the job asks for 999 cpus" in notice for notice in resolved.notices)
    assert workspace.resolve(cpus=1).resources.cpus == 1


def test_settings_of_the_workspace_decide_files_and_name(workspace):
    workspace.write("jobs/new_job.pai.json", V1)
    workspace.vscode(
        upload__enabled=True, upload__include=["**/*.{py,txt}"], upload__exclude=["lib"], generateJobName__enabled=True
    )
    resolved = workspace.resolve("jobs/new_job.pai.json", checkpoint="$PAI_JOB_NAME/ckpt")
    assert workspace.packed(resolved) == ["notes.txt", "train.py"]
    name = resolved.job["name"]
    assert name.startswith("mnist_") and len(name) == len("mnist_") + 8
    assert resolved.checkpoint == f"{name}/ckpt"
    assert resolved.job["roles"][0]["command"].startswith(f"cd {name} &&")


def test_data_is_found_where_the_code_looks_for_it(workspace):
    workspace.write("new_job.pai.json", V1)
    workspace.write("data/x", "")
    workspace.write("../shared/y", "")
    resolved = workspace.resolve(data=("./data", "../shared"))
    assert [given.path for given in resolved.inputs] == ["mnist/data", "shared"]


def test_without_upload_the_code_is_fetched_from_where_codedir_says(workspace):
    workspace.write("new_job.pai.json", V1)
    workspace.vscode(upload__enabled=False)
    with pytest.raises(SpecError, match="PAI_DEFAULT_FS_URI=hdfs://"):
        workspace.resolve()
    resolved = workspace.resolve(user="ann", env=("PAI_DEFAULT_FS_URI=hdfs://127.0.0.1:50070",))
    assert [(given.source, given.path) for given in resolved.inputs] == [
        ("hdfs://127.0.0.1:50070/ann/mnist", CODE),
    ]  # fmt: skip
    assert workspace.packed(resolved) == []


def test_secrets_of_a_v2_job_reach_neither_spec_nor_pack(workspace):
    workspace.write("job.yaml", V2)
    resolved = workspace.resolve("job.yaml")
    assert resolved.secret_values == {"PAI_SECRET_0": "sesame-street"}
    assert workspace.packed(resolved) == ["lib/model.py", "notes.txt", "train.py"]
    plan = plan_run(RunRequest("job.yaml", cwd=workspace.folder), workspace.settings)
    assert "sesame" not in str(plan.spec.to_json())
    assert any("8 gpus" in notice for notice in plan.notices)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"args": ("--lr", "1")}, "its commands have their own arguments"),
        ({"user": "a~b"}, "--user 'a~b'"),
        ({"env": ("PAI_DEFAULT_FS_URI=/x",)}, "not an address"),
    ],
)
def test_what_cannot_be_said_of_a_job_is_refused(workspace, words, message):
    workspace.write("new_job.pai.json", V1)
    with pytest.raises(SpecError, match=message):
        workspace.resolve(**words)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("j.json", {"jobName": "x"}, "j.json: image is required"),
        ("j.json", V1 | {"taskRoles": [V1["taskRoles"][0] | {"taskNumber": 0, "minFailedTaskCount": None}]}, "no task"),
        ("j.json", "not json", "is not JSON"),
        ("j.yml", "protocolVersion: 1", "InvalidProtocolError"),
        ("j.json", b"\xff\xfe".decode("latin-1"), "is not JSON"),
    ],
)
def test_a_file_that_is_no_job_is_told_apart(workspace, name, content, message):
    workspace.write(name, content)
    with pytest.raises(SpecError, match=message):
        workspace.resolve(name)


def test_a_workspace_without_code_is_refused(workspace):
    workspace.write("new_job.pai.json", V1)
    workspace.vscode(upload__enabled=True, upload__include=["*.cpp"])
    with pytest.raises(SpecError, match=r"no file of .* matches \*\.cpp"):
        workspace.resolve()


def test_a_plain_job_is_imported_as_a_run_of_its_script(workspace):
    path = workspace.write("new_job.pai.json", V1 | {"retryCount": 2, "jobEnvs": {"A": 1}})
    made = import_openpai(workspace.settings, path)
    assert (made.script, made.why) == ("train.py", "")
    resolved = workspace.resolve("outlast.toml", cpus=1)
    assert (resolved.contract, resolved.script, resolved.args) == ("plain", "train.py", ("--lr", "0.1"))
    assert (resolved.script_retries, resolved.env, resolved.name) == (2, {"A": "1"}, "mnist")
    with pytest.raises(SpecError, match="exists already"):
        import_openpai(workspace.settings, path)
    import_openpai(workspace.settings, path, force=True)


@pytest.mark.parametrize(
    ("role", "why"),
    [
        ({"taskNumber": 2}, "it has 2 instances"),
        ({"command": "pip install x && python train.py"}, "more than a python script"),
        ({"command": "python $PAI_JOB_NAME/train.py $PAI_TASK_INDEX"}, "more than a python script"),
        ({"command": "python -m train"}, "more than a python script"),
        ({"command": "python missing.py"}, "missing.py is not in"),
        ({"portList": [{"label": "rpc"}]}, "ports"),
    ],
)
def test_a_job_that_needs_more_keeps_its_file(workspace, role, why):
    path = workspace.write("new_job.pai.json", V1 | {"taskRoles": [V1["taskRoles"][0] | role]})
    made = import_openpai(workspace.settings, path)
    assert why in made.why
    assert made.script == "new_job.pai.json"
    assert workspace.resolve("outlast.toml").contract == "openpai"


def test_code_that_reads_the_variables_keeps_the_job_file(workspace):
    workspace.write("lib/model.py", "import os; os.environ['PAI_JOB_NAME']")
    made = import_openpai(workspace.settings, workspace.write("new_job.pai.json", V1))
    assert made.why == "lib/model.py reads PAI_ variables"


def test_the_only_mapped_name_node_is_the_file_system_of_a_job(workspace, tmp_path):
    from outlast.keeper.home import Home
    from outlast.store.maps import save_map

    workspace.write("new_job.pai.json", V1)
    assert workspace.resolve().job["fs_uri"] == "hdfs://127.0.0.1:9000"
    home = Home(workspace.home).path
    save_map(home, "hdfs://one:50070", tmp_path / "one")
    save_map(home, "obs://bucket", tmp_path / "bucket")
    found = workspace.resolve()
    assert found.job["fs_uri"] == "hdfs://one:50070" and "hdfs://one:50070" in found.maps
    assert workspace.resolve(env=("PAI_DEFAULT_FS_URI=hdfs://other:1",)).job["fs_uri"] == "hdfs://other:1"
    workspace.vscode(upload__enabled=False)
    assert {each.source for each in workspace.resolve(user="ann").inputs} == {"hdfs://one:50070/ann/mnist"}
    save_map(home, "hdfs://two:50070", tmp_path / "two")
    with pytest.raises(SpecError, match=r"not known here.*outlast store map"):
        workspace.resolve()
