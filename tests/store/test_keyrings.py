"""Secrets in a keyring, with a backend that really keeps them in a file."""

from __future__ import annotations

import subprocess
import sys

import keyring.core
import pytest

from outlast.errors import CredentialError
from outlast.inside.stores.access import Access
from outlast.store.keyrings import open_keyring
from outlast.store.profiles import Profiles

ACCESS = Access("s3", "http://minio:9000", "", "KEY", "a secret 密", "a token")


@pytest.fixture
def home(nobody):
    return nobody.home


@pytest.fixture
def real(nobody, monkeypatch, tmp_path):
    """A backend that the user chose; its file lies in the test's own folder."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyrings.alt.file.PlaintextKeyring")
    monkeypatch.setenv("KEYRING_PROPERTY_FILE_PATH", str(tmp_path / "keyring.cfg"))
    return tmp_path / "keyring.cfg"


def test_the_secret_goes_into_the_keyring_and_not_into_the_file(real, home):
    profiles = Profiles(home)
    assert profiles.save("lab", ACCESS) == "keyring"
    assert real.exists() and "a secret" not in profiles.path.read_text() and "a token" not in profiles.path.read_text()
    (profile,) = profiles.all()
    assert profile.access.secret == "" and profiles.open(profile) == ACCESS


def test_two_homes_do_not_share_their_secrets(real, home, tmp_path):
    (tmp_path / "other").mkdir()
    Profiles(home).save("lab", ACCESS)
    Profiles(tmp_path / "other").save("lab", ACCESS._replace(secret="other"))
    assert Profiles(home).open(Profiles(home).all()[0]).secret == "a secret 密"


def test_forgetting_empties_the_keyring(real, home):
    profiles = Profiles(home)
    profiles.save("lab", ACCESS)
    assert profiles.forget("lab")
    with pytest.raises(CredentialError, match="no longer holds it"):
        open_keyring(home).read("lab")


def test_moving_a_secret_to_the_file_takes_it_out_of_the_keyring(real, home):
    profiles = Profiles(home)
    profiles.save("lab", ACCESS)
    assert profiles.save("lab", ACCESS, in_file=True) == "file"
    assert profiles.open(profiles.all()[0]) == ACCESS
    with pytest.raises(CredentialError, match="no longer holds it"):
        open_keyring(home).read("lab")


def test_moving_a_secret_to_the_keyring_takes_it_out_of_the_file(real, home):
    profiles = Profiles(home)
    profiles.save("lab", ACCESS, in_file=True)
    profiles.save("lab", ACCESS)
    assert "a secret" not in profiles.path.read_text()


def test_a_keyring_that_does_not_answer_is_told_in_words(real, home, monkeypatch):
    profiles = Profiles(home)
    profiles.save("lab", ACCESS)
    (profile,) = profiles.all()
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    with pytest.raises(CredentialError, match="which cannot be used here") as caught:
        profiles.open(profile)
    assert "outlast login s3 --profile lab" in caught.value.hint


def test_a_keyring_that_will_not_keep_leaves_the_secret_to_the_file(real, home, monkeypatch):
    real.mkdir()  # where its file should be
    profiles = Profiles(home)
    assert profiles.save("lab", ACCESS) == "file"
    assert profiles.open(profiles.all()[0]) == ACCESS


@pytest.mark.parametrize("backend", ["keyring.backends.null.Keyring", "keyring.backends.fail.Keyring", "no.such.Thing"])
def test_backends_that_keep_nothing_are_not_used(nobody, monkeypatch, backend):
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", backend)
    assert open_keyring(nobody.home) is None


def test_plain_files_of_other_packages_are_used_only_when_the_user_chose_them(nobody, monkeypatch):
    from keyring.backends.chainer import ChainerBackend
    from keyrings.alt.file import PlaintextKeyring

    monkeypatch.delenv("PYTHON_KEYRING_BACKEND")
    monkeypatch.setattr(keyring.core, "_keyring_backend", PlaintextKeyring())
    assert open_keyring(nobody.home) is None
    monkeypatch.setattr(keyring.core, "_keyring_backend", ChainerBackend())
    found = open_keyring(nobody.home)
    assert found is None or "Plaintext" not in found.name


def test_without_the_package_the_file_is_used(nobody):
    code = (
        "import sys; sys.modules['keyring'] = None\n"
        "from pathlib import Path\nfrom outlast.inside.stores.access import Access\n"
        "from outlast.store.profiles import Profiles\n"
        "print(Profiles(Path(sys.argv[1])).save('s3', Access('s3', '', '', 'k', 's')))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(nobody.home)], capture_output=True, text=True)
    assert done.stdout == "file\n", done.stderr
