"""`login`, `logout` and `whoami` as typed: answers, questions, and never a secret on the screen."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time

import pytest

from outlast.store.profiles import Profiles

DEADLINE_S = 60.0


@pytest.fixture
def home(nobody):
    return nobody.home


@pytest.fixture
def secret_on_stdin(monkeypatch, tmp_path):
    """Let the command find these lines on its standard input."""

    def put(*lines):
        path = tmp_path / "stdin"
        path.write_text("".join(f"{line}\n" for line in lines))
        monkeypatch.setattr(sys, "stdin", path.open())

    yield put
    sys.stdin.close()


def options(seaweed):
    return ["--endpoint", seaweed.endpoint, "--key", seaweed.key]


def test_a_script_logs_in_with_the_secret_on_its_input(outlast, home, seaweed, secret_on_stdin):
    secret_on_stdin(seaweed.secret)
    code, out, err = outlast("login", "s3", *options(seaweed), "--secret-stdin", "--bucket", seaweed.bucket())
    assert code == 0, err
    assert "buckets:" in out and "write yes" in out and "refuses to overwrite when asked: yes" in out
    assert f"kept as profile s3; its secret is in {home / 'accesses.json'} (mode 0600)" in out
    assert seaweed.secret not in out + err and seaweed.key not in out
    assert Profiles(home).open(Profiles(home).all()[0]).secret == seaweed.secret


def test_json_tells_everything_but_the_secret(outlast, home, seaweed, secret_on_stdin):
    secret_on_stdin(seaweed.secret, "a-token-line")
    code, out, err = outlast(
        "login", "s3", *options(seaweed), "--secret-stdin", "--temporary", "--no-check", "--json", "--profile", "lab"
    )
    assert code == 0, err
    body = json.loads(out)
    assert (body["profile"], body["kind"], body["abilities"]) == ("lab", "s3", None)
    assert seaweed.secret not in out and "a-token-line" not in out
    assert Profiles(home).open(Profiles(home).all()[0]).token == "a-token-line"


def test_wrong_keys_end_with_the_code_for_credentials(outlast, home, seaweed, secret_on_stdin):
    secret_on_stdin("not-the-secret")
    code, out, err = outlast("login", "s3", *options(seaweed), "--secret-stdin")
    assert code == 11 and "the secret does not belong to key" in err and "hint:" in err
    assert "not-the-secret" not in out + err and Profiles(home).all() == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["login", "gcs"], "kinds: obs, s3, hdfs"),
        (["login", "modelart"], "did you mean 'modelarts'?"),
        (["login", "obs"], "--region NAME or --endpoint URL"),
        (["login", "s3", "--endpoint", "http://h"], "--key ID"),
        (["login", "s3", "--endpoint", "http://h", "--key", "k"], "--secret-stdin"),
        (["login", "s3", "--endpoint", "http://h", "--key", "k", "--secret-stdin"], "standard input holds no secret"),
        (["login", "s3", "--secret", "x"], "unknown option --secret"),
        (["logout"], "outlast logout obs"),
    ],
)
def test_what_is_missing_is_named_when_nobody_can_be_asked(outlast, home, secret_on_stdin, arguments, words):
    secret_on_stdin()
    code, _, err = outlast(*arguments)
    assert code == 2 and words in err


def test_logging_out_forgets_and_a_second_time_finds_nothing(outlast, home, secret_on_stdin):
    secret_on_stdin("s3cr3t")
    outlast("login", "obs", "--region", "cn-north-4", "--key", "K", "--secret-stdin", "--no-check")
    assert outlast("logout", "obs")[:2] == (0, "forgot profile obs\n")
    code, _, err = outlast("logout", "--profile", "obs")
    assert code == 10 and "profiles: none" in err
    assert "s3cr3t" not in (home / "accesses.json").read_text()


def test_whoami_shows_where_an_access_came_from(outlast, home, seaweed, secret_on_stdin, monkeypatch):
    assert "outlast login obs" in outlast("whoami")[1]
    secret_on_stdin(seaweed.secret)
    outlast("login", "s3", *options(seaweed), "--secret-stdin")
    monkeypatch.setenv("OBS_ACCESS_KEY_ID", "OBSKEY00000001")
    monkeypatch.setenv("OBS_SECRET_ACCESS_KEY", "obs-s3cr3t")
    code, out, _ = outlast("whoami")
    assert code == 0 and "profile s3" in out and "environment" in out and "OBSK…0001" in out
    code, out, _ = outlast("whoami", "--check", "--json")
    assert code == 11, "the access of the environment has no endpoint"
    found = {each["kind"]: each for each in json.loads(out)}
    assert found["s3"]["ok"] is True and found["s3"]["used_for"] == ["s3"] and found["obs"]["ok"] is False
    assert seaweed.secret not in out and "obs-s3cr3t" not in out


class Terminal:
    """A command on a pseudo-terminal."""

    def __init__(self, *arguments: str) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "outlast.cli.entry", *arguments],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self.text = ""

    def until(self, words: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while words not in self.text:
            assert time.monotonic() < deadline and self.read(), f"never saw {words!r} in:\n{self.text}"

    def read(self) -> bool:
        if not select.select([self.master], [], [], 0.2)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.text += data.decode("utf-8", "replace")
        return bool(data)

    def answer(self, question: str, words: str) -> None:
        self.until(question)
        os.write(self.master, words.encode() + b"\n")

    def finish(self) -> int:
        while self.read():
            pass
        os.close(self.master)
        return self.process.wait(DEADLINE_S)


def test_a_person_is_asked_and_the_secret_does_not_appear(home, seaweed):
    terminal = Terminal("login", "s3")
    terminal.answer("endpoint, like", seaweed.endpoint)
    terminal.answer("id of the access key: ", seaweed.key)
    terminal.answer("secret access key (not shown): ", seaweed.secret)
    assert terminal.finish() == 0, terminal.text
    assert "logged in to s3" in terminal.text and seaweed.secret not in terminal.text
    again = Terminal("login", "s3")
    again.answer(f"[{seaweed.endpoint}]: ", "")
    again.answer(f"[{seaweed.key}]: ", "")
    again.answer("(not shown): ", "a wrong secret")
    assert again.finish() == 11 and "does not belong" in again.text
    assert Profiles(home).open(Profiles(home).all()[0]).secret == seaweed.secret, "the old one is still there"


def test_a_region_is_enough_for_obs(home):
    terminal = Terminal("login", "obs", "--no-check")
    terminal.answer("region like cn-north-4", "cn-east-3")
    terminal.answer("id of the access key: ", "KEY")
    terminal.answer("(not shown): ", "s3cr3t")
    assert terminal.finish() == 0, terminal.text
    assert "https://obs.cn-east-3.myhuaweicloud.com" in terminal.text
