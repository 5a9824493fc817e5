"""What members may name: never a folder of the server's machine, however a request leads there."""

import json

import pytest

from outlast.model.request import RunRequest
from outlast.server.fences import check_address, check_request
from outlast.server.refusals import NotAllowed
from outlast.settings import Settings


def test_the_code_of_a_job_file_never_lies_above_the_uploads(tmp_path):
    """VS Code's settings in a home folder would make all of it the workspace of a job that was uploaded into it."""
    own = tmp_path / "home" / "uploads" / "mia"
    folder = own / "digest" / "content"
    folder.mkdir(parents=True)
    (folder / "train.py").write_text("print(1)\n")
    role = {"name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 512, "command": "python train.py"}
    job = {"jobName": "digits", "image": "x", "codeDir": "$PAI_JOB_NAME/code", "taskRoles": [role]}
    (folder / "job.pai.json").write_text(json.dumps(job))
    settings = Settings.load({"OUTLAST_HOME": str(tmp_path / "home")})
    request = RunRequest(str(folder / "job.pai.json"), cwd=folder)
    check_request(request, settings, own, ())

    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "settings.json").write_text("{}")
    with pytest.raises(NotAllowed, match="server's machine"):
        check_request(request, settings, own, ())


@pytest.mark.parametrize(
    "path", ["/.reserved/.inodes/16388", "/.reserved/.inodes", "/.reserved/raw/runs", "//.reserved/x"]
)
def test_no_number_of_hdfs_leads_into_the_store_of_runs(path):
    with pytest.raises(NotAllowed, match="number"):
        check_address(f"hdfs://namenode:9870{path}", ["hdfs://namenode:9870/runs"])


def test_a_member_is_told_to_name_a_bucket():
    with pytest.raises(NotAllowed, match="admins only"):
        check_address("s3://", [])
