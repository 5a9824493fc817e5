"""Completion through the shells' own protocol."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import simulated

from outlast.cli.verbs import VERBS

HERE = Path(__file__).parent


def complete(line: str) -> list[str]:
    """What bash would be offered at the end of `line`."""
    words = line.split(" ")
    env = {**os.environ, "_OUTLAST_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(words),
           "COMP_CWORD": str(len(words) - 1)}  # fmt: skip
    done = subprocess.run([sys.executable, str(HERE / "drive.py"), "1", "-"], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_commands_complete():
    assert set(complete("outlast ")) == set(VERBS)
    assert complete("outlast re") == ["rehearse", "report", "resume", "repo", "reindex"]


def test_options_complete():
    offered = complete("outlast run --li")
    assert offered == ["--limit"]
    assert {"--data", "--until", "--detach", "--dry-run"} <= set(complete("outlast run --"))


@pytest.mark.parametrize("verb", ["show", "logs", "stop", "resume", "fetch", "rm"])
def test_ids_and_names_of_runs_complete(verb):
    assert complete(f"outlast {verb} ") == [simulated.RUN, "digits"]
    assert complete(f"outlast {verb} 11") == [simulated.RUN]
    assert complete(f"outlast {verb} x") == []


def test_values_of_options_complete():
    assert complete("outlast ps --state s") == ["succeeded", "stopped"]
    assert complete("outlast fetch digits --what c") == ["checkpoint"]


def test_settings_complete():
    assert complete("outlast config keep") == ["keeper_idle_s", "keep_last"]
    assert "set" in complete("outlast config ")


def test_broken_home_completes_nothing_and_prints_nothing(tmp_path):
    env = {**os.environ, "_OUTLAST_COMPLETE": "complete_bash", "COMP_WORDS": "outlast\nshow\n", "COMP_CWORD": "2",
           "OUTLAST_HOME": "/proc/nowhere"}  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "outlast.cli.entry"], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("shell", "expected"),
    [("bash", "complete -o default -F"), ("zsh", "compdef"), ("fish", "complete --command outlast")],
)
def test_script_of_each_shell(shell, expected, outlast):
    code, out, _ = outlast("--show-completion", shell)
    assert code == 0 and expected in out and "_OUTLAST_COMPLETE=complete_" + shell in out
    assert "_OUTLAST_COMPLETE" not in os.environ
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=out, text=True, check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_itself_completes_with_the_script(tmp_path, outlast):
    """Source the script in a real bash and let its function fill COMPREPLY."""
    script = outlast("--show-completion", "bash")[1]
    command = tmp_path / "outlast"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} {HERE / "drive.py"} 1 - "$@"\n')
    command.chmod(0o755)
    asked = (
        f"{script}\nCOMP_WORDS=(outlast show 11); COMP_CWORD=2; _outlast_completion {command}; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "--norc", "-c", asked], env=env, capture_output=True, text=True)
    assert done.stdout.split() == [simulated.RUN], done.stderr


def test_unknown_shell_is_refused(outlast):
    code, _, err = outlast("--show-completion", "tcsh")
    assert code == 2 and "'tcsh'" in err and "bash, zsh, fish" in err


def test_installing_writes_to_the_home_of_the_user(tmp_path):
    env = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m outlast.cli.entry --install-completion; exit $?"],
        env=env, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "_OUTLAST_COMPLETE" in (tmp_path / ".bash_completions" / "outlast.sh").read_text()
