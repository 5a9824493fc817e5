"""Logging in: against a real store, and against everything that is not one."""

from __future__ import annotations

import os
import socket
import time

import pytest
from strangers import Said, fault, stranger

from outlast.errors import CredentialError, NotFoundError, SpecError, StoreError, UsageError
from outlast.inside.stores.access import Access
from outlast.operations.login import login, logout, ready, whoami
from outlast.store.profiles import Profiles, find_access

OK_LIST = Said(200, b"<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>")
HOME = Said(200, b'{"Path": "/user/ann"}', "application/json")


@pytest.fixture
def settings(nobody):
    return nobody


@pytest.fixture
def refused(settings):
    """Log in, expect an error of that kind, see that nothing was kept and no secret was told; the error's words."""

    def call(kind, access, **words):
        with pytest.raises(kind) as caught:
            login(settings, access, **words)
        assert Profiles(settings.home).all() == [], "nothing is kept"
        assert caught.value.hint, "every failure has a next step"
        for secret in access.secrets:
            assert secret not in str(caught.value)
        return str(caught.value)

    return call


def test_keys_are_checked_and_kept(settings, seaweed):
    bucket = seaweed.bucket()
    done = login(settings, seaweed.access, bucket=bucket)
    assert (done.profile, done.kind, done.kept_in) == ("s3", "s3", "file")
    assert bucket in done.abilities.buckets and done.abilities.conditional is True
    assert (done.abilities.can_list, done.abilities.can_read, done.abilities.can_write) == (True, True, True)
    assert find_access("s3", "", {}, settings.home) == seaweed.access._replace(conditional=True)
    assert "Contents" not in seaweed.boto.list_objects_v2(Bucket=bucket), "the check cleans up after itself"


def test_keys_that_may_only_read_are_told_so(settings, seaweed):
    found = login(settings, seaweed.guest, bucket="shared", profile="guest").abilities
    assert (found.can_list, found.can_read, found.can_write) == (True, True, False)
    assert found.conditional is None and "in shared: list yes, read yes, write no" in found.lines()


def test_an_access_to_obs_signs_in_its_own_way(settings, seaweed):
    access = seaweed.access._replace(kind="obs", signature="v2")
    assert login(settings, access, bucket=seaweed.bucket()).abilities.can_write
    assert find_access("s3", "", {}, settings.home).kind == "obs"


def test_a_server_with_its_own_certificate_is_trusted_when_it_is_named(settings, seaweed, refused):
    access = seaweed.access._replace(endpoint=seaweed.tls_endpoint)
    words = refused(CredentialError, access)
    assert "certificate" in words and "not trusted" in words and "--ca-file" in words
    assert login(settings, access._replace(ca_file=seaweed.ca_file)).abilities.buckets is not None
    assert login(settings, access._replace(verify=False)).abilities.buckets is not None


def test_a_wrong_secret_is_told_apart_from_a_wrong_key(seaweed, refused):
    assert "the secret does not belong to key" in refused(CredentialError, seaweed.access._replace(secret="w" * 30))
    assert "does not know the key" in refused(CredentialError, seaweed.access._replace(key="AKWRONGWRONGWRONG"))


def test_http_and_https_mixed_up_names_the_right_one(seaweed, refused):
    https = seaweed.endpoint.replace("http:", "https:")
    assert f"speaks plain http. give --endpoint {seaweed.endpoint}" in refused(
        StoreError, seaweed.access._replace(endpoint=https)
    )
    http = seaweed.tls_endpoint.replace("https:", "http:")
    assert f"speaks https. give --endpoint {seaweed.tls_endpoint}" in refused(
        StoreError, seaweed.access._replace(endpoint=http)
    )


def test_a_skewed_clock_is_named_with_its_error(settings, seaweed, refused, monkeypatch):
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 3600)
    words = refused(CredentialError, seaweed.access)
    assert "this machine's clock is 1 h fast" in words and "timedatectl" in words
    monkeypatch.setattr(time, "time", lambda: real() - 300)
    assert any("slow; set it" in line for line in login(settings, seaweed.access).abilities.lines())


def test_a_port_where_nobody_listens(refused):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{held.getsockname()[1]}"
        assert "Connection refused" in refused(StoreError, Access("s3", endpoint, "", "k", "s3cr3t"))


