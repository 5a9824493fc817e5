"""`outlast environments`, `outlast import modelarts` and `outlast init --like` in the terminal."""

from __future__ import annotations

import json
import tomllib

JOB = {
    "job_name": "mnist",
    "config": {
        "app_url": "/lab-bucket/code/", "boot_file_url": "/lab-bucket/code/train.py", "worker_server_num": 2,
        "parameter": [{"label": "lr", "value": "0.1"}], "train_url": "/lab-bucket/out/",
    },
}  # fmt: skip


def test_the_bare_verb_lists_and_json_has_everything(outlast, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    code, out, _ = outlast("environments")
    assert code == 0 and out == outlast("environments", "list")[1]
    assert "usable here" in out and "comes with" in out and "mindspore_1.3.0-cuda_10.1" in out
    monkeypatch.setenv("COLUMNS", "100")
    narrow = outlast("environments")[1]
    assert "comes with" not in narrow and all(len(line) <= 100 for line in narrow.splitlines())
    monkeypatch.delenv("COLUMNS")
    piped = outlast("environments")[1]
    assert "comes with" in piped and "mindspore_1.9.0-cann_6.0.RC1-py_3.7-ubuntu_18.04-amd64 " in piped
    listed = json.loads(outlast("environments", "--json")[1])
    assert {"name", "framework", "version", "device", "python", "resources", "platform", "here"} <= listed[0].keys()


def test_environments_are_added_and_removed(outlast, tmp_path):
    (tmp_path / "torch.txt").write_text("torch==2.4\n")
    code, out, _ = outlast("environments", "add", "torch-cpu", "--requirements", str(tmp_path / "torch.txt"))
    assert code == 0 and "added torch-cpu: 1 requirement; usable here: yes" in out
    assert "outlast run train.py --environment torch-cpu" in out
    assert outlast("environments")[1].splitlines()[1].startswith("torch-cpu")
    code, out, _ = outlast("environments", "add", "lab", "--image", "lab/x:1", "--framework", "PyTorch 2.4", "--json")
    assert code == 0 and json.loads(out)["here"] == "in OpenPAI jobs"
    assert outlast("environments", "remove", "lab")[:2] == (0, "removed lab\n")
    assert json.loads(outlast("environments", "remove", "torch-cpu", "--json")[1])["version"] == "2.4"


def test_mistakes_say_what_is_possible(outlast):
    code, _, err = outlast("environments", "add", "x")
    assert code == 2 and "give --requirements or --image" in err
    code, _, err = outlast("environments", "remove", "nope")
    assert code == 10 and "outlast environments" in err
    code, _, err = outlast("environments", "remove", "mindspore_1.7")
    assert code == 2 and "is built in and stays" in err
    code, _, err = outlast("environments", "lst")
    assert code == 2 and "did you mean 'list'" in err and "takes: list, add, remove" in err
    code, _, err = outlast("environments", "--jsn")
    assert code == 2 and "--json" in err
    assert outlast("environments", "--help")[0] == 0


def test_a_job_of_modelarts_is_imported_with_its_next_steps(outlast, tmp_path):
    path = tmp_path / "job.json"
    path.write_text(json.dumps(JOB))
    code, out, _ = outlast("import", "modelarts", str(path))
    assert code == 0 and "for train.py" in out
    assert "outlast cp obs://lab-bucket/code/" in out and "--dry-run" in out
    assert tomllib.loads((tmp_path / "outlast.toml").read_text())["outputs"] == {"train_url": "obs://lab-bucket/out"}
    code, _, err = outlast("import", "modelarts", str(path))
    assert code == 2 and "--force" in err
    code, out, _ = outlast("import", "modelarts", str(path), "--force", "--json")
    assert code == 0 and json.loads(out)["script"] == "train.py"


def test_a_wrong_job_writes_nothing(outlast, tmp_path):
    path = tmp_path / "job.json"
    path.write_text(json.dumps({**JOB, "job_name": "a job"}))
    code, _, err = outlast("import", "modelarts", str(path))
    assert code == 2 and 'job.json: job_name "a job" must have' in err
    assert not (tmp_path / "outlast.toml").exists()


def test_the_preset_shows_what_it_wrote_and_what_comes_next(outlast, tmp_path):
    (tmp_path / "train.py").write_text("")
    code, out, _ = outlast(
        "init", str(tmp_path), "--like", "free-train", "--bucket", "/lab-bucket/free_train/", "--stints", "24"
    )
    assert code == 0
    text = (tmp_path / "outlast.toml").read_text()
    assert text in out
    body = tomllib.loads(text)
    assert body["run"]["stints"] == 24 and body["run"]["limit"] == "1h" and body["run"]["script"] == "train.py"
    assert body["data"] == {"data_url": "obs://lab-bucket/free_train/data"}
    steps = [line.split()[:3] for line in out.partition("next:\n")[2].splitlines()]
    assert [step[1] for step in steps] == ["store", "cp", "probe", "run"]


def test_minus_one_means_measure_first(outlast, tmp_path):
    assert outlast("init", str(tmp_path), "--like", "free-train", "--stints", "-1")[0] == 0
    text = (tmp_path / "outlast.toml").read_text()
    assert tomllib.loads(text)["run"]["stints"] == 1 and "outlast probe says how many epochs fit" in text


def test_an_unknown_preset_lists_the_known_ones(outlast, tmp_path):
    code, _, err = outlast("init", str(tmp_path), "--like", "free-tran")
    assert code == 2 and "did you mean 'free-train'" in err and "one-hour jobs" in err
    for words in (
        ("--stints", "3"),
        ("--like", "free-train", "--stints", "0"),
        ("--like", "free-train", "--bucket", "X"),
    ):
        assert outlast("init", str(tmp_path), *words)[0] == 2
    assert not (tmp_path / "outlast.toml").exists()
