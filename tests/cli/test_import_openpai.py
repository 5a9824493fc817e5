"""`outlast import openpai`: a file that runs the same, or one error that names the field."""

from __future__ import annotations

import json
import tomllib

JOB = {
    "jobName": "mnist", "image": "img", "codeDir": "/ann/$PAI_JOB_NAME",
    "taskRoles": [{"name": "task", "command": "cd $PAI_JOB_NAME && python train.py --lr 0.1"}],
}  # fmt: skip


def write(folder, job=JOB):
    (folder / "train.py").write_text("print('hi')\n")
    path = folder / "new_job.pai.json"
    path.write_text("// a comment\n" + json.dumps(job))
    return str(path)


def test_it_writes_a_file_that_parses_and_names_the_script(outlast, tmp_path):
    code, out, _ = outlast("import", "openpai", write(tmp_path))
    assert code == 0 and "for train.py" in out
    assert tomllib.loads((tmp_path / "outlast.toml").read_text())["run"]["args"] == ["--lr", "0.1"]


def test_it_says_why_the_job_file_is_still_needed(outlast, tmp_path):
    job = JOB | {"taskRoles": [JOB["taskRoles"][0] | {"taskNumber": 2}]}
    code, out, _ = outlast("import", "openpai", write(tmp_path, job), "--json")
    assert code == 0
    assert json.loads(out) == {
        "path": str(tmp_path / "outlast.toml"), "script": "new_job.pai.json", "needs_job_file": "it has 2 instances",
    }  # fmt: skip


def test_mistakes_are_named_and_nothing_is_written(outlast, tmp_path):
    code, _, err = outlast("import", "openpai", write(tmp_path, JOB | {"retryCount": "often"}))
    assert code == 2 and "retryCount must be a number (InvalidParametersError)" in err
    assert outlast("import", "openpai", str(tmp_path / "nope.json"))[0] == 2
    code, _, err = outlast("import")
    assert code == 2 and "outlast import takes: openpai" in err
    assert not (tmp_path / "outlast.toml").exists()
