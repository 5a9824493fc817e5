"""The folders of a project, in a bucket and on this machine."""

from __future__ import annotations

import pytest

from outlast.errors import CredentialError, SpecError
from outlast.operations.login import login
from outlast.operations.projects import FOLDERS, init_store


@pytest.fixture
def settings(nobody, seaweed):
    login(nobody, seaweed.access, check=False)
    return nobody


def keys(seaweed, bucket):
    return [each["Key"] for each in seaweed.boto.list_objects_v2(Bucket=bucket).get("Contents", [])]


def test_a_missing_bucket_is_made_with_its_folders(settings, seaweed):
    name = seaweed.bucket("gone")
    seaweed.boto.delete_bucket(Bucket=name)
    plan = init_store(settings, f"s3://{name}/mnist", dry_run=True)
    assert plan.new_bucket == f"s3://{name}" and not plan.is_complete
    assert name not in [each["Name"] for each in seaweed.boto.list_buckets()["Buckets"]]
    made = init_store(settings, f"s3://{name}/mnist/")
    assert made.new_bucket and keys(seaweed, name) == sorted(f"mnist/{folder}/" for folder in FOLDERS)
    assert made.folders[0].form == f"/{name}/mnist/code/" and made.folders[0].address == f"s3://{name}/mnist/code/"


def test_what_exists_is_left_alone(settings, seaweed):
    name = seaweed.bucket()
    seaweed.boto.put_object(Bucket=name, Key="data/a.txt", Body=b"mine")
    made = init_store(settings, f"s3://{name}")
    assert [each.existed for each in made.folders] == [folder == "data" for folder in FOLDERS]
    assert seaweed.boto.get_object(Bucket=name, Key="data/a.txt")["Body"].read() == b"mine"
    assert init_store(settings, f"s3://{name}").is_complete


def test_a_file_in_the_way_is_named(settings, seaweed):
    name = seaweed.bucket()
    seaweed.boto.put_object(Bucket=name, Key="p/log", Body=b"a file")
    with pytest.raises(SpecError, match=f"s3://{name}/p/log is a file"):
        init_store(settings, f"s3://{name}/p", dry_run=True)
    assert keys(seaweed, name) == ["p/log"]


def test_a_local_folder_needs_no_login(nobody, tmp_path):
    made = init_store(nobody, str(tmp_path / "new" / "project"))
    assert sorted(each.name for each in (tmp_path / "new" / "project").iterdir()) == sorted(FOLDERS)
    assert made.folders[0].form == "" and not made.new_bucket
    assert init_store(nobody, str(tmp_path / "new" / "project")).is_complete


def test_without_keys_the_next_command_is_named(nobody):
    with pytest.raises(CredentialError) as caught:
        init_store(nobody, "obs://some-bucket/mnist")
    assert "outlast login obs" in caught.value.hint