def test_a_host_that_does_not_exist(refused):
    assert "no address is known for store.invalid" in refused(
        StoreError, Access("obs", "https://store.invalid", "", "k", "s3cr3t")
    )


def test_a_web_server_that_is_no_store(refused):
    with stranger(lambda *_: Said(200, b"<html>console</html>", "text/html")) as endpoint:
        words = refused(StoreError, Access("s3", endpoint, "", "k", "s3cr3t"))
    assert "not like an object store: it sent text/html" in words


def test_something_that_does_not_speak_http(refused):
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"http://127.0.0.1:{server.getsockname()[1]}"
        import threading

        def greet():
            for _ in range(2):  # the knock, and the second one that tries the other scheme
                connection, _ = server.accept()
                with connection:
                    connection.sendall(b"SSH-2.0-OpenSSH\r\n\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        assert "does not speak HTTP" in refused(StoreError, Access("s3", endpoint, "", "k", "s3cr3t"))
        thread.join()


def test_keys_that_may_not_list_buckets_need_one_to_be_named(settings, refused):
    kept = {}

    def answer(method, path, body):
        if path == "/":
            return fault(403, "AccessDenied")
        if method == "PUT":
            kept[path] = body
        if method == "DELETE":
            kept.pop(path)
        return Said(200, kept.get(path, b"<ListBucketResult></ListBucketResult>"))

    with stranger(answer) as endpoint:
        access = Access("s3", endpoint, "", "KEY", "s3cr3t", path_style=True)
        words = refused(CredentialError, access)
        assert "may not list buckets" in words and "--bucket NAME" in words
        found = login(settings, access, bucket="mine").abilities
    assert found.buckets is None and found.can_write and not kept
    assert found.conditional is False, "this one overwrites although it was asked not to"
    assert Profiles(settings.home).all()[0].access.conditional is False


def test_the_region_that_the_server_names_is_passed_on(refused):
    answers = iter([fault(403, "AccessDenied"), fault(400, "AuthorizationHeaderMalformed", Region="eu-west-1")])
    with stranger(lambda *_: next(answers)) as endpoint:
        assert "give --region eu-west-1" in refused(SpecError, Access("s3", endpoint, "us-east-1", "k", "s3cr3t"))


def test_an_expired_token_is_named(refused):
    answers = iter([fault(403, "AccessDenied"), fault(400, "ExpiredToken")])
    with stranger(lambda *_: next(answers)) as endpoint:
        words = refused(CredentialError, Access("s3", endpoint, "", "k", "s3cr3t", "t0k3n"))
    assert "ExpiredToken" in words and "token" in words


def test_a_bucket_that_does_not_exist(seaweed, refused):
    words = refused(SpecError, seaweed.access, bucket="no-such-bucket")
    assert "there is no bucket no-such-bucket" in words and "outlast mb s3://no-such-bucket" in words


def test_a_bucket_of_somebody_else(seaweed, refused):
    words = refused(CredentialError, seaweed.guest, bucket=seaweed.bucket())
    assert "is good, but may not use the bucket" in words


@pytest.mark.parametrize(
    ("access", "words"),
    [
        (Access("gcs", key="k", secret="s"), "unknown kind of store 'gcs'"),
        (Access("s3", "http://h", key="k"), "needs the id of a key and its secret"),
        (Access("obs", key="k", secret="s"), "neither an endpoint nor a region"),
        (Access("hdfs"), "no name node"),
        (Access("s3", "ftp://h", "", "k", "s"), "is not an endpoint"),
        (Access("s3", "http://me:pw@h", "", "k", "s"), "is not an endpoint"),
        (Access("s3", "http://h", "", "k", "s", signature="v3"), "unknown signature 'v3'"),
        (Access("s3", "http://h", "", "k", "s", ca_file="/no/such.pem"), "no certificate file /no/such.pem"),
        (Access("obs", "https://b.obs.cn-north-4.myhuaweicloud.com", "", "k", "s"), "address of the bucket b"),
        (Access("s3", "b.s3.eu-west-1.amazonaws.com", "", "k", "s"), "--endpoint https://s3.eu-west-1.amazonaws.com"),
    ],
)
def test_what_cannot_work_is_refused_before_any_call(settings, access, words):
    with pytest.raises(SpecError) as caught:
        login(settings, access)
    assert words in str(caught.value)


def test_what_follows_from_the_rest_is_filled_in():
    def made(kind, endpoint="", region=""):
        access = ready(Access(kind, endpoint, region, "k", "s"))
        return access.endpoint, access.region

    assert made("obs", region="cn-north-4") == ("https://obs.cn-north-4.myhuaweicloud.com", "cn-north-4")
    assert made("obs", "obs.cn-north-4.myhuaweicloud.com/") == (
        "https://obs.cn-north-4.myhuaweicloud.com",
        "cn-north-4",
    )
    assert made("s3", region="eu-west-1") == ("https://s3.eu-west-1.amazonaws.com", "eu-west-1")
    assert made("s3", "minio.s3.lab:9000") == ("https://minio.s3.lab:9000", "")
    assert ready(Access("hdfs", "namenode:9870", user="ann")).endpoint == "http://namenode:9870"


def test_unchecked_keys_are_kept_without_a_call(settings):
    done = login(settings, Access("obs", "", "cn-north-4", "KEY", "s3cr3t"), check=False)
    assert done.abilities is None and Profiles(settings.home).get("obs")


def test_a_name_that_is_taken_by_another_kind_is_refused(settings):
    login(settings, Access("obs", "", "cn-north-4", "KEY", "s3cr3t"), profile="lab", check=False)
    with pytest.raises(UsageError, match="profile 'lab' is for obs://"):
        login(settings, Access("s3", "http://h", "", "KEY", "s3cr3t"), profile="lab", check=False)


def test_hdfs_says_where_the_users_folder_is(settings):
    asked = []

    def answer(method, path, body):
        asked.append(path)
        return HOME if "GETHOMEDIRECTORY" in path else Said(404, b"{}", "application/json")

    with stranger(answer) as endpoint:
        done = login(settings, Access("hdfs", endpoint, user="ann"))
    assert done.user == "ann" and done.kept_in == "" and done.abilities.folder == "/user/ann"
    assert any("does not exist yet" in line for line in done.abilities.lines())
    assert all("user.name=ann" in path for path in asked)


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        (
            Said(404, b"It looks like you are making an HTTP request to a Hadoop IPC port.", "text/plain"),
            StoreError,
            "9870",
        ),
        (Said(200, b"<html>", "text/html"), StoreError, "not like WebHDFS"),
        (Said(401, b"", "text/html"), CredentialError, "does not let 'ann' in"),
    ],
)
def test_what_is_no_webhdfs_is_told_in_words(refused, said, kind, words):
    with stranger(lambda *_: said) as endpoint:
        assert words in refused(kind, Access("hdfs", endpoint, user="ann"))


