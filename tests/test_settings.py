"""Settings: one table, three sources, and words that name what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from outlast.errors import HomeError
from outlast.settings import SETTINGS, Settings, login_name, write_setting


def load(home: Path, **environ: str) -> Settings:
    return Settings.load({"USER": "ann", **environ}, home=home)


def test_defaults_need_nothing_on_the_disk(tmp_path):
    settings = load(tmp_path / "none")
    assert settings.store == (tmp_path / "none" / "store").as_uri()
    assert settings.platform == "local" and settings.user == "ann"
    assert settings.grace_s == 10.0 and settings.backoff_s == (0, 1, 5, 30, 120, 300)
    assert settings.user_weights == {}
    assert not (tmp_path / "none").exists()


def test_environment_wins_over_config_and_config_over_default(tmp_path):
    (tmp_path / "config.toml").write_text('grace_s = "5s"\nkeep_last = 7\nplatform = "slurm"\n')
    settings = load(tmp_path, OUTLAST_KEEP_LAST="9")
    assert (settings.grace_s, settings.keep_last, settings.platform) == (5.0, 9, "slurm")
    assert settings.origins["grace_s"] == "config.toml"
    assert settings.origins["keep_last"] == "environment OUTLAST_KEEP_LAST"
    assert settings.origins["sandbox"] == "default"


def test_home_comes_from_the_argument_then_the_environment(tmp_path):
    environ = {"OUTLAST_HOME": str(tmp_path / "env"), "USER": "ann"}
    assert Settings.load(environ).home == tmp_path / "env"
    assert Settings.load(environ).origins["home"] == "environment OUTLAST_HOME"
    assert Settings.load(environ, home=tmp_path / "arg").home == tmp_path / "arg"


def test_unknown_key_in_config_is_named_with_the_nearest_one(tmp_path):
    (tmp_path / "config.toml").write_text("grace = 5\n")
    with pytest.raises(HomeError, match=r"config.toml: unknown setting 'grace'; did you mean 'grace_s'"):
        load(tmp_path)


def test_home_cannot_be_set_in_its_own_config(tmp_path):
    (tmp_path / "config.toml").write_text('home = "/elsewhere"\n')
    with pytest.raises(HomeError, match="OUTLAST_HOME"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "form"),
    [
        ("GRACE_S", "soon", "a duration like 90s"),
        ("KEEP_LAST", "0", "a whole number from 1"),
        ("KEEP_LAST", "-1", "a whole number from 1"),
        ("BACKOFF_S", "1,x", "durations with commas"),
        ("SANDBOX", "maybe", "auto, on or off"),
        ("USER_WEIGHTS", "ann", "users and weights"),
        ("USER_WEIGHTS", "ann=-1", "positive weights"),
        ("USER_WEIGHTS", "ann=nan", "positive weights"),
        ("STORE", "relative/path", "an address like file://"),
    ],
)
def test_bad_value_names_setting_value_origin_and_form(tmp_path, name, value, form):
    with pytest.raises(HomeError) as caught:
        load(tmp_path, **{"OUTLAST_" + name: value})
    message = str(caught.value)
    assert name.lower() in message and repr(value) in message and f"environment OUTLAST_{name}" in message
    assert form in message


def test_damaged_config_is_named(tmp_path):
    (tmp_path / "config.toml").write_text("grace_s = = 3")
    with pytest.raises(HomeError, match=r"config.toml is not TOML"):
        load(tmp_path)


def test_config_of_the_wrong_type_is_named(tmp_path):
    (tmp_path / "config.toml").write_text("grace_s = true\n")
    with pytest.raises(HomeError, match="grace_s = True"):
        load(tmp_path)


def test_lists_and_numbers_in_config_are_read(tmp_path):
    (tmp_path / "config.toml").write_text("backoff_s = [0, 2.5]\ngrace_s = 3\n")
    settings = load(tmp_path)
    assert settings.backoff_s == (0.0, 2.5) and settings.grace_s == 3.0


def test_writing_a_setting_keeps_every_other_line_and_comment(tmp_path):
    before = '# mine\ngrace_s = 5  # short\n\nbackoff_s = [0,\n  1]\nplatform = "local" # "x" = 1\n'
    (tmp_path / "config.toml").write_text(before)
    write_setting(tmp_path, "grace_s", "7s")
    write_setting(tmp_path, "backoff_s", "0,9")
    write_setting(tmp_path, "keep_last", "5")
    text = (tmp_path / "config.toml").read_text()
    assert text == (
        '# mine\ngrace_s = "7s"  # short\n\nbackoff_s = "0,9"\nplatform = "local" # "x" = 1\nkeep_last = "5"\n'
    )
    settings = load(tmp_path)
    assert (settings.grace_s, settings.backoff_s, settings.keep_last) == (7.0, (0.0, 9.0), 5)
    assert [path.name for path in tmp_path.iterdir()] == ["config.toml"]


def test_writing_quotes_and_backslashes_round_trips(tmp_path):
    write_setting(tmp_path, "user", 'an"n\\b')
    assert tomllib.loads((tmp_path / "config.toml").read_text()) == {"user": 'an"n\\b'}


def test_writing_a_bad_value_changes_nothing(tmp_path):
    write_setting(tmp_path, "grace_s", "5s")
    for name, value in (("grace_s", "soon"), ("graces", "5"), ("home", "/x")):
        with pytest.raises(HomeError):
            write_setting(tmp_path, name, value)
    assert (tmp_path / "config.toml").read_text() == 'grace_s = "5s"\n'


def test_login_name_works_without_a_passwd_entry():
    code = "import os; os.setuid(12345); from outlast.settings import login_name; print(login_name({}))"
    environ = {k: v for k, v in os.environ.items() if k not in ("LOGNAME", "USER", "LNAME", "USERNAME")}
    if os.getuid() == 0:
        # The checkout may be unreadable for that user, so everything is imported before the change.
        code = "import os, outlast.settings as s, getpass, pwd; os.setuid(12345); print(s.login_name({}))"
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True)
        assert done.stdout.strip() == "uid-12345", done.stderr
    assert login_name({"USER": "bea"}) == "bea"


def test_shown_lists_each_setting_with_its_origin(tmp_path):
    rows = load(tmp_path, OUTLAST_USER_WEIGHTS="ann=2,bob=1").shown()
    assert [row[0].name for row in rows] == [setting.name for setting in SETTINGS]
    shown = {setting.name: (value, origin) for setting, value, origin in rows}
    assert shown["user_weights"] == ("ann=2,bob=1", "environment OUTLAST_USER_WEIGHTS")
    assert shown["backoff_s"] == ("0,1,5,30,120,300", "default")


def test_every_setting_has_a_sentence_without_a_full_stop():
    assert all(setting.sentence and not setting.sentence.endswith(".") for setting in SETTINGS)
