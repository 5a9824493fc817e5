"""A lab's own server with a certificate of its own: who trusts it is let in, and nobody else sends it a secret."""

import contextlib
import socket
import threading
import time

import pytest
import uvicorn

from outlast.errors import PlatformError, SpecError
from outlast.operations.signin import sign_in
from outlast.platforms.accounts import Account, Accounts
from outlast.platforms.modelarts.account import open_session
from outlast.platforms.modelarts.faults import Unheard
from outlast.server.accounts.pairs import Pairs
from outlast.server.accounts.people import Role
from outlast.server.app import create_app
from outlast.server.state import ServerState
from outlast.settings import Settings
from servers.seaweed import make_certificate

PATIENCE_S = 150
PASSWORD = "correct horse battery"


class Lab:
    """A server over TLS with the user ann."""

    def __init__(self, folder):
        make_certificate(folder)
        self.ca_file = folder / "cert.pem"
        self.state = ServerState.open(Settings.load({}, home=folder / "served"))
        accounts = self.state.accounts
        accounts.users.add("root", Role.ADMIN, PASSWORD)
        self.key = accounts.keys.create("access", accounts.users.add("ann", Role.MEMBER, PASSWORD).id)[0]
        self.pairs = Pairs(self.state.settings.home)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._listening.getsockname()[1]}"
        tls = {"ssl_certfile": self.ca_file, "ssl_keyfile": folder / "key.pem"}
        self._server = uvicorn.Server(uvicorn.Config(create_app(self.state), log_config=None, access_log=False, **tls))
        self._thread = threading.Thread(target=self._server.run, args=([self._listening],), daemon=True)
        self._thread.start()
        deadline = time.monotonic() + PATIENCE_S
        while not self._server.started:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def close(self):
        self._server.should_exit = True
        self._thread.join(PATIENCE_S)
        self._listening.close()
        self.state.close()

    def openpai(self, **trust):
        values = {"endpoint": self.url, "user": "ann", "password": PASSWORD}
        return {**values, "store": "hdfs://pai.lab:50070/x", **{name: str(value) for name, value in trust.items()}}

    def modelarts(self, **trust):
        values = {"endpoint": self.url, "key": self.key, **{name: str(value) for name, value in trust.items()}}
        return Account("lab", "modelarts", values, {"secret": self.pairs.secret_of(self.key)})


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with contextlib.closing(Lab(tmp_path_factory.mktemp("lab"))) as made:
        yield made


def test_a_certificate_that_nobody_vouches_for_is_refused_with_the_way_out(lab, nobody):
    with pytest.raises(PlatformError, match="certificate") as refused:
        sign_in(nobody, "openpai", lab.openpai(), in_file=True)
    assert "--ca-file FILE" in refused.value.hint and Accounts(nobody.home).get("openpai") is None
    with contextlib.closing(open_session(lab.modelarts())) as session, pytest.raises(Unheard, match="is not trusted"):
        session.project  # noqa: B018 - asks


@pytest.mark.parametrize("way", ["ca_file", "insecure"])
def test_a_server_that_the_account_trusts_is_asked(lab, nobody, monkeypatch, way):
    monkeypatch.chdir(lab.ca_file.parent)
    trust = {"ca_file": "cert.pem"} if way == "ca_file" else {"insecure": "yes"}
    done = sign_in(nobody, "openpai", lab.openpai(**trust), in_file=True)
    assert done.standing.state in ("ready", "full") and "OpenPAI" in done.standing.detail
    # The keeper works in another folder.
    assert done.values.get("ca_file") == (str(lab.ca_file) if way == "ca_file" else None)
    with contextlib.closing(open_session(lab.modelarts(**trust))) as session:
        assert session.project == lab.pairs.project_id


def test_words_that_mean_nothing_are_refused_before_anything_is_asked(nobody):
    values = {"endpoint": "https://127.0.0.1:1", "user": "ann", "password": PASSWORD}
    for wrong, words in (({"ca_file": "/no/such.pem"}, "no certificate file"), ({"insecure": "perhaps"}, "yes nor no")):
        with pytest.raises(SpecError, match=words):
            sign_in(nobody, "openpai", values | wrong, in_file=True)
