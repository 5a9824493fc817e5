"""Temporary links, opened by somebody who has nothing but the link."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest

from outlast.errors import NotFoundError, SpecError
from outlast.operations.links import sign_link
from outlast.operations.login import login

KEY = "a b/模型 '1'+%41.ckpt"


@pytest.fixture
def settings(nobody, seaweed):
    login(nobody, seaweed.access, check=False)
    login(nobody, seaweed.access._replace(kind="obs", signature="v2"), check=False)
    return nobody


@pytest.fixture
def bucket(seaweed):
    name = seaweed.bucket("links")
    seaweed.boto.put_object(Bucket=name, Key=KEY, Body=b"weights")
    return name


def fetch(url, method="GET", data=None):
    with urllib.request.urlopen(urllib.request.Request(url, data, method=method)) as answer:
        return answer.read()


@pytest.mark.parametrize("scheme", ["s3", "obs"])
def test_a_link_reads_one_file_without_keys(settings, seaweed, bucket, scheme):
    link = sign_link(settings, f"{scheme}://{bucket}/{KEY}", expires="30m")
    assert fetch(link.url) == b"weights"
    assert link.method == "GET" and link.expires_s == 1800 and seaweed.secret not in repr(link)
    with pytest.raises(urllib.error.HTTPError) as caught:
        fetch(link.url, "PUT", b"x")
    caught.value.close()
    assert caught.value.code == 403


@pytest.mark.parametrize("scheme", ["s3", "obs"])
def test_a_link_to_write_writes(settings, seaweed, bucket, scheme):
    link = sign_link(settings, f"{scheme}://{bucket}/new.bin", put=True)
    request = urllib.request.Request(link.url, b"fresh", method="PUT")
    request.add_unredirected_header("Content-type", "")  # urllib would add one, which older signatures cover
    urllib.request.urlopen(request).close()
    assert seaweed.boto.get_object(Bucket=bucket, Key="new.bin")["Body"].read() == b"fresh"


def test_a_link_that_was_changed_opens_nothing(settings, bucket, seaweed):
    seaweed.boto.put_object(Bucket=bucket, Key="other", Body=b"x")
    url = sign_link(settings, f"s3://{bucket}/other").url.replace("/other?", "/other2?")
    with pytest.raises(urllib.error.HTTPError) as caught:
        fetch(url)
    caught.value.close()
    assert caught.value.code == 403


def test_a_file_to_be_read_must_exist(settings, bucket):
    with pytest.raises(NotFoundError, match="there is no s3://"):
        sign_link(settings, f"s3://{bucket}/none")


@pytest.mark.parametrize("expires", ["8d", "0", "soon", "-1h", ""])
def test_impossible_times_are_refused(settings, bucket, expires):
    with pytest.raises(SpecError):
        sign_link(settings, f"s3://{bucket}/x", expires=expires, put=True)


@pytest.mark.parametrize("text", ["s3://{}", "s3://{}/folder/", "/tmp", "file:///tmp/x", "hdfs://h:1/x"])
def test_only_files_in_buckets_can_be_linked(settings, bucket, text):
    with pytest.raises(SpecError):
        sign_link(settings, text.format(bucket), put=True)


def test_a_link_made_with_temporary_keys_says_that_it_ends_with_them(settings, seaweed, bucket):
    login(settings, seaweed.access._replace(token="t"), profile="brief", check=False)
    assert sign_link(settings, f"s3://brief@{bucket}/x", put=True).notices