def test_logging_out_takes_a_profile_or_the_only_one_of_a_kind(settings):
    login(settings, Access("obs", "", "cn-north-4", "KEY", "s3cr3t"), profile="lab", check=False)
    assert logout(settings, "obs") == "lab"
    with pytest.raises(NotFoundError, match="no profile 'obs' is kept"):
        logout(settings, "obs")
    assert "s3cr3t" not in (settings.home / "accesses.json").read_text()


def test_every_access_is_shown_with_its_origin_and_without_its_secret(settings, monkeypatch):
    login(settings, Access("obs", "", "cn-north-4", "OBSKEY123456", "obs-s3cr3t"), check=False)
    login(settings, Access("s3", "http://minio:9000", "", "S3KEY1234567", "s3-s3cr3t"), profile="lab", check=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ENVKEY123456")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "env-s3cr3t")
    known = whoami(settings, os.environ)
    assert [(each.kind, each.origin, each.key, each.used_for) for each in known] == [
        ("s3", "profile lab", "S3KE…4567", ()),
        ("obs", "profile obs", "OBSK…3456", ("obs",)),
        ("s3", "environment", "ENVK…3456", ("s3",)),
    ]
    assert "s3cr3t" not in repr(known)


def test_checking_uses_every_access_and_goes_on_after_one_that_fails(settings, seaweed):
    login(settings, seaweed.access)
    login(settings, seaweed.access._replace(secret="w" * 30), profile="old", check=False)
    login(settings, Access("hdfs", "http://127.0.0.1:9", user="ann"), check=False)
    found = {each.profile: (each.ok, each.detail) for each in whoami(settings, os.environ, check=True)}
    assert found["s3"][0] is True and "buckets:" in found["s3"][1]
    assert found["old"] == (False, found["old"][1]) and "secret does not belong" in found["old"][1]
    assert found["hdfs"][0] is False
