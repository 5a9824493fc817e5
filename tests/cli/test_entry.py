"""The front door: help without imports, mistakes answered in one line, every failure an exit code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from outlast.cli import command, failures
from outlast.cli.entry import help_page
from outlast.cli.verbs import FIRST_STEPS, GLOBAL_OPTIONS, TAGLINE, VERBS
from outlast.cli.words import CHINESE, LABELS, display_width
from outlast.errors import (
    CredentialError,
    HomeError,
    NotFoundError,
    PlatformError,
    RunFailed,
    SpecError,
    StoreError,
)
from outlast.inside import errors as inside_errors

HEAVY = ("typer", "click", "rich", "pydantic", "sqlalchemy", "numpy", "typing", "re", "inspect", "dataclasses")


def imported_by(*arguments: str) -> set[str]:
    code = f"import sys; from outlast.cli.entry import main; code = main({list(arguments)!r}); " + (
        "print('\\n'.join(sys.modules), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode in (0, 2), done.stderr
    return {name.split(".")[0] for name in done.stderr.splitlines()}


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",), ("--version",), ("help",)])
def test_help_and_version_import_nothing_heavy(arguments):
    bare = subprocess.run(
        [sys.executable, "-c", "import outlast, sys; print('\\n'.join(sys.modules))"], capture_output=True, text=True
    )
    before = {name.split(".")[0] for name in bare.stdout.splitlines()}
    heavy = (imported_by(*arguments) - before) & set(HEAVY)
    assert not heavy


def test_the_command_is_there_without_its_script_on_the_path():
    done = subprocess.run([sys.executable, "-m", "outlast", "frob"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: unknown command 'frob'")


def test_help_lists_every_verb_once_with_its_sentence(outlast):
    code, out, _ = outlast("--help")
    assert code == 0
    for name, (_, sentence, group) in VERBS.items():
        assert out.count(f"  {name} ") == 1
        assert sentence in out and f"{group}:" in out


def test_bare_command_prints_help(outlast):
    assert outlast()[:2] == outlast("--help")[:2]


def test_version_is_the_package_version(outlast):
    import outlast as package

    assert outlast("--version")[1] == f"outlast {package.__version__}\n"


def test_help_of_a_verb_by_either_spelling(outlast):
    assert outlast("help", "ps")[1] == outlast("ps", "--help")[1]


def test_unknown_command_names_the_nearest(outlast):
    code, out, err = outlast("rnu")
    assert code == 2 and out == ""
    assert err.splitlines()[0] == "error: unknown command 'rnu'; did you mean 'run'?"


def test_unknown_global_option_names_the_nearest(outlast):
    code, _, err = outlast("--verson")
    assert code == 2
    assert "unknown option '--verson'; did you mean '--version'?" in err


def test_wrong_option_names_the_nearest_and_the_way_to_the_script(outlast):
    code, _, err = outlast("run", "train.py", "--limt", "1h")
    assert code == 2
    assert "unknown option --limt; did you mean --limit?" in err
    assert "outlast run train.py -- --limt" in err


def test_missing_argument_is_named(outlast):
    code, _, err = outlast("run")
    assert code == 2
    assert "TARGET" in err and "outlast run --help" in err and "Traceback" not in err


def test_option_without_its_value_is_named(outlast):
    code, _, err = outlast("run", "train.py", "--limit")
    assert code == 2 and "--limit" in err


def test_number_that_is_none_is_named(outlast):
    code, _, err = outlast("run", "train.py", "--cpus", "many")
    assert code == 2 and "--cpus" in err and "many" in err


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (SpecError("no such file: x.py"), 2), (HomeError("newer"), 2), (NotFoundError("no run 'x'"), 10),
        (CredentialError("log in"), 11), (PlatformError("down"), 12), (StoreError("full"), 12), (RunFailed("bad"), 1),
        (inside_errors.RequestError("bad key"), 2), (inside_errors.NotFound("k"), 10),
        (inside_errors.StoreFull("full"), 12), (inside_errors.Damaged("torn"), 12),
        (OSError(28, "No space left on device", "/data"), 12), (PermissionError(13, "Permission denied", "/x"), 12),
        (ZeroDivisionError("oh"), failures.BUG_EXIT_CODE),
    ],
)  # fmt: skip
def test_each_failure_has_its_exit_code_and_no_traceback(error, expected, outlast, monkeypatch):
    def broken():
        raise error

    monkeypatch.setattr("outlast.cli.ps.open_client", broken)
    code, out, err = outlast("ps")
    assert code == expected
    assert out == "" and err.startswith("error: ") and "Traceback" not in err


def test_hint_follows_the_error(outlast, monkeypatch):
    def broken():
        raise SpecError("first\nsecond", hint="do this")

    monkeypatch.setattr("outlast.cli.ps.open_client", broken)
    assert outlast("ps")[2] == "error: first\n  second\nhint: do this\n"


def test_bug_is_owned_and_kept_in_the_crash_log(outlast, monkeypatch, tmp_path):
    def broken():
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr("outlast.cli.ps.open_client", broken)
    _, _, err = outlast("ps")
    assert err.splitlines()[0] == "error: this is a bug in outlast: ZeroDivisionError: oh"
    crash = (tmp_path / "home" / "crash.log").read_text()
    assert "Traceback" in crash and "ZeroDivisionError" in crash
    _, _, err = outlast("--debug", "ps")
    assert "Traceback" in err
    monkeypatch.setenv("OUTLAST_DEBUG", "1")
    assert "Traceback" in outlast("ps")[2]


def test_bug_with_an_unwritable_home_still_gets_its_line(outlast, monkeypatch):
    monkeypatch.setenv("OUTLAST_HOME", "/proc/nowhere")
    monkeypatch.setattr("outlast.cli.ps.open_client", lambda: 1 / 0)
    code, _, err = outlast("ps")
    assert code == failures.BUG_EXIT_CODE and "this is a bug in outlast" in err


def test_debug_after_the_double_dash_belongs_to_the_script(outlast, monkeypatch, client):
    seen = []
    monkeypatch.setattr(client.runs, "submit", lambda request, **_: seen.append(request) or client.runs.get("digits"))
    outlast("run", "train.py", "--detach", "--debug", "--", "--debug")
    assert seen[0].args == ("--debug",)


def test_ctrl_c_in_a_verb_is_130(outlast, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("outlast.cli.ps.open_client", interrupted)
    code, _, err = outlast("ps")
    assert code == 130 and "Traceback" not in err


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help")])
def test_closed_pipe_is_quiet(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "outlast.cli.entry", *arguments], stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert done.stderr == ""


def test_chinese_locale_gets_chinese_help(outlast, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert "训练" in outlast("--help")[1]
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")  # wins over LANG
    assert "训练" not in outlast("--help")[1]


def test_every_sentence_and_label_has_a_translation():
    wanted = [TAGLINE, FIRST_STEPS, *LABELS, *GLOBAL_OPTIONS.values(), "Usage", "Options", "COMMAND [OPTIONS]"]
    wanted += [text for _, sentence, group in VERBS.values() for text in (sentence, group)]
    assert [text for text in wanted if text not in CHINESE] == []
    assert set(CHINESE) == set(wanted)


def test_help_fits_eighty_columns():
    assert max(display_width(line) for line in help_page().splitlines()) <= 80


@pytest.mark.parametrize("name", VERBS)
def test_page_of_each_verb_is_complete(name, outlast):
    code, out, err = outlast(name, "--help")
    assert code == 0, err
    assert VERBS[name][1] in out
    assert not VERBS[name][1].endswith(".")
    examples = out.split("Examples:")[1].split("Exit codes:")[0]
    assert examples.count(f"outlast {name}") >= 2
    listed = out.split("Exit codes:")[1]
    assert "  0 " in listed
    assert "<str>" not in out and "[required]" not in out
    assert max(map(len, out.splitlines())) <= 110


@pytest.mark.parametrize("name", VERBS)
def test_examples_of_each_verb_parse(name):
    """Every example is accepted by the parser of its verb, and of its sub-command."""
    import importlib
    import re
    import shlex

    import typer.main

    made = typer.main.get_command(importlib.import_module(VERBS[name][0]).app)
    assert isinstance(made, command.VerbCommand | command.VerbGroup)
    below = getattr(made, "commands", {})
    for page in (made, *below.values()):
        for line, _ in page.examples:
            words = shlex.split(re.split(r" [|<>] ", line)[0])
            assert words[:2] == ["outlast", name]
            if below and words[2] not in below and made.default_takes_words:
                words.insert(2, made.default)
            if below:
                below[words[2]].make_context(words[2], words[3:])
            else:
                made.make_context(name, words[2:])


def test_exit_codes_on_the_pages_are_the_documented_ones():
    assert set(command.EXIT_CODES) == {0, 1, 2, 10, 11, 12, 130}
