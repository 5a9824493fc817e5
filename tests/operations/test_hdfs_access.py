"""Logging in to a real HDFS, and a project's folders there."""

from __future__ import annotations

import secrets

import pytest

from outlast.errors import StoreError
from outlast.inside.stores.access import Access
from outlast.operations.login import login
from outlast.operations.projects import FOLDERS, init_store
from outlast.store.profiles import find_access


def test_a_user_logs_in_and_learns_about_the_own_folder(hadoop, nobody):
    done = login(nobody, Access("hdfs", hadoop.authority, user="ann"))
    assert done.abilities.folder == "/user/ann" and done.endpoint == hadoop.url and done.kept_in == ""
    assert find_access("hdfs", "", {"LOGNAME": "bob"}, nobody.home).user == "ann"


def test_https_where_only_http_is_spoken_is_named(hadoop, nobody):
    with pytest.raises(StoreError, match="speaks plain http") as caught:
        login(nobody, Access("hdfs", f"https://{hadoop.authority}", user="ann"))
    assert hadoop.url in caught.value.hint


def test_the_folders_of_a_project_are_made_once(hadoop, nobody):
    login(nobody, hadoop.access._replace(endpoint=hadoop.url))
    address = f"hdfs://{hadoop.authority}/projects-{secrets.token_hex(4)}/mnist"
    made = init_store(nobody, address)
    assert [each.existed for each in made.folders] == [False] * len(FOLDERS) and made.folders[0].form == ""
    assert init_store(nobody, address).is_complete
