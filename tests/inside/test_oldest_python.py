"""What runs on a borrowed machine is read by Python 3.7, in one piece: vermin does not know every change of syntax."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import outlast

OLD_PYTHON = Path("~/.pyenv/versions/3.7.16/bin/python3.7").expanduser()
SOURCE = Path(outlast.__file__).parent
READ_ALL = "import sys; [compile(open(name, encoding='utf-8').read(), name, 'exec') for name in sys.argv[1:]]"


@pytest.mark.skipif(not OLD_PYTHON.exists(), reason="there is no Python 3.7 here")
def test_oldest_python_can_read_every_file_that_it_may_meet():
    files = [*(SOURCE / "inside").rglob("*.py"), SOURCE / "__init__.py", SOURCE / "callbacks.py"]
    assert len(files) > 100
    done = subprocess.run([str(OLD_PYTHON), "-c", READ_ALL, *files], capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
