"""`outlast init`: a file to start from, never over an existing one."""

from __future__ import annotations

import tomllib

from outlast.cli.init import likely_script


def test_init_writes_a_file_that_parses_and_names_the_script(outlast, tmp_path):
    (tmp_path / "train.py").write_text("print('hi')\n")
    code, out, _ = outlast("init", str(tmp_path))
    assert code == 0 and "for train.py" in out
    body = tomllib.loads((tmp_path / "outlast.toml").read_text())
    assert body["run"]["script"] == "train.py"


def test_init_keeps_an_existing_file_unless_forced(outlast, tmp_path):
    path = tmp_path / "outlast.toml"
    path.write_text("# mine\n")
    code, _, err = outlast("init", str(tmp_path))
    assert code == 2 and "exists already" in err and "--force" in err
    assert path.read_text() == "# mine\n"
    assert outlast("init", str(tmp_path), "--force")[0] == 0
    assert path.read_text() != "# mine\n"


def test_init_without_a_likely_script_says_so(outlast, tmp_path):
    code, out, _ = outlast("init", str(tmp_path))
    assert code == 0 and "set 'script' in it" in out


def test_init_refuses_a_missing_folder_or_script(outlast, tmp_path):
    assert outlast("init", str(tmp_path / "nope"))[0] == 2
    code, _, err = outlast("init", str(tmp_path), "--script", "nope.py")
    assert code == 2 and "nope.py" in err
    assert not (tmp_path / "outlast.toml").exists()


def test_likely_script_prefers_usual_names_then_the_only_one_with_a_main_part(tmp_path):
    assert likely_script(tmp_path) is None
    (tmp_path / "net.py").write_text("class Net: ...\n")
    assert likely_script(tmp_path) == "net.py"
    (tmp_path / "start.py").write_text("if __name__ == '__main__':\n    go()\n")
    assert likely_script(tmp_path) == "start.py"
    (tmp_path / "eval.py").write_text("if __name__ == '__main__':\n    go()\n")
    assert likely_script(tmp_path) is None
    (tmp_path / "train_net.py").write_bytes(b"if __name__ == '__main__':\n    '\xff'\n")
    assert likely_script(tmp_path) == "train_net.py"
    (tmp_path / "main.py").write_text("")
    assert likely_script(tmp_path) == "main.py"
