import subprocess
import sys
import timeit
from pathlib import Path

import pytest

from outlast.inside.flag import SIZE_BYTES, StopFlag


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "flag")


def test_a_new_flag_is_down_and_gives_no_reason(path):
    flag = StopFlag.create(path)
    assert not flag.is_raised()
    assert flag.why() == ""


def test_the_other_end_sees_it_raised_with_the_reason(path):
    runner, script = StopFlag.create(path), StopFlag.open(path)
    assert not script.is_raised()
    runner.raise_("the limit is near")
    assert script.is_raised()
    assert script.why() == "the limit is near"


def test_another_process_sees_it(path):
    StopFlag.create(path).raise_("deadline")
    code = "from outlast.inside.flag import StopFlag; import sys; print(StopFlag.open(sys.argv[1]).why())"
    out = subprocess.run([sys.executable, "-c", code, path], stdout=subprocess.PIPE, check=True)
    assert out.stdout.strip() == b"deadline"


def test_the_first_reason_is_kept(path):
    flag = StopFlag.create(path)
    flag.raise_("deadline")
    flag.raise_("stop")
    assert flag.why() == "deadline"


def test_a_long_reason_is_cut_between_characters(path):
    flag = StopFlag.create(path)
    flag.raise_("时" * 40)
    assert flag.why() == "时" * ((SIZE_BYTES - 1) // 3)


def test_a_new_flag_does_not_disturb_whoever_maps_the_old_one(path):
    old = StopFlag.create(path)
    script = StopFlag.open(path)
    StopFlag.create(path).raise_("not for you")
    assert not script.is_raised()
    old.raise_("for you")
    assert script.why() == "for you"


def test_a_missing_or_short_file_is_an_ordinary_error(path, tmp_path):
    with pytest.raises(OSError):
        StopFlag.open(path)
    (tmp_path / "flag").write_bytes(b"\1")
    with pytest.raises(ValueError):
        StopFlag.open(path)


def test_the_script_cannot_raise_its_own_flag(path):
    StopFlag.create(path)
    with pytest.raises(TypeError):
        StopFlag.open(path).raise_("no")


def test_reading_is_much_cheaper_than_asking_the_file_system(path):
    flag = StopFlag.create(path)
    # In turns, so that a machine that is busy with something else is so for both.
    reading, asking = [], []
    for _ in range(7):
        reading.append(timeit.timeit(flag.is_raised, number=5000))
        asking.append(timeit.timeit(Path(path).stat, number=5000))
    assert min(reading) < min(asking) / 2
