"""Bucket policies: our statement goes in and out, nothing else moves."""

from __future__ import annotations

import json

import pytest

from outlast.errors import SpecError
from outlast.store import policy

OTHER = {"Sid": "backup", "Effect": "Allow", "Principal": {"AWS": ["arn:aws:iam::1:user/x"]}, "Action": "s3:*"}
EVERYONE_READS = {"Sid": "web", "Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "x/*"}
EVERYONE_WRITES = {"Effect": "Allow", "Principal": {"ID": ["*"]}, "Action": ["GetObject", "PutObject"]}


def text_of(*statements):
    return json.dumps({"Version": "2008-10-17", "Statement": list(statements)})


@pytest.mark.parametrize("native", [True, False])
def test_only_reading_is_granted(native):
    statement = policy.public_read("b", native)
    actions = {action.lower().rpartition(":")[2] for action in statement["Action"]}
    assert actions <= {"getobject", "getobjectversion", "listbucket", "headbucket"}
    assert not any("*" in action for action in statement["Action"])


def test_the_form_of_obs_is_the_one_of_its_own_console():
    assert json.loads(policy.with_public_read(None, "mybucket", native=True)) == {
        "Statement": [
            {
                "Sid": "OutlastPublicRead",
                "Effect": "Allow",
                "Principal": {"ID": ["*"]},
                "Action": ["HeadBucket", "ListBucket", "GetObject", "GetObjectVersion"],
                "Resource": ["mybucket", "mybucket/*"],
            }
        ]
    }


def test_other_statements_and_the_version_stay():
    after = json.loads(policy.with_public_read(text_of(OTHER), "b", native=False))
    assert after["Version"] == "2008-10-17" and after["Statement"][0] == OTHER and len(after["Statement"]) == 2


def test_publishing_twice_is_publishing_once():
    once = policy.with_public_read(text_of(OTHER), "b", native=False)
    assert policy.with_public_read(once, "b", native=False) == once


def test_taking_back_restores_what_was_there():
    before = text_of(OTHER, EVERYONE_READS)
    after = policy.without_public_read(policy.with_public_read(before, "b", native=False))
    assert json.loads(after) == json.loads(before)


def test_a_policy_that_was_only_ours_is_gone_afterwards():
    assert policy.without_public_read(policy.with_public_read(None, "b", native=True)) is None
    assert policy.without_public_read(None) is None


def test_published_means_by_us():
    assert not policy.is_published(None) and not policy.is_published(text_of(EVERYONE_READS))
    assert policy.is_published(policy.with_public_read(text_of(EVERYONE_READS), "b", native=False))


def test_a_single_statement_may_stand_without_its_list():
    assert policy.is_published(json.dumps({"Statement": policy.public_read("b", native=True)}))


def test_statements_that_let_everyone_in_are_told_apart():
    reading, writing = policy.open_to_all(text_of(OTHER, EVERYONE_READS, EVERYONE_WRITES))
    assert (reading, writing) == (["web"], ["number 3"])


@pytest.mark.parametrize(
    "statement",
    [
        {"Sid": "w", "Effect": "Allow", "Principal": "*", "Action": "s3:*"},
        {"Sid": "w", "Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "s3:Put*"},
        {"Sid": "w", "Effect": "Allow", "Principal": {"ID": ["*"]}, "NotAction": ["GetObject"]},
        {"Sid": "w", "Effect": "Allow", "NotPrincipal": {"ID": ["x"]}, "Action": "DeleteObject"},
    ],
)
def test_every_way_to_let_everyone_write_is_noticed(statement):
    assert policy.open_to_all(text_of(statement)) == ([], ["w"])


def test_a_denial_lets_nobody_in():
    assert policy.open_to_all(text_of({"Effect": "Deny", "Principal": "*", "Action": "s3:*"})) == ([], [])


@pytest.mark.parametrize("text", ["not json", "[]", '{"Statement": ["x"]}', '{"Statement": 3}'])
def test_a_policy_that_cannot_be_read_is_left_alone(text):
    with pytest.raises(SpecError, match="left alone"):
        policy.with_public_read(text, "b", native=False)
