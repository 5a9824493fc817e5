"""Receivers for the tests of notifications."""

import pytest
from hookservice import hook_server
from mailservice import make_certificate

from outlast.settings import Settings


@pytest.fixture
def hook():
    with hook_server() as server:
        yield server


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """The file of a certificate, and a context that serves with it."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def private(monkeypatch, tmp_path):
    """Settings of a home whose admin allows private networks, which loopback is one of."""
    monkeypatch.setenv("OUTLAST_NOTICE_PRIVATE", "on")
    return Settings.load({"OUTLAST_NOTICE_PRIVATE": "on", "LOGNAME": "ann"}, home=tmp_path / "home")
