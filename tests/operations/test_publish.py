"""Public buckets, on a real server: what strangers may do before, meanwhile and afterwards."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest
from strangers import Said, fault, stranger

from outlast.errors import CredentialError, SpecError, StoreError
from outlast.inside.stores.access import Access
from outlast.operations.login import login
from outlast.operations.publish import publish, unpublish
from outlast.store.policy import SID


@pytest.fixture
def settings(nobody, seaweed):
    login(nobody, seaweed.access, check=False)
    return nobody


@pytest.fixture
def bucket(seaweed):
    name = seaweed.bucket("public")
    seaweed.boto.put_object(Bucket=name, Key="你好 1.txt", Body=b"hello")
    return name


def ask(url, method="GET", data=None):
    """The status that somebody without keys gets."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, method=method)) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def statements(seaweed, bucket):
    try:
        return json.loads(seaweed.boto.get_bucket_policy(Bucket=bucket)["Policy"])["Statement"]
    except seaweed.boto.exceptions.ClientError as error:
        assert error.response["Error"]["Code"] == "NoSuchBucketPolicy"
        return []


def test_everyone_can_read_a_published_bucket_and_nobody_can_write(settings, seaweed, bucket):
    file = f"{seaweed.endpoint}/{bucket}/%E4%BD%A0%E5%A5%BD%201.txt"
    assert ask(file) == 403
    done = publish(settings, f"s3://{bucket}")
    assert done.changes and done.public and done.address == f"{seaweed.endpoint}/{bucket}/"
    assert [each["Sid"] for each in statements(seaweed, bucket)] == [SID]
    assert (ask(file), ask(f"{done.address}?list-type=2")) == (200, 200)
    assert ask(f"{done.address}new", "PUT", b"x") == 403 and ask(file, "DELETE") == 403
    taken = unpublish(settings, f"s3://{bucket}")
    assert taken.changes and not taken.public and taken.policy == ""
    assert ask(file) == 403 and statements(seaweed, bucket) == []


def test_a_dry_run_changes_nothing(settings, seaweed, bucket):
    plan = publish(settings, bucket, dry_run=True)
    assert plan.changes and json.loads(plan.policy)["Statement"][0]["Sid"] == SID
    assert statements(seaweed, bucket) == []
    publish(settings, bucket)
    assert unpublish(settings, bucket, dry_run=True).changes and len(statements(seaweed, bucket)) == 1


def test_doing_it_twice_changes_nothing_more(settings, bucket):
    publish(settings, bucket)
    assert not publish(settings, bucket).changes
    unpublish(settings, bucket)
    assert not unpublish(settings, bucket).changes


def test_statements_of_others_stay_and_dangerous_ones_are_named(settings, seaweed, bucket):
    theirs = {
        "Version": "2012-10-17",
        "Statement": [
            {"Sid": "tutorial", "Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject", "s3:PutObject"],
             "Resource": [f"arn:aws:s3:::{bucket}/inbox/*"]},
        ],
    }  # fmt: skip
    seaweed.boto.put_bucket_policy(Bucket=bucket, Policy=json.dumps(theirs))
    (warning,) = publish(settings, bucket).warnings
    assert "'tutorial'" in warning and "lets everyone change or remove files" in warning
    assert [each["Sid"] for each in statements(seaweed, bucket)] == ["tutorial", SID]
    done = unpublish(settings, bucket)
    assert done.public and [each["Sid"] for each in statements(seaweed, bucket)] == ["tutorial"]


def test_obs_gets_the_policy_in_its_own_form(nobody):
    kept = []

    def answer(method, path, body):
        assert path == "/mine?policy="
        if method == "PUT":
            kept.append(body)
        return Said(200, kept[-1]) if kept else fault(404, "NoSuchBucketPolicy")

    with stranger(answer) as endpoint:
        login(nobody, Access("obs", endpoint, "", "KEY", "s3cr3t"), check=False)
        assert publish(nobody, "obs://mine").changes
    (statement,) = json.loads(kept[0])["Statement"]
    assert statement["Principal"] == {"ID": ["*"]} and statement["Resource"] == ["mine", "mine/*"]


def test_an_obs_that_speaks_the_language_of_s3_gets_the_policy_in_that(settings, seaweed, bucket):
    login(settings, seaweed.access._replace(kind="obs", signature="v2"), check=False)
    publish(settings, f"obs://{bucket}")
    assert ask(f"{seaweed.endpoint}/{bucket}?list-type=2") == 200


def test_a_policy_that_did_not_hold_is_noticed(nobody):
    with stranger(lambda method, *_: Said(204) if method == "PUT" else fault(404, "NoSuchBucketPolicy")) as endpoint:
        login(nobody, Access("obs", endpoint, "", "KEY", "s3cr3t"), check=False)
        with pytest.raises(StoreError, match="does not show it"):
            publish(nobody, "obs://mine")


def test_keys_that_may_not_change_the_policy_are_told_so(settings, seaweed):
    login(settings, seaweed.guest, profile="guest", check=False)
    with pytest.raises(CredentialError):
        publish(settings, "s3://guest@shared")


@pytest.mark.parametrize("text", ["s3://no-such-bucket-here", "s3://{}/folder", "file:///tmp", "hdfs://h/x", "s3://UP"])
def test_what_is_no_bucket_is_refused(settings, bucket, text):
    with pytest.raises(SpecError):
        publish(settings, text.format(bucket))


def test_a_bare_name_means_the_store_one_is_logged_in_to(settings, seaweed, bucket, nobody):
    assert publish(settings, bucket, dry_run=True).bucket == f"s3://{bucket}"
    login(settings, seaweed.access._replace(kind="obs", signature="v4"), check=False)
    with pytest.raises(SpecError, match="both obs:// and s3:// are known"):
        publish(settings, bucket, dry_run=True)
    assert publish(settings, f"/{bucket}", dry_run=True).bucket == f"obs://{bucket}"
