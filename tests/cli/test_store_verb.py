"""`outlast store` and its sub-commands as typed."""

from __future__ import annotations

import json
import urllib.request

import pytest

from outlast.cli.verbs import VERBS
from outlast.operations.login import login


@pytest.fixture
def settings(nobody, seaweed):
    login(nobody, seaweed.access, check=False)
    return nobody


@pytest.mark.parametrize("name", ["init", "publish", "unpublish", "sign"])
def test_page_of_each_sub_command_is_complete(outlast, name):
    code, out, err = outlast("store", name, "--help")
    assert code == 0, err
    assert out.startswith(f"Usage: outlast store {name} ") and out.count(f"outlast store {name}") >= 3
    assert "Exit codes:" in out and max(map(len, out.splitlines())) <= 110


def test_every_sub_command_is_on_the_page_of_the_verb(outlast):
    out = outlast("store", "-h")[1]
    assert VERBS["store"][1] in out
    for name in ("init", "publish", "unpublish", "sign"):
        assert f"\n  {name} " in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "takes: init, publish, unpublish, sign"),
        (["inti", "x"], "did you mean 'init'?"),
        (["--now"], "unknown option"),
        (["sign"], "missing argument 'ADDRESS'"),
        (["sign", "x", "--expire", "1h"], "did you mean --expires?"),
        (["publish", "file:///tmp"], "lies in no bucket"),
    ],
)
def test_mistakes_are_told_with_what_is_possible(outlast, settings, arguments, words):
    code, out, err = outlast("store", *arguments)
    assert code == 2 and words in err and out == ""


def test_init_makes_folders_and_shows_both_spellings(outlast, settings, seaweed):
    bucket = seaweed.bucket()
    code, out, err = outlast("store", "init", f"s3://{bucket}/mnist", "--dry-run")
    assert code == 0 and out.count("would be made") == 5, err
    code, out, _ = outlast("store", "init", f"s3://{bucket}/mnist")
    assert code == 0 and f"s3://{bucket}/mnist/code/" in out and f"/{bucket}/mnist/code/" in out
    body = json.loads(outlast("store", "init", f"s3://{bucket}/mnist", "--json")[1])
    assert [folder["existed"] for folder in body["folders"]] == [True] * 5


def test_init_asks_before_it_makes_a_bucket(outlast, settings, seaweed):
    name = seaweed.bucket("asked")
    seaweed.boto.delete_bucket(Bucket=name)
    code, _, err = outlast("store", "init", f"s3://{name}")
    assert code == 2 and "--yes" in err
    code, out, _ = outlast("store", "init", f"s3://{name}", "--yes")
    assert code == 0 and f"s3://{name}: made" in out


def test_publish_shows_the_policy_and_asks(outlast, settings, seaweed):
    bucket = seaweed.bucket()
    code, out, err = outlast("store", "publish", bucket)
    assert code == 2 and "--yes" in err and '"OutlastPublicRead"' in out and "everyone on the internet" in out
    code, out, _ = outlast("store", "publish", bucket, "--yes")
    assert code == 0 and f"everyone can read s3://{bucket} now: {seaweed.endpoint}/{bucket}/" in out
    assert "public already" in outlast("store", "publish", bucket)[1]
    assert "would be:\nnone" in outlast("store", "unpublish", bucket, "--dry-run")[1]
    assert outlast("store", "unpublish", bucket)[1] == f"s3://{bucket} is no longer public\n"
    assert "nothing to take back" in outlast("store", "unpublish", bucket)[1]


def test_json_of_publish_is_the_only_thing_on_standard_output(outlast, settings, seaweed):
    body = json.loads(outlast("store", "publish", seaweed.bucket(), "--dry-run", "--json")[1])
    assert body["changes"] is True and json.loads(body["policy"])["Statement"]


def test_sign_prints_the_link_alone_and_says_when_it_ends(outlast, settings, seaweed):
    code, out, err = outlast("store", "sign", "s3://shared/hello.txt", "--expires", "2h")
    assert code == 0 and "in 2 h" in err and out.count("\n") == 1
    with urllib.request.urlopen(out.strip()) as answer:
        assert answer.read() == b"hello"
    assert seaweed.secret not in out + err
    code, _, err = outlast("store", "sign", "s3://shared/none")
    assert code == 10 and "outlast ls" in err
    assert json.loads(outlast("store", "sign", "s3://shared/new", "--put", "--json")[1])["method"] == "PUT"


def test_without_a_login_the_next_command_is_named(outlast, nobody):
    code, _, err = outlast("store", "sign", "obs://bucket/x")
    assert code == 11 and "outlast login obs" in err
