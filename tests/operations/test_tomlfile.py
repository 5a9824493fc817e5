"""outlast.toml: every key is documented in the template, and wrong ones are refused by name."""

from __future__ import annotations

import re
import tomllib

import pytest

from outlast.errors import SpecError
from outlast.operations.tomlfile import FREE_TABLES, KEYS, TEMPLATE, TomlInput, read_toml, render_template


def read(tmp_path, text):
    path = tmp_path / "outlast.toml"
    path.write_text(text, encoding="utf-8")
    return read_toml(path)


def refused(tmp_path, text):
    with pytest.raises(SpecError) as caught:
        read(tmp_path, text)
    return str(caught.value)


def uncommented(text):
    return re.sub(r"^#(?! )", "", text, flags=re.MULTILINE)


def test_the_template_parses_as_it_is_and_sets_nothing(tmp_path):
    file = read(tmp_path, TEMPLATE)
    assert (file.values, file.params, file.env, file.data) == ({}, {}, {}, ())


def test_the_template_parses_with_everything_uncommented_and_shows_every_key(tmp_path):
    text = uncommented(TEMPLATE)
    file = read(tmp_path, text)
    assert set(file.values) == {(key.table, key.name) for key in KEYS}
    assert file.params and file.env and len(file.data) == 3
    assert set(tomllib.loads(text)) == {key.table for key in KEYS} | {table for table, _, _ in FREE_TABLES}


def test_every_key_of_the_template_has_a_comment_above_it():
    lines = TEMPLATE.splitlines()
    for key in KEYS:
        at = lines.index(f"#{key.name} = {key.example}")
        assert lines[at - 1] == f"# {key.comment}"


def test_given_values_are_set_in_the_template(tmp_path):
    file = read(tmp_path, render_template('odd "name".py', checkpoint="检查点"))
    assert file.values == {("run", "script"): 'odd "name".py', ("run", "checkpoint"): "检查点"}


def test_values_come_in_the_form_that_flags_have(tmp_path):
    file = read(
        tmp_path,
        """
        [run]
        limit = 90
        stints = 3
        args = ["--epochs", 3, 0.5, true]
        network = false
        [params]
        lr = 1e-3
        nesterov = true
        name = "x"
        [env]
        N = 4
        [data]
        a = "./a"
        b = { source = "/b", path = "in/b", writable = true }
        [resources]
        memory = "4G"
        """,
    )
    assert file.values["run", "limit"] == "90"
    assert file.values["run", "stints"] == "3"
    assert file.values["run", "args"] == ("--epochs", "3", "0.5", "true")
    assert file.values["run", "network"] is False
    assert file.params == {"lr": "0.001", "nesterov": "true", "name": "x"}
    assert file.env == {"N": "4"}
    assert file.data == (TomlInput("a", "./a"), TomlInput("b", "/b", "in/b", True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[run]\nlimt = '1h'", "outlast.toml: unknown key run.limt; did you mean 'limit'?"),
        ("[run]\nzzz = 1", "known there: script, args"),
        ("[run]\ncpus = 2", "unknown key run.cpus; it belongs under [resources]"),
        ("[run]\ndata = 'x'", "write it as a table of its own, [data]"),
        ("limit = '1h'", "key 'limit' stands outside its table; move it under [run]"),
        ("[rnu]\nlimit = '1h'", "unknown table [rnu]; did you mean 'run'?"),
        ("run = 3", "run = 3 must be a table"),
        ("[run]\nscript = 3", "run.script = 3 must be text in quotes, like script ="),
        ("[run]\nlimit = [1]", "run.limit = [1] must be text in quotes or a number"),
        ("[run]\nretries = true", "run.retries = true must be a whole number"),
        ("[run]\nnetwork = 'yes'", 'run.network = "yes" must be true or false'),
        ("[run]\nargs = 'a b'", "must be a list of texts"),
        ("[params]\nlr = [1]", "params.lr must be"),
        ("[data]\nx = 3", "data.x = 3 must be a path"),
        ("[data]\nx = { path = 'y' }", "data.x needs a source"),
        ("[data]\nx = { sorce = 'y' }", "unknown key 'sorce'; did you mean 'source'?"),
        ("[data]\nx = { source = 'y', writable = 1 }", "data.x.writable = 1 must be true or false"),
        ("[run\n", "is not TOML"),
    ],
)
def test_wrong_files_are_refused_by_the_key(tmp_path, text, expected):
    assert expected in refused(tmp_path, text)


def test_several_wrong_keys_are_reported_together(tmp_path):
    message = refused(tmp_path, "[run]\nlimt = 1\nstint = 2\n[pak]\nx = 1")
    assert len(message.splitlines()) == 3


def test_bytes_that_are_not_text_are_refused(tmp_path):
    (tmp_path / "outlast.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SpecError, match="is not TOML"):
        read_toml(tmp_path / "outlast.toml")


def test_a_value_that_may_be_a_password_is_not_repeated(tmp_path):
    assert "hunter2" not in refused(tmp_path, "[env]\nPASSWORD = ['hunter2']")
