"""The HDFS of the tests on a machine that has never run it."""

from servers.hadoop import Daemons
from servers.hadoop_parts import cache_folder


def test_a_file_system_is_made_while_nothing_is_kept_yet(hadoop, tmp_path, monkeypatch):
    jars = cache_folder() / "jars"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (cache_folder() / "jars").symlink_to(jars)
    folder = tmp_path / "hadoop"
    folder.mkdir()
    Daemons(folder)._format()
    for made in (cache_folder() / "empty-name-folder", folder / "name"):
        assert (made / "current" / "VERSION").exists()
