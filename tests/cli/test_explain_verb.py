"""`outlast explain` in the terminal: sections that can be read, values that can be copied."""

import json


def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    (folder / "mnist").mkdir(parents=True)
    (folder / "mnist" / "a").write_text("x")
    (folder / "train.py").write_text(
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--data_url')\np.parse_args()\n"
    )
    monkeypatch.chdir(folder)
    return folder


def test_sections_whole_values_and_the_warning(outlast, tmp_path, monkeypatch):
    project(tmp_path, monkeypatch)
    monkeypatch.setenv("COLUMNS", "60")
    long = "x" * 300
    command = ["--contract", "modelarts", "-d", "data_url=mnist", "-p", "lr=1", "-e", f"LONG={long}"]
    code, out, err = outlast("explain", "train.py", *command)
    assert (code, err) == (0, "")
    for title in (
        "command",
        "variables: set by the contract",
        "variables: set by you",
        "folders",
        "helpers",
        "network",
    ):
        assert f"\n{title}\n" in out
    assert f"  LONG={long}\n" in out
    assert "import moxing" in out and "./.outlast/inputs/data_url_0" in out
    flat = " ".join(out.split())
    assert "train.py does not accept --lr" in flat and "--drop-unknown" in flat
    assert out.splitlines()[0].startswith("train under the contract modelarts")
    assert not (tmp_path / "home").exists()


def test_json_holds_the_same(outlast, tmp_path, monkeypatch):
    project(tmp_path, monkeypatch)
    code, out, _ = outlast("explain", "train.py", "--json", "--param", "lr=1")
    told = json.loads(out)
    assert code == 0 and told["contract"] == "plain" and told["refused"] == ["lr"]
    assert told["parts"][0]["command"].endswith("train.py --lr=1")
    assert {"places", "helpers", "network", "sandboxed", "inherited", "notices", "name"} < set(told)


def test_wrong_requests_say_what_is_possible(outlast, tmp_path, monkeypatch):
    project(tmp_path, monkeypatch)
    for words in (["no.py"], ["train.py", "--contract", "xihee"], ["train.py", "--limit", "soon"], ["train.py", "--x"]):
        code, out, err = outlast("explain", *words)
        assert (code, out) == (2, "") and err.startswith("error: "), err
        assert "Traceback" not in err
