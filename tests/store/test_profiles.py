"""Profiles, and which access an address is opened with."""

from __future__ import annotations

import stat

import pytest

from outlast.errors import CredentialError, SpecError
from outlast.inside.stores.access import Access
from outlast.store.profiles import Profiles, find_access, locate_access

OBS = Access("obs", "https://obs.cn-north-4.myhuaweicloud.com", "cn-north-4", "OBSKEY", "obs-secret")
S3 = Access("s3", "http://minio:9000", "us-east-1", "S3KEY", "s3-secret", path_style=True)
AWS = {"AWS_ACCESS_KEY_ID": "ENVKEY", "AWS_SECRET_ACCESS_KEY": "env-secret"}


@pytest.fixture
def home(nobody):
    return nobody.home


@pytest.fixture
def profiles(home):
    return Profiles(home)


@pytest.fixture
def aws_files(tmp_path):
    folder = tmp_path / "user" / ".aws"
    folder.mkdir(parents=True)
    (folder / "credentials").write_text(
        "[default]\naws_access_key_id = FILEKEY\naws_secret_access_key = file%secret\n"
        "[lab]\naws_access_key_id=LABKEY\naws_secret_access_key=lab-secret\naws_session_token=lab-token\n"
    )
    (folder / "config").write_text(
        "[default]\nregion = eu-west-1\nendpoint_url = https://store.example\n"
        "[profile lab]\nregion = cn-north-1\nservices = mine\ns3 =\n  addressing_style = path\n"
        "[services mine]\ns3 =\n  endpoint_url = https://lab.example\n"
    )
    return {"HOME": str(tmp_path / "user")}


def test_a_profile_comes_back_as_it_was_kept(profiles):
    access = S3._replace(token="t", ca_file="/ca.pem", verify=False, signature="v2", conditional=False)
    assert profiles.save("lab", access) == "file"
    (profile,) = profiles.all()
    assert profile.access == access._replace(secret="", token="") and profile.kept_in == "file"
    assert profiles.open(profile) == access


def test_the_file_of_profiles_is_private(profiles):
    profiles.save("s3", S3)
    assert stat.S_IMODE(profiles.path.stat().st_mode) == 0o600


def test_a_secret_is_in_no_representation(profiles):
    profiles.save("s3", S3)
    (profile,) = profiles.all()
    assert "s3-secret" not in repr(profile) and "s3-secret" not in repr(profiles.open(profile))


def test_replacing_leaves_nothing_of_the_old_access(profiles):
    profiles.save("s3", S3._replace(token="old-token"))
    profiles.save("s3", S3._replace(secret="new"))
    assert profiles.open(profiles.all()[0]) == S3._replace(secret="new")
    text = profiles.path.read_text()
    assert "old-token" not in text and "s3-secret" not in text


def test_forgetting_removes_the_secret_too(profiles):
    profiles.save("s3", S3)
    assert profiles.forget("s3") and not profiles.forget("s3")
    assert "s3-secret" not in profiles.path.read_text()


def test_forgetting_in_an_empty_home_creates_nothing(profiles):
    assert not profiles.forget("s3") and not profiles.path.exists()


@pytest.mark.parametrize("name", ["", "a@b", "a/b", "-x", "a b", "中", "x" * 65])
def test_a_name_that_could_not_stand_in_an_address_is_refused(profiles, name):
    with pytest.raises(SpecError, match="not a name for a profile"):
        profiles.save(name, S3)


def test_a_profile_that_is_named_wins_over_everything(profiles, home):
    profiles.save("s3", S3)
    profiles.save("lab", S3._replace(key="LAB"))
    assert find_access("s3", "lab", AWS, home).key == "LAB"


def test_the_environment_wins_over_the_default_profile(profiles, home):
    profiles.save("s3", S3)
    found = locate_access("s3", "", AWS, home)
    assert (found.access.key, found.origin) == ("ENVKEY", "environment AWS_ACCESS_KEY_ID")


def test_the_default_profile_has_the_name_of_its_kind(profiles, home):
    profiles.save("lab", S3._replace(key="LAB"))
    profiles.save("s3", S3)
    assert find_access("s3", "", {}, home) == S3


