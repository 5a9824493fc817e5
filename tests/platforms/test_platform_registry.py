"""Platforms by name."""

from __future__ import annotations

import sys
from importlib import metadata

import pytest

from outlast.errors import PlatformError, SpecError
from outlast.platforms import registry
from outlast.settings import Settings


@pytest.fixture
def settings(tmp_path):
    return Settings.load({}, tmp_path)


@pytest.fixture
def others(tmp_path, monkeypatch):
    """A package of somebody else that brings two platforms, one of them broken."""
    (tmp_path / "moon.py").write_text(
        "from outlast.platforms.local.platform import LocalPlatform\nclass Moon(LocalPlatform):\n    name = 'moon'\n"
    )
    info = tmp_path / "moon-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: moon\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[outlast.platforms]\nmoon = moon:Moon\nmars = mars:Mars\nodd = moon:__name__\nlocal = moon:Moon\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    registry._others.cache_clear()
    yield
    registry._others.cache_clear()
    sys.modules.pop("moon", None)


def test_local_is_known_and_created(settings):
    assert registry.known(settings)[0] == "local"
    assert registry.create("local", settings).name == "local"


def test_an_unknown_name_gets_a_guess(settings):
    with pytest.raises(SpecError, match=r"unknown platform 'locla'; did you mean 'local'\? installed: local"):
        registry.create("locla", settings)
    with pytest.raises(SpecError, match=r"unknown platform 'zzz'; installed: local"):
        registry.create("zzz", settings)


def test_platforms_of_others_are_found_and_cannot_replace_ours(others, settings):
    assert metadata.entry_points(group=registry.ENTRY_POINTS)
    assert registry.known(settings) == ("local", "mars", "moon", "odd")
    assert registry.create("moon", settings).name == "moon"
    assert registry.create("local", settings).name == "local"


def test_a_broken_platform_of_others_is_named(others, settings):
    with pytest.raises(PlatformError, match=r"platform 'mars' from mars:Mars cannot be loaded"):
        registry.create("mars", settings)
    with pytest.raises(PlatformError, match="is not a Platform class"):
        registry.create("odd", settings)


def test_knowing_a_platform_does_not_import_it():
    import subprocess

    script = "import sys; from outlast.platforms import registry as r; r.kinds(); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "outlast.platforms.registry" in done.stdout
    assert "outlast.platforms.local" not in done.stdout