def test_the_only_profile_of_a_kind_is_the_default(profiles, home):
    profiles.save("lab", S3)
    assert find_access("s3", "", {}, home) == S3


def test_of_several_profiles_without_a_default_none_is_guessed(profiles, home):
    profiles.save("one", S3)
    profiles.save("two", S3)
    with pytest.raises(CredentialError, match="one, two") as caught:
        find_access("s3", "", {}, home)
    assert "s3://one@" in caught.value.hint


def test_s3_addresses_are_opened_with_an_access_to_obs_when_there_is_no_other(profiles, home, aws_files):
    profiles.save("obs", OBS)
    assert find_access("s3", "", aws_files, home) == OBS
    profiles.save("s3", S3)
    assert find_access("s3", "", aws_files, home) == S3
    assert find_access("s3", "obs", aws_files, home) == OBS


def test_obs_addresses_are_not_opened_with_keys_of_another_cloud(profiles, home, aws_files):
    profiles.save("s3", S3)
    with pytest.raises(CredentialError, match="no keys for obs://") as caught:
        find_access("obs", "", {**AWS, **aws_files}, home)
    assert "outlast login obs" in caught.value.hint and "OBS_ACCESS_KEY_ID" in caught.value.hint
    with pytest.raises(CredentialError, match="is for s3://, not for obs://"):
        find_access("obs", "s3", {}, home)


def test_an_unknown_profile_is_named_with_those_there_are(profiles, home):
    profiles.save("lab", S3)
    with pytest.raises(CredentialError, match="no profile 'lap' is kept; known: lab") as caught:
        find_access("s3", "lap", {}, home)
    assert "outlast login s3 --profile lap" in caught.value.hint


def test_the_endpoint_of_obs_follows_from_the_region_of_the_environment(home):
    environ = {"OBS_ACCESS_KEY_ID": "K", "OBS_SECRET_ACCESS_KEY": "S", "OBS_REGION": "ap-southeast-1"}
    assert find_access("obs", "", environ, home).endpoint == "https://obs.ap-southeast-1.myhuaweicloud.com"


def test_files_of_the_aws_tools_are_read_last(profiles, home, aws_files):
    access = find_access("s3", "", aws_files, home)
    assert access == Access("s3", "https://store.example", "eu-west-1", "FILEKEY", "file%secret")


def test_the_aws_profile_of_the_environment_is_followed(home, aws_files):
    access = find_access("s3", "", {**aws_files, "AWS_PROFILE": "lab"}, home)
    assert access == Access(
        "s3", "https://lab.example", "cn-north-1", "LABKEY", "lab-secret", "lab-token", path_style=True
    )


def test_an_aws_section_without_keys_is_no_access(home, aws_files):
    with pytest.raises(CredentialError):
        find_access("s3", "", {**aws_files, "AWS_PROFILE": "nobody"}, home)


def test_a_broken_file_of_the_aws_tools_is_named_and_not_quoted(home, aws_files, tmp_path):
    (tmp_path / "user" / ".aws" / "credentials").write_text("aws_secret_access_key = s3cr3t\n")
    with pytest.raises(CredentialError, match="credentials cannot be read") as caught:
        find_access("s3", "", aws_files, home)
    assert "s3cr3t" not in str(caught.value)


def test_hdfs_needs_no_login(profiles, home):
    assert find_access("hdfs", "", {"LOGNAME": "ann"}, home) == Access("hdfs", user="ann")
    assert find_access("hdfs", "", {"LOGNAME": "ann", "HADOOP_USER_NAME": "bob"}, home).user == "bob"
    profiles.save("hdfs", Access("hdfs", "http://namenode:9870", user="eve"))
    assert find_access("hdfs", "", {"LOGNAME": "ann"}, home).user == "eve"


def test_reading_creates_nothing_in_a_home_that_does_not_exist(tmp_path):
    with pytest.raises(CredentialError):
        find_access("obs", "", {}, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_field_of_a_newer_version_is_ignored(profiles):
    profiles.save("s3", S3)
    profiles.path.write_text(profiles.path.read_text().replace('"kind"', '"colour": "red", "kind"'))
    assert profiles.open(profiles.all()[0]) == S3
